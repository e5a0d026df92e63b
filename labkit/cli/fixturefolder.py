"""Reading a fixture folder: start/, solution/, the hidden part, the prompt and task.yaml."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from labkit.bundle import DRAFT_FILES, DRAFT_FOLDERS, read_paths
from labkit.errors import InputError, refuse
from labkit.fields import Document, read_bytes
from labkit.fixtures import Fixture, changed_paths, collect, overlay
from labkit.model import Category
from labkit.scaffold import template
from labkit.tasks import DEFAULT_GRADING, grading_of, prefixes, scope
from labkit_grader.material import EVIDENCE, read_material

_TASK, _PROMPT = "task.yaml", "prompt.txt"
_TREES = ("start", "solution")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """task.yaml of a fixture folder; every field may be left out."""

    title: str = ""
    category: str = ""
    grading: str = DEFAULT_GRADING
    forbidden: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None
    slices: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str = ""
    removed: tuple[str, ...] = ()
    """Paths of start/ that the solution does not have."""
    executable: tuple[str, ...] = ()
    """Files that are executable, for systems that keep no such bit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A fixture folder as it was read: nothing of it is asked for again."""

    spec: Spec
    category: Category
    fixture: Fixture
    prompt: str
    draft: Mapping[str, bytes]
    """Hidden tests and oracle by their path in the draft."""


def read_folder(folder: Path, category: str = "") -> Folder:
    """Read a fixture folder; raises InputError with every problem in it."""
    if not (folder / "start").is_dir():
        raise InputError(
            f"{folder} has no folder start/",
            hint="a fixture has start/ (what the agent gets), solution/, hidden/ and prompt.txt",
        )
    refuse(
        list(_strangers(folder)),
        hint=f"a fixture holds {_PROMPT}, {_TASK}, {', '.join((*_TREES, *_draft_places()))}",
    )
    spec = _read_spec(folder / _TASK)
    chosen = _category(category or spec.category)
    draft = _read_draft(folder, chosen)
    fixture = _read_trees(folder, spec)
    refuse(
        list(_shared(fixture, draft)) + list(_no_solution(fixture, chosen)),
        hint="start/ and solution/ are kept in evals/, where everybody can read them; what only "
        "grading may know stands in hidden/",
    )
    read_material(draft, chosen)  # refuses an oracle that is none before anything is written
    return Folder(
        spec=spec, category=chosen, fixture=fixture, prompt=_read_prompt(folder), draft=draft
    )


def _draft_places() -> tuple[str, ...]:
    return tuple(sorted(DRAFT_FOLDERS | DRAFT_FILES - {EVIDENCE}))


def _strangers(folder: Path) -> Iterator[str]:
    known = {*_TREES, *_draft_places(), _TASK, _PROMPT}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not path.name.startswith("."):
            yield f"{path} has no place in a fixture"


def _read_spec(path: Path) -> Spec:
    if not path.is_file():
        return Spec()
    document = Document.read(path)
    spec = Spec(
        title=document.text("title", default=""),
        category=document.text("category", default=""),
        grading=grading_of(document),
        forbidden=scope(document, "forbidden") if "forbidden" in document else None,
        allowed=scope(document, "allowed") if "allowed" in document else None,
        slices=document.texts("slices"),
        tags=document.texts("tags"),
        notes=document.text("notes", default=""),
        removed=prefixes(document, "removed"),
        executable=prefixes(document, "executable"),
    )
    document.finish(hint=f"mend {path}")
    return spec


def _category(word: str) -> Category:
    if word not in list(Category):
        raise InputError(
            f"there is no category {word!r}" if word else "the fixture says no category",
            hint=f"--category, one of: {', '.join(Category)}",
        )
    return Category(word)


def _read_draft(folder: Path, category: Category) -> dict[str, bytes]:
    """Return the hidden part of a folder, with a blank oracle where the category needs one."""
    files: dict[str, bytes] = {}
    for place in _draft_places():
        top = folder / place
        for path in (top,) if top.is_file() else read_paths(top):
            if path.is_symlink() or not path.is_file():
                raise InputError(
                    f"{path} is a link or a special file", hint="a draft holds ordinary files"
                )
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    blank = template("task", f"oracle-{category}.yaml")
    if "oracle.yaml" not in files and blank.is_file():
        files["oracle.yaml"] = blank.read_bytes()
    return files


def _read_trees(folder: Path, spec: Spec) -> Fixture:
    start = collect(folder / "start", spec.executable)
    changes = collect(folder / "solution", spec.executable)
    names = {entry.path.decode(errors="replace") for entry in start}
    problems = [] if start else [f"{folder / 'start'} holds no file"]
    problems += [
        f'{_TASK}: "removed" names {path}, which is not in start/'
        for path in spec.removed
        if not any(name == path.rstrip("/") or name.startswith(f"{path.rstrip('/')}/")
                   for name in names)
    ]  # fmt: skip
    refuse(problems, hint=f"mend {folder}")
    if not changes and not spec.removed:
        return Fixture(start=start, solution=())
    return Fixture(start=start, solution=overlay(start, changes, spec.removed))


def _no_solution(fixture: Fixture, category: Category) -> Iterator[str]:
    if not fixture.solution and category is not Category.TRAP:
        yield f"a {category} task needs solution/: the files that the right answer changes"
    elif fixture.solution and not changed_paths(fixture):
        yield "solution/ changes nothing of start/"


def _shared(fixture: Fixture, draft: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the hidden files that stand in a tree which the whole team can read."""
    trees = {"start": fixture.start, "solution": fixture.solution}
    seen = {entry.data: f"{name}/{entry.path.decode(errors='replace')}"
            for name, tree in trees.items() for entry in tree if entry.data.strip()}  # fmt: skip
    for path, data in draft.items():
        if path.startswith("hidden/") and data in seen:
            yield f"{seen[data]} is {path} itself: it would not be hidden"


def _read_prompt(folder: Path) -> str:
    try:
        text = read_bytes(folder / _PROMPT).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{folder / _PROMPT} is not UTF-8", hint="save it as UTF-8") from error
    except InputError as error:
        raise InputError(error.message, hint="write what the agent is asked") from error
    if not text.strip():
        raise InputError(f"{folder / _PROMPT} is empty", hint="write what the agent is asked")
    return text
