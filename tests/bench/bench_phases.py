"""What a trivial run and a trivial grade cost in Docker, whole, from base commit to record.

Each beside two references measured in turn with it: the bare engine's sequence on the same
container (create, put, start, wait, get, remove; aim at most 1.3), and a shell script around
`docker run` with bind mounts, git worktrees and `git apply` (aim at most 1.2).

Run: PYTHONPATH=tests python tests/bench/bench_phases.py [rounds]
"""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from gitrepo import Project, make_project
from runs import LIMITS, NOW, a_configuration, a_task

from labkit.archive import Entry, Kind, write_tar
from labkit.export import read_base, workspace_tar
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.plan import PlannedRun
from labkit.sandbox.container import container_settings
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit.sandbox.interface import Collect, Outcome, Spec, Streams, T
from labkit_grader.execute import Bench as GradeBench
from labkit_grader.grade import RunEvidence, grade_run
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_runner.agents.command import CommandAgent
from labkit_runner.attempt import Bench, Job, perform

A = ConfigurationId("A")
TASK = TaskId("bug-a")
FIX = "sed -i 's/a - b/a + b/' calc.py"
HIDDEN = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
EVIDENCE = b'{"fail_to_pass": ["tests/test_hidden.py::test_add"], "pass_to_pass": []}'

# The same evidence as labkit keeps, as a lab's own scripts would make it.
RUN_SCRIPT = f"""
set -e
raw="$2.raw"; rm -rf "$raw"; mkdir -p "$raw"
git -C "$1" worktree add --quiet --force --detach "$2" base
start=$(date +%s.%N)
docker run --rm --network none -v "$2":/workspace -w /workspace {BASE_TAG} \\
    sh -c "{FIX}; echo done" > "$raw/transcript.txt" 2> "$raw/stderr.txt"
end=$(date +%s.%N)
awk -v a="$start" -v b="$end" 'BEGIN {{ printf "%.2f\\n", (b - a) / 60 }}' > "$raw/minutes.txt"
git -C "$2" add -A
git -C "$2" diff --cached --binary HEAD > "$raw/diff.patch"
git -C "$2" diff --cached --stat HEAD -- tests/ > "$raw/test-diff-stat.txt"
git -C "$1" worktree remove --force "$2"
"""
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


class Recorder:
    """A sandbox that notes the specs given to it: the references run the very same containers."""

    name = "docker"

    def __init__(self, sandbox: DockerSandbox) -> None:
        self._sandbox = sandbox
        self.last: Spec | None = None

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Note the spec and run it."""
        self.last = spec
        return self._sandbox.run(spec, streams, collect)

    def __getattr__(self, name: str) -> object:
        return getattr(self._sandbox, name)


def bare(sandbox: DockerSandbox, spec: Spec, content: bytes) -> None:
    """Run a spec's container by the six calls that any tool needs, with the same bytes put in."""
    api = sandbox.api
    # The archive calls do not reach folders in memory, so the bytes go into the volume here.
    spec = replace(spec, memory_folders=())
    settings = container_settings(api, spec, image=spec.image, cpus=1.0)
    work = {"working_dir": spec.returned, "entrypoint": list(spec.argv), "command": None}
    made = api.create_container(**{**settings, **work, "stdin_open": False})["Id"]
    api.put_archive(made, spec.returned, content)
    api.start(made)
    api.wait(made)
    chunks, _ = api.get_archive(made, spec.returned, chunk_size=1 << 20)
    assert sum(map(len, chunks)) > 0
    api.remove_container(made, v=True, force=True)


def project(folder: Path) -> Project:
    """Make a project of 54 files with one fault."""
    made = make_project(folder)
    files = {f"part{n % 9}/file{n}.py": f"value = {n}\n" * 150 for n in range(52)}
    fault = {"calc.py": "def add(a, b):\n    return a - b\n", "tests/test_calc.py": "x = 1\n"}
    made.commit({**files, **fault}, "base")
    made.git("tag", "base")
    return made


def run_ways(sandbox: DockerSandbox, made: Project, folder: Path) -> dict[str, Callable[[], None]]:
    """Return the ways to make a run."""
    base = read_base(made.repository, "base")
    tar = workspace_tar(made.repository, base)
    recorder = Recorder(sandbox)
    bench = Bench(
        sandbox=recorder,  # type: ignore[arg-type]  # the rest is passed on
        image=BASE_TAG,
        limits=LIMITS,
        repository=made.repository,
        suite_version="v",
        workspace_id="bench",
        now=lambda: NOW,
    )
    job = Job(
        planned=PlannedRun(order=1, run=RunId(TASK, A, 1), runner=Member("ana"), seed=1),
        task=a_task(),
        configuration=a_configuration(
            A, agent="command", command=("sh", "-c", f"{FIX}; echo done")
        ),
        agent=CommandAgent(),
        base=base,
        base_tar=tar,
    )
    numbers = itertools.count()
    script = [str(made.folder), str(folder / "worktree")]

    def labkit() -> None:
        target = folder / f"run{next(numbers)}"
        perform(bench, job, target)
        assert b"+    return a + b" in (target / "diff.patch").read_bytes()

    def by_shell() -> None:
        shell(RUN_SCRIPT, script)

    labkit()
    assert recorder.last is not None
    spec = recorder.last
    return {
        "labkit": labkit,
        "bare engine": lambda: bare(sandbox, spec, tar),
        "shell script": by_shell,
    }


def shell(script: str, words: list[str]) -> str:
    """Run a script as a lab's own loop does."""
    done = subprocess.run(
        ["bash", "-c", script, "bench", *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def grade_ways(
    sandbox: DockerSandbox, made: Project, folder: Path
) -> dict[str, Callable[[], None]]:
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
    bench = GradeBench(sandbox=recorder, image=BASE_TAG, limits=LIMITS)  # type: ignore[arg-type]  # the rest is passed on
    evidence = RunEvidence(
        run=RunId(TASK, A, 1), suite_version="v", commitment="c", diff=patch, transcript=b"done\n"
    )
    where = [made.folder, folder / "worktree", folder / "fix.patch", folder / "hidden.py"]
    script = [str(path) for path in where]

    def labkit() -> None:
        assert grade_run(bench, case, evidence).verdict == "pass"

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
        "labkit": labkit,
        "bare engine": lambda: bare(sandbox, spec, content),
        "shell script": by_shell,
    }


def measure(ways: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each way, taken in turn after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - began) * 1000)
    return {name: median(taken[1:]) for name, taken in times.items()}


@contextmanager
def docker() -> Iterator[DockerSandbox]:
    """Give the Docker sandbox with the kit's image."""
    sandbox = DockerSandbox.connect()
    ensure_image(sandbox.api, BASE_TAG, progress=print)
    yield sandbox
    sandbox.close()


def main() -> None:
    """Measure runs and grades, and print the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as made, docker() as sandbox:
        folder = Path(made)
        sample = project(folder / "project")
        for phase, ways in (
            ("run", run_ways(sandbox, sample, folder)),
            ("grade", grade_ways(sandbox, sample, folder)),
        ):
            took = measure(ways, rounds)
            for name, milliseconds in took.items():
                print(f"{phase:<6} {name:<13} {milliseconds:6.0f} ms")
            bare_ratio = took["labkit"] / took["bare engine"]
            shell_ratio = took["labkit"] / took["shell script"]
            print(f"{phase:<6} to the bare engine {bare_ratio:.2f} (aim: at most 1.3)")
            print(f"{phase:<6} to the shell script {shell_ratio:.2f} (aim: at most 1.2)")


if __name__ == "__main__":
    main()
