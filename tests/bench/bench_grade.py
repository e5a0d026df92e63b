"""What a trivial grade costs in Docker, whole, from the diff to the verdict.

Beside two references measured in turn with it: the bare engine's sequence on the same container
(aim at most 1.2; 2.2 where a run that passed is run again with wrong expectations, its twin), and a
shell script around `docker run` with bind mounts. All of them run pytest on the one hidden test
file.

Run: PYTHONPATH=tests python tests/bench/bench_grade.py [rounds]
"""

import json
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.reference import BARE, SHELL, Recorder, Ways, bare, measure, project, shell
from gitrepo import Project
from runs import LIMITS, a_task

from labkit.archive import Entry, Kind, write_tar
from labkit.export import read_base
from labkit.model import ConfigurationId, RunId, TaskId
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit_grader.execute import Bench
from labkit_grader.grade import RunEvidence, grade_run
from labkit_grader.material import EVIDENCE, read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.validate import validate_task

A = ConfigurationId("A")
TASK = TaskId("bug-a")
HIDDEN = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
ALONE, TWIN = "without a twin", "with its twin"
AIMS = {ALONE: 1.2, TWIN: 2.2}

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


def cases_of(bench: Bench, made: Project) -> dict[str, Case]:
    """Return the task as it is graded: with what makes a twin, where there is such, and without."""
    files = {"hidden/tests/test_hidden.py": HIDDEN.encode()}
    prompt = "Adding two numbers gives their difference; it should give their sum.\n"
    task = replace(a_task(), forbidden=("tests/",), prompt=prompt)
    case = Case(
        task=task,
        repository=made.repository,
        base=read_base(made.repository, "base"),
        material=read_material(files, task.category),
    )
    evidence = validate_task(bench, case, repeats=1)
    assert evidence.problems == (), evidence.problems
    values = json.loads(evidence.draft_text)
    guarded = {TWIN: values} if values.get("guards", {}).get("noticed") else {}
    kinds = {ALONE: {name: value for name, value in values.items() if name != "guards"}} | guarded
    return {
        kind: replace(
            case,
            material=read_material({**files, EVIDENCE: json.dumps(values).encode()}, task.category),
        )
        for kind, values in kinds.items()
    }


def graded(bench: Bench, case: Case, patch: bytes) -> None:
    """Grade a diff that passes."""
    evidence = RunEvidence(
        run=RunId(TASK, A, 1), suite_version="v", commitment="c", diff=patch, transcript=b"done\n"
    )
    record = grade_run(bench, case, evidence)
    assert record.verdict == "pass", record.reason


def grade_ways(sandbox: DockerSandbox, made: Project, folder: Path) -> Ways:
    """Return the ways to grade a run."""
    made.commit({"calc.py": "def add(a, b):\n    return a + b\n"}, "fix")
    patch = made.repository.diff("base", "HEAD")
    (folder / "fix.patch").write_bytes(patch)
    (folder / "hidden.py").write_text(HIDDEN, encoding="utf-8")
    recorder = Recorder(sandbox)
    bench = Bench(sandbox=recorder, image=BASE_TAG, limits=LIMITS)  # type: ignore[arg-type]  # the rest is passed on
    cases = cases_of(bench, made)
    graded(bench, cases[ALONE], patch)
    assert recorder.last is not None
    pytest_argv = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_hidden.py")
    spec = replace(recorder.last, argv=pytest_argv, returned="/workspace", returned_file="")
    entry = Entry(path=b"tests/test_hidden.py", kind=Kind.FILE, data=HIDDEN.encode())
    content = write_tar([*read_base(made.repository, "HEAD").files(), entry])
    where = [made.folder, folder / "worktree", folder / "fix.patch", folder / "hidden.py"]
    script = [str(path) for path in where]

    def by_shell() -> None:
        assert shell(GRADE_SCRIPT, script) == "PASS\n"

    ours = {kind: partial(graded, bench, case, patch) for kind, case in cases.items()}
    return {**ours, BARE: lambda: bare(sandbox, spec, content), SHELL: by_shell}


def main() -> None:
    """Measure the ways to grade and print the medians and the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    sandbox = DockerSandbox.connect()
    ensure_image(sandbox.api, BASE_TAG, progress=print)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        took = measure(grade_ways(sandbox, project(folder / "project"), folder), rounds)
    sandbox.close()
    for name, milliseconds in took.items():
        print(f"{name:<15} {milliseconds:6.0f} ms")
    for kind in AIMS.keys() & took.keys():
        ratios = (took[kind] / took[BARE], took[kind] / took[SHELL])
        print(f"{kind:<15} to the bare engine {ratios[0]:.2f} (aim: at most {AIMS[kind]}), "
              f"to the shell script {ratios[1]:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
