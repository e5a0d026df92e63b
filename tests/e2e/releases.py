"""Published releases of small packages as a git repository, one commit each."""

import shutil
import subprocess
import sys
from pathlib import Path

from gitrepo import Project, make_project
from sandboxes import missing

_PATIENCE = 300


def download(name: str, versions: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Fetch source archives by name and unpack them; skip the test when the index is silent."""
    folder.mkdir(parents=True)
    releases = {}
    for version in versions:
        into = folder / version
        # Only the package itself as source: what it is built with may come built.
        wanted = ("--no-binary", name, "--dest", str(into), f"{name}=={version}")
        _pip("download", "--no-deps", *wanted)
        (archive,) = into.glob("*.tar.gz")
        subprocess.run(["tar", "-xz", "--no-same-owner", "-f", archive, "-C", into], check=True)
        releases[version] = into / archive.name.removesuffix(".tar.gz")
    return releases


def install(names: tuple[str, ...], folder: Path) -> Path:
    """Install packages and what they need into a folder; skip when the index is silent."""
    _pip("install", "--target", str(folder), *names)
    return folder


def as_history(project: Project, releases: dict[str, Path], *, keep: tuple[str, ...]) -> None:
    """Commit each release's files (only those that `keep` names) in order, tagged by version."""
    make_project(project.folder)
    for version, source in releases.items():
        for old in project.folder.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for name in keep:
            if (source / name).is_dir():
                shutil.copytree(source / name, project.folder / name)
            elif (source / name).exists():
                shutil.copy(source / name, project.folder / name)
        project.commit({}, f"Release {version}")
        project.git("tag", f"v{version}")


def _pip(command: str, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", command, "--quiet", *words],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode != 0:
        missing("registry", f"pip {command} {words[-1]}: {done.stderr[-300:]}")
