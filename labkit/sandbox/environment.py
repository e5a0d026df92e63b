"""What bubblewrap shows a command of this machine: the interpreter and a folder of packages.

The kit's own packages (pytest and what it needs) are copied out of the running environment into a
cache, so that a sandbox sees them and nothing else that happens to be installed beside them.
"""

import compileall
import hashlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from labkit.errors import ToolError
from labkit.sandbox.distributions import files_of

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
_LAYOUT = "1"
"""Changes whenever the prepared folder is made differently, so that old ones are not used."""
_ACCOUNTS = {
    "passwd": "root:x:0:0:root:/tmp:/bin/sh\nagent:x:1000:1000:agent:/tmp:/bin/sh\n",
    "group": "root:x:0:\nagent:x:1000:\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The folders of the host that a sandbox may read, beside `/usr`."""

    prepared: Path
    """Holds `site` (the kit's packages), `bin` (python, python3) and `etc` (two accounts)."""
    interpreter: Path | None
    """The interpreter's prefix, None when it lies below `/usr`."""
    site: Path | None
    """A folder of packages of the team's choice, found before the kit's own."""
    root: Path | None = None
    """What setup commands made, when there are any: a virtual environment in a folder."""

    @property
    def description(self) -> str:
        """What commands run in, for the record of a run."""
        parts = [platform.platform(), f"Python {platform.python_version()}", self.prepared.name]
        if self.site is not None:
            parts.append(f"site {_digest_of_names(self.site)}")
        if self.root is not None:
            parts.append(f"environment {self.root.parent.name}")
        return "; ".join(parts)


def prepare_environment(cache: Path, *, site: Path | None = None) -> Environment:
    """Return the environment of this interpreter, making its folders in `cache` when missing.

    Raises ToolError when pytest is not installed beside labkit or `site` is not a folder.
    """
    if site is not None and not site.is_dir():
        raise ToolError(
            f"the folder of packages {site} does not exist",
            hint='make it with `pip install --target`, or leave "site" empty',
        )
    files = list(_files(PACKAGES))
    prepared = cache / f"environment-{_digest(files)}"
    if not prepared.is_dir():
        _make(prepared, files)
    prefix = Path(sys.base_prefix).resolve()
    outside = not prefix.is_relative_to("/usr")
    return Environment(prepared=prepared, interpreter=prefix if outside else None, site=site)


def copy_packages(target: Path) -> None:
    """Copy the kit's packages into `target`, as they are installed here."""
    _copy(list(_files(PACKAGES)), target)


def _files(names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Yield the place below a site folder, and the source, of every file of the packages."""
    for name in names:
        yield from files_of(_distribution(name))


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        raise ToolError(
            f"the Python package {name} is not installed beside labkit",
            hint='install labkit with its extra: pip install "labkit[embedded]"',
        ) from error


def _digest(files: Sequence[tuple[str, Path]]) -> str:
    versions = [f"{name} {distribution(name).version}" for name in PACKAGES]
    words = [_LAYOUT, sys.version, str(Path(sys.base_prefix).resolve()), *versions]
    words += [place for place, _ in files]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _digest_of_names(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def _make(prepared: Path, files: Sequence[tuple[str, Path]]) -> None:
    """Make the folder beside its place and move it there; another process may be first."""
    prepared.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=prepared.parent, prefix=".making-") as made:
        building = Path(made, "environment")
        _copy(files, building / "site")
        compileall.compile_dir(building / "site", quiet=2)
        _write_interpreter(building / "bin")
        _write_accounts(building / "etc")
        try:
            building.rename(prepared)
        except OSError:
            if not prepared.is_dir():
                raise


def _copy(files: Sequence[tuple[str, Path]], target: Path) -> None:
    for place, source in files:
        copied = target / place
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, copied)


def _write_interpreter(folder: Path) -> None:
    folder.mkdir()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    real = Path(sys.base_prefix).resolve() / "bin" / version
    for name in ("python", "python3"):
        (folder / name).symlink_to(real)


def _write_accounts(folder: Path) -> None:
    folder.mkdir()
    for name, lines in _ACCOUNTS.items():
        (folder / name).write_text(lines, encoding="ascii", newline="\n")
