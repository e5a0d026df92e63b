"""A member's runs in their planned order: retried, resumed, never redone and never lost."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
from labkit.instructions import laid, read_instructions
from labkit.model import ConfigurationId, RunId, TaskId
from labkit.plan import PlannedRun
from labkit.records import MissingRecord, RunRecord, load_missing, record_text
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file
from labkit_runner.agents.registry import agent_named
from labkit_runner.attempt import perform, request
from labkit_runner.job import Bench, Job
from labkit_runner.voided import kept, united, void

TRIES = 3
"""How often a run that the infrastructure broke is tried in one session."""
_BROKEN_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a session tells its caller after each try of a run."""

    place: int
    of: int
    run: RunId
    record: RunRecord | None
    """The finished run; None when this try was broken by the infrastructure."""
    failure: str = ""
    tries_left: int = 0


Listener = Callable[[Progress], None]


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
    bases: Callable[[TaskId], "_Start"] = field(init=False)
    starts: Callable[[TaskId, str], "_Start"] = field(init=False)

    def __post_init__(self) -> None:
        # The runs of a task are planned one after the other, and a base may be large: keep one,
        # and what the two sides of a comparison make of it.
        object.__setattr__(self, "bases", lru_cache(maxsize=1)(self._base))
        object.__setattr__(self, "starts", lru_cache(maxsize=2)(self._start))

    def run_all(self, planned: Sequence[PlannedRun]) -> tuple[RunRecord, ...]:
        """Perform the runs in order and return the finished ones.

        A run that the infrastructure broke every time is recorded as missing and the session goes
        on; after three missing runs in a row the sandbox itself must be broken: ToolError. A run
        whose agent cannot be started as it is set up is an InputError before the first run.
        """
        self._require_launchable(planned)
        finished: list[RunRecord] = []
        broken = 0
        for place, item in enumerate(planned, 1):
            record = self._run_one(item, place, len(planned))
            if record is not None:
                finished.append(record)
                broken = 0
                continue
            broken += 1
            if broken == _BROKEN_IN_A_ROW:
                reason = load_missing(self.workspace.missing(item.run)).reasons[-1]
                raise ToolError(
                    f"{broken} runs in a row were broken by the sandbox: {reason}",
                    hint="labkit doctor says what is wrong; the same command goes on from here",
                )
        return tuple(finished)

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

    def _run_one(self, item: PlannedRun, place: int, total: int) -> RunRecord | None:
        missing = self.workspace.missing(item.run)
        lost = load_missing(missing) if missing.is_file() else None
        failures, voided = (lost.reasons, lost.voided) if lost else ((), ())
        for left in reversed(range(TRIES)):
            try:
                voided = united(voided, kept(self.workspace.voided, item.run))
                job = replace(self.job(item), earlier_failures=failures, voided=voided)
                record = perform(self.bench, job, self.workspace.run(item.run))
            except InfrastructureError as error:
                when = self.bench.now().isoformat(timespec="seconds")
                failures = (*failures, f"{when} {error}")
                void(self.workspace.voided, item.run, error, when)
                self.listener(
                    Progress(
                        place=place, of=total, run=item.run, record=None,
                        failure=str(error), tries_left=left,
                    )
                )  # fmt: skip
                continue
            with suppress(FileNotFoundError):
                missing.unlink()
            self.listener(Progress(place=place, of=total, run=item.run, record=record))
            return record
        lost = MissingRecord(
            run=item.run,
            runner=str(item.runner),
            reasons=failures,
            voided=united(voided, kept(self.workspace.voided, item.run)),
        )
        write_file(missing, record_text(lost))
        return None

    def job(self, item: PlannedRun) -> Job:
        """Return everything that a planned run needs."""
        task = self.tasks[item.run.task]
        configuration = self.configurations[item.run.configuration]
        start = self.starts(task.id, configuration.instructions)
        return Job(
            planned=item,
            task=task,
            configuration=configuration,
            agent=agent_named(configuration.agent, self.workspace),
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
            labels={"labkit.lab": self.bench.workspace_id, "labkit.run": f"build of {name}"},
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
