"""Which files steer the runners that are not ours, by the programs that a grading command reaches.

A command is followed into the shell scripts, Makefiles and package.json scripts that it starts, as
they are at the base. What steers is put back there, so a diff cannot choose which tests run.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from labkit.archive import Entry, Kind
from labkit.globs import within
from labkit.patch.place import Tree

_MOST_SCRIPT = 256 * 1024
MOST_TOML = 256 * 1024
"""Bytes: a larger file would take seconds to read, so it counts as one that has changed."""


@dataclass(frozen=True, slots=True)
class _Family:
    """Programs that read the same files before any test runs."""

    programs: str
    files: str
    """Patterns of names, at any depth."""


_FAMILIES = (
    _Family(
        "node npm npx pnpm pnpx yarn yarnpkg bun bunx deno jest mocha vitest ava tap tape c8 nyc "
        "karma playwright cypress jasmine uvu tsx ts-node lerna nx turbo gulp grunt",
        "node_modules .npmrc .yarnrc* .yarn .pnp.* .pnpmfile.* pnpm-workspace.yaml bunfig.toml "
        "deno.json* jest.config.* jest.setup.* jest.preset.* setupTests.* babel.config.* .babelrc* "
        ".swcrc .mocharc* mocha.opts vitest.config.* vitest.workspace.* vitest.setup.* "
        "vite.config.* ava.config.* .taprc karma.conf.* playwright.config.* cypress.config.* "
        ".nycrc* .c8rc* jasmine.json nx.json turbo.json lerna.json gulpfile.* Gruntfile.*",
    ),
    _Family(
        "make gmake bmake ninja ctest cmake just go-task",
        "Makefile makefile GNUmakefile *.mk build.ninja CTestTestfile.cmake CTestConfig.cmake "
        "CTestCustom.cmake DartConfiguration.tcl justfile .justfile Taskfile.y*ml",
    ),
    _Family("tox nox invoke hatch pdm poetry", "tox.ini tox.toml noxfile.py tasks.py hatch.toml"),
    _Family("cargo cargo-nextest rustc", ".cargo nextest.toml rust-toolchain rust-toolchain.toml"),
    _Family("go gotestsum", "go.work go.work.sum go.env vendor"),
    _Family(
        "mvn mvnw gradle gradlew ant sbt java",
        "pom.xml .mvn mvnw mvnw.cmd build.gradle* settings.gradle* gradle.properties gradle "
        "gradlew gradlew.bat buildSrc build.xml build.sbt junit-platform.properties testng.xml "
        "META-INF/services/org.junit.*",
    ),
    _Family(
        "php phpunit pest paratest composer",
        "phpunit.xml* phpunit.dist.xml Pest.php .user.ini php.ini vendor",
    ),
    _Family(
        "ruby rspec rake bundle bundler rails cucumber minitest",
        ".rspec .rspec-local Rakefile *.rake .bundle Gemfile Gemfile.lock spec_helper.rb "
        "rails_helper.rb test_helper.rb .simplecov cucumber.y*ml vendor",
    ),
    _Family(
        "dotnet vstest",
        "*.runsettings Directory.Build.* Directory.Packages.props nuget.config NuGet.Config "
        "global.json xunit.runner.json dotnet-tools.json",
    ),
    _Family("prove perl", ".proverc"),
    _Family("mix", "mix.exs test_helper.exs config/test.exs"),
    _Family("dart flutter", "dart_test.yaml"),
    _Family("R Rscript", ".Rprofile .Renviron"),
    _Family("busted lua", ".busted .luacov"),
)
_JSON_PARTS = {
    "package.json": frozenset(
        {"scripts", "config", "workspaces", "packageManager", "jest", "mocha", "ava", "nyc", "c8"}
        | {"tap", "vitest", "babel", "jasmine", "wireit", "nx", "gulp"}
    ),
    "composer.json": frozenset({"scripts", "autoload-dev", "config", "extra"}),
}
_TOML_PARTS = {"Cargo.toml": ("test", "bench", "profile", "workspace", "patch", "replace")}
_READERS = {
    "package.json": frozenset(_FAMILIES[0].programs.split()),
    "composer.json": frozenset({"php", "phpunit", "pest", "paratest", "composer"}),
    "Cargo.toml": frozenset({"cargo", "cargo-nextest"}),
    "go.mod": frozenset({"go", "gotestsum"}),
}
_GO_STEERS = re.compile(
    rb"^\s*(?:replace|exclude|toolchain|godebug|tool)\b.*|^.*=>.*", re.MULTILINE
)
_WORD = re.compile(r"[^\s;&|()<>\"'`$=:,{}\[\]]+")
_PYTHONPATH = re.compile(r"PYTHONPATH=[\"']?([^\s\"';&|]+)")
_COMMENT = re.compile(r"(?m)(?:^|\s)#(?!!).*$")
_PATH = r"([\w./@+-]*/[\w.@+-]+|[\w.@+-]+\.\w+)"
_BEGIN = r"(?m)(?:^|[;&|(`]|\b(?:then|do|else|exec|env|time)\b)\s*"
_LOADS = (
    re.compile(rf"{_BEGIN}(?:\.|source)\s+{_PATH}"),
    re.compile(r"--(?:require|import|loader|experimental-loader|env-file)[= ]([\w./@+-]+)"),
    re.compile(r"\s-r[= ](\./[\w./@+-]+)"),
    re.compile(r"\b[bg]?make\s+-f\s*([\w./@+-]+)"),
)
"""How a script loads a file into itself or into a runner."""
_STARTS = re.compile(
    rf"{_BEGIN}(?:(?:[\w./-]+/)?(?:sh|bash|dash|zsh|ksh|python[0-9.]*|node|ruby|perl|php)\s+"
    rf"(?:-[a-zA-Z]+\s+)*)?{_PATH}"
)
"""How a script starts a program of the project: its own, or the one that is tested."""
_TOOLS = frozenset(
    {"ci", ".ci", "script", "scripts", "tool", "tools", "hack", "dev", ".github", ".gitlab"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What a grading command starts, as far as its words and scripts tell."""

    programs: frozenset[str]
    files: frozenset[str]
    """Files of the base that it starts or loads first."""

    places: tuple[str, ...]
    """Patterns of the files that the programs read first."""
    roots: frozenset[str]
    """Folders from which Python imports before it looks for its own modules."""

    def steers(self, name: str, old: Entry | None, new: Entry | None) -> bool:
        """Return whether a changed file decides, as a whole, what these programs run."""
        last = posixpath.basename(name)
        if last in _JSON_PARTS:
            unread = new is None or _json(new) is None or _json(old) is None
            return unread and self._reads(last)
        if last in _TOML_PARTS and self._reads(last):
            return _toml(old, _TOML_PARTS[last]) != _toml(new, _TOML_PARTS[last])
        if last == "go.mod" and self._reads(last):
            return _go(old) != _go(new)
        return name in self.files or within(name, self.places)

    def mended(self, path: bytes, old: Entry | None, new: Entry) -> tuple[Entry, str] | None:
        """Return a shared file with its steering parts as at the base, and which they are.

        None where nothing in it steers.
        """
        name = posixpath.basename(path.decode(errors="replace"))
        before, after = _json(old), _json(new)
        if name not in _JSON_PARTS or not self._reads(name) or before is None or after is None:
            return None
        changed = sorted(part for part in _JSON_PARTS[name] if before.get(part) != after.get(part))
        if not changed:
            return None
        kept = {key: value for key, value in after.items() if key not in changed}
        kept |= {part: before[part] for part in changed if part in before}
        data = (json.dumps(kept, indent=2) + "\n").encode()
        return Entry(path=path, kind=new.kind, data=data), ", ".join(changed)

    def _reads(self, name: str) -> bool:
        return not self.programs.isdisjoint(_READERS[name])


