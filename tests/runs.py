"""Runs of agents for tests: a small lab on a real project, and its sessions."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gitrepo import Project
from sandboxes import IMAGE, bubblewrap_cache, make_docker

from labkit.configurations import Configuration
from labkit.export import read_base, workspace_tar
from labkit.model import Category, ConfigurationId, Member, RunId, TaskId
from labkit.nodes import dump_yaml
from labkit.plan import PlannedRun, interleave
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.interface import Limits, Sandbox
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file
from labkit_runner.agents.registry import agent_named
from labkit_runner.arms import Arm
from labkit_runner.job import Bench, Job
from labkit_runner.session import Session
from labkit_runner.stopping import Stop
from labkit_runner.tries import Progress

A, B = ConfigurationId("A"), ConfigurationId("B")
LIMITS = Limits(seconds=60, memory=512, processes=64, scratch=64)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def a_task(name: str = "bug-a", base: str = "base") -> Task:
    """Return a task with nothing special in it."""
    return Task(
        id=TaskId(name),
        title="t",
        author="ana",
        category=Category.BUGFIX,
        base=base,
        solution="main",
        prompt="Mend it, please.\n",
        grading="python -m pytest",
        forbidden=(),
        allowed=(),
        slices=(),
        tags=(),
        notes="",
    )


def a_configuration(identity: ConfigurationId = A, **changes: object) -> Configuration:
    """Return a configuration of the scripted agent; `changes` are its fields."""
    plain = Configuration(
        id=identity,
        agent="scripted",
        agent_version="1",
        model="m",
        effort="",
        settings={},
        command=(),
        steps=f"steps/{identity}",
        turn_cap=50,
        notes="",
    )
    return replace(plain, **changes)  # type: ignore[arg-type] # a test's own typing errors show


class Hurried(Stop):
    """A stop that notes how long it was to wait, and does not."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


@dataclass(slots=True)
class Lab:
    """A lab whose agents play steps; `told` is what its sessions said."""

    project: Project
    sandbox: Sandbox
    limits: Limits = LIMITS
    image: str = IMAGE
    told: list[Progress] = field(default_factory=list)
    stop: Hurried = field(default_factory=Hurried)

    @property
    def workspace(self) -> Workspace:
        """The lab's paths."""
        return Workspace(self.project.folder)

    @property
    def bench(self) -> Bench:
        """What its runs share."""
        return Bench(
            sandbox=self.sandbox,
            image=self.image,
            limits=self.limits,
            repository=self.project.repository,
            suite_version="v1",
            workspace_id=self.workspace.label,
            now=lambda: NOW,
        )

    def steps(self, run: RunId, steps: Sequence[Mapping[str, object]]) -> None:
        """Write the steps of one run."""
        folder = self.workspace.evals / "configs" / "steps" / str(run.configuration)
        write_file(folder / f"{run.task}__{run.attempt}.yaml", dump_yaml({"steps": list(steps)}))

    def job(self, configuration: Configuration, run: RunId) -> Job:
        """Return everything that one run needs."""
        repository = self.project.repository
        base = read_base(repository, "base")
        return Job(
            planned=PlannedRun(order=1, run=run, runner=Member("ana"), seed=7),
            task=a_task(str(run.task)),
            configuration=configuration,
            agent=agent_named(configuration.agent, self.workspace),
            base=base,
            base_tar=workspace_tar(repository, base),
        )

    def plan(self, *names: str) -> tuple[PlannedRun, ...]:
        """Plan one attempt of each task under A and B."""
        tasks = [(TaskId(name), Member("ben")) for name in names]
        return interleave(tasks, [A, B], 1, [Member("ana")])

    def session(self, *names: str) -> Session:
        """Return a session over these tasks under A and B."""
        return Session(
            workspace=self.workspace,
            bench=self.bench,
            tasks={TaskId(name): a_task(name) for name in names},
            arms=arms(self.workspace, a_configuration(A), a_configuration(B)),
            listener=self.told.append,
            stop=self.stop,
        )


def arms(workspace: Workspace, *configurations: Configuration) -> dict[ConfigurationId, Arm]:
    """Return arms of configurations that ask no model."""
    return {
        found.id: Arm(configuration=found, agent=agent_named(found.agent, workspace))
        for found in configurations
    }


@contextmanager
def sandbox_named(name: str, scratch: Path) -> Iterator[Sandbox]:
    """Give a sandbox of one's own, for processes that are killed and for their successors."""
    if name == "bubblewrap":
        yield bubblewrap_sandbox(cache=bubblewrap_cache(), scratch=scratch)
        return
    made = make_docker()
    try:
        yield made
    finally:
        made.close()


def main(folder: str, name: str, scratch: str, *tasks: str) -> None:
    """Run a whole session: what a test starts as a process of its own, and kills."""
    with sandbox_named(name, Path(scratch)) as sandbox:
        lab = Lab(Project(Path(folder)), sandbox)
        lab.session(*tasks).run_all(lab.plan(*tasks))


if __name__ == "__main__":
    main(*sys.argv[1:])
