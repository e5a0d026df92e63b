"""What a grade costs here and with `swebench` from the package index, on the same tasks.

It is installed into a virtual environment of its own (half a gigabyte; kept in the folder that is
given). Its images are made here, out of the kit's: the base of a task in a git repository in
/testbed, as it expects. Each side grades the solution, in turn; then both are given a patch that
solves nothing but makes every test report a pass.

Run: PYTHONPATH=tests python tests/bench/bench_swebench.py FOLDER [rounds]
"""

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import IO, Any

from gradings import BASE, CALC, FIXED, HIDDEN, Files, Set, bench_of, make_set, validated
from sandboxes import make_docker

from labkit.model import Verdict
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG
from labkit_grader.execute import Bench

PACKAGE = "swebench==5.0.2"
MANY = "from calc import add\nimport pytest\n\n" + "".join(
    f"\ndef test_add_{n}():\n    assert add({n}, {n + 1}) == {2 * n + 1}\n" for n in range(200)
)
SLOW = (
    HIDDEN + "\n\ndef test_slow():\n    import time\n    time.sleep(2)\n    assert add(1, 1) == 2\n"
)
FILES: Files = {f"part{n % 9}/file{n}.py": f"value = {n}\n" * 150 for n in range(52)}
TASKS = {"three tests": HIDDEN, "200 tests": MANY, "two seconds": SLOW}
CONFTEST = (
    "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\n"
    "def pytest_runtest_makereport(item, call):\n"
    "    outcome = yield\n    report = outcome.get_result()\n"
    "    report.outcome = 'passed'\n    report.longrepr = None\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """One task for both sides."""

    name: str
    ours: Set
    theirs: dict[str, Any]


def both_of(sandbox: DockerSandbox, bench: Bench, folder: Path, name: str) -> Both:
    """Make a task, prove it here, and make its image and instance for the other side."""
    hidden = TASKS[name]
    made = validated(
        make_set(
            folder / name,
            base={**BASE, **FILES},
            draft={"hidden/tests/test_hidden.py": hidden},
            forbidden=(),
        ),
        bench,
    )
    expected = made.case.material.evidence
    assert expected is not None
    image = f"labkit-bench-swebench:{name.replace(' ', '-')}"
    make_image(sandbox, made, image)
    patch = made.project.diff(made.case.task.base, {"tests/test_hidden.py": hidden}).decode()
    instance = {
        "instance_id": f"labkit__{name.replace(' ', '-')}",
        "image": image,
        "repo": "labkit/bench",
        "version": "1",
        "FAIL_TO_PASS": list(expected.fail_to_pass),
        "PASS_TO_PASS": list(expected.pass_to_pass),
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "eval_script": eval_script(patch),
    }
    return Both(name=name, ours=made, theirs=instance)


def eval_script(patch: str) -> str:
    """Return a script of the shape that the published data sets have."""
    return (
        "#!/bin/bash\nset -uxo pipefail\ncd /testbed\n"
        f"git apply -v - <<'EOF_114329324912'\n{patch}EOF_114329324912\n"
        ": '>>>>> Start Test Output'\n"
        "python -m pytest -rA -p no:cacheprovider tests/test_hidden.py\n"
        ": '>>>>> End Test Output'\n"
        "git checkout HEAD -- tests\n"
    )


def make_image(sandbox: DockerSandbox, made: Set, tag: str) -> None:
    """Put a task's base into an image, as a git repository of one commit."""
    api = sandbox.api
    script = (
        "cd /testbed && git init -q && git add -A && "
        "git -c user.name=b -c user.email=b@example.org commit -q -m base"
    )
    made_in = api.create_container(BASE_TAG, ["sh", "-c", script], user="root")["Id"]
    try:
        api.put_archive(made_in, "/", _tar({f"testbed/{k}": v for k, v in _base(made)}))
        api.start(made_in)
        assert api.wait(made_in)["StatusCode"] == 0, api.logs(made_in)
        repository, name = tag.split(":")
        api.commit(made_in, repository=repository, tag=name)
    finally:
        api.remove_container(made_in, v=True, force=True)


def _base(made: Set) -> Iterator[tuple[str, bytes]]:
    for entry in made.case.base.files():
        yield entry.path.decode(), entry.data


def _tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


class Theirs:
    """The other harness, in a process that answers line by line."""

    def __init__(self, stdin: IO[str], stdout: IO[str]) -> None:
        self._stdin, self._stdout = stdin, stdout

    def grade(self, instance: dict[str, Any], patch: bytes) -> dict[str, Any]:
        """Grade a patch; returns `resolved`, `seconds`, and the `stop` that is part of them."""
        prediction = {
            "instance_id": instance["instance_id"],
            "model_name_or_path": "bench",
            "model_patch": patch.decode(),
        }
        self._stdin.write(json.dumps({"instance": instance, "prediction": prediction}) + "\n")
        self._stdin.flush()
        answer: dict[str, Any] = json.loads(self._stdout.readline())
        return answer


@contextmanager
def theirs_in(folder: Path) -> Iterator[Theirs]:
    """Install the package, unless the folder has it, and start it."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, PACKAGE], check=True)
    side = Path(__file__).with_name("swebench_side.py")
    with subprocess.Popen(
        [str(python), str(side)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Theirs(process.stdin, process.stdout)
        process.stdin.close()


def compare(task: Both, bench: Bench, theirs: Theirs, rounds: int) -> None:
    """Grade the solution on both sides in turn, and print the medians."""
    patch = task.ours.diff({"calc.py": FIXED})
    mine, whole, unstopped = [], [], []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        record = task.ours.graded(bench, patch)
        mine.append(time.perf_counter() - began)
        assert record.verdict is Verdict.PASS, record.reason
        answer = theirs.grade(task.theirs, patch)
        assert answer["resolved"]
        whole.append(answer["seconds"])
        unstopped.append(answer["seconds"] - answer["stop"])
    ours, all_of_it, without = (median(taken[1:]) for taken in (mine, whole, unstopped))
    print(
        f"{task.name:<12} labkit {ours:5.2f} s   swebench {all_of_it:5.2f} s, "
        f"{without:5.2f} s without ending its container   "
        f"ratio {ours / all_of_it:.2f} and {ours / without:.2f}"
    )


def attack(task: Both, bench: Bench, theirs: Theirs) -> None:
    """Give both sides a patch that is nothing but a conftest.py, and print what they say."""
    patch = task.ours.diff({"conftest.py": CONFTEST})
    record = task.ours.graded(bench, patch)
    answer = theirs.grade(task.theirs, patch)
    nothing = theirs.grade(task.theirs, task.ours.diff({"calc.py": CALC + "\n"}))
    print(f"a patch that is only a conftest.py: labkit {record.verdict.value} ({record.reason}), "
          f"swebench {'resolved' if answer['resolved'] else 'not resolved'}; without it swebench "
          f"says {'resolved' if nothing['resolved'] else 'not resolved'}")  # fmt: skip


def main() -> None:
    """Compare on every task, then attack."""
    folder = Path(sys.argv[1]).absolute()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    sandbox = make_docker()
    bench = bench_of(sandbox)
    with tempfile.TemporaryDirectory() as made, theirs_in(folder) as theirs:
        tasks = [both_of(sandbox, bench, Path(made), name) for name in TASKS]
        try:
            for task in tasks:
                compare(task, bench, theirs, rounds)
            attack(tasks[0], bench, theirs)
        finally:
            for task in tasks:
                sandbox.api.remove_image(task.theirs["image"], force=True)
    sandbox.close()


if __name__ == "__main__":
    main()
