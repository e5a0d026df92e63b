"""Whether the instructions of configurations can be laid over every task's base, and differ."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from labkit.archive import Entry
from labkit.building import NOTHING_BUILT
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.export import Base
from labkit.git import Repository
from labkit.instructions import laid, read_instructions
from labkit.model import ConfigurationId
from labkit.tasks import Task
from labkit.workspace import Workspace

Laid = Mapping[ConfigurationId, tuple[Entry, ...]]


def instructions_of(workspace: Workspace, configurations: Iterable[Configuration]) -> Laid:
    """Read the instructions of every configuration; raises InputError with every problem."""
    found: dict[ConfigurationId, tuple[Entry, ...]] = {}
    problems: dict[str, None] = {}
    for each in configurations:
        try:
            found[each.id] = read_instructions(workspace, each.instructions)
        except InputError as error:
            problems.update(dict.fromkeys(error.problems))
    told = tuple(problems)
    if told:
        raise InputError(told[0], more=told[1:], hint="mend the folder, or instructions:")
    return found


def laying_problems(repository: Repository, found: Laid, tasks: Iterable[Task]) -> Iterator[str]:
    """Yield where a task's base has no room for instructions."""
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


def twins(configurations: Sequence[Configuration], found: Laid) -> Iterator[str]:
    """Yield pairs of configurations whose instructions differ in the folder's name only."""
    for one, other in combinations(configurations, 2):
        if one.instructions != other.instructions and found[one.id] == found[other.id]:
            yield (
                f"configurations {one.id} and {other.id} name other folders of instructions, and "
                "the files in both are the same"
            )
