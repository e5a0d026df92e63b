"""Files of imported tasks: laid into folders that cases point to, or written into a grader."""

import base64
import re
import tempfile
from pathlib import Path

from labkit.errors import InputError
from labkit.evals.digests import contents_digest
from labkit.evals.scratch import Files, lay, read_files

_TEXT = re.compile("[^\0-\x08\x0b\x0c\x0e-\x1f\x7f]*")
_NAME_DIGITS = 32


def laid_folder(files: Files, cache: Path) -> Path | None:
    """Return a folder with exactly these files; the same files always lie in the same one."""
    if not files:
        return None
    digest = contents_digest((name, *of) for name, of in sorted(files.items()))
    folder = cache / digest[:_NAME_DIGITS]
    if folder.is_dir():
        if read_files(folder) == files:
            return folder
        raise InputError(f"{folder} was changed", hint="delete it: it is made again")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".laying-", dir=cache) as made:
        lay(files, f"{made}/files")
        try:
            Path(made, "files").rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    return folder


def content_entry(data: bytes) -> dict[str, str]:
    """Return a file's content as the mapping of `harbor_tests` has it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if _TEXT.fullmatch(text):
        return {"text": text}
    return {"base64": base64.b64encode(data).decode()}
