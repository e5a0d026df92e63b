"""Published releases of small packages as a git repository, one commit each."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import Project, make_project

_PATIENCE = 300


def download(name: str, versions: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Fetch source archives by name and unpack them; skip the test when the index is silent."""
    folder.mkdir(parents=True)
    wanted = [f"{name}=={version}" for version in versions]
    archives: list[Path] = []
    for each in wanted:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--no-binary", ":all:", "--dest", str(folder), each),
            ],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        if done.returncode != 0:
            _or_skip(f"{each} cannot be had from the package index: {done.stderr[-300:]}")
        archives = sorted(folder.glob("*.tar.gz"))
    unpacked = {}
    for archive in archives:
        subprocess.run(["tar", "-xzf", str(archive), "-C", str(folder)], check=True)
        root = folder / archive.name.removesuffix(".tar.gz")
        unpacked[root.name.rpartition("-")[2]] = root
    return {version: unpacked[version] for version in versions}


def _or_skip(reason: str) -> None:
    if "registry" in os.environ.get("LABKIT_TEST_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


def as_history(project: Project, releases: dict[str, Path], *, keep: tuple[str, ...]) -> None:
    """Commit each release's files (only those that `keep` names) in order, tagged by version."""
    make_project(project.folder)
    for version, source in releases.items():
        for old in project.folder.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        for name in keep:
            if (source / name).is_dir():
                shutil.copytree(
                    source / name,
                    project.folder / name,
                    ignore=shutil.ignore_patterns("__pycache__"),
                )
            elif (source / name).exists():
                shutil.copy(source / name, project.folder / name)
        project.commit({}, f"Release {version}")
        project.git("tag", f"v{version}")
