"""What a course asks of a team's tasks as a whole: enough of every kind, and from everybody."""

from collections import Counter
from collections.abc import Iterator, Sequence

from labkit.fields import counted
from labkit.model import Category
from labkit.settings import Person, Role, Settings
from labkit.tasks import Task

_LEAST = {
    Category.BUGFIX: 2,
    Category.FEATURE: 2,
    Category.REFACTOR: 1,
    Category.TESTS: 1,
    Category.TRAP: 1,
}
MEND = "write more tasks: labkit task new"
MEND_OR_TRIAL = f"{MEND}; or, for a trial: labkit task freeze --pilot"
_OWN_TASKS = 3
_SOLO_TASKS = 8
_TEAM = 3
_TEAM_TASKS = 9


def mix_problems(
    settings: Settings, tasks: Sequence[Task], people: Sequence[Person]
) -> Iterator[str]:
    """Yield what the suite lacks of the mix that a course asks for."""
    students = [person.name for person in people if person.role is Role.STUDENT]
    categories = Counter(task.category for task in tasks)
    for category, least in _LEAST.items():
        if categories[category] < least:
            yield f"{counted(categories[category], f'{category} task')}: {least} or more are asked"
    if settings.solo or len(students) == 1:
        if len(tasks) < _SOLO_TASKS:
            yield (f"{counted(len(tasks), 'task')}: a person alone writes {_SOLO_TASKS} or more")
        return
    owned = Counter(task.author for task in tasks)
    for name in students:
        if owned[str(name)] < _OWN_TASKS:
            yield (
                f"{name} wrote {counted(owned[str(name)], 'task')}: "
                f"{_OWN_TASKS} or more are asked of everybody"
            )
    if len(students) >= _TEAM and len(tasks) < _TEAM_TASKS:
        yield (
            f"{counted(len(tasks), 'task')} in all: {_TEAM_TASKS} or more are asked of a team of "
            f"{len(students)}"
        )
