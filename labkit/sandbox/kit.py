"""What labkit brings into setup: its programs, pip, its own test runner, the machine's indexes."""

import ensurepip
import io
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import ToolError
from labkit.sandbox.distributions import files_of
from labkit.sandbox.environment import copy_packages
from labkit.sandbox.indexes import Indexes, exports
from labkit.sandbox.making import KIT, Making, script

_PLACE = KIT.encode()[1:]
_PIP = b'#!/bin/sh\nexec python3 -m pip "$@"\n'


def setup_kit(indexes: Indexes, making: Making, *, venv: str) -> bytes:
    """Return everything below `/` that setup.sh needs, as a tar.

    The task's variables come last: they win over the machine's. `venv` is empty where packages go
    into the system itself.
    """
    ours = {"LABKIT_VENV": venv, "LABKIT_KEEPS": "yes" if making.keeps else ""}
    told = {**indexes.variables, **dict(making.variables), **ours}
    entries = [
        _file(b"variables", exports(told)),
        _file(b"finish.py", script("finish.py")),
        *(_file(b"bin/" + name, _PIP, Kind.EXECUTABLE) for name in (b"pip", b"pip3")),
        *(_file(b"pip/" + name, data) for name, data in _pip_files()),
        *(_file(b"site/" + name, data) for name, data in _site_files()),
    ]
    return write_tar([*entries, *indexes.files], uid=0)


def setup_command(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command line that runs setup commands."""
    return ("/bin/sh", "-c", script("image/setup.sh").decode(), "labkit-setup", *commands)


def _file(name: bytes, data: bytes, kind: Kind = Kind.FILE) -> Entry:
    return Entry(path=_PLACE + b"/" + name, kind=kind, data=data)


def _site_files() -> Iterator[tuple[bytes, bytes]]:
    with tempfile.TemporaryDirectory(prefix="labkit-kit-") as folder:
        site = Path(folder, "site")
        copy_packages(site)
        for path in sorted(site.rglob("*")):
            if path.is_file():
                yield bytes(path.relative_to(site)), path.read_bytes()


def _pip_files() -> Iterator[tuple[bytes, bytes]]:
    """Yield pip's files, as it is installed beside labkit or comes with this Python."""
    try:
        installed = distribution("pip")
    except PackageNotFoundError:
        yield from _bundled_pip()
        return
    for place, source in files_of(installed):
        yield place.encode(), source.read_bytes()


def _bundled_pip() -> Iterator[tuple[bytes, bytes]]:
    bundled = sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
    if not bundled:
        raise ToolError(
            "setup commands need pip, and there is none beside labkit",
            hint="install it where labkit is installed: python -m ensurepip, or uv pip install pip",
        )
    with zipfile.ZipFile(io.BytesIO(bundled[-1].read_bytes())) as wheel:
        for name in wheel.namelist():
            if not name.endswith("/"):
                yield name.encode(), wheel.read(name)
