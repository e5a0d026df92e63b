"""The `labkit` command: one module per noun, and the one place that turns errors into exit codes.

Commands import their phase when they run, so that `labkit --help` costs next to nothing.
"""

import os
import sys
import tempfile
import traceback

from labkit.cli.console import complain, say
from labkit.errors import InputError, LabkitError

BUG = 70
INTERRUPTED = 130


def main() -> None:
    """Run labkit and leave with its exit code."""
    try:
        code = _called()
    except LabkitError as error:
        complain(error)
        sys.exit(error.exit_code)
    except Exception:  # noqa: BLE001 - the one place that may: whatever gets here is labkit's bug
        sys.exit(_bug())
    if code == INTERRUPTED:  # typer turns Ctrl-C into this without a word
        say("\nlabkit: interrupted; the same command goes on from here")
    sys.exit(code)


def _called() -> int:
    """Call the command; a wrong option is then an error like any other."""
    import typer

    from labkit.cli.app import app

    try:
        return int(app(prog_name="labkit", standalone_mode=False) or 0)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own, whose class has no public name
            raise
        if "NoArgs" in type(error).__name__:
            say(error.format_message())
            return 2
        context = getattr(error, "ctx", None)
        usage = context.get_usage() if context else "Usage: labkit --help"
        raise InputError(error.format_message(), hint=f"u{usage[1:]}; --help says more") from error


def _bug() -> int:
    """Keep the traceback in a file, tell where it is, and return the exit code of a bug."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="labkit-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(f"labkit {' '.join(sys.argv[1:])}\nPython {sys.version}\n\n")
        traceback.print_exc(file=file)
    if os.environ.get("LABKIT_DEBUG"):
        traceback.print_exc()
    error = sys.exc_info()[1]
    say(f"labkit: bug: {type(error).__name__}: {error}")
    say(f"labkit: hint: please report it with {file.name}")
    return BUG
