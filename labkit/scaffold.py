"""Making a workspace and a task's first files out of the templates that ship with labkit."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from labkit.bundle import LAYOUT
from labkit.errors import InputError
from labkit.git import Repository
from labkit.model import Category, TaskId
from labkit.process import plain_environment, run
from labkit.solved import HiddenDraft
from labkit.workspace import Workspace, replace, write_new

_SUFFIX = ".tmpl"
_RULE = "The files under tests/ are not to be changed."
_ONLY = "Only files under tests/"
"""What the templates say of a project's tests; their real places are put in its stead."""


def template(*names: str) -> Traversable:
    """Return a template file or folder."""
    return files("labkit_templates").joinpath(*names)


def copy_out(source: Traversable, target: Path) -> tuple[Path, ...]:
    """Copy a template folder; `x.py.tmpl` becomes `x.py` and `dot_x` becomes `.x`."""
    written: list[Path] = []
    for name, file in _walk(source):
        parts = [part.replace("dot_", ".", 1) if part.startswith("dot_") else part for part in name]
        path = target.joinpath(*parts)
        if path.name.endswith(_SUFFIX):
            path = path.with_name(path.name.removesuffix(_SUFFIX))
        write_new(path, file.read_bytes())
        written.append(path)
    return tuple(written)


def _walk(
    folder: Traversable, above: tuple[str, ...] = ()
) -> Iterator[tuple[list[str], Traversable]]:
    for child in sorted(folder.iterdir(), key=lambda item: item.name):
        if child.name in ("__pycache__", "__init__.py"):
            continue
        if child.is_dir():
            yield from _walk(child, (*above, child.name))
        else:
            yield [*above, child.name], child


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamFacts:
    """What `labkit init` is told of a team."""

    team: str
    holder: str = ""
    backup: str = ""
    solo: bool = False


def make_workspace(project: Path, facts: TeamFacts) -> Workspace:
    """Make `evals/` in a project's checkout, its own repository, unknown to the project's git.

    Raises InputError when the project itself has files below `evals/`, or one is there already.
    """
    workspace = Workspace(project)
    repository = Repository.discover(project)
    if repository.git("ls-files", "-z", "--", "evals").stdout:
        raise InputError(
            "the project's own git has files below evals/",
            hint="labkit keeps its workspace there: move the project's folder elsewhere first",
        )
    if workspace.evals.exists():
        raise InputError(
            f"{workspace.evals} is already there", hint="labkit status says what is in it"
        )
    with tempfile.TemporaryDirectory(prefix=".labkit-", dir=project) as folder:
        made = Path(folder) / "evals"
        copy_out(template("init"), made)
        replace(made / "labkit.yaml", _settings_text(facts))
        run(["git", "init", "-q", made], env=plain_environment())
        keep_out(repository)
        made.rename(workspace.evals)
    workspace.handover.mkdir(exist_ok=True)
    return workspace


def _settings_text(facts: TeamFacts) -> str:
    settings = Template(template("init", "labkit.yaml.tmpl").read_text(encoding="utf-8"))
    return settings.substitute(
        team=facts.team,
        holder=facts.holder,
        backup=facts.backup,
        solo="true" if facts.solo else "false",
    )


def keep_out(repository: Repository) -> None:
    """Keep `evals/` out of the project's own git without touching a tracked file."""
    found = repository.git("rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
    path = Path(os.fsdecode(found.stdout.removesuffix(b"\n")))
    lines = path.read_bytes().splitlines() if path.is_file() else []
    if b"/evals/" not in lines:
        replace(path, b"\n".join([*lines, b"/evals/"]) + b"\n")


def taken(workspace: Workspace, task: TaskId) -> tuple[Path, ...]:
    """Return what is there of a task already."""
    places = (workspace.task, workspace.prompt, workspace.fixture, workspace.draft, workspace.seal)
    return tuple(place(task) for place in places if place(task).exists())


def require_free(workspace: Workspace, task: TaskId) -> None:
    """Refuse an id under which something stands already."""
    if found := taken(workspace, task):
        raise InputError(
            f"there is a task {task} already: {found[0]}",
            hint="choose another id, or delete what is left of a task that you gave up",
        )


def make_draft(
    workspace: Workspace, task: TaskId, category: Category, hidden: HiddenDraft
) -> tuple[Path, ...]:
    """Make a task's draft folder: the commit's tests as hidden tests, the category's oracle."""
    draft = workspace.draft(task)
    if draft.exists():
        raise InputError(f"{draft} is already there", hint="it holds an earlier draft of this task")
    (draft / "hidden").mkdir(parents=True)
    written = [draft / "hidden" / path for path in hidden.files]
    for path, data in zip(written, hidden.files.values(), strict=True):
        write_new(path, data)
    for name in hidden.executable:
        _make_executable(draft / "hidden" / name)
    if hidden.layout:
        write_new(draft / LAYOUT, hidden.layout_text)
        written.append(draft / LAYOUT)
    oracle = template("task", f"oracle-{category}.yaml")
    if oracle.is_file():
        write_new(draft / "oracle.yaml", oracle.read_bytes())
        written.append(draft / "oracle.yaml")
    if category is Category.TRAP:
        written.extend(copy_out(template("task", "examples"), draft / "examples"))
    return tuple(written)


def _make_executable(path: Path) -> None:
    """Give a draft's script its mode, for the author's eyes; grading reads hidden.yaml."""
    mode = path.stat().st_mode
    path.chmod(mode | (mode & 0o444) >> 2)


def prompt_skeleton(category: Category, places: Sequence[str] = ()) -> str:
    """Return what a prompt of this category is started from; `places` are the project's tests."""
    text = template("task", f"prompt-{category}.txt").read_text(encoding="utf-8")
    if not places:
        return text
    named = _listed(list(places))
    if all(place.endswith("/") for place in places):
        rule, only = f"The files under {named} are not to be changed.", f"Only files under {named}"
    else:
        rule, only = f"Please do not change {named}.", f"Only {named}"
    return text.replace(_RULE, rule).replace(_ONLY, only)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def left_of_template(prompt: str, category: Category) -> tuple[tuple[int, str], ...]:
    """Return the lines of a prompt that its author was to replace, with their numbers from 1."""
    wanted = _placeholders(category)
    lines = enumerate(map(str.strip, prompt.splitlines()), 1)
    return tuple((number, line) for number, line in lines if line in wanted)


def is_untouched(prompt: str, category: Category) -> bool:
    """Return whether a prompt is still the template: nothing in brackets was replaced."""
    found = {line for _, line in left_of_template(prompt, category)}
    return found == _placeholders(category)


def _placeholders(category: Category) -> frozenset[str]:
    """Return the template's lines that stand in brackets, wholly or in part."""
    found: set[str] = set()
    depth = 0
    for line in prompt_skeleton(category).splitlines():
        if depth or "[" in line:
            found.add(line.strip())
        depth += line.count("[") - line.count("]")
    return frozenset(found)
