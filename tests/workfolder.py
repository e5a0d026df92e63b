"""Work folders on disk: unpacked as an agent finds them, packed as a sandbox reads them back."""

import io
import stat
from pathlib import Path

from gitrepo import Project

from labkit.archive import Entry, read_tar
from labkit.export import read_base, workspace_tar
from labkit.git import git_environment
from labkit.process import run
from labkit.treediff import TreeDiff, diff_returned

Snapshot = dict[bytes, tuple[str, bytes]]

AGENT = {
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@example.org",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@example.org",
}


def unpack(project: Project, folder: Path, commit: str = "base") -> Path:
    """Unpack the work folder of a base commit and return it."""
    data = workspace_tar(project.repository, read_base(project.repository, commit))
    folder.mkdir()
    run(
        ["tar", "-x", "--no-same-owner", "-C", folder], stdin=data
    )  # the module's safe filter came with 3.11.4
    return folder


def act(folder: Path, script: str) -> None:
    """Run a shell script in a work folder, as an agent of this machine's user would."""
    run(["bash", "-ec", script], cwd=folder, env=git_environment() | AGENT)


def pack(folder: Path) -> list[Entry]:
    """Pack a folder and read it back, as a sandbox does."""
    argv = ["tar", "--create", "--format=gnu", "--sort=name", "-C", str(folder.parent), folder.name]
    data = run(argv).stdout
    return list(read_tar(io.BytesIO(data), most_bytes=10**8, most_file_bytes=10**6))


def difference(project: Project, folder: Path, commit: str = "base") -> TreeDiff:
    """Return what labkit sees of a work folder."""
    base = read_base(project.repository, commit)
    return diff_returned(project.repository, base, pack(folder))


def applied(project: Project, folder: Path, found: TreeDiff, commit: str = "base") -> str:
    """Apply a difference to a fresh checkout at `folder`; return the id of the tree it makes."""
    project.git("worktree", "add", "--quiet", "--detach", str(folder), commit)
    fresh = Project(folder)
    if found.patch:
        fresh.git("apply", "--index", "--binary", "-", stdin=found.patch)
    return fresh.git("write-tree")


def snapshot(folder: Path) -> Snapshot:
    """Return every file below a folder but `.git`: its kind (f, x, l or special), its bytes."""
    found: Snapshot = {}
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        if ".git" not in inside.parts and (path.is_symlink() or not path.is_dir()):
            found[bytes(inside)] = _state(path)
    return found


def _state(path: Path) -> tuple[str, bytes]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "l", bytes(path.readlink())
    if not stat.S_ISREG(mode):
        return "special", b""
    return ("x" if mode & 0o100 else "f"), path.read_bytes()
