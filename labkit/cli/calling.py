"""Calls the command so that whatever is wrong with it comes back as an error like any other."""

import typer

from labkit.cli.app import app
from labkit.cli.console import say
from labkit.errors import InputError

INTERRUPTED = 130
"""What typer makes of Ctrl-C, without a word."""
_USAGE = 2


def called() -> int:
    """Call the command and return its exit code; raises InputError for a wrong option."""
    try:
        return int(app(prog_name="labkit", standalone_mode=False) or 0)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own, whose class has no public name
            raise
        if "NoArgs" in type(error).__name__:
            say(error.format_message())
            return _USAGE
        context = getattr(error, "ctx", None)
        usage = context.get_usage() if context else "Usage: labkit --help"
        raise InputError(error.format_message(), hint=f"u{usage[1:]}; --help says more") from error
