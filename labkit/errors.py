"""The exceptions that stop a command, each with the exit code it ends in.

    LabkitError
    +-- InputError       2   what a person wrote is wrong: a file, an option, an id
    +-- PhaseError       2   a step out of order: says which step is missing
    +-- ToolError        3   git, the engine, the disk: something here could not do its work
    |   +-- InfrastructureError   one run was broken from outside: missing, never a fail
    |   +-- ReturnedTooLargeError   a run left too much to read back: its own doing, a result
    +-- IntegrityError   3   a seal, key, commitment, signature or suite version does not match

A verdict, a timeout, a hard fail and "ungraded" are values, never exceptions.
"""

import difflib
import errno
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar


class LabkitError(Exception):
    """The base of everything that labkit raises on purpose.

    `message` is one sentence for a person, lower case, without a full stop; `hint` says what to do
    about it; `more` holds further problems of the same file, so that all are shown at once.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None, more: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.more = tuple(more)

    @property
    def problems(self) -> tuple[str, ...]:
        """Every problem this error tells of, the first one first."""
        return (self.message, *self.more)


class InputError(LabkitError):
    """What the user wrote or typed is wrong and can be mended by the user."""

    exit_code = 2


class PhaseError(LabkitError):
    """A step was asked for before the step that it needs; the hint names that step."""

    exit_code = 2


class ToolError(LabkitError):
    """Something that labkit needs here (git, an engine, the disk) is missing or failed."""

    exit_code = 3


class InfrastructureError(ToolError):
    """A run or a grade was broken by what it ran on: it counts as missing, and can be retried."""


class ReturnedTooLargeError(ToolError):
    """A sandboxed command left more behind than is read back: there is no tree of it.

    That is the command's own doing, so whoever ran it records a result, not a missing run.
    """


class IntegrityError(LabkitError):
    """A seal, key, commitment, signature or version does not match; nothing was released."""

    exit_code = 3


def not_written(path: Path, error: OSError) -> ToolError:
    """Return the error of a file that the system did not let labkit write."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return ToolError(
        f"{path} could not be written: {error.strerror}",
        hint="free some space; the same command goes on from here"
        if full
        else "look at the permissions of its folder",
    )


def refuse(problems: Sequence[str], *, hint: str | None = None) -> None:
    """Raise one InputError that tells all `problems`; do nothing when there are none."""
    if problems:
        raise InputError(problems[0], hint=hint, more=problems[1:])


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `; did you mean "x"?` for a word that is nearly one of `known`, else nothing."""
    near = difflib.get_close_matches(word, known, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
