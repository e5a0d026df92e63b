"""Suites as files: YAML, JSON, JSON lines, or a folder of tasks; no case takes a suite down.

What makes a file no suite (it is not YAML, an id stands there twice, there is no case) is one
InputError. What is wrong with one case becomes that case's `problem`: it stays in the suite, is
told, is never run, and is missing in every figure.
"""

import itertools
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labkit.errors import InputError, refuse
from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.caseentry import VALUES, Entry, json_entry, parse_json
from labkit.evals.fixtures import FixtureTask, is_fixtures, read_fixtures
from labkit.evals.harbor import is_harbor, read_harbor
from labkit.evals.setups import prepared
from labkit.evals.taskfolders import TASK_FILES, stray, task_files, visible_folders
from labkit.fields import Document, Fields, read_bytes
from labkit.graders import Tools
from labkit.nodes import plain_node
from labkit.workspace import cache_folder

SUITE_NAMES = ("suite.yaml", "suite.yml", "suite.json", "suite.jsonl")
_START = "labkit suite new makes a suite to start from"
_MOST_BYTES = 256 * 1024 * 1024


class Form(StrEnum):
    """How a suite is written."""

    YAML = "yaml"
    JSON = "json"
    LINES = "jsonl"
    FIXTURES = "fixtures"
    """A folder with a folder for each task."""
    HARBOR = "harbor"
    """The same, of Harbor's tasks."""


