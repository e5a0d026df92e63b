"""What every oracle is given and what it answers, once for validation and once for grading."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from labkit.export import Base
from labkit.git import Repository
from labkit.model import Flag
from labkit.patch.place import Applied, leading, shown
from labkit.tasks import Task
from labkit_grader.command import Command, read_command
from labkit_grader.execute import Bench
from labkit_grader.material import Expected, Material
from labkit_grader.repeats import Repeats
from labkit_grader.selection import python_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One task with everything that its oracle needs, apart from what is graded."""

    task: Task
    repository: Repository
    base: Base
    material: Material
    twin: Task | None = None
    """Trap, at validation: the task that its oracle.yaml names as its twin, if there is one."""

    def command(self) -> Command:
        """Return how the task's tests are started; raises InputError for another runner."""
        known = {shown(part) for entry in self.base.entries for part in leading(entry.path)}
        return read_command(
            self.task.command,
            paths=known | self.material.hidden.keys(),
            patterns=python_files(self.base.files()),
        )

    @property
    def test_files(self) -> tuple[str, ...]:
        """The hidden files that the task's runner is asked to run."""
        return self.command().test_files(self.material.hidden)

    @property
    def tests(self) -> dict[str, bytes]:
        """What stands in those files, by their paths."""
        return {path: self.material.hidden[path] for path in self.test_files}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a run left that can be graded."""

    applied: Applied
    final_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What validation found. A task is valid when there are no problems."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    expected: Expected = field(default_factory=Expected)
    counts: Mapping[str, int] = field(default_factory=dict)
    """Figures that may be published: they name no test."""
    runs: int = 0
    """How often each side ran; 0 where nothing runs."""
    seconds: float | None = None
    """How long unchanged code was allowed, if that was less than the limit of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What an oracle says of one run's work."""

    passed: bool
    reason: str
    tests: Mapping[str, str]
    """Each expected test or oracle step, and its outcome."""
    flags: tuple[Flag, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    """What was checked of the run itself, and what was seen."""
    unexpected: tuple[str, ...] = ()
    """Tests that ran and that validation did not know."""
    neutralised: tuple[str, ...] = ()
    seconds: float | None = None
    image_digest: str = ""


class Oracle(Protocol):
    """Proves that a task of its category is sound, and grades runs of it.

    Both raise InfrastructureError when the sandbox failed; whatever the graded code does is part
    of the answer.
    """

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Validate the task; each side is run in several rounds to expose unstable tests."""
        ...

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade one run's work."""
        ...
