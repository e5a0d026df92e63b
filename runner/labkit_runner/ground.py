"""What runs start from: a task's base, what build commands made of it, and instructions over it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from labkit.archive import Entry
from labkit.building import (
    NOTHING_BUILT,
    Built,
    NotBuilt,
    Surroundings,
    Workbench,
    build_tree,
)
from labkit.errors import InfrastructureError
from labkit.export import Base, read_base, workspace_tar
from labkit.instructions import instructing, laid, read_instructions
from labkit.model import TaskId
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit_runner.agents.interface import WORKSPACE
from labkit_runner.job import Bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the runs of a task start from."""

    base: Base
    built: Built
    tree: Mapping[bytes, Entry] = field(default_factory=dict)
    """The work folder as the agent finds it, by path."""
    tar: bytes = b""


class Grounds:
    """The grounds of a session, each made once for all that start from it at the same time.

    The runs of a task are planned one after the other, and a base may be large: few are kept.
    """

    def __init__(
        self,
        workspace: Workspace,
        bench: Bench,
        tasks: Mapping[TaskId, Task],
        surroundings: Mapping[TaskId, Surroundings],
        *,
        keep: int = 1,
    ) -> None:
        self._workspace = workspace
        self._bench = bench
        self._tasks = tasks
        self._surroundings = surroundings
        self._lock = threading.Lock()
        self._commits = lru_cache(maxsize=1)(partial(read_base, bench.repository))
        self._bases = lru_cache(maxsize=keep)(self._base)
        self._grounds = lru_cache(maxsize=2 * keep)(self._ground)

    def of(self, task: TaskId, instructions: str) -> Ground:
        """Return what a task's runs start from under configurations with these instructions.

        Raises InputError when the base has no room for them, and InfrastructureError when its build
        commands fail: nothing can be measured then.
        """
        with self._lock:
            return self._grounds(task, instructions)

    def instructing(
        self, task: TaskId, instructions: str, patterns: tuple[str, ...]
    ) -> dict[str, str]:
        """Return the digests of the files that will instruct or set an agent, as far as is known.

        Nothing is built for it: what build commands write is not there yet.
        """
        with self._lock:
            base = self._commits(self._tasks[task].base)
        files = read_instructions(self._workspace, instructions)
        tree = laid(NOTHING_BUILT, files, base.files()).over(base.files())
        return instructing(tree, patterns, WORKSPACE)

    def _ground(self, name: TaskId, instructions: str) -> Ground:
        start = self._bases(name)
        files = read_instructions(self._workspace, instructions)
        built = laid(start.built, files, start.base.files()) if files else start.built
        tree = built.over(start.base.files())
        tar = workspace_tar(self._bench.repository, start.base, files=tree.values(), laid=files)
        return replace(start, built=built, tree=tree, tar=tar)

    def _base(self, name: TaskId) -> Ground:
        base = self._commits(self._tasks[name].base)
        return Ground(base=base, built=self._built(name, base))

    def _built(self, name: TaskId, base: Base) -> Built:
        place = self._surroundings.get(name)
        if place is None or not place.build:
            return NOTHING_BUILT
        bench = Workbench(
            sandbox=self._bench.sandbox,
            surroundings=place,
            limits=self._bench.limits,
            labels={"labkit.lab": self._bench.workspace_id, "labkit.run": building(name)},
        )
        built = build_tree(bench, base.files())
        if isinstance(built, NotBuilt):
            raise InfrastructureError(f"task {name} could not be set up: {built.reason}")
        return built


def building(task: TaskId) -> str:
    """Return what a task's build commands are called where runs have their names."""
    return f"build of {task}"
