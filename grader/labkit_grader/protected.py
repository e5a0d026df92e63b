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
from labkit.globs import within
from labkit.model import Category
from labkit.patch.place import Tree, shown
from labkit.tasks import Task, forbidden_edits
from labkit.testpaths import is_test
from labkit_grader.command import is_own_runner
from labkit_grader.runners import MOST_TOML, Reached, reached

TEST_FOLDERS = frozenset({"tests", "test", "__tests__"})
_ALWAYS = frozenset({"conftest", "sitecustomize", "usercustomize"})
_PYTEST_FILES = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
_SHARED_FILES = frozenset({"pyproject.toml", "tox.ini", "setup.cfg"})
_METADATA = (".dist-info", ".egg-info", ".egg-link", ".egg")
_ROOTS = frozenset({"src", "."})
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
    rules = _Rules.of(base, tree, task)
    changed = sorted(p for p in base.keys() | tree.keys() if base.get(p) != tree.get(p))
    bad = [path for path in changed if rules.forbid(path, base.get(path), tree.get(path))]
    for path in bad:
        if path not in base:
            del kept[path]
            named.append(f"{shown(path)}: removed")
    for path in bad:
        if path in base:
            named.append(f"{shown(path)}: put back as at the base")
            named.extend(_put(kept, base[path]))
    for path in changed:
        if path in kept and (mended := rules.mended(path, base.get(path), kept[path])):
            kept[path], parts = mended
            named.append(f"{shown(path)}: {parts} put back as at the base")
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


def may_be_made(path: bytes, own: Reached | None = None) -> bool:
    """Return whether build commands may leave a new file there: not where it could steer the tests.

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
        or (own is not None and own.steers(name, None, None))
    )


def own_runner(task: Task, base: Tree) -> Reached | None:
    """Return what the task's runner reads where it is not ours; None for pytest and unittest."""
    return reached(task.command, base) if is_own_runner(task.command) else None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """What the changes of one tree are held against."""

    task: Task
    tree: Tree
    own: Reached | None
    """What a runner that is not ours reads; None where pytest or unittest run."""
    roots: frozenset[str]
    """Folders from which Python imports."""

    @classmethod
    def of(cls, base: Tree, tree: Tree, task: Task) -> "_Rules":
        own = own_runner(task, base)
        # Of pytest and unittest the command's own words tell where Python imports from.
        roots = reached(task.command, {}).roots if own is None else own.roots
        return cls(task=task, tree=tree, own=own, roots=roots | _ROOTS)

    def forbid(self, path: bytes, old: Entry | None, new: Entry | None) -> bool:
        """Return whether a change may not take part in grading."""
        name = shown(path)
        return bool(
            forbidden_edits(self.task, (name,))
            or self._is_test(name)
            or _steers_pytest(name, old, new, self.task)
            or self._steers_own(name, old, new)
            or (old is None and _shadows(name, self.roots))
            or self._is_compiled(name, old, new)
            or _is_dotenv(name, self.task)
        )

    def mended(self, path: bytes, old: Entry | None, new: Entry) -> tuple[Entry, str] | None:
        """Return a changed file with parts of it put back; None where that is not needed."""
        if self.own is None or old == new or within(shown(path), self.task.allowed):
            return None
        return self.own.mended(path, old, new)

    def _is_test(self, name: str) -> bool:
        """Return whether a path is a test that only its author may change."""
        if self.task.category is Category.TESTS or within(name, self.task.allowed):
            return False
        return in_test_folder(name) or (self.own is not None and is_test(name.encode()))

    def _steers_own(self, name: str, old: Entry | None, new: Entry | None) -> bool:
        """Return whether a runner of the project's own would run something else by a file."""
        if self.own is None or within(name, self.task.allowed):
            return False
        return self.own.steers(name, old, new)

    def _is_compiled(self, name: str, old: Entry | None, new: Entry | None) -> bool:
        """Return whether compiled code would run where people read a source beside it."""
        if new is None or name.endswith((".pyc", ".pyo")):
            return new is not None
        folder, last = posixpath.split(name)
        stem = posixpath.join(folder, last.partition(".")[0]).encode()
        beside = stem + b".py" in self.tree or stem + b"/__init__.py" in self.tree
        return old is None and beside and name.endswith((".so", ".pyd"))


def _is_dotenv(name: str, task: Task) -> bool:
    """Return whether a plugin that the command names sets variables from a file."""
    plugins = {"dotenv", "pytest_dotenv", "pytest-dotenv", "env", "pytest_env"}
    last = posixpath.basename(name)
    return last.startswith(".env") and not plugins.isdisjoint(task.command)


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
        or last.startswith("__editable__")
        or any(part.lower().endswith(_METADATA) for part in (*folders, last))
    )


def _shadows(name: str, roots: frozenset[str] = _ROOTS) -> bool:
    """Return whether a new module would be imported instead of pytest's or Python's own."""
    tops = {
        posixpath.relpath(name, root).split("/")[0].partition(".")[0]
        for root in roots
        if root == "." or name.startswith(f"{root}/")
    }
    return not _SHADOWABLE.isdisjoint(tops) and name.endswith(_MODULE_ENDINGS)


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
    if len(text) > MOST_TOML:
        return object()
    try:
        tool = tomllib.loads(text).get("tool")
    except (tomllib.TOMLDecodeError, RecursionError):
        return object()  # equal to nothing
    return tool.get("pytest") if isinstance(tool, dict) else None
