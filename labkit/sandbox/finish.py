"""Finishes an environment from inside: the project comes from the tree, pytest is there.

A plain file that knows nothing of labkit: standard library only, Python 3.8 or newer. It runs after
the setup commands, with the interpreter that they installed for; the base's tree is at /workspace.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

KIT = Path("/opt/labkit/site")
LEFT = Path("/opt/labkit/env/labkit-left")
PROJECT = Path("/workspace")
_PRODUCTS = {"build", "dist", ".git", ".eggs", "__pycache__", ".pytest_cache", "node_modules"}
_COMPILED = (".so", ".pyd", ".o", ".a", ".pyc", ".dylib")
_MOST_BYTES, _MOST_FILES = 1024 * 1024, 1000
_METADATA = (".dist-info", ".egg-info")


def project_distributions(project: Path) -> list[importlib.metadata.Distribution]:
    """Return what was installed as a copy out of the project's own tree."""
    found = []
    for one in importlib.metadata.distributions():
        try:
            about = json.loads(one.read_text("direct_url.json") or "{}")
        except ValueError:
            continue
        place = about.get("url", "").rstrip("/")
        inside = place == project.as_uri() or place.startswith(f"{project.as_uri()}/")
        if inside and not about.get("dir_info", {}).get("editable"):
            found.append(one)
    return found


def detach(one: importlib.metadata.Distribution, site: Path, project: Path) -> set[str]:
    """Remove the installed copy of the project's modules; return where the tree has them.

    Its metadata and scripts stay: they name the project, and its code is then the tree's own.
    """
    files = [file for file in one.files or () if _is_module(file)]
    roots = {root for file in files for root in _roots(file.as_posix(), project)}
    for file in files:
        path = Path(str(file.locate()))
        if path.is_file() and site in path.parents:
            path.unlink()
            _remove_empty(path.parent, site)
    return roots


def _is_module(file: importlib.metadata.PackagePath) -> bool:
    top = file.parts[0]
    return ".." not in file.parts and not top.endswith(_METADATA)


def _roots(name: str, project: Path) -> set[str]:
    """Return the folders of the tree below which this module stands."""
    if not name.endswith(".py"):
        return set()
    return {
        str(path)[: -len(name) - 1]
        for path in project.rglob(name.rpartition("/")[2])
        if str(path).endswith(f"/{name}") and not {"build", ".git"} & set(path.parts)
    }


def _remove_empty(folder: Path, site: Path) -> None:
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    while site in folder.parents and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def left_by_setup(project: Path, before: set[str]) -> list[Path]:
    """Return the new files that setup wrote among the project's own, such as `_version.py`.

    What is compiled stays out: it would be the base's in every tree, whatever a change did to its
    source. So do copies, caches and metadata.
    """
    found = []
    for path in sorted(project.rglob("*")):
        name = path.relative_to(project)
        product = _PRODUCTS.intersection(name.parts) or any(
            part.endswith(_METADATA) for part in name.parts
        )
        if product or str(name) in before or path.suffix in _COMPILED:
            continue
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
            found.append(path)
    return found[:_MOST_FILES]


def keep_left(project: Path, before: set[str]) -> None:
    """Keep what setup left, and say how many files that are."""
    found = left_by_setup(project, before)
    for path in found:
        kept = LEFT / path.relative_to(project)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, kept)
    if found:
        sys.stdout.write(f"left {len(found)}\n")


def main(kit: Path, listing: Path) -> None:
    """Take the project's copies away, and let the kit's pytest serve where there is none."""
    keep_left(PROJECT, set(listing.read_text(errors="surrogateescape").split("\0")))
    site = Path(sysconfig.get_paths()["purelib"])
    platform = Path(sysconfig.get_paths()["platlib"])
    roots: set[str] = set()
    for one in project_distributions(PROJECT):
        for folder in {site, platform}:
            roots |= detach(one, folder, PROJECT)
    lines = sorted(roots)
    if importlib.util.find_spec("pytest") is None:
        if not (KIT / "pytest").is_dir():
            shutil.copytree(kit, KIT, dirs_exist_ok=True)
        lines.append(str(KIT))
    if lines:
        site.mkdir(parents=True, exist_ok=True)
        (site / "labkit.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.pop(0)
    os.umask(0o022)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