def reached(command: Iterable[str], base: Tree) -> Reached:
    """Follow a grading command into what it starts, in the base's files."""
    words = list(command)
    named = {word.rpartition("=")[2] for word in words} | set(words)
    files = {name for name in map(posixpath.normpath, named - {""}) if _bytes(name) in base}
    texts = [("", _COMMENT.sub("", word)) for word in words]
    programs: set[str] = set()
    seen: set[str] = set()
    roots: set[str] = set()
    while texts:
        for folder, text in texts:
            programs |= {posixpath.basename(word) for word in _WORD.findall(text)}
            roots |= {root for found in _PYTHONPATH.findall(text) for root in found.split(":")}
            files |= {name for name in _started(text, folder) if _bytes(name) in base}
        files |= {name for name in _by_name(programs) if _bytes(name) in base}
        new = sorted(files - seen)
        texts = [(posixpath.dirname(name), text) for name in new for text in _script(name, base)]
        seen |= files
    places = tuple(
        f"**/{pattern}"
        for family in _FAMILIES
        if not programs.isdisjoint(family.programs.split())
        for pattern in family.files.split()
    )
    # A script that Python starts has its own folder in front.
    roots |= {posixpath.dirname(name) or "." for name in files if name.endswith(".py")}
    return Reached(
        programs=frozenset(programs),
        files=frozenset(files),
        places=places,
        roots=frozenset(posixpath.normpath(root) for root in roots if root),
    )


