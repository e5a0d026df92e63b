"""Whether the instructions of configurations can be laid over every task's base, and differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from labkit.archive import Entry
from labkit.building import NOTHING_BUILT
from labkit.cli.lab import Lab
from labkit.configurations import Configuration
from labkit.errors import InputError, refuse
from labkit.export import Base
from labkit.git import Repository
from labkit.instructions import laid, read_instructions
from labkit.model import ConfigurationId
from labkit.tasks import Task
from labkit.workspace import Workspace

_Laid = Mapping[ConfigurationId, tuple[Entry, ...]]


def laying_problems(
    lab: Lab, configurations: Sequence[Configuration], tasks: Sequence[Task]
) -> tuple[tuple[str, str], ...]:
    """Return what stands in the way of laying instructions over tasks, each with its mend.

    Raises InputError with every problem when a folder cannot be read.
    """
    found = _instructions(lab.workspace, configurations)
    rename = "rename the file in the instructions: folder of the configuration"
    return (
        *((what, rename) for what in _without_room(lab.repository, found, tasks)),
        *((what, "give one of them other instructions") for what in _twins(configurations, found)),
    )


def _instructions(workspace: Workspace, configurations: Iterable[Configuration]) -> _Laid:
    found: dict[ConfigurationId, tuple[Entry, ...]] = {}
    problems: dict[str, None] = {}
    for each in configurations:
        try:
            found[each.id] = read_instructions(workspace, each.instructions)
        except InputError as error:
            problems.update(dict.fromkeys(error.problems))
    refuse(tuple(problems), hint="mend the folder, or instructions:")
    return found


def _without_room(repository: Repository, found: _Laid, tasks: Iterable[Task]) -> Iterator[str]:
    wanted = {files for files in found.values() if files}
    for task in tasks if wanted else ():
        tree = repository.commit(task.base).tree
        # Names are enough: nothing is read of the files.
        names = Base(tree=tree, entries=repository.tree(tree), contents=defaultdict(bytes))
        for files in wanted:
            try:
                laid(NOTHING_BUILT, files, names.files())
            except InputError as error:
                yield from (f"task {task.id}: {problem}" for problem in error.problems)


def _twins(configurations: Sequence[Configuration], found: _Laid) -> Iterator[str]:
    """Yield pairs of configurations whose instructions differ in the folder's name only."""
    for one, other in combinations(configurations, 2):
        if one.instructions != other.instructions and found[one.id] == found[other.id]:
            yield (
                f"configurations {one.id} and {other.id} name other folders of instructions, and "
                "the files in both are the same"
            )
