"""Which local files a Dockerfile copies where, as far as that can be told without building it.

Only COPY, ADD, WORKDIR and ENV are followed. What needs an engine (RUN, other stages, addresses) is
named, so that whoever has an image of it can say so.
"""

import fnmatch
import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labkit.errors import InputError
from labkit.fields import read_bytes
from labkit.globs import is_pattern, pattern_problem, within

_IGNORED = frozenset(
    {
        *("ARG", "CMD", "ENTRYPOINT", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD"),
        *("SHELL", "STOPSIGNAL", "USER", "VOLUME"),
    }
)
_HARMLESS_FLAGS = ("--chown=", "--chmod=", "--link")
_ARCHIVE = re.compile(r".*\.(?:tar|tgz|tbz2?|txz|tar\.(?:gz|bz2|xz|zst))")
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Laid:
    """What a Dockerfile lays out."""

    workdir: str
    """Where commands run in the end; `/` where it does not say."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Local files by the whole path that they get."""
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    """What an image built from it has, and these files alone have not; one piece each."""
    problems: tuple[str, ...] = ()
    """What could not be understood, one piece each."""


def follow(file: Path) -> Laid:
    """Follow a Dockerfile; its folder is the build context. Raises InputError if it is no text."""
    try:
        text = read_bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8", hint="save it as UTF-8") from error
    reading = _Reading(file.parent)
    for line, words in _instructions(text):
        reading.take(line, words)
    return reading.laid()


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Yield each instruction on one line, with the number of its first line."""
    start, joined = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not line.strip():
            continue
        start = start if joined else number
        if line.rstrip().endswith("\\"):
            joined += f"{line.rstrip()[:-1]} "
            continue
        yield start, (joined + line).strip()
        joined = ""
    if joined.strip():
        yield start, joined.strip()


class _Reading:
    """What has been laid out so far."""

    def __init__(self, context: Path) -> None:
        self._context = context
        self._workdir = "/"
        self._stages = 0
        self._heredocs = False
        self._files: dict[str, Path] = {}
        self._variables: dict[str, str] = {}
        self._needs: list[str] = []
        self._problems: list[str] = []
        self._ignored = tuple(self._patterns(context / ".dockerignore"))

    def _patterns(self, file: Path) -> Iterator[str]:
        """Yield what a .dockerignore leaves out, as `labkit.globs` has it."""
        text = read_bytes(file).decode(errors="replace") if file.is_file() else ""
        for line in filter(None, map(str.strip, text.splitlines())):
            plain = posixpath.normpath(line).strip("/")
            place = f"/{plain}" if is_pattern(plain) else plain
            if line.startswith("!") or pattern_problem(place):
                self._problems.append(f".dockerignore: {_short(line)} is not followed")
            elif not line.startswith("#"):
                yield place

    def _is_ignored(self, path: Path) -> bool:
        return within(path.relative_to(self._context).as_posix(), self._ignored)

    def laid(self) -> Laid:
        return Laid(
            workdir=self._workdir,
            files=dict(sorted(self._files.items())),
            variables=self._variables,
            needs=tuple(self._needs),
            problems=tuple(self._problems),
        )

    def take(self, line: int, instruction: str) -> None:
        """Follow one instruction."""
        if self._heredocs:
            return  # nobody knows where a text within the file ends without reading the shell in it
        name, _, rest = instruction.partition(" ")
        name, rest = name.upper(), rest.strip()
        said = f"line {line}: {_short(instruction)}"
        if "<<" in rest and name in ("RUN", "COPY", "ADD"):
            self._heredocs = True
            self._needs.append(f"{said} (and all that follows)")
        elif name == "RUN":
            self._needs.append(said)
        elif name == "FROM":
            self._from(said)
        elif name in ("COPY", "ADD", "WORKDIR", "ENV"):
            self._lay(name, rest, said)
        elif name not in _IGNORED:
            self._problems.append(f"{said} is no instruction")

    def _from(self, said: str) -> None:
        self._stages += 1
        if self._stages > 1:  # what earlier stages laid out is not in the image
            self._needs.append(said)
            self._files.clear()
            self._workdir = "/"

    def _lay(self, name: str, rest: str, said: str) -> None:
        if "$" in rest and name != "ENV":
            self._needs.append(f"{said} (a variable)")
            return
        try:
            words = _words(rest)
        except ValueError:
            self._problems.append(f"{said} is not understood")
            return
        if name == "WORKDIR":
            self._workdir = posixpath.normpath(posixpath.join(self._workdir, *words[:1]))
        elif name == "ENV":
            self._set(words, rest)
        else:
            self._copy(name, words, said)

    def _set(self, words: list[str], rest: str) -> None:
        if "=" in words[0]:
            pairs = [word.partition("=")[::2] for word in words]
        else:
            pairs = [(words[0], rest[len(words[0]) :].strip())]
        for name, value in pairs:
            if "$" in value:
                self._needs.append(f"ENV {name} (a variable)")
            else:
                self._variables[name] = value

    def _copy(self, name: str, words: list[str], said: str) -> None:
        flags = [word for word in words if word.startswith("--")]
        *sources, target = [word for word in words if not word.startswith("--")] or [""]
        if not sources:
            self._problems.append(f"{said} is not understood")
        elif not _is_plain(name, flags, sources):
            self._needs.append(said)
        else:
            whole = posixpath.normpath(posixpath.join(self._workdir, target))
            into = target.endswith(("/", ".")) or len(sources) > 1 or self._is_folder(whole)
            for source in sources:
                self._place(source, whole, into=into, said=said)

    def _is_folder(self, target: str) -> bool:
        return target == self._workdir or any(name.startswith(f"{target}/") for name in self._files)

    def _place(self, source: str, target: str, *, into: bool, said: str) -> None:
        """Copy what a source means, as Docker does: of a folder, what lies in it."""
        found = [path for path in self._matching(source) if not self._is_ignored(path)]
        if not found:
            self._problems.append(f"{said}: {source} is not there")
        for path in found:
            if path.is_dir():
                self._place_all(path, target, said)
            elif into or len(found) > 1:
                self._files[posixpath.join(target, path.name)] = path
            else:
                self._files[target] = path

    def _place_all(self, folder: Path, target: str, said: str) -> None:
        for path in sorted(folder.rglob("*")):
            if self._is_ignored(path):
                continue
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                self._problems.append(f"{said}: {path.name} is no plain file")
            elif path.is_file():
                name = path.relative_to(folder).as_posix()
                self._files[posixpath.join(target, name)] = path

    def _matching(self, source: str) -> Iterator[Path]:
        """Yield what a source means inside the context; a pattern may mean several files."""
        parts = [part for part in source.split("/") if part not in ("", ".")]
        if ".." in parts:
            return
        found = [self._context]
        for part in parts:
            found = [
                path
                for folder in found
                if folder.is_dir() and not folder.is_symlink()
                for path in sorted(folder.iterdir())
                if (path.name == part or fnmatch.fnmatchcase(path.name, part))
                and not path.is_symlink()
            ]
        yield from found


def _is_plain(name: str, flags: list[str], sources: list[str]) -> bool:
    """Return whether a copy is of local files, just as they are."""
    if any(not flag.startswith(_HARMLESS_FLAGS) for flag in flags):
        return False
    return name == "COPY" or not any(
        "://" in source or _ARCHIVE.fullmatch(source) for source in sources
    )


def _words(rest: str) -> list[str]:
    """Return the words of an instruction, in either of its forms; raises ValueError."""
    words = [str(word) for word in json.loads(rest)] if rest.startswith("[") else shlex.split(rest)
    if not words:
        raise ValueError("no words")
    return words


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
