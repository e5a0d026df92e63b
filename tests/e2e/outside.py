"""What plain git and plain pytest say of a run's diff, with nothing of labkit between."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from gitrepo import Project


@dataclass(slots=True)
class Outside:
    """Checkouts of a project in a folder of their own."""

    project: Project
    folder: Path
    roots: tuple[str, ...] = (".",)
    """Folders of the project from which its packages are imported."""
    site: Path | None = None
    _made: int = field(default=0, init=False)

    def tree(self, commit: str, patch: bytes = b"", *, tests: str = "") -> Path:
        """Return a checkout of a commit with a patch on it, and then the tests of another."""
        self._made += 1
        made = self.folder / f"{self._made:03}"
        self.project.git("worktree", "add", "--quiet", "--detach", str(made), commit)
        if patch:
            Project(made).git("apply", "-", stdin=patch)
        if tests:
            Project(made).git("checkout", "--quiet", tests, "--", "tests")
        return made

    def passing(self, tree: Path, *tests: str) -> set[str]:
        """Return the ids of the tests that pass in a checkout."""
        places = [str(tree / root) for root in self.roots] + [str(self.site or "")]
        words = ("-q", "-rA", "--color=no", "-p", "no:cacheprovider")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, *tests],
            cwd=tree,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, places))},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = done.stdout.splitlines()
        return {line.removeprefix("PASSED ") for line in lines if line.startswith("PASSED ")}

    def solves(self, patch: bytes, *, base: str, fixed: str, tests: tuple[str, ...]) -> bool:
        """Tell whether a patch passes every test that the fix itself passes."""
        wanted = self.passing(self.tree(fixed), *tests)
        assert wanted
        return self.passing(self.tree(base, patch, tests=fixed), *tests) >= wanted
