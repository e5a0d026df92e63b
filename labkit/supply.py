"""Sees to it that the environment of every task is there: made once, used by all that are alike."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from labkit.archive import Entry
from labkit.building import Surroundings
from labkit.environments import BASE_IMAGE, Recipe
from labkit.errors import LabkitError, refuse
from labkit.export import Base, read_base
from labkit.fields import first_words, read_bytes
from labkit.git import Repository
from labkit.globs import within
from labkit.lock import in_turn
from labkit.model import TaskId
from labkit.sandbox.making import LEFT, NAME, Making, Progress, SetupError, Workshop
from labkit.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """The tasks whose environments are there, and why those of others are not."""

    ready: dict[TaskId, Surroundings]
    failed: dict[TaskId, LabkitError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An environment that some tasks have in common."""

    key: str
    making: Making
    tasks: tuple[TaskId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An agent on top of an environment."""

    agent: str
    """What people call it."""
    install: tuple[str, ...]
    """The commands that put it there; none: it needs nothing."""
    task: TaskId | None = None
    """Whose environment is below it; None: the team's image, or labkit's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipped:
    """The agents whose environments are there, and why those of others are not."""

    ready: dict[Wanted, Surroundings]
    failed: dict[Wanted, LabkitError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """The environments of one lab in one sandbox."""

    workshop: Workshop
    repository: Repository
    evals: Path
    team: Recipe
    lock: Path
    """Held by whoever makes an environment."""
    progress: Progress
    _bases: dict[str, Base] = field(default_factory=dict)

    def recipe(self, task: Task) -> Recipe:
        """Return what a task is run in: its own fields in place of the team's.

        The team's setup is for its project, of which a task made from a folder holds nothing.
        """
        if (self.evals / "fixtures" / f"{task.id}.tar").is_file():
            return task.environment.over(replace(self.team, setup=(), files=(), build=()))
        return task.environment.over(self.team)

    def provide(self, tasks: Sequence[Task], *, again: bool = False) -> Supplied:
        """Make what is missing, one after the other; a failure is that of its own tasks only.

        With `again`, also what is there already.
        """
        ready: dict[TaskId, Surroundings] = {}
        needs, failed = self.needs(tasks)
        for need in needs:
            try:
                self._make(need, again=again)
            except LabkitError as error:
                failed |= {task: _named(need.tasks, error) for task in need.tasks}
        for task in tasks:
            if task.id in failed:
                continue
            try:
                ready[task.id] = self._surroundings(task, needs)
            except LabkitError as error:
                failed[task.id] = _named((task.id,), error)
        return Supplied(ready=ready, failed=failed)

    def needs(self, tasks: Iterable[Task]) -> tuple[tuple[Need, ...], dict[TaskId, LabkitError]]:
        """Return the environments that tasks share, and why others cannot have theirs."""
        found: dict[str, Need] = {}
        failed: dict[TaskId, LabkitError] = {}
        for task in tasks:
            try:
                making = self._making(task)
                if making is None:
                    continue
                key = making.key(self.workshop.kind, self.workshop.foundation(making))
            except LabkitError as error:
                failed[task.id] = _named((task.id,), error)
                continue
            users = (*found[key].tasks, task.id) if key in found else (task.id,)
            found[key] = Need(key=key, making=making, tasks=users)
        return tuple(found.values()), failed

    def equip(
        self, supplied: Supplied, wanted: Iterable[Wanted], *, again: bool = False
    ) -> Equipped:
        """Make agents' environments on top of those that tasks have: the same for all that agree.

        A failure is that of its own agent and tasks only; without its environment a task has none
        with an agent either. With `again`, make also what is there already.
        """
        ready: dict[Wanted, Surroundings] = {}
        failed: dict[Wanted, LabkitError] = {}
        groups: dict[tuple[str, tuple[str, ...]], list[Wanted]] = {}
        for each in dict.fromkeys(wanted):
            if each.task is not None and each.task in supplied.failed:
                failed[each] = supplied.failed[each.task]
            else:
                groups.setdefault((self._below(supplied, each).image, each.install), []).append(
                    each
                )
        for (image, install), alike in groups.items():
            try:
                key = self._install(image, install, alike, again=again) if install else ""
            except LabkitError as error:
                failed |= dict.fromkeys(alike, _of_agents(alike, error))
                continue
            for each in alike:
                below = self._below(supplied, each)
                ready[each] = replace(below, image=f"{NAME}:{key}", key=key) if key else below
        return Equipped(ready=ready, failed=failed)

    def agents_key(self, image: str, install: tuple[str, ...]) -> str:
        """Return the key of an agent's environment on top of an image.

        Raises a LabkitError where that one is not there.
        """
        making = _agents_making(image, install)
        return making.key(self.workshop.kind, self.workshop.foundation(making))

    def image_below(self, task: Task | None, needs: Iterable[Need]) -> str:
        """Return the image on top of which a task's agents are installed."""
        if task is None:
            return self.team.image or BASE_IMAGE
        keys = [need.key for need in needs if task.id in need.tasks]
        return f"{NAME}:{keys[0]}" if keys else self.recipe(task).image or BASE_IMAGE

    def _below(self, supplied: Supplied, wanted: Wanted) -> Surroundings:
        if wanted.task is None:
            return Surroundings(image=self.image_below(None, ()))
        return supplied.ready[wanted.task]

    def _install(
        self, image: str, install: tuple[str, ...], alike: Sequence[Wanted], *, again: bool
    ) -> str:
        key = self.agents_key(image, install)
        whose = _whose(alike)
        self._make_once(key, _agents_making(image, install), whose, again=again)
        return key

    def _making(self, task: Task) -> Making | None:
        recipe = self.recipe(task)
        if not recipe.is_made:
            return None
        dockerfile = read_bytes(self.evals / recipe.dockerfile) if recipe.dockerfile else b""
        return Making(
            image="" if dockerfile else recipe.image or BASE_IMAGE,
            dockerfile=dockerfile,
            setup=recipe.setup,
            variables=recipe.variables,
            files=tuple(self._files(task, recipe)),
        )

    def _files(self, task: Task, recipe: Recipe) -> Iterator[Entry]:
        """Yield what setup gets of the base: what is named, or everything."""
        if not recipe.setup and not recipe.files:
            return
        if task.base not in self._bases:
            self._bases[task.base] = read_base(self.repository, task.base)
        entries = tuple(self._bases[task.base].files())
        names = {entry.path: entry.path.decode(errors="surrogateescape") for entry in entries}
        refuse(
            [
                f"environment: names the file {prefix}, which the base commit does not have"
                for prefix in recipe.files
                if not any(within(name, (prefix,)) for name in names.values())
            ],
            hint="files: are paths of the project, from its root",
        )
        for entry in entries:
            if not recipe.files or within(names[entry.path], recipe.files):
                yield entry

    def _make(self, need: Need, *, again: bool) -> None:
        whose = first_words([str(task) for task in need.tasks])
        self._make_once(need.key, need.making, whose, again=again)

    def _make_once(self, key: str, making: Making, whose: str, *, again: bool) -> None:
        if self.workshop.has(key) and not again:
            return
        with in_turn(self.lock, lambda: self.progress("another labkit makes an environment")):
            if again:
                self.workshop.remove(key)
            if self.workshop.has(key):
                return
            self.progress(f"making the environment {key} of {whose}")
            self.workshop.make(key, making, self.progress)

    def _surroundings(self, task: Task, needs: tuple[Need, ...]) -> Surroundings:
        recipe = self.recipe(task)
        keys = [need.key for need in needs if task.id in need.tasks]
        image = self.image_below(task, needs)
        if not keys:
            self.workshop.foundation(Making(image=image))  # it must be there, or is made now
        return Surroundings(
            image=image,
            key=keys[0] if keys else "",
            build=(*_lays_left(self.workshop, keys), *recipe.build),
            variables=dict(recipe.variables),
        )


def _lays_left(workshop: Workshop, keys: list[str]) -> tuple[str, ...]:
    """Return the build command that lays what setup left into a tree, where the tree lacks it."""
    return (f"cp -Rn {LEFT}/. .",) if any(workshop.left(key) for key in keys) else ()


def _named(tasks: tuple[TaskId, ...], error: LabkitError) -> LabkitError:
    """Return the same error with the tasks that it is about."""
    word = "task" if len(tasks) == 1 else "tasks"
    names = first_words([str(task) for task in tasks])
    return type(error)(f"{word} {names}: {error.message}", hint=error.hint, more=error.more)


def _agents_making(image: str, install: tuple[str, ...]) -> Making:
    return Making(image=image, setup=install, keeps=False)


def _whose(alike: Sequence[Wanted]) -> str:
    agents = first_words(sorted({each.agent for each in alike}))
    tasks = [str(each.task) for each in alike if each.task is not None]
    return f"{agents} for {first_words(list(dict.fromkeys(tasks)))}" if tasks else agents


def _of_agents(alike: Sequence[Wanted], error: LabkitError) -> LabkitError:
    """Return the same error with the agents and tasks that it is about."""
    hint = error.hint
    if isinstance(error, SetupError):
        hint = (
            "mend agent_version: or install: of the configuration; the agent's setup needs a "
            "network; labkit env build --agent NAME tries again"
        )
    return type(error)(f"agent {_whose(alike)}: {error.message}", hint=hint, more=error.more)
