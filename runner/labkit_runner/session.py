"""Runs in their planned order: retried, resumed, never redone and never lost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from labkit.building import (
    Surroundings,
)
from labkit.errors import InputError, ToolError, refuse
from labkit.instructions import instructing, read_instructions
from labkit.missing import load
from labkit.model import ConfigurationId, RunId, TaskId
from labkit.plan import PlannedRun
from labkit.records import MissingRecord, RunRecord
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit_runner.agents.interface import WORKSPACE
from labkit_runner.arms import Arm, rehearsed
from labkit_runner.attempt import perform, request
from labkit_runner.crew import Crew, Gate
from labkit_runner.ground import Grounds, building
from labkit_runner.job import Bench, Job
from labkit_runner.readback import NOTHING_READ
from labkit_runner.rehearse import rehearse
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
    arms: Mapping[ConfigurationId, Arm]
    listener: Listener
    surroundings: Mapping[TaskId, Surroundings] = field(default_factory=dict)
    """What tasks are run in; a task without uses the bench's own image."""
    shelf: Shelf | None = None
    """None: the study's own."""
    jobs: int = 1
    gate: Gate = let_all
    """Whether a pair may be begun: it would be within the budget."""
    stop: Stop = field(default_factory=Stop)
    grounds: Grounds = field(init=False)

    def __post_init__(self) -> None:
        found = Grounds(self.workspace, self.bench, self.tasks, self.surroundings, keep=self.jobs)
        object.__setattr__(self, "grounds", found)

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

    def rehearse(self, planned: Sequence[PlannedRun], tell: Callable[[Arm], None]) -> None:
        """Rehearse each configuration that asks a model, before the first run that costs.

        It is played on each different set of files that instruct or set its agent: no task's base
        holds settings then that no rehearsal saw. Raises InputError with what is broken;
        `tell` hears which one is begun.
        """
        self._require_launchable(planned)
        for item in self._different(planned):
            arm = self.arms[item.run.configuration]
            tell(arm)
            trial, route = rehearsed(arm)
            job = replace(self.job(item), configuration=trial.configuration, agent=trial.agent)
            rehearse(self.bench, job, route.to)

    def _different(self, planned: Sequence[PlannedRun]) -> list[PlannedRun]:
        """Return the first run of each configuration and set of files that instruct its agent."""
        first: dict[tuple[ConfigurationId, str], PlannedRun] = {}
        for item in sorted(planned, key=lambda each: each.run.task):
            arm = self.arms[item.run.configuration]
            if arm.route is not None and arm.agent.rehearsed("true"):
                found = self.grounds.instructing(
                    item.run.task, arm.configuration.instructions, arm.agent.memory
                )
                first.setdefault((arm.configuration.id, str(sorted(found.items()))), item)
        return [item for _, item in sorted(first.items(), key=lambda each: each[0][0])]

    def _last_reason(self, run: RunId) -> str:
        lost = load(self._shelf.missing, run)
        return lost.reasons[-1] if lost else ""

    @property
    def _shelf(self) -> Shelf:
        return self.shelf or Shelf.of(self.workspace)

    def _require_launchable(self, planned: Sequence[PlannedRun]) -> None:
        problems: dict[str, None] = {}
        for item in planned:
            task = self.tasks[item.run.task]
            arm = self.arms[item.run.configuration]
            try:
                arm.agent.launch(request(item, task, arm.configuration, arm.api))
                read_instructions(self.workspace, arm.configuration.instructions)
            except InputError as error:
                problems.update(dict.fromkeys(error.problems))
        refuse(tuple(problems), hint="mend the configuration or its steps")

    def _end(self, item: PlannedRun) -> None:
        """End a run that is at work; it may be building its base yet."""
        for name in (str(item.run), building(item.run.task)):
            self.bench.sandbox.kill({"labkit.lab": self.bench.workspace_id, "labkit.run": name})

    def _attempt(self, item: PlannedRun, before: MissingRecord) -> RunRecord:
        job = replace(self.job(item), earlier_failures=before.reasons, voided=before.voided)
        return perform(self.bench, job, self._shelf.raw / str(item.run))

    def job(self, item: PlannedRun) -> Job:
        """Return a planned run with everything it needs."""
        task = self.tasks[item.run.task]
        arm = self.arms[item.run.configuration]
        ground = self.grounds.of(task.id, arm.configuration.instructions)
        place = arm.surroundings.get(task.id) or self.surroundings.get(task.id)
        return Job(
            planned=item,
            task=task,
            configuration=arm.configuration,
            agent=arm.agent,
            base=ground.base,
            base_tar=ground.tar,
            surroundings=place,
            route=arm.route,
            masker=arm.masker,
            api=arm.api,
            readback=arm.readback.get(place.image, NOTHING_READ) if place else NOTHING_READ,
            memory=instructing(ground.tree, arm.agent.memory, WORKSPACE),
            built=ground.built,
        )
