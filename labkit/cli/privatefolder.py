"""Where the plaintext of a sealed split may be while it is scored."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labkit.errors import not_written


@contextmanager
def private_folder(commitment: str) -> Iterator[Path]:
    """Give a folder that nobody else can look into; whatever a killed labkit left there goes.

    Everything temporary of this process goes there too: working folders hold test cases.
    """
    usual = tempfile.gettempdir()
    folder = Path(usual, f"labkit-finalize-{commitment[:16]}")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise not_written(folder, error) from error
    try:
        tempfile.tempdir = str(folder)
        yield folder
    finally:
        tempfile.tempdir = usual
        shutil.rmtree(folder, ignore_errors=True)