_FOLDERS = (Form.FIXTURES, Form.HARBOR)
_FORMS = {".yaml": Form.YAML, ".yml": Form.YAML, ".json": Form.JSON, ".jsonl": Form.LINES}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFile:
    """A suite, and the file that it stands in."""

    suite: EvalSuite
    path: Path
    """The file itself, also where a folder was named; the folder of fixture tasks."""
    form: Form
    written: tuple[EvalCase, ...]
    """The cases in the order of the file."""
    tasks: tuple[FixtureTask, ...] = ()
    """Of a folder of fixture tasks; their setups have not been run."""

    @property
    def root(self) -> Path:
        """What the folders of cases are relative to."""
        return self.path if self.form in _FOLDERS else self.path.parent

    @property
    def runs(self) -> Path:
        """Where its runs go unless somebody says otherwise."""
        if self.path.name in SUITE_NAMES or self.form in _FOLDERS:
            folder = self.root.absolute()
            return folder.with_name(f"{folder.name}-runs")
        return self.path.with_name(f"{self.path.stem}-runs")

    def set_up(self, wanted: Container[str], tools: Tools, folder: Path) -> EvalSuite:
        """Return the suite with the setups of some tasks run; what they leave lies in `folder`."""
        tasks = [task for task in self.tasks if task.setup and task.id in wanted]
        ready = {case.id: case for case in prepared(tasks, tools, folder)}
        cases = [ready.get(case.id, case) for case in self.suite.cases]
        return EvalSuite(cases, self.suite.name)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with its cases, in their order."""
        return tuple(case.problem for case in self.suite.cases if case.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    name: str
    entries: Sequence[Entry]
    grader: Mapping[str, object] | None = None
    """Of cases that have none of their own."""
    problems: Sequence[str] = ()
    """What is wrong beside the cases."""


def read_suite_file(path: Path | str) -> EvalSuite:
    """Read a suite: a YAML, JSON or JSON-lines file, or a folder: see `read_suite`.

    Tasks with a setup cannot be run from here; `SuiteFile.set_up` runs it.
    """
    found = read_suite(Path(path))
    waiting = {task.id: task.case() for task in found.tasks if task.setup}
    cases = [waiting.get(case.id, case) for case in found.suite.cases]
    return EvalSuite(cases, found.suite.name)


def read_suite(path: Path, *, image: str = "") -> SuiteFile:
    """Read a suite and say where it stands.

    A folder holds a suite.yaml, or fixture tasks, or Harbor's; `image` is for those, as in
    `read_harbor`. Raises one InputError for whatever makes the file no suite at all.
    """
    file = _file_of(path)
    if file.is_dir():
        return _read_harbor(file, image) if is_harbor(file) else _read_folder(file)
    if file.suffix.lower() not in _FORMS:
        raise InputError(
            f"{file} is no suite: its name ends in {file.suffix or 'nothing'}",
            hint="a suite is a .yaml, .json or .jsonl file, or a folder with a suite.yaml",
        )
    return suite_of(read_bytes(file), file)


def suite_of(data: bytes, path: Path) -> SuiteFile:
    """Return the suite that a file of this name and content is; raises as `read_suite` does."""
    form = _FORMS[path.suffix.lower()]
    whole = _READERS[form](data, path)
    if not whole.entries:
        refuse(whole.problems)
        raise InputError(f"{path}: there is no case in it", hint=_START)
    cases = tuple(entry.case(whole.grader, path.parent) for entry in whole.entries)
    ids = sorted(case.id for case in cases)
    twice = sorted({one for one, after in itertools.pairwise(ids) if one == after})
    wrong = [
        *whole.problems,
        *(f"{path.name}: {ids.count(name)} cases are called {name}" for name in twice),
    ]
    if wrong:
        of_cases = [each for entry in whole.entries for each in entry.problems]
        refuse(
            [*wrong, *of_cases],
            hint="give each case an id of its own" if twice else None,
        )
    return SuiteFile(suite=EvalSuite(cases, whole.name), path=path, form=form, written=cases)


def _file_of(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"no file {path}", hint=_START)
    found = [path / name for name in SUITE_NAMES if (path / name).is_file()]
    if len(found) > 1:
        names = " and ".join(file.name for file in found)
        raise InputError(f"{path} holds {names}", hint="name the one that is meant")
    if not found and not is_fixtures(path) and not is_harbor(path):
        nothing = f"{path} holds no {SUITE_NAMES[0]}, and no folder with a {TASK_FILES[0]}"
        refuse([nothing, *filter(None, map(stray, visible_folders(path)))], hint=_START)
    return found[0] if found else path


def _read_harbor(path: Path, image: str) -> SuiteFile:
    suite = read_harbor(path, cache=cache_folder() / "harbor", image=image)
    return SuiteFile(suite=suite, path=path, form=Form.HARBOR, written=suite.cases)


def _read_folder(path: Path) -> SuiteFile:
    """Read fixture tasks one by one, so that a malformed one takes no other down."""
    cases, tasks = [], []
    for folder in visible_folders(path):
        if not task_files(folder):
            if why := stray(folder):
                cases.append(EvalCase(folder.name, problem=why))
            continue
        try:
            (task,) = read_fixtures(folder)
        except InputError as error:
            cases.append(EvalCase(folder.name, problem="; ".join(error.problems)))
        else:
            tasks.append(task)
            cases.append(task.case(task.buggy))
    return SuiteFile(
        suite=EvalSuite(cases, name_of(path / SUITE_NAMES[0])),
        path=path,
        form=Form.FIXTURES,
        written=tuple(cases),
        tasks=tuple(tasks),
    )


def name_of(path: Path) -> str:
    """Return what a suite is called that does not say so itself."""
    return path.absolute().parent.name if path.name in SUITE_NAMES else path.stem


def _read_yaml(data: bytes, path: Path) -> _Whole:
    document = Document(data, path.name)
    name = document.text("name", default=name_of(path))
    grader = document.value("grader")
    entries = [
        Entry(
            fields=fields,
            values={key: fields.value(key) for key in VALUES if key in fields},
            problems=problems,
            place=place,
            stand_in=f"case {count}",
        )
        for count, (fields, problems, place) in enumerate(document.apart("cases"), 1)
    ]
    _check_default(document, grader)
    return _Whole(
        name=name,
        entries=entries,
        grader=_mapping_or_none(grader),
        problems=document.problems(),
    )


def _check_default(document: Document, grader: object) -> None:
    if grader is not None and not isinstance(grader, Mapping):
        document.problem("grader", '"grader" must be a mapping: {name: exact}')


def _mapping_or_none(value: object) -> Mapping[str, object] | None:
    return value if isinstance(value, Mapping) else None


def _read_json(data: bytes, path: Path) -> _Whole:
    values = parse_json(_text(data, path), path.name)
    if isinstance(values, list):
        values = {"cases": values}
    if not isinstance(values, dict):
        raise InputError(f"{path.name} is neither a mapping nor a list of cases", hint=_START)
    cases = values.pop("cases", [])
    grader = values.pop("grader", None)
    problems = [f'{path.name}: "cases" must be a list'] if not isinstance(cases, list) else []
    if grader is not None and not isinstance(grader, Mapping):
        problems.append(f'{path.name}: "grader" must be a mapping: {{"name": "exact"}}')
    rest = Fields(plain_node(values, path.name, problems), path.name, problems)
    name = rest.text("name", default=name_of(path))
    rest.done()
    listed = cases if isinstance(cases, list) else []
    entries = [json_entry(case, path.name, f"case {n}") for n, case in enumerate(listed, 1)]
    return _Whole(name=name, entries=entries, grader=_mapping_or_none(grader), problems=problems)


def _read_lines(data: bytes, path: Path) -> _Whole:
    entries = []
    for number, line in enumerate(_text(data, path).split("\n"), 1):
        if line.strip():
            try:
                case = parse_json(line, f"{path.name}, line {number}")
            except InputError as error:
                entries.append(json_entry({}, path.name, f"line {number}", error.message))
            else:
                entries.append(json_entry(case, path.name, f"line {number}"))
    return _Whole(name=name_of(path), entries=entries)


_READERS = {Form.YAML: _read_yaml, Form.JSON: _read_json, Form.LINES: _read_lines}


def _text(data: bytes, path: Path) -> str:
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES // 1024**2} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: not UTF-8", hint="save the file as UTF-8"
        ) from error
