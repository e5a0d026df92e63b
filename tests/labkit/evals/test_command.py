import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from candidates import CASE, LONG, alive, all_gone, case, trial
from sandboxes import BOTH, IMAGE, require_memory_reports

from labkit.errors import InfrastructureError, InputError, ReturnedTooLargeError
from labkit.evals import (
    Answer,
    CandidateError,
    Command,
    Escaped,
    EvalRunner,
    EvalSuite,
    HostCommand,
    Replacement,
    Status,
    TimedOut,
)
from labkit.evals.candidatefiles import CandidateFiles
from labkit.evals.command import COMMAND_LIMITS
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox

LIMITS = replace(COMMAND_LIMITS, seconds=30, memory=256, scratch=64)
Make = Callable[..., Any]
HOST = pytest.param("host", id="host")


@pytest.fixture
def sandboxed(sandbox: Sandbox) -> Make:
    """Return what makes a command in each sandbox."""
    return lambda text, **more: Command(
        text, sandbox=sandbox, image=IMAGE, **({"limits": LIMITS} | more)
    )


@pytest.fixture(params=[*BOTH, HOST])
def make(request: pytest.FixtureRequest) -> Make:
    """Return what makes a command in each sandbox, and on this machine."""
    if request.param == "host":
        return HostCommand
    sandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return lambda text, **more: Command(text, sandbox=sandbox, image=IMAGE, limits=LIMITS, **more)


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_it_finds_the_case_and_answers_by_what_it_prints(make: Make, tmp_path: Path) -> None:
    answer = make("cat $LABKIT_INPUT; echo; echo ü $LABKIT_SEED $LABKIT_NUMBER; ls")(
        replace(CASE, inputs={"a": [1, None, "ö"]}), trial(tmp_path, number=3, seed=9)
    )
    given, rest = str(answer.output).split("\n\n")
    assert json.loads(given) == {
        "case": "add",
        "inputs": {"a": [1, None, "ö"]},
        "seed": 9,
        "number": 3,
    }
    assert rest == "ü 9 3\ncalc.py\n"
    assert (answer.cost, answer.trace, answer.success_self_reported) == (None, (), None)
    assert answer.latency_ms is not None
    assert 0 < answer.latency_ms < 30_000


def test_its_own_files_lie_outside_of_what_it_works_on(make: Make, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    (agent / "deep").mkdir(parents=True)
    (agent / ".git").mkdir()
    (agent / ".git" / "HEAD").touch()
    (agent / "deep" / "data").write_text("4")
    (agent / "run").write_text('#!/bin/sh\ncat "$LABKIT_CANDIDATE/agent/deep/data"\n')
    (agent / "run").chmod(0o755)
    (tmp_path / "more.txt").write_text("5")
    own = CandidateFiles.read([agent, tmp_path / "more.txt"])
    text = (
        'cd "$LABKIT_CANDIDATE" && agent/run && cat more.txt && find . -type f | wc -l && '
        "echo 9 > more.txt"
    )
    command = make(text, files=own)
    for _ in range(2):
        sample = trial(tmp_path)
        assert str(command(CASE, sample).output).split() == ["453"]
        assert files(sample.scratch) == {"calc.py": "one = 1\n"}
    assert (tmp_path / "more.txt").read_text() == "5"


def test_its_code_is_its_text_and_its_files(tmp_path: Path) -> None:
    path = tmp_path / "solve.py"
    codes = set()
    for text, content, mode in (
        ("a", "1", 0o644),
        ("b", "1", 0o644),
        ("a", "2", 0o644),
        ("a", "2", 0o755),
    ):
        path.write_text(content)
        path.chmod(mode)
        codes.add(HostCommand(text, files=CandidateFiles.read([path])).code)
    codes.add(HostCommand("a").code)
    assert len(codes) == 5
    assert HostCommand("a").code == HostCommand("a").code


def test_a_file_that_a_command_does_not_see_is_named(make: Make, tmp_path: Path) -> None:
    (tmp_path / "solve.py").touch()
    beside = CandidateFiles.read([], beside=tmp_path)
    for text in ("python3 solve.py", "./solve.py", "sh solve.py"):
        with pytest.raises(CandidateError, match=r"--files solve\.py lays it"):
            make(text, files=beside)(CASE, trial(tmp_path))
    laid = CandidateFiles.read([tmp_path / "solve.py"], beside=tmp_path)
    with pytest.raises(CandidateError, match=r'write "\$LABKIT_CANDIDATE/solve.py"'):
        make("python3 solve.py", files=laid)(CASE, trial(tmp_path))
    with pytest.raises(CandidateError) as caught:
        make("ls gone.py", files=beside)(CASE, trial(tmp_path))
    assert "--files" not in str(caught.value)


def test_files_that_cannot_be_laid_are_told_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "same").touch()
    (tmp_path / "same").touch()
    (tmp_path / "link").symlink_to(tmp_path / "same")
    with pytest.raises(InputError) as caught:
        CandidateFiles.read([tmp_path / name for name in ("same", "a/same", "link", "gone")])
    told = "\n".join(caught.value.problems)
    assert "there is another same" in told
    assert "is a link" in told
    assert "no file or folder" in told


