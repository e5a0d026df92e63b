"""Build commands before tests: on every tree, in a sandbox of their own, checked from outside.

They never see hidden tests, and what they leave is laid out by us: so a diff cannot use them to
reach its grading. What a diff touched has to stay as it is, or the wrong tree would be graded. Who
is to blame when it does not is seen by building the base: commands that overwrite what the solution
changed are a broken set-up; a diff that makes commands undo it, which leave the base alone, fails.
"""

import hashlib
import threading

from labkit.building import Built, NotBuilt, Workbench, build_tree
from labkit.errors import ToolError
from labkit.fields import first_words
from labkit.patch.place import Tree, shown
from labkit_grader.protected import may_be_made
from labkit_grader.runners import Reached

_KEPT = 4
UNDOES = "the build commands undo what the diff changed"


class SetupProblemError(ToolError):
    """A task's build commands do not work: nothing is known of what was to be graded."""


class Builder:
    """Builds the trees of one task; safe to use from several threads at once."""

    def __init__(
        self,
        bench: Workbench,
        *,
        base: Tree,
        hidden: frozenset[bytes],
        solved: frozenset[bytes] = frozenset(),
        own: Reached | None = None,
    ) -> None:
        """Build trees of `base`; `solved` is what the solution changes, `own` the task's runner."""
        self._bench = bench
        self._base = base
        self._hidden = hidden
        self._solved = solved
        self._own = own
        self._known: dict[str, Built | NotBuilt] = {}
        self._lock = threading.Lock()

    def require_base(self) -> None:
        """Raise SetupProblemError when the base itself cannot be built."""
        built = self._built(self._base)
        if isinstance(built, NotBuilt):
            raise SetupProblemError(
                f"the base cannot be built: {built.reason}",
                hint="mend build: under environment: in the task file or in labkit.yaml",
            )

    def build(self, tree: Tree) -> Tree | NotBuilt:
        """Return a tree with what the build commands make of it; the hidden files are laid last.

        NotBuilt is the tree's own fault: the base can be built.
        """
        shown_to_it = {path: entry for path, entry in tree.items() if path not in self._hidden}
        built = self._built(shown_to_it)
        if isinstance(built, NotBuilt):
            self.require_base()
            return built
        if undone := self._undone(shown_to_it, built):
            return NotBuilt(reason=f"{UNDOES}: {first_words([shown(path) for path in undone])}")
        made = {path: entry for path, entry in built.made.items() if self._is_taken(path, tree)}
        kept = {path: entry for path, entry in tree.items() if path not in built.gone}
        return kept | made

    def _is_taken(self, path: bytes, tree: Tree) -> bool:
        if path in self._hidden:
            return False
        if path in tree or may_be_made(path, self._own):
            return True
        return may_be_made(path) and path in self._of_base()

    def _undone(self, tree: Tree, built: Built) -> list[bytes]:
        """Return what commands undo that leave the base alone; raise where they always overwrite.

        A file that they make anew on the base as well, and that the solution does not change, is
        theirs: an edit of it has no effect.
        """
        touched = {*built.made, *built.gone} - self._hidden
        undone = {path for path in touched if self._base.get(path) != tree.get(path)}
        if not undone:
            return []
        always = self._of_base() & self._base.keys() & undone
        if lost := sorted(always & self._solved):
            names = first_words([shown(path) for path in lost])
            raise SetupProblemError(
                f"the build commands change what the diff changed: {names}",
                hint="build: is for files that no commit holds; it must leave all others alone",
            )
        return sorted(undone - always)

    def _of_base(self) -> frozenset[bytes]:
        """Return what the build commands make, change or remove on the base itself."""
        self.require_base()
        built = self._built(self._base)
        return frozenset({*built.made, *built.gone}) if isinstance(built, Built) else frozenset()

    def _built(self, tree: Tree) -> Built | NotBuilt:
        key = _digest(tree)
        with self._lock:
            if key not in self._known:
                while len(self._known) >= _KEPT:
                    del self._known[next(iter(self._known))]
                self._known[key] = build_tree(self._bench, tree.values())
            return self._known[key]


def _digest(tree: Tree) -> str:
    whole = hashlib.sha256()
    for path, entry in sorted(tree.items()):
        for part in (path, str(entry.kind).encode(), entry.data):
            whole.update(b"%d:" % len(part) + part)
    return whole.hexdigest()
