"""Runs in their planned order: retried, resumed, never redone and never lost."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from labkit.building import (
    NOTHING_BUILT,
    Built,
    NotBuilt,
    Surroundings,
    Workbench,
    build_tree,
)
from labkit.configurations import Configuration
from labkit.errors import InfrastructureError, InputError, ToolError, refuse
from labkit.export import Base, read_base, workspace_tar
from labkit.instructions import instructing, laid, read_instructions
from labkit.model import ConfigurationId, RunId, TaskId
from labkit.plan import PlannedRun
from labkit.records import MissingRecord, RunRecord, load_missing
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit_runner.agents.interface import WORKSPACE
from labkit_runner.agents.registry import agent_named
from labkit_runner.attempt import perform, request
from labkit_runner.crew import Crew, Gate
from labkit_runner.job import Bench, Job
from labkit_runner.stopping import Stop
from labkit_runner.tries import Listener, Progress, Shelf, Tries

_BROKEN_IN_A_ROW = 3


def let_all(_pair: Sequence[PlannedRun], _beside: Sequence[PlannedRun]) -> str:
    """Refuse no pair: there is no budget."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Everything that a series of runs needs."""

    workspace: Workspace
    bench: Bench
    tasks: dict[TaskId, Task]
    configurations: dict[ConfigurationId, Configuration]
    listener: Listener
    surroundings: Mapping[TaskId, Surroundings] = field(default_factory=dict)
    """What tasks are run in; a task without uses the bench's own image."""
    shelf: Shelf | None = None
    """None: the study's own."""
    jobs: int = 1
    gate: Gate = let_all
    """Whether a pair may be begun: it would be within the budget."""
    stop: Stop = field(default_factory=Stop)
    bases: Callable[[TaskId], "_Start"] = field(init=False)
    starts: Callable[[TaskId, str], "_Start"] = field(init=False)
    _starting: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        # The runs of a task are planned one after the other, and a base may be large: keep few,
        # and what the two sides of a comparison make of them.
        object.__setattr__(self, "bases", lru_cache(maxsize=self.jobs)(self._base))
        object.__setattr__(self, "starts", lru_cache(maxsize=2 * self.jobs)(self._start))

    def run_all(self, planned: Sequence[PlannedRun]) -> tuple[RunRecord, ...]:
        """Perform the runs, begun in this order, and return the finished ones.

        A run that the infrastructure broke every time is recorded as missing and the session goes
        on; after three missing runs in a row the sandbox itself must be broken: ToolError. What no
        waiting mends (no credit, a key that is not taken) ends the session at once, as `stop` then
        says. A run whose agent cannot be started as it is set up is an InputError before the first.
        """
        self._require_launchable(planned)
        places = {item.run: place for place, item in enumerate(planned, 1)}
        tries = Tries(attempt=self._attempt, shelf=self._shelf, stop=self.stop, now=self.bench.now)
        crew = Crew[Progress, RunRecord | None](
            work=lambda item, tell: tries.run_one(item, (places[item.run], len(planned)), tell),
            hear=self.listener,
            end=self._end,
            jobs=self.jobs,
            stop=self.stop,
            gate=self.gate,
        )
        finished: list[RunRecord] = []
        in_a_row, broken = 0, ""
        for item, record in crew.results(planned):
            if record is not None:
                finished.append(record)
            in_a_row = 0 if record is not None else in_a_row + 1
            if in_a_row == _BROKEN_IN_A_ROW and not self.stop.why:
                broken = f"{in_a_row} runs in a row were broken: {self._last_reason(item.run)}"
                self.stop.ask(broken)
        if broken:
            raise ToolError(
                broken,
                hint="labkit doctor says what is wrong; the same command goes on from here",
            )
        return tuple(finished)

    def _last_reason(self, run: RunId) -> str:
        return load_missing(self._shelf.lost(run)).reasons[-1]

    @property
    def _shelf(self) -> Shelf:
        return self.shelf or Shelf.of(self.workspace)

    def _require_launchable(self, planned: Sequence[PlannedRun]) -> None:
        problems: dict[str, None] = {}
        for item in planned:
            task = self.tasks[item.run.task]
            configuration = self.configurations[item.run.configuration]
            try:
                agent = agent_named(configuration.agent, self.workspace)
                agent.launch(request(item, task, configuration))
                read_instructions(self.workspace, configuration.instructions)
            except InputError as error:
                problems.update(dict.fromkeys(error.problems))
        refuse(tuple(problems), hint="mend the configuration or its steps")

    def _end(self, item: PlannedRun) -> None:
        """End a run that is at work; it may be building its base yet."""
        for name in (str(item.run), _building(item.run.task)):
            self.bench.sandbox.kill({"labkit.lab": self.bench.workspace_id, "labkit.run": name})

    def _attempt(self, item: PlannedRun, before: MissingRecord) -> RunRecord:
        job = replace(self._job(item), earlier_failures=before.reasons, voided=before.voided)
        return perform(self.bench, job, self._shelf.raw / str(item.run))

    def _job(self, item: PlannedRun) -> Job:
        task = self.tasks[item.run.task]
        configuration = self.configurations[item.run.configuration]
        with self._starting:  # what two runs at once start from is made once
            start = self.starts(task.id, configuration.instructions)
        agent = agent_named(configuration.agent, self.workspace)
        return Job(
            planned=item,
            task=task,
            configuration=configuration,
            agent=agent,
            memory=instructing(start.built.over(start.base.files()), agent.memory, WORKSPACE),
            base=start.base,
            base_tar=start.tar,
            surroundings=self.surroundings.get(task.id),
            built=start.built,
        )

    def _start(self, name: TaskId, instructions: str) -> "_Start":
        """Return what a task's runs start from under configurations with these instructions.

        Raises InputError when the base has no room for them.
        """
        start = self.bases(name)
        files = read_instructions(self.workspace, instructions)
        built = laid(start.built, files, start.base.files()) if files else start.built
        tree = built.over(start.base.files())
        tar = workspace_tar(self.bench.repository, start.base, files=tree.values(), laid=files)
        return replace(start, built=built, tar=tar)

    def _base(self, name: TaskId) -> "_Start":
        """Return a task's base; what its build commands make is in it already, but no tar yet.

        Raises InfrastructureError when they fail: nothing can be measured then.
        """
        base = read_base(self.bench.repository, self.tasks[name].base)
        return _Start(base=base, built=self._built(name, base))

    def _built(self, name: TaskId, base: Base) -> Built:
        place = self.surroundings.get(name)
        if place is None or not place.build:
            return NOTHING_BUILT
        bench = Workbench(
            sandbox=self.bench.sandbox,
            surroundings=place,
            limits=self.bench.limits,
            labels={"labkit.lab": self.bench.workspace_id, "labkit.run": _building(name)},
        )
        built = build_tree(bench, base.files())
        if isinstance(built, NotBuilt):
            raise InfrastructureError(f"task {name} could not be set up: {built.reason}")
        return built


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What the runs of a task start from."""

    base: Base
    built: Built
    tar: bytes = b""


def _building(task: TaskId) -> str:
    return f"build of {task}"
