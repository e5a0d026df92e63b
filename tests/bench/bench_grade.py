"""What a trivial grade costs in Docker, whole, from the diff to the verdict.

Beside two references measured in turn with it: the bare engine's sequence on the same container
(aim at most 1.3), and a shell script around `docker run` with bind mounts (aim at most 1.2). All
three run pytest on the one hidden test file.

Run: PYTHONPATH=tests python tests/bench/bench_grade.py [rounds]
"""

from dataclasses import replace
from pathlib import Path

from bench.reference import BARE, LABKIT, SHELL, Recorder, Ways, bare, report, shell
from gitrepo import Project
from runs import LIMITS, a_task

from labkit.archive import Entry, Kind, write_tar
from labkit.export import read_base
from labkit.model import ConfigurationId, RunId, TaskId
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG
from labkit_grader.execute import Bench
from labkit_grader.grade import RunEvidence, grade_run
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case

A = ConfigurationId("A")
TASK = TaskId("bug-a")
HIDDEN = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
EVIDENCE = b'{"fail_to_pass": ["tests/test_hidden.py::test_add"], "pass_to_pass": []}'

GRADE_SCRIPT = f"""
set -e
raw="$2.raw"; mkdir -p "$raw"
git -C "$1" worktree add --quiet --force --detach "$2" base
git -C "$2" apply "$3"
mkdir -p "$2/tests" && cp "$4" "$2/tests/test_hidden.py"
if docker run --rm --network none -v "$2":/workspace -w /workspace {BASE_TAG} \\
    python -m pytest -q tests/test_hidden.py > "$raw/grade.txt"; then
    echo PASS > "$raw/result.txt"
else
    echo FAIL > "$raw/result.txt"
fi
git -C "$1" worktree remove --force "$2"
cat "$raw/result.txt"
"""


def grade_ways(sandbox: DockerSandbox, made: Project, folder: Path) -> Ways:
    """Return the ways to grade a run."""
    base = read_base(made.repository, "base")
    files = {"hidden/tests/test_hidden.py": HIDDEN.encode(), "evidence.json": EVIDENCE}
    task = replace(a_task(), forbidden=("tests/",))
    case = Case(
        task=task,
        repository=made.repository,
        base=base,
        material=read_material(files, task.category),
    )
    made.commit({"calc.py": "def add(a, b):\n    return a + b\n"}, "fix")
    patch = made.repository.diff("base", "HEAD")
    (folder / "fix.patch").write_bytes(patch)
    (folder / "hidden.py").write_text(HIDDEN, encoding="utf-8")
    recorder = Recorder(sandbox)
    bench = Bench(sandbox=recorder, image=BASE_TAG, limits=LIMITS)  # type: ignore[arg-type]  # the rest is passed on
    evidence = RunEvidence(
        run=RunId(TASK, A, 1), suite_version="v", commitment="c", diff=patch, transcript=b"done\n"
    )
    where = [made.folder, folder / "worktree", folder / "fix.patch", folder / "hidden.py"]
    script = [str(path) for path in where]

    def labkit() -> None:
        record = grade_run(bench, case, evidence)
        assert record.verdict == "pass", record.reason

    labkit()
    assert recorder.last is not None
    pytest_argv = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_hidden.py")
    spec = replace(recorder.last, argv=pytest_argv, returned="/workspace")
    entry = Entry(path=b"tests/test_hidden.py", kind=Kind.FILE, data=HIDDEN.encode())
    fixed = read_base(made.repository, "HEAD")
    content = write_tar([*fixed.files(), entry])

    def by_shell() -> None:
        assert shell(GRADE_SCRIPT, script) == "PASS\n"

    return {
        LABKIT: labkit,
        BARE: lambda: bare(sandbox, spec, content),
        SHELL: by_shell,
    }


if __name__ == "__main__":
    report("grade", grade_ways)
