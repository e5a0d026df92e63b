"""Which changed files may not take part in grading, and how hidden tests are laid on top.

A diff can change what pytest runs as surely as it can change the code under test. Every file that
could is put back as the base has it, or removed where the base has none, and is named.
"""

import posixpath
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from labkit.archive import Entry, Kind
from labkit.model import Category
from labkit.tasks import Task, forbidden_edits, within
from labkit_grader.command import writes_junit
from labkit_grader.place import Tree, shown

TEST_FOLDERS = frozenset({"tests", "test", "__tests__"})
_ALWAYS = frozenset({"conftest", "sitecustomize", "usercustomize"})
_PYTEST_FILES = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
_SHARED_FILES = frozenset({"pyproject.toml", "tox.ini", "setup.cfg"})
_METADATA = (".dist-info", ".egg-info")
_MODULE_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments"}
    | {
        "labkit_report",
        "labkit_unittest",
        "labkit_lines",
        "labkit_absent",
        "labkit_loader",
        "labkit_trial",
    }
)
# `test` is in the standard library, and the name of many a project's test folder.
_SHADOWABLE = (_RUNNER_MODULES | sys.stdlib_module_names) - TEST_FOLDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A tree that is fit for grading, and what was done to make it so."""

    tree: Tree
    neutralised: tuple[str, ...] = ()
    """One sentence for each path that was put back or removed."""


def guard(base: Tree, tree: Tree, task: Task) -> Guarded:
    """Put back, or remove, every change that could act on the grading itself."""
    kept = dict(tree)
    named: list[str] = []
    changed = sorted(p for p in base.keys() | tree.keys() if base.get(p) != tree.get(p))
    bad = [path for path in changed if _is_guarded(path, base.get(path), tree.get(path), task)]
    for path in bad:
        if path not in base:
            del kept[path]
            named.append(f"{shown(path)}: removed")
    for path in bad:
        if path in base:
            named.append(f"{shown(path)}: put back as at the base")
            named.extend(_put(kept, base[path]))
    return Guarded(tree=kept, neutralised=tuple(named))


def lay(tree: Tree, files: Iterable[Entry], *, removed: Iterable[str] = ()) -> Guarded:
    """Lay files on a tree, last; a link, file or folder in their way goes.

    A regular file that stands where one of them goes is replaced without a word: hidden tests are
    often a stronger version of the project's own. So go the `removed` paths: tests that the
    solution deleted or moved.
    """
    gone = {path.encode() for path in removed}
    kept = {path: entry for path, entry in tree.items() if path not in gone}
    named: list[str] = []
    for entry in files:
        named.extend(_put(kept, entry))
    return Guarded(tree=kept, neutralised=tuple(named))


def in_test_folder(path: str) -> bool:
    """Return whether a path lies in a folder for tests, by the folder's name."""
    return not TEST_FOLDERS.isdisjoint(path.split("/"))


def may_be_made(path: bytes) -> bool:
    """Return whether build commands may leave a new file there: not where it could steer pytest.

    They run the code of the graded tree, so what they make is as much its work as its diff is.
    """
    name = shown(path)
    *folders, last = name.split("/")
    parts = [part.partition(".")[0] for part in (*folders, last)]
    return not (
        last in _PYTEST_FILES
        or last.endswith(".pth")
        or not _ALWAYS.isdisjoint(parts)
        or "__pycache__" in folders
        or _shadows(name)
    )


def _put(tree: dict[bytes, Entry], entry: Entry) -> list[str]:
    """Set one file of a tree and return a sentence for each path that was in its way."""
    parts = entry.path.split(b"/")
    above = {b"/".join(parts[:count]) for count in range(1, len(parts))}
    below = entry.path + b"/"
    in_the_way = [path for path in tree if path in above or path.startswith(below)]
    standing = tree.get(entry.path)
    if standing is not None and standing.kind is Kind.SYMLINK and entry.kind is not Kind.SYMLINK:
        in_the_way.append(entry.path)
    for path in in_the_way:
        del tree[path]
    tree[entry.path] = entry
    return [
        f"{shown(path)}: removed, it stood in the way of a protected file or a test"
        for path in in_the_way
    ]


def _is_guarded(path: bytes, old: Entry | None, new: Entry | None, task: Task) -> bool:
    name = shown(path)
    return bool(
        forbidden_edits(task, (name,))
        or _is_test(name, task)
        or _steers_pytest(name, old, new, task)
        or _is_runner(name, task)
        or (old is None and _shadows(name))
    )


def _is_test(name: str, task: Task) -> bool:
    """Return whether a path is a test that only its author may change."""
    if task.category is Category.TESTS or within(name, task.allowed):
        return False
    return in_test_folder(name)


def _is_runner(name: str, task: Task) -> bool:
    """Return whether the grading command itself names a file, as the script that runs the tests."""
    words = {posixpath.normpath(word) for word in task.command}
    return writes_junit(task.command) and name in words and not within(name, task.allowed)


def _steers_pytest(name: str, old: Entry | None, new: Entry | None, task: Task) -> bool:
    """Return whether a file can change what Python or pytest loads before any test runs."""
    *folders, last = name.split("/")
    if last in _SHARED_FILES:
        return _settings(last, old) != _settings(last, new)
    if last == "conftest.py" and task.category is Category.TESTS and in_test_folder(name):
        return False  # fixtures of the tests that are the work; what they can forge, the tests can
    parts = [part.partition(".")[0] for part in (*folders, last)]
    return (
        last in _PYTEST_FILES
        or last.endswith(".pth")
        or not _ALWAYS.isdisjoint(parts)
        or "__pycache__" in folders
        or any(part.lower().endswith(_METADATA) for part in (*folders, last))
    )


def _shadows(name: str) -> bool:
    """Return whether a new module would be imported instead of pytest's or Python's own."""
    top = name.removeprefix("src/").split("/")[0].partition(".")[0]
    return top in _SHADOWABLE and name.endswith(_MODULE_ENDINGS)


def _settings(name: str, entry: Entry | None) -> object:
    """Return what pytest would read from a file that it shares with other tools."""
    if entry is None:
        return None
    if entry.kind is Kind.SYMLINK:
        return object()  # equal to nothing
    text = entry.data.decode(errors="replace")
    if name == "pyproject.toml":
        return _toml_settings(text)
    # pytest's own reader of these files is lenient about section lines, so any that may be one
    # of pytest's makes the whole file count.
    mentions = any("pytest" in line.partition("[")[2] for line in text.splitlines())
    return text if mentions else None


def _toml_settings(text: str) -> object:
    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return object()  # equal to nothing
    return tool.get("pytest") if isinstance(tool, dict) else None