def _bytes(name: str) -> bytes:
    return name.encode(errors="surrogateescape")


def _started(text: str, folder: str) -> Iterator[str]:
    """Yield what a script in `folder` loads, and what it starts of its own kind.

    Scripts also start the program that is tested (`sh add.sh 2 3`). So of what is started only that
    counts which lies with the script, below the project's root, or in a folder for tools.
    """
    for pattern in _LOADS:
        yield from (posixpath.normpath(name) for name in pattern.findall(text))
    for name in map(posixpath.normpath, _STARTS.findall(text)):
        if name.split("/")[0] in _TOOLS or (folder and name.startswith(f"{folder}/")):
            yield name


def _by_name(programs: set[str]) -> Iterator[str]:
    """Yield the files whose commands a program runs because of how they are called."""
    if not programs.isdisjoint({"make", "gmake", "bmake"}):
        yield from ("GNUmakefile", "makefile", "Makefile")
    if not programs.isdisjoint({"npm", "npx", "pnpm", "yarn", "bun"}):
        yield "package.json"


def _script(name: str, base: Tree) -> Iterator[str]:
    """Yield the commands of a script of the base; nothing for other files."""
    entry = base[_bytes(name)]
    if entry.kind is Kind.SYMLINK or len(entry.data) > _MOST_SCRIPT:
        return
    text = entry.data.decode(errors="replace")
    last = posixpath.basename(name)
    if last == "package.json":
        scripts = (_json(entry) or {}).get("scripts")
        yield from (str(value) for value in scripts.values()) if isinstance(scripts, dict) else ()
    elif last.lower().endswith((".sh", ".bash", "makefile")) or re.match(r"#!.*sh\b", text):
        yield _COMMENT.sub("", text)


def _json(entry: Entry | None) -> Mapping[str, object] | None:
    """Return the values of a JSON file; none where there is no file, None where it is no JSON."""
    if entry is None:
        return {}
    try:
        values = None if entry.kind is Kind.SYMLINK else json.loads(entry.data)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _toml(entry: Entry | None, parts: tuple[str, ...]) -> object:
    if entry is None:
        return [None] * len(parts)
    if len(entry.data) > MOST_TOML:
        return object()
    try:
        values = tomllib.loads(entry.data.decode())
    except (ValueError, RecursionError):
        return object()  # equal to nothing
    return [values.get(part) for part in parts]


def _go(entry: Entry | None) -> object:
    return sorted(_GO_STEERS.findall(entry.data)) if entry is not None else []
