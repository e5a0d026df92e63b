"""The tests of Harbor tasks: what is laid where, what a reward is worth, and who can spoil it."""

import base64
from pathlib import Path
from typing import IO, Any

import pytest
from sandboxes import IMAGE

from labkit.archive import Entry, Kind
from labkit.errors import InfrastructureError, InputError
from labkit.graders import GRADERS, Case, Output, Tools, Verdict
from labkit.graders.harbor import workdir_problem
from labkit.model import Ended
from labkit.sandbox.interface import Collect, Limits, Outcome, Sandbox, Spec, Streams, T

CASE = Case(id="calc")
LIMITS = Limits(seconds=20, memory=256, processes=32, scratch=32)


def spec(script: str, **more: Any) -> dict[str, Any]:
    """Return the mapping of a grader whose tests are one script."""
    return {
        "name": "harbor_tests",
        "workdir": "/app",
        "files": [{"path": "test.sh", "text": script}],
    } | more


def run(sandbox: Sandbox, script: str, folder: Path | None = None, **more: Any) -> Verdict:
    """Grade a folder by a script."""
    tools = Tools(sandbox=sandbox, image=IMAGE, limits=LIMITS)
    return GRADERS.build(spec(script, **more), tools=tools)(Output(folder=folder), CASE)


def reward(text: str, name: str = "txt") -> str:
    """Return a script that writes a reward."""
    return f"#!/bin/sh\nprintf '%s' '{text}' > /logs/verifier/reward.{name}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a candidate's folder with a program in it."""
    made = tmp_path / "work"
    (made / "src").mkdir(parents=True)
    (made / "src" / "calc.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    return made


def test_the_tests_run_beside_what_the_candidate_left(sandbox: Sandbox, folder: Path) -> None:
    script = """\
test "$(pwd)" = /app && test "$FLAVOUR" = sour && test -x /tests/check || exit 9
/tests/check && echo 1 > /logs/verifier/reward.txt
"""
    check = "#!/bin/sh\ncmp /tests/data /tests/same && cd src && python3 -c 'import calc'\n"
    files = [
        {"path": "test.sh", "text": script},
        {"path": "check", "text": check, "executable": True},
        {"path": "data", "base64": base64.b64encode(b"\0\xff").decode()},
        {"path": "same", "base64": "AP8="},
    ]
    found = run(sandbox, "", folder, files=files, environment={"FLAVOUR": "sour"})
    assert found == Verdict.passing("reward 1")
    (folder / "src" / "calc.py").write_text("def add(:\n", encoding="utf-8")
    broken = run(sandbox, "", folder, files=files, environment={"FLAVOUR": "sour"})
    assert broken.passed is False
    assert broken.detail.startswith("the tests wrote no reward (exit 1)\n")
    assert "SyntaxError" in broken.detail


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("script", "score", "says"),
    [
        (reward("1\n"), 1.0, "reward 1"),
        (reward(" 0.25 "), 0.25, "reward 0.25 (exit 0)"),
        (reward("0") + "exit 3\n", 0.0, "reward 0 (exit 3)"),
        (reward('{"reward": 1, "style": 0}', "json"), 1.0, "reward 1"),
        (reward('{"tests": 0.5}', "json") + reward("1"), 0.5, "reward 0.5"),
        (reward("0.75", "json"), 0.75, "reward 0.75"),
        (reward('{"a": 1, "b": 1}', "json"), 0.0, 'none called "reward"'),
        (reward('{"reward": true}', "json"), 0.0, "no single number"),
        (reward("[1]", "json"), 0.0, "no single number"),
        (reward("{", "json"), 0.0, "reward.json is not JSON"),
        (reward("1e999", "json"), 0.0, "is no number"),
        (reward(""), 0.0, "reward.txt is no number"),
        (reward("nan"), 0.0, "reward.txt is no number"),
        (reward("yes"), 0.0, "reward.txt is no number"),
        (reward("2"), 0.0, "not in 0..1"),
        (reward("-0.5"), 0.0, "not in 0..1"),
        ("ln -s /etc/hostname /logs/verifier/reward.txt\n", 0.0, "no plain file"),
        ("mkfifo /logs/verifier/reward.txt\n", 0.0, "no plain file"),
        ("head -c 70000 /dev/zero > /logs/verifier/reward.txt\n", 0.0, "no plain file"),
        ("true\n", 0.0, "the tests wrote no reward (exit 0)"),
        ("echo over >&2; exit 1\n", 0.0, "wrote no reward (exit 1)\nover"),
    ],
)
def test_what_a_reward_is_worth(
    bubblewrap_sandbox: Sandbox, script: str, score: float, says: str
) -> None:
    found = run(bubblewrap_sandbox, script)
    assert (found.passed, found.score) == (score == 1, score)
    assert says in found.detail


