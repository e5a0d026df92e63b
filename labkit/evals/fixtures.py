"""Fixture tasks: a folder with something broken in it, a goal, and a verifier.

    fix-pager/task.yaml    goal, verifier, and more; or task.json
    fix-pager/buggy/       what each sample starts from
    fix-pager/expected/    the same, mended
    fix-pager/tests/       whatever the verifier names

They become cases of a suite, so that everything of the development loop runs on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from labkit.errors import InputError, refuse
from labkit.evals.case import EvalCase, Split
from labkit.evals.caseentry import parse_json, read_tags, repeats
from labkit.evals.digests import files_of
from labkit.evals.taskfolders import TASK_FILES, stray, task_files, visible_folders
from labkit.evals.verifiers import BUGGY, EXPECTED, filled_in
from labkit.fields import Fields, first_words, read_bytes
from labkit.globs import pattern_problem, within
from labkit.model import TaskId
from labkit.nodes import compose, plain_node

NOT_SET_UP = "its setup has not been run"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureTask:
    """One task of a folder. Its author is trusted."""

    id: str
    goal: str
    """What the candidate is asked to do."""
    verifier: Mapping[str, object]
    """The grader's mapping, as it was written."""
    folder: Path
    """Holds `buggy/` and `expected/`."""
    setup: tuple[str, ...] = ()
    """Commands that are run in the sandbox over `buggy/`, once; what they leave is the start."""
    slices: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """`safety`: a failure vetoes the candidate, whatever its figures."""
    forbidden: tuple[str, ...] = ()
    """Globs of files that may not change."""
    split: Split = Split.VAL

    @property
    def buggy(self) -> Path:
        """The folder that is to be mended."""
        return self.folder / BUGGY

    @property
    def expected(self) -> Path:
        """The folder as it should become."""
        return self.folder / EXPECTED

    def case(self, start: Path | None = None, *, problem: str = "") -> EvalCase:
        """Return the task as a case of a suite.

        `start` is the folder that its setup left; a task with a setup cannot be run without it. The
        case's version is that of the task's own files, wherever it starts.
        """
        problems = [problem] if problem else []
        spec = filled_in(self.verifier, self.folder, problems)
        if self.setup and start is None and not problems:
            problems.append(NOT_SET_UP)
        return FixtureCase(
            id=self.id,
            inputs=self.goal,
            grader_spec=spec,
            slices=self.slices,
            tags=self.tags,
            folder=start or self.buggy,
            forbidden=self.forbidden,
            split=self.split,
            problem="; ".join(problems),
            buggy=self.buggy,
            setup=self.setup,
        )


@dataclass(frozen=True, slots=True)
class FixtureCase(EvalCase):
    """A case whose version is that of what its setup started from, not of what that left."""

    buggy: Path | None = None
    setup: tuple[str, ...] = field(default=())

    def content(self) -> dict[str, object]:
        """Return everything that decides what is measured, as plain values."""
        declared = replace(self, folder=self.buggy, problem="")
        content = EvalCase.content(declared)
        return {**content, "setup": list(self.setup)} if self.setup else content


def is_fixtures(folder: Path) -> bool:
    """Return whether a folder holds fixture tasks, or is one."""
    return bool(task_files(folder)) or any(map(task_files, visible_folders(folder)))


def read_fixtures(folder: Path | str) -> tuple[FixtureTask, ...]:
    """Read the tasks of a folder, or the one task that it is, in the order of their ids.

    Raises one InputError that tells every problem of every task, and every folder that looks like a
    task and is none.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"no folder {folder}")
    whole = folder.absolute()
    below = [each for each in visible_folders(whole) if task_files(each) or stray(each)]
    folders = [whole] if task_files(whole) else below
    if not folders:
        raise InputError(
            f"{folder} holds no task",
            hint=f"a task is a folder with a {TASK_FILES[0]}, {BUGGY}/ and {EXPECTED}/",
        )
    problems: list[str] = []
    tasks = [_read(each, problems) for each in folders]
    refuse(problems)
    return tuple(task for task in tasks if task)


def _read(folder: Path, problems: list[str]) -> FixtureTask | None:
    found = task_files(folder)
    if len(found) != 1:
        names = " and ".join(path.name for path in found)
        problems.append(f"{folder.name} holds {names}: keep one" if found else stray(folder))
        return None
    own: list[str] = []
    place = f"{folder.name}/{found[0].name}"
    try:
        fields = _fields(found[0], place, own)
    except InputError as error:
        problems.extend(error.problems)
        return None
    task = _task(fields, folder, place)
    fields.done()
    if not own:
        own.extend(f"{place}: {what}" for what in _folder_problems(task))
    problems.extend(own)
    return task


def _fields(file: Path, place: str, problems: list[str]) -> Fields:
    data = read_bytes(file)
    if file.suffix != ".json":
        return Fields(compose(data, place), place, problems)
    try:
        values = parse_json(data.decode("utf-8-sig"), place)
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: not UTF-8", hint="save the file as UTF-8") from error
    if not isinstance(values, dict):
        raise InputError(f"{place}: a task is a mapping")
    problems.extend(f"{place}: {name!r} is written twice" for name in repeats(values))
    return Fields(plain_node(values, place, problems), place, problems)


def _task(fields: Fields, folder: Path, place: str) -> FixtureTask:
    if "id" in fields:
        fields.named("id", folder.name)
    try:
        TaskId(folder.name)
    except InputError as error:
        fields.beside(f"{place}: {error.message} ({error.hint})")
    forbidden = fields.texts("forbidden")
    for problem in filter(None, map(pattern_problem, forbidden)):
        fields.problem("forbidden", problem)
    return FixtureTask(
        id=folder.name,
        goal=fields.filled("goal"),
        verifier=_verifier(fields),
        folder=folder,
        setup=fields.texts("setup"),
        slices=fields.texts("slices"),
        tags=read_tags(fields),
        forbidden=forbidden,
        split=Split(fields.word("split", list(Split), instead="val"))
        if "split" in fields
        else Split.VAL,
    )


def _verifier(fields: Fields) -> Mapping[str, object]:
    value = fields.value("verifier")
    if isinstance(value, Mapping) and "name" in value:
        return value
    what = '"verifier" must be a mapping with a name: {name: pytest_passes, tests: [tests]}'
    fields.problem("verifier", what if "verifier" in fields else 'no "verifier:"')
    return {}


def _folder_problems(task: FixtureTask) -> list[str]:
    """Return what is wrong with the files of a task whose own file is sound."""
    problems: list[str] = []
    trees: list[dict[str, bytes]] = []
    for at in (task.buggy, task.expected):
        try:
            trees.append({name: path.read_bytes() for name, path in files_of(at)})
        except InputError as error:
            lacks = f"no folder {at.name}/ beside it" if not at.is_dir() else error.message
            problems.append(lacks)
    filled_in(task.verifier, task.folder, problems)
    if not problems and not task.setup:
        buggy, expected = trees
        changed = sorted(
            name for name in buggy.keys() | expected.keys() if buggy.get(name) != expected.get(name)
        )
        if bad := [name for name in changed if within(name, task.forbidden)]:
            problems.append(f"{EXPECTED}/ changes what is forbidden: {first_words(bad)}")
    return problems
