"""What a trivial run costs in Docker, whole, from the base commit to the record.

Beside two references measured in turn with it: the bare engine's sequence on the same container
(aim at most 1.3), and a shell script around `docker run` with bind mounts (aim at most 1.2).

Run: PYTHONPATH=tests python tests/bench/bench_run.py [rounds]
"""

import itertools
from pathlib import Path

from bench.reference import BARE, LABKIT, SHELL, Recorder, Ways, bare, report, shell
from gitrepo import Project
from runs import LIMITS, NOW, a_configuration, a_task

from labkit.export import read_base, workspace_tar
from labkit.model import ConfigurationId, Member, RunId, TaskId
from labkit.plan import PlannedRun
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG
from labkit_runner.agents.command import CommandAgent
from labkit_runner.attempt import perform
from labkit_runner.job import Bench, Job

A = ConfigurationId("A")
TASK = TaskId("bench-run")  # tests in the same engine kill runs by name: not this one
FIX = "sed -i 's/a - b/a + b/' calc.py"

# The same evidence as labkit keeps, as a lab's own script would make it.
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


def run_ways(sandbox: DockerSandbox, made: Project, folder: Path) -> Ways:
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
        task=a_task(str(TASK)),
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
        LABKIT: labkit,
        BARE: lambda: bare(sandbox, spec, tar),
        SHELL: by_shell,
    }


if __name__ == "__main__":
    report("run", run_ways)
