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


def project_distributions(project: Path) -> list[tuple[importlib.metadata.Distribution, bool]]:
    """Return what was installed out of the project's own tree, and whether as a copy."""
    found = []
    for one in importlib.metadata.distributions():
        try:
            about = json.loads(one.read_text("direct_url.json") or "{}")
        except ValueError:
            continue
        place = about.get("url", "").rstrip("/")
        if place == project.as_uri() or place.startswith(f"{project.as_uri()}/"):
            found.append((one, not about.get("dir_info", {}).get("editable")))
    return found


class NowhereError(Exception):
    """An installed package is nowhere in the tree under the name that it is imported by."""


def detach(one: importlib.metadata.Distribution, site: Path, project: Path) -> set[str]:
    """Remove the installed copy of the project's modules; return where the tree has them.

    Its metadata and scripts stay: they name the project, and its code is then the tree's own.
    """
    installed: dict[str, list[importlib.metadata.PackagePath]] = {}
    for file in one.files or ():
        path = Path(str(file.locate()))
        # An environment on top of another finds what that one has removed still listed.
        if _is_module(file) and site in path.parents and path.is_file():
            installed.setdefault(file.parts[0], []).append(file)
    roots = {_root_of(top, files, project) for top, files in installed.items()}
    for file in (file for files in installed.values() for file in files):
        path = Path(str(file.locate()))
        if path.is_file():
            path.unlink()
            _remove_empty(path.parent, site)
    return roots - {""}


def _is_module(file: importlib.metadata.PackagePath) -> bool:
    top = file.parts[0]
    return ".." not in file.parts and not top.endswith(_METADATA)


def _root_of(top: str, files: list[importlib.metadata.PackagePath], project: Path) -> str:
    """Return the folder of the tree that a package was installed from: there, most is the same.

    Other folders may hold files of the same names, such as an older copy among examples.
    """
    modules = [file for file in files if file.as_posix().endswith(".py")]
    same: dict[str, int] = {}
    for file in modules:
        name, data = file.as_posix(), Path(str(file.locate())).read_bytes()
        for path in project.rglob(file.name):
            if str(path).endswith(f"/{name}") and not {"build", ".git"} & set(path.parts):
                root = str(path)[: -len(name) - 1]
                same[root] = same.get(root, 0) + (path.read_bytes() == data)
    if modules and not any(same.values()):
        raise NowhereError(
            f"the project was installed as a copy, and {top} is nowhere in it under that name; "
            "install it with pip install -e . instead"
        )
    return min(same, key=lambda root: (-same[root], root.count("/"), root), default="")


def link_scripts(one: importlib.metadata.Distribution, project: Path) -> None:
    """Let installed scripts that are files of the tree run the tree's own, as it then is."""
    folder = Path(sysconfig.get_paths()["scripts"])
    for file in one.files or ():
        path = Path(os.path.normpath(str(file.locate())))
        if path.parent != folder or not path.is_file():
            continue
        first, _, rest = path.read_bytes().partition(b"\n")
        for source in sorted(project.rglob(path.name)):
            if source.is_file() and source.read_bytes().partition(b"\n")[2] == rest != b"":
                words = f'"{sys.executable}" "{source}"' if b"python" in first else f'"{source}"'
                path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
                path.chmod(0o755)
                break


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


def add_paths(file: Path, lines: list[str]) -> None:
    """Write a path file, with what an environment below this one has in it first."""
    before = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    whole = [*before, *(line for line in lines if line not in before)]
    file.write_text("\n".join(whole) + "\n", encoding="utf-8")


def main(kit: Path, listing: Path) -> None:
    """Take the project's copies away, and let the kit's pytest serve where there is none."""
    keep_left(PROJECT, set(listing.read_text(errors="surrogateescape").split("\0")))
    site = Path(sysconfig.get_paths()["purelib"])
    platform = Path(sysconfig.get_paths()["platlib"])
    roots: set[str] = set()
    for one, is_copy in project_distributions(PROJECT):
        link_scripts(one, PROJECT)
        for folder in {site, platform} if is_copy else ():
            roots |= detach(one, folder, PROJECT)
    lines = sorted(roots)
    if importlib.util.find_spec("pytest") is None:
        if not (KIT / "pytest").is_dir():
            shutil.copytree(kit, KIT, dirs_exist_ok=True)
        lines.append(str(KIT))
    if lines:
        site.mkdir(parents=True, exist_ok=True)
        add_paths(site / "labkit.pth", lines)


if __name__ == "__main__":
    sys.path.pop(0)
    os.umask(0o022)
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except NowhereError as error:
        sys.exit(str(error))
