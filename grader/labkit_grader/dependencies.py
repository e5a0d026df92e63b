"""Changes of what a project depends on: told, never installed, and no part of the verdict.

A grading environment is made from the base. So work that needs a new package fails by itself, and
people should see why; work that changes a version was not tested with it.
"""

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping

from labkit.archive import Entry, Kind
from labkit.fields import first_words
from labkit.patch.place import Tree, shown
from labkit_grader.pysource import UnreadableError, parse

Names = Mapping[str, str]
"""What is depended on, each with its version or source as it is written."""
_Reader = Callable[[str], Names]
_MOST_BYTES = 256 * 1024
"""Some readers take the square of it in time."""
_LONGEST = 80
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._@/-]*)\s*(.*)", re.DOTALL)
_SETUP = frozenset({"install_requires", "extras_require", "setup_requires", "tests_require"})
_PYPROJECT = (
    "build-system.requires", "project.dependencies", "project.optional-dependencies",
    "project.requires-python", "dependency-groups", "tool.poetry.dependencies",
    "tool.poetry.dev-dependencies", "tool.poetry.group", "tool.poetry.source",
    "tool.pdm.dev-dependencies", "tool.pdm.source", "tool.uv.sources", "tool.uv.dev-dependencies",
    "tool.uv.index", "tool.uv.constraint-dependencies", "tool.uv.override-dependencies",
    "tool.hatch.envs",
)  # fmt: skip
_PACKAGE = (
    "dependencies", "devDependencies", "peerDependencies", "optionalDependencies",
    "bundledDependencies", "bundleDependencies", "overrides", "resolutions", "engines", "pnpm",
)  # fmt: skip
_CARGO = (
    "dependencies", "dev-dependencies", "build-dependencies", "target", "workspace.dependencies",
    "patch", "replace",
)  # fmt: skip
_GRADLE = re.compile(
    r"^[ \t]*((?:\w*[iI]mplementation|\w*[aA]pi|\w*[oO]nly|classpath|kapt|ksp"
    r"|annotationProcessor)\b[^\n]*|id\b[^\n]*version[^\n]*)",
    re.MULTILINE,
)
_MAVEN = re.compile(r"<(dependency|plugin|parent|extension)>(.{0,8000}?)</\1>", re.DOTALL)
_GO = r"^(?!module|//|[ \t]*\))[ \t]*(?:require\s+|use\s+)?(\S+)(?<!\()[ \t]+([^\s(/][^\n/]*)"
_GEM = r"^[ \t]*(?:gem|source|git|path)\s*\(?\s*['\"]([^'\"]+)['\"]([^\n]*)"
_LOCKS = re.compile(
    r"(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock"
    r"|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|pylock(?:\..+)?\.toml|pixi\.lock"
    r"|conda-lock\.ya?ml|environment\.ya?ml|Cargo\.lock|go\.sum|go\.work\.sum|Gemfile\.lock"
    r"|gems\.locked|composer\.lock|gradle\.lockfile|libs\.versions\.toml|mix\.lock"
    r"|packages\.lock\.json|pubspec\.(?:yaml|lock)|Package\.resolved|\.python-version|\.nvmrc"
    r"|\.tool-versions|\.gitmodules)"
)


def changes(base: Tree, tree: Tree, changed: Iterable[bytes]) -> tuple[str, ...]:
    """Return a sentence for each changed file that says what the project depends on."""
    found = ((path, _change(path, base.get(path), tree.get(path))) for path in sorted(changed))
    return tuple(f"{shown(path)}: {what}" for path, what in found if what)


def _change(path: bytes, old: Entry | None, new: Entry | None) -> str:
    name = shown(path)
    if _LOCKS.fullmatch(name.rpartition("/")[2]):
        return "added" if old is None else "removed" if new is None else "changed"
    reader = _reader(name)
    if reader is None:
        return ""
    try:
        before, after = _read(old, reader), _read(new, reader)
    except (ValueError, RecursionError, UnreadableError, configparser.Error):
        return "changed, and it cannot be read"
    return "; ".join(_differences(before, after))


def _read(entry: Entry | None, reader: _Reader) -> Names:
    if entry is None:
        return {}
    if entry.kind is Kind.SYMLINK or len(entry.data) > _MOST_BYTES:
        raise ValueError("a link, or too large")
    return reader(entry.data.decode("utf-8-sig"))


def _differences(before: Names, after: Names) -> Iterator[str]:
    both = before.keys() & after.keys()
    kinds = (
        ("adds", after.keys() - before.keys()),
        ("drops", before.keys() - after.keys()),
        ("changes", {name for name in both if before[name] != after[name]}),
    )
    for word, names in kinds:
        if names:
            yield f"{word} {first_words([_short(name) for name in sorted(names)])}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."


