"""What was handed in where that is no diff: each kind has a word of its own."""

from collections.abc import Iterable
from enum import StrEnum

from labkit.fields import counted
from labkit.model import Category
from labkit.records import GradeRecord

_MARK = b"\xef\xbb\xbf"
_MANY = 4
"""One in so many without a change is more than agents do by themselves."""


class Submission(StrEnum):
    """A hand-in that is no diff."""

    NO_FILE = "no file"
    NULL = "null"
    EMPTY = "empty"
    BLANK = "blank"


_SENTENCES = {
    Submission.NO_FILE: "no diff was handed in: there is no file",
    Submission.NULL: 'no diff was handed in: the file holds only the word "null"',
    Submission.EMPTY: "the diff is empty",
    Submission.BLANK: "the diff is blank: it holds nothing but white space",
}


def submission_of(diff: bytes | None) -> Submission | None:
    """Return what was handed in where that is no diff; None for anything else."""
    if diff is None:
        return Submission.NO_FILE
    text = diff.removeprefix(_MARK).strip()
    if text.lower() in (b"null", b"none"):
        return Submission.NULL
    if text:
        return None
    return Submission.BLANK if diff else Submission.EMPTY


def sentence(submission: Submission) -> str:
    """Return what there is to say of a hand-in, as the beginning of a reason."""
    return _SENTENCES[submission]


def was_handed_in(submission: Submission | None) -> bool:
    """Return whether somebody said by it what was changed, be it nothing."""
    return submission not in (Submission.NO_FILE, Submission.NULL)


def many_without(records: Iterable[GradeRecord], categories: Iterable[Category]) -> str:
    """Return a warning when too many runs changed nothing; empty when it is just some.

    `categories` are those of the records, in their order. A trap may be answered without a change.
    """
    asked = [
        record
        for record, category in zip(records, categories, strict=True)
        if category is not Category.TRAP
    ]
    without = [record for record in asked if record.submission]
    if len(without) < 2 or len(without) * _MANY < len(asked):  # noqa: PLR2004 - one is no pattern
        return ""
    kinds = {word: sum(record.submission == word for record in without) for word in Submission}
    told = ", ".join(f"{count} {word}" for word, count in kinds.items() if count)
    return (
        f"{len(without)} of {counted(len(asked), 'run')} handed in no change ({told}): look "
        "whether the agent could work at all before you read anything into the verdicts"
    )
