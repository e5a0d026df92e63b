"""Real git repositories for tests, with fixed authors and dates so that ids never vary."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from labkit.git import Repository, git_environment
from labkit.process import run

FIXED = {
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "ana@example.org",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
    "GIT_AUTHOR_DATE": "2024-05-01T10:00:00Z",
    "GIT_COMMITTER_DATE": "2024-05-01T10:00:00Z",
}
LINK, EXECUTABLE = "120000", "100755"


@dataclass(frozen=True, slots=True)
class Project:
    """A checkout that tests write to."""

    folder: Path

    @property
    def repository(self) -> Repository:
        """The safe git of this checkout."""
        return Repository.discover(self.folder)

    def git(self, *words: str, stdin: bytes = b"") -> str:
        """Run git here as a person would, without anybody's settings, and return its output."""
        done = run(
            ["git", "-C", self.folder, *words],
            stdin=stdin,
            env=git_environment() | FIXED,
        )
        return done.stdout.decode(errors="surrogateescape").strip()

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "change") -> str:
        """Write files (None: delete), commit everything and return the commit's id."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, entries: Mapping[bytes, tuple[str, bytes]]) -> str:
        """Commit exactly these (mode, content) entries, with no work tree and no filter between.

        The content of a submodule (mode 160000) is its commit's id.
        """
        index = self.folder / ".git" / "labkit-test-index"
        lines = []
        for path, (mode, content) in entries.items():
            oid = (
                content.decode()
                if mode == "160000"
                else self.git("hash-object", "-w", "--stdin", "--no-filters", stdin=content)
            )
            lines.append(b"%s %s\t%s\0" % (mode.encode(), oid.encode(), path))
        environment = git_environment() | FIXED | {"GIT_INDEX_FILE": str(index)}
        prefix = ["git", "-C", str(self.folder)]
        run([*prefix, "read-tree", "--empty"], env=environment)
        run(
            [*prefix, "update-index", "-z", "--add", "--index-info"],
            stdin=b"".join(lines),
            env=environment,
        )
        tree = run([*prefix, "write-tree"], env=environment).stdout.decode().strip()
        return self.git("commit-tree", tree, "-m", "made")


def make_project(folder: Path, *options: str) -> Project:
    """Make an empty repository whose default branch is main."""
    folder.mkdir(parents=True, exist_ok=True)
    project = Project(folder)
    project.git("init", "--quiet", "--initial-branch=main", *options)
    return project


BASE_FILES: Mapping[str, str | bytes] = {
    "a.py": "x = 1\n",
    "tests/test_a.py": "def test_a():\n    assert True\n",
    "img.bin": bytes(range(256)),
    ".gitignore": "build/\n*.log\n",
    "crlf.txt": b"a\r\nb\r\n",
    "del.me": "d\n",
    "run.sh": "#!/bin/sh\n",
    "lib/deep/m.py": "m = 1\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a project of three commits: a first one, the base, and one that solves something."""
    made = make_project(tmp_path / "project")
    made.commit({"README.md": "first\n"}, "Begin")
    made.commit({**BASE_FILES, "README.md": None}, "Write the library")
    made.git("tag", "base")
    made.commit({"a.py": "x = 2  # the solution\n"}, "Solve it")
    made.git("tag", "--annotate", "v1", "--message", "one")
    return made