def _reader(path: str) -> _Reader | None:
    last = path.rpartition("/")[2]
    return next((reader for name, reader in _READERS if name.fullmatch(last)), None) or (
        _requirements if re.search(r"(?:^|/)requirements/[^/]+\.(?:txt|in)$", path) else None
    )


def _named(requirement: str, place: str = "") -> tuple[str, str]:
    """Split a requirement into what is named and the rest."""
    match = _NAME.fullmatch(requirement)
    name, rest = (match[1], match[2]) if match else (requirement.strip(), "")
    return (f"{name} ({place})" if place else name), rest.strip()


def _requirements(text: str) -> Names:
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in text.splitlines())
    return dict(_named(line) for line in lines if line)


def _flat(values: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield the names in a table or list of requirements, each with its place."""
    if isinstance(values, dict):
        for name, value in values.items():
            deeper = isinstance(value, dict | list) and not _is_source(value)
            yield from (
                _flat(value, f"{place}.{name}")
                if deeper
                else [(f"{name} ({place})", json.dumps(value, default=str, sort_keys=True))]
            )
    elif isinstance(values, list):
        for value in values:
            yield _named(value, place) if isinstance(value, str) else (
                f"{json.dumps(value, default=str, sort_keys=True)} ({place})", ""
            )  # fmt: skip
    elif values is not None:
        yield place, str(values)


def _is_source(value: object) -> bool:
    """Return whether a table says where one package comes from, not which packages there are."""
    known = {"version", "path", "git", "url", "workspace", "optional", "features", "package"}
    return isinstance(value, dict) and not known.isdisjoint(value)


def _parts(values: object, places: Iterable[str]) -> Names:
    found: dict[str, str] = {}
    for place in places:
        part = values
        for key in place.split("."):
            part = part.get(key) if isinstance(part, dict) else None
        found.update(_flat(part, place))
    return found


def _toml(places: Iterable[str] | None) -> _Reader:
    def read(text: str) -> Names:
        values = tomllib.loads(text)
        return _parts(values, values if places is None else places)

    return read


def _json(places: Iterable[str]) -> _Reader:
    return lambda text: _parts(json.loads(text), places)


def _setup_cfg(text: str) -> Names:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    found: dict[str, str] = {}
    for section in parser.sections():
        for key, value in parser.items(section):
            if key in _SETUP or section == "options.extras_require":
                lines = (line for line in value.splitlines() if line.strip())
                found.update(_named(line, key) for line in lines)
    return found


def _setup_py(text: str) -> Names:
    found: dict[str, str] = {}
    for node in ast.walk(parse(text.encode(), "setup.py")):
        if isinstance(node, ast.keyword) and node.arg in _SETUP:
            try:
                found.update(_flat(ast.literal_eval(node.value), str(node.arg)))
            except ValueError:
                found[str(node.arg)] = ast.unparse(node.value)
    return found


def _lines(pattern: str) -> _Reader:
    """Return a reader of lines that begin with a name and go on with its version."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: {match[1]: match[2].strip() for match in compiled.finditer(text)}


def _maven(text: str) -> Names:
    found: dict[str, str] = {}
    for kind, body in _MAVEN.findall(text):
        name = re.search(r"<artifactId>([^<]*)</artifactId>", body)
        found[name[1].strip() if name else kind] = " ".join(body.split())
    return found


def _gradle(text: str) -> Names:
    return {" ".join(match[1].split()): "" for match in _GRADLE.finditer(text)}


_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(name), reader)
    for name, reader in (
        (r"(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in|pip)", _requirements),
        (r"pyproject\.toml", _toml(_PYPROJECT)),
        (r"Pipfile", _toml(None)),
        (r"setup\.cfg", _setup_cfg),
        (r"setup\.py", _setup_py),
        (r"package\.json", _json(_PACKAGE)),
        (r"deno\.json", _json(("imports", "links"))),
        (r"composer\.json", _json(("require", "require-dev", "repositories"))),
        (r"Cargo\.toml", _toml(_CARGO)),
        (r"go\.(?:mod|work)", _lines(_GO)),
        (r"Gemfile|gems\.rb", _lines(_GEM)),
        (r".+\.gemspec", _lines(r"\.add_\w*dependency\s*\(?\s*['\"]([^'\"]+)['\"]([^\n]*)")),
        (r"pom\.xml", _maven),
        (r"(?:build|settings)\.gradle(?:\.kts)?", _gradle),
        (r".+\.(?:cs|fs|vb)proj|Directory\.Packages\.props",
         _lines(r"<Package(?:Reference|Version)\s+Include=\"([^\"]+)\"([^\n]*)")),
        (r"mix\.exs", _lines(r"\{:(\w{1,99}),([^{}\n]*)\}")),
        (r"Package\.swift", _lines(r"\.package\(([^,\n(]*),([^\n]*)")),
    )
)  # fmt: skip