def test_it_answers_in_a_file(make: Make, tmp_path: Path) -> None:
    values = {
        "output": {"sum": 4},
        "trace": [{"tool": "sh"}],
        "latency_ms": 12.5,
        "cost": 0.5,
        "success_self_reported": False,
        "replacements": [{"path": "calc.py", "search": "1", "replace": "2"}],
    }
    answer = make(f"echo noise; echo '{json.dumps(values)}' > $LABKIT_ANSWER")(
        CASE, trial(tmp_path)
    )
    assert answer == Answer(
        output={"sum": 4},
        trace=({"tool": "sh"},),
        latency_ms=12.5,
        cost=0.5,
        success_self_reported=False,
        replacements=(Replacement("calc.py", "1", "2"),),
    )


def test_what_it_prints_is_the_output_of_a_file_without_one(make: Make, tmp_path: Path) -> None:
    answer = make("""echo text; echo '{"cost": 1, "diff": "--- a"}' > $LABKIT_ANSWER""")(
        CASE, trial(tmp_path)
    )
    assert (answer.output, answer.cost, answer.diff) == ("text\n", 1, "--- a")


def test_its_folder_replaces_the_samples(make: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    (given.scratch / "old").mkdir()
    (given.scratch / "old" / "gone").write_text("x")
    (given.scratch / "run.sh").write_text("x")
    script = (
        "rm -r old; echo two = 2 >> calc.py; mkdir -p new/er; echo x > new/er/file;"
        " chmod +x run.sh; printf y > 'a b'; mkdir empty"
    )
    make(script)(CASE, given)
    assert files(given.scratch) == {
        "calc.py": "one = 1\ntwo = 2\n",
        "new/er/file": "x\n",
        "run.sh": "x",
        "a b": "y",
    }
    assert (given.scratch / "empty").is_dir()
    assert os.access(given.scratch / "run.sh", os.X_OK)
    assert not os.access(given.scratch / "calc.py", os.X_OK)


def test_links_and_devices_do_not_come_back(sandboxed: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    answer = sandboxed(
        "ln -s /labkit/input.json secret; ln -s . around; mkfifo pipe; ln calc.py twin;"
        " mkdir -p d; ln -s /labkit d/l"
    )(CASE, given)
    assert files(given.scratch) == {"calc.py": "one = 1\n", "twin": "one = 1\n"}
    assert not [path for path in given.scratch.rglob("*") if path.is_symlink()]
    (step,) = answer.trace
    assert step == {"labkit": "links and devices left out: around, d/l, pipe, secret"}


def test_a_failed_command_has_not_answered_and_changes_nothing(make: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    with pytest.raises(CandidateError) as caught:
        make("echo 4; echo broken >&2; exit 3")(CASE, given)
    assert caught.value.message == "the command ended in 3; it said last:\nbroken"
    with pytest.raises(CandidateError, match=r"ended in 127, command not found; .*\n.*no-such"):
        make("no-such-command")(CASE, given)


def test_any_code_is_an_answer_where_that_is_said(make: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    answer = make("echo 4; echo x > new; exit 3", any_exit=True)(CASE, given)
    assert answer.output == "4\n"
    assert files(given.scratch)["new"] == "x\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "answer.json is not JSON: Expecting property name .*line 1 column 2"),
        ("", "answer.json is not JSON: Expecting value"),
        ("[" * 100_000, "answer.json is not JSON: RecursionError"),
        ("[]", "answer.json must be a mapping"),
        (
            '{"outptu": 1, "cost": -1, "trace": {}}',
            """'outptu' is no field .*mean "output".*; "cost" must be .*; "trace" must be a list""",
        ),
        ('{"cost": NaN}', '"cost" must be a number from 0'),
        ('{"cost": true}', '"cost" must be a number from 0'),
        ('{"success_self_reported": "yes"}', '"success_self_reported" must be true or false'),
        ('{"diff": ["a"]}', '"diff" must be a text, not a value of type list'),
        ('{"replacements": 5}', '"replacements" must be a list'),
        ('{"replacements": [{"path": "a"}]}', 'replacement 1 must have "path", "search" and'),
        (
            '{"replacements": [{"path": "a", "search": 1, "replace": null}]}',
            "replacement 1: search, replace must be a text",
        ),
    ],
)
def test_a_malformed_answer_is_told(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "answer").write_text(text)
    with pytest.raises(CandidateError, match=words):
        HostCommand(f"cp {tmp_path}/answer $LABKIT_ANSWER")(CASE, trial(tmp_path))


@pytest.mark.parametrize("script", ["ln -s $LABKIT_INPUT $LABKIT_ANSWER", "mkfifo $LABKIT_ANSWER"])
def test_an_answer_that_is_no_file_is_never_read(make: Make, tmp_path: Path, script: str) -> None:
    with pytest.raises(CandidateError, match=r"answer\.json is (a link|no plain file|not a file)"):
        make(script)(CASE, trial(tmp_path))


def test_an_answer_that_is_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match=r"answer\.json is not a file"):
        HostCommand("mkdir $LABKIT_ANSWER")(CASE, trial(tmp_path))


def test_search_replace_blocks_are_replacements(tmp_path: Path) -> None:
    block = "calc.py\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n"
    (tmp_path / "answer").write_text(json.dumps({"replacements": block}))
    answer = HostCommand(f"cp {tmp_path}/answer $LABKIT_ANSWER")(CASE, trial(tmp_path))
    assert [edit.path for edit in answer.replacements or ()] == ["calc.py"]


@pytest.fixture
def quick(sandbox: Sandbox) -> Make:
    """Return what makes a command that has a second."""
    limits = replace(LIMITS, seconds=1)
    return lambda text: Command(text, sandbox=sandbox, image=IMAGE, limits=limits)


def test_a_hang_is_ended(quick: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    begun = time.monotonic()
    with pytest.raises(TimedOut, match=r"^had not ended after 1 s$"):
        quick(f"trap '' TERM; echo x > new; (setsid sleep {LONG} &); sleep {LONG}")(CASE, given)
    assert time.monotonic() - begun < 10
    assert all_gone()
    assert files(given.scratch) == {"calc.py": "one = 1\n"}


def test_a_hang_on_this_machine_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    command = f"trap '' TERM; (setsid env -i sleep {LONG} &); sleep {LONG}"
    with pytest.raises(TimedOut, match=r"^had not ended after 0.5 s$"):
        HostCommand(command, timeout=0.5)(CASE, trial(tmp_path))
    HostCommand(f"setsid sleep {LONG} & exit 0", timeout=5)(CASE, trial(tmp_path))
    assert not alive()


def test_too_much_memory_has_its_own_words(sandbox: Sandbox, tmp_path: Path) -> None:
    require_memory_reports(sandbox)
    hog = "exec python3 -c 'held = [bytearray(10**6) for _ in range(2000)]'"
    with pytest.raises(CandidateError, match=r"took more than 256 MiB of memory|MemoryError"):
        Command(hog, sandbox=sandbox, image=IMAGE, limits=LIMITS)(CASE, trial(tmp_path))


def test_too_many_words_are_no_answer(make: Make, tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="the command printed more than 4,194,304 bytes"):
        make("head -c 5000000 /dev/zero")(CASE, trial(tmp_path))


def test_much_on_standard_error_is_no_matter(make: Make, tmp_path: Path) -> None:
    answer = make("head -c 9000000 /dev/zero >&2; echo 4")(CASE, trial(tmp_path))
    assert answer.output == "4\n"


def test_files_too_large_to_read_back_are_no_answer(sandboxed: Make, tmp_path: Path) -> None:
    given = trial(tmp_path)
    with pytest.raises(CandidateError, match="left big: too large: 104857600 bytes"):
        sandboxed("truncate -s 100M big")(CASE, given)
    with pytest.raises(ReturnedTooLargeError):
        sandboxed("for n in 1 2 3 4 5 6; do truncate -s 60M $n; done")(CASE, given)
    assert files(given.scratch) == {"calc.py": "one = 1\n"}


def test_a_sandbox_that_fails_is_no_fault_of_the_candidates(
    docker_sandbox: DockerSandbox, tmp_path: Path
) -> None:
    command = Command("echo 4", sandbox=docker_sandbox, image="labkit-no-such-image:1")
    with pytest.raises(InfrastructureError):
        command(CASE, trial(tmp_path))


@contextmanager
def closed_while_running(command: HostCommand) -> Iterator[None]:
    import threading  # noqa: PLC0415 - here only

    timer = threading.Timer(0.4, command.close)
    timer.start()
    yield
    timer.join()


def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    command = HostCommand(f"sleep {LONG}")
    with closed_while_running(command), pytest.raises(CandidateError, match="because the run was"):
        command(CASE, trial(tmp_path))
    assert not alive()


def test_a_command_of_this_machine_that_replaces_its_folder_has_escaped(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("precious")
    for script in (f"rm -r $PWD; ln -s {victim} $PWD", "rm -r $PWD"):
        with pytest.raises(Escaped, match="the scratch folder itself was replaced or removed"):
            HostCommand(script)(CASE, trial(tmp_path))
    assert (victim / "file").read_text() == "precious"


def test_words_and_texts_are_commands(tmp_path: Path) -> None:
    assert HostCommand(["printf", "%s", "$HOME *"])(CASE, trial(tmp_path)).output == "$HOME *"
    nothings: tuple[str | list[str], ...] = ("", "  ", [], "a\0b")
    for nothing in nothings:
        with pytest.raises(InputError, match="command") as caught:
            HostCommand(nothing)
        assert caught.value.hint


def test_inputs_that_no_file_can_hold_are_told(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="the case's inputs holds a object"):
        HostCommand("echo")(case(object()), trial(tmp_path))


def test_nothing_private_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    HostCommand("cat $LABKIT_INPUT")(CASE, trial(tmp_path))
    with pytest.raises(CandidateError):
        HostCommand("exit 1")(CASE, trial(tmp_path))
    assert not list((tmp_path / "temporary").iterdir())


def test_a_suite_is_run_by_several_threads(sandbox: Sandbox, tmp_path: Path) -> None:
    cases = [
        replace(case(count), id=f"case-{count}", grader_spec={"name": "exact", "expected": "7"})
        for count in range(3)
    ]
    command = Command("echo $LABKIT_SEED", sandbox=sandbox, image=IMAGE, limits=LIMITS)
    report = EvalRunner(candidate=command, n=2, seed=7, workers=3).run(
        EvalSuite(cases), folder=tmp_path / "run"
    )
    assert [each.passes for each in report.cases] == [1, 1, 1]
    samples = [sample for each in report.cases for sample in each.samples]
    assert {sample.status for sample in samples} == {Status.GRADED}
    assert all(sample.edits == () for sample in samples)
