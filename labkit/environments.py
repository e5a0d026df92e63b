"""What tasks are run in, as people write it: `environment:` in labkit.yaml and in a task file.

A task's own fields stand in place of the team's, each by itself; variables are taken together by
name. What comes out is a `Recipe`; making it is the business of `labkit.supply`.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.fields import Fields

BASE_IMAGE = "labkit-base:local"
FIELDS = ("image", "dockerfile", "setup", "files", "build", "variables")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = frozenset({"PATH", "PYTHONPATH", "HOME", "PYTHONDONTWRITEBYTECODE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """An environment as written down; `named` are the fields that stand in the file."""

    image: str = ""
    """Docker: the image it starts from; empty: the kit's own, or what the Dockerfile makes."""
    dockerfile: str = ""
    """Path below evals/, for engines only."""
    setup: tuple[str, ...] = ()
    """Run once, with a network, in a copy of the base's files."""
    files: tuple[str, ...] = ()
    """What of the base setup gets; empty: everything."""
    build: tuple[str, ...] = ()
    """Run without a network in every tree before tests or an agent see it."""
    variables: tuple[tuple[str, str], ...] = ()
    """Set everywhere, sorted by name."""
    named: frozenset[str] = frozenset()

    @property
    def is_made(self) -> bool:
        """Whether something has to be made before it can be used."""
        return bool(self.dockerfile or self.setup)

    def facts(self) -> dict[str, object]:
        """Return the fields that stand in the file as plain values, in their usual order."""
        values: dict[str, object] = {
            "image": self.image,
            "dockerfile": self.dockerfile,
            "setup": list(self.setup),
            "files": list(self.files),
            "build": list(self.build),
            "variables": dict(self.variables),
        }
        return {name: values[name] for name in FIELDS if name in self.named}

    def over(self, team: "Recipe") -> "Recipe":
        """Return the team's recipe with what this one names in place of it."""
        taken = {name: getattr(self, name) for name in self.named}
        if "image" in self.named:
            taken["dockerfile"] = ""
        if "dockerfile" in self.named:
            taken["image"] = ""
        taken["variables"] = tuple(sorted({**dict(team.variables), **dict(self.variables)}.items()))
        return replace(team, **taken, named=self.named | team.named)


NOTHING_NAMED = Recipe()


def pinned(team: Recipe, own: Iterable[Recipe], evals: Path) -> dict[str, object]:
    """Return what a suite's version pins of environments, beside what stands in its task files.

    That is the team's recipe, and the bytes of every Dockerfile; a missing one is pinned as that.
    """
    paths = sorted({recipe.dockerfile for recipe in (team, *own)} - {""})
    return {"team": team.facts(), "dockerfiles": {path: _digest(evals / path) for path in paths}}


def _digest(path: Path) -> str:
    """Return the digest of a text whose line ends may be this system's own."""
    try:
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    except OSError:
        return ""


def read_recipe(fields: Fields, evals: Path) -> Recipe:
    """Take the fields of one `environment:`, noting every problem in them.

    The caller reads what else may stand there and says `done`.
    """
    recipe = Recipe(
        image=fields.filled("image") if "image" in fields else fields.text("image", default=""),
        dockerfile=fields.text("dockerfile", default=""),
        setup=_commands(fields, "setup"),
        files=_files(fields),
        build=_commands(fields, "build"),
        variables=tuple(_variables(fields.mapping("variables"))),
        named=frozenset(name for name in FIELDS if name in fields),
    )
    if {"image", "dockerfile"} <= recipe.named:
        fields.problem("dockerfile", 'write "image" or "dockerfile", not both')
    if "dockerfile" in recipe.named:
        _check_dockerfile(fields, recipe.dockerfile, evals)
    return recipe


def _commands(fields: Fields, name: str) -> tuple[str, ...]:
    commands = fields.texts(name)
    if any(not command.strip() for command in commands):
        fields.problem(name, f'"{name}" holds an empty command')
    return commands


def _files(fields: Fields) -> tuple[str, ...]:
    files = fields.texts("files")
    for path in files:
        if not _is_inside(path):
            fields.problem("files", f"{path!r} is not a path inside the project: write setup.py")
        elif any(character in path for character in "*?\\"):
            fields.problem("files", f"{path!r} is no pattern: name a folder or a file, with /")
    return files


def _check_dockerfile(fields: Fields, path: str, evals: Path) -> None:
    if not _is_inside(path):
        fields.problem("dockerfile", f"{path!r} is not a path below evals/: write Dockerfile")
    elif not (evals / path).is_file():
        fields.problem("dockerfile", f"there is no file evals/{path}")


def _is_inside(path: str) -> bool:
    clean = posixpath.normpath(path)
    return clean == path.rstrip("/") and not f"{clean}/".startswith(("/", "./", "../"))


def _variables(fields: Fields) -> Iterable[tuple[str, str]]:
    for name in sorted(fields.names()):
        value = fields.text(name)
        if not _NAME.fullmatch(name):
            fields.problem(name, f"{name!r} is no name of a variable")
        elif name in _OURS or name.startswith("LABKIT_"):
            fields.problem(name, f"{name} is set by labkit: setup and build can do what it is for")
        else:
            yield name, value
    fields.done()
