"""The `labkit` command: one module per noun, and the one place that turns errors into exit codes.

Commands import their phase when they run, so that `labkit --help` costs next to nothing.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence

from labkit.cli.console import complain, say
from labkit.errors import LabkitError, refuse

BUG = 70


def main() -> None:
    """Run labkit and leave with its exit code."""
    try:
        from labkit.cli.calling import INTERRUPTED, called

        _require_text(sys.argv[1:])
        code = called()
    except LabkitError as error:
        complain(error)
        sys.exit(error.exit_code)
    except Exception:  # noqa: BLE001 - the one place that may: whatever gets here is labkit's bug
        sys.exit(_bug())
    if code == INTERRUPTED:
        say("\nlabkit: interrupted; the same command goes on from here")
    sys.exit(code)


def _require_text(words: Sequence[str]) -> None:
    """Refuse arguments that are no text: nothing that labkit writes or says could hold them."""
    refuse(
        [
            f"argument {place} is no text in UTF-8: "
            f"{word.encode(errors='backslashreplace').decode()}"
            for place, word in enumerate(words, 1)
            if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word)
        ],
        hint="write it in UTF-8; a file with such a name must be renamed first",
    )


def _bug() -> int:
    """Keep the traceback in a file, tell where it is, and return the exit code of a bug."""
    with tempfile.NamedTemporaryFile(
        "w",
        prefix="labkit-bug-",
        suffix=".log",
        delete=False,
        encoding="utf-8",
        errors="backslashreplace",
    ) as file:
        file.write(f"labkit {' '.join(sys.argv[1:])}\nPython {sys.version}\n\n")
        traceback.print_exc(file=file)
    if os.environ.get("LABKIT_DEBUG"):
        traceback.print_exc()
    error = sys.exc_info()[1]
    say(f"labkit: bug: {type(error).__name__}: {error}")
    say(f"labkit: hint: please report it with {file.name}")
    return BUG
