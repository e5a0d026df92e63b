"""Writing files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labkit.errors import InputError, not_written


@contextmanager
def whole_file(path: Path, *, new: bool) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is whole, or never; `new`: nothing may have it yet.

    Raises InputError when something has, ToolError when the system does not let it be written.
    """
    if new and (path.exists() or path.is_symlink()):
        raise InputError(f"{path} is already there", hint="labkit never overwrites it silently")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".labkit-", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o666 & ~_umask())
            if new:
                os.link(temporary, path)
                temporary.unlink()
            else:
                temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except FileExistsError as error:
        raise InputError(f"{path} is already there") from error
    except OSError as error:
        raise not_written(path, error) from error


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
