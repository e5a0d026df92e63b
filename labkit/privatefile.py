"""Writing a private key to disk: readable by its owner only, never over an earlier one."""

import os
import sys
from pathlib import Path

from labkit.errors import InputError, ToolError, not_written

_OTHERS = 0o077


def refuse_existing(path: Path) -> None:
    """Raise InputError when the name is taken; for callers whose key takes long to prepare."""
    if path.exists() or path.is_symlink():
        raise InputError(
            f"{path} is already there, and a key is never overwritten",
            hint="move the old key away first; what it opened or signed still needs it",
        )


def write_private(path: Path, data: bytes) -> None:
    """Write a new file of mode 0600; raises InputError when the name is taken.

    The file appears whole or not at all, and has its mode before it has its content.
    """
    refuse_existing(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(temporary, path)
        finally:
            temporary.unlink()
    except FileExistsError as error:
        raise InputError(
            f"{path} is being written by another labkit", hint="try again in a moment"
        ) from error
    except OSError as error:
        raise not_written(path, error) from error


def read_private(path: Path) -> bytes:
    """Return the content of a private key file; raises InputError when others can read it."""
    try:
        if sys.platform != "win32" and path.stat().st_mode & _OTHERS:
            raise InputError(
                f"{path} can be read by others on this machine", hint=f"run: chmod 600 {path}"
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"no key file {path}") from error
    except OSError as error:
        raise ToolError(f"{path} could not be read: {error.strerror}") from error