def test_tests_that_hang_or_fill_the_disk_fail(sandbox: Sandbox) -> None:
    early = reward("1") + "sleep 60\n"
    assert run(sandbox, early, timeout=1).detail == "the tests had not ended after 1 s"
    full = "for n in 1 2 3; do head -c 30000000 /dev/zero > /logs/verifier/$n; done\n" + reward("1")
    assert run(sandbox, full).passed is False


def test_an_earlier_reward_of_the_candidate_is_not_there(sandbox: Sandbox, folder: Path) -> None:
    (folder / "reward.txt").write_text("1", encoding="utf-8")
    (folder / "logs" / "verifier").mkdir(parents=True)
    (folder / "logs" / "verifier" / "reward.txt").write_text("1", encoding="utf-8")
    (folder / "tests").symlink_to("/logs/verifier")
    assert run(sandbox, "true\n", folder).detail.startswith("the tests wrote no reward")


def test_a_folder_that_cannot_be_read_fails(sandbox: Sandbox, tmp_path: Path) -> None:
    gone = run(sandbox, reward("1"), tmp_path / "gone")
    assert gone == Verdict.failing("the folder is missing")


class _Ends:
    """A sandbox that fails, as no real one does when asked to."""

    name = "none"

    def __init__(self, ended: Ended | None) -> None:
        self._ended = ended

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        del streams
        if self._ended is None:
            raise InfrastructureError("the engine is gone")
        empty: IO[bytes] = __import__("io").BytesIO(bytes(10240))
        outcome = Outcome(
            ended=self._ended, exit_code=None, seconds=1, cut_bytes=0, image_digest=spec.image
        )
        return outcome, collect(empty)


@pytest.mark.parametrize("ended", [None, Ended.KILLED])
def test_a_sandbox_that_fails_is_missing_data(ended: Ended | None) -> None:
    sandbox: Any = _Ends(ended)
    assert run(sandbox, "").graded is False


def test_memory_fails() -> None:
    sandbox: Any = _Ends(Ended.OUT_OF_MEMORY)
    assert run(sandbox, "", memory=64).detail == "the tests took more than 64 MiB of memory"


def test_every_mistake_in_a_mapping_is_told_at_once() -> None:
    wrong = {
        "name": "harbor_tests",
        "workdir": "/usr/src/app",
        "files": [
            {"path": "../x", "text": ""},
            {"path": "y", "base64": "!"},
        ],
        "timeout": 100_000,
        "memory": 1,
        "colour": "red",
    }
    with pytest.raises(InputError) as caught:
        GRADERS.build(wrong, tools=Tools())
    told = "\n".join(caught.value.problems)
    for words in (
        "/usr/src/app lies in /usr", '"files" has no test.sh', "needs a sandbox", '"path" is',
        '"base64" of y is not base64', "at most 86400 seconds", '"memory" must be', '"colour"',
    ):  # fmt: skip
        assert words in told, words


def test_text_files_keep_every_character() -> None:
    sandbox: Any = _Ends(None)
    texts = ["010", "", "1e3", " \n", "no\r\n", "a\u2028b\t"]
    files = [{"path": "test.sh", "text": "x"}]
    files += [{"path": f"f{place}", "text": text} for place, text in enumerate(texts)]
    made: Any = GRADERS.build(spec("", files=files), tools=Tools(sandbox=sandbox))
    assert made.files[0] == Entry(path=b"test.sh", kind=Kind.EXECUTABLE, data=b"x")
    assert [entry.data.decode() for entry in made.files[1:]] == texts


@pytest.mark.parametrize("path", ["/app", "/root/work"])
def test_where_files_can_be_laid(path: str) -> None:
    assert workdir_problem(path) == ""


@pytest.mark.parametrize("path", ["/", "app", "/a/../b", "/tests/x", "/var", "", "/app/"])
def test_where_files_cannot_be_laid(path: str) -> None:
    assert workdir_problem(path)
