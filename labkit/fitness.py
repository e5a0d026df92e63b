"""How good a golden task a commit would make: why not at all, or a score out of 100 with reasons.

A score is a start for a person's own look, not a measurement.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from labkit.gitlog import Logged, Touched
from labkit.guess import Guess, guess, headline
from labkit.testpaths import PathKind, path_kind

_MOST_FILES = 60
_MOST_LINES = 2000
_YEAR = 365.25 * 24 * 3600
_REVERT = re.compile(r"revert\b|this reverts commit", re.IGNORECASE)
_RELEASE = re.compile(
    r"(?:bump|prepare|cut|tag)\b.*(?:version|release|v?\d+\.\d+)"
    r"|(?:version|release|v)? ?v?\d+(?:\.\d+)+\S*$"
    r"|(?:bump|update|upgrade)s? (?:[\w./-]+ )?(?:from \S+ to|dependenc|requirement)"
    r"|release \S+$|.*\bversion bump\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*\(#\d+\)$")
_FORMATTING = re.compile(
    r"\b(?:re-?format\w*|black|ruff|isort|autopep8|yapf|prettier|gofmt|clang-format|whitespaces?"
    r"|pep-?8|flake8|pylint|lint\w*|indent\w*|code style|trailing spaces?|pyupgrade)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:wip|tmp|misc\w*|various|stuff|typos?|cleanup|work in progress|typing|mypy|type hints?"
    r"|python ?[23](?:\.\d+)?|travis|github actions?|several|multiple|and more)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\b(?:fix\w*|bugs?|crash\w*|wrong\w*|handle\w*|support\w*|add\w*|rais\w+)\b", re.I
)


class Unfit(StrEnum):
    """Why a commit is not listed."""

    FIRST = "the first commit"
    MERGE = "merges"
    REVERT = "reverts"
    RELEASE = "releases and version bumps"
    FORMATTING = "formatting"
    VENDORED = "other people's code"
    DOCS = "documentation only"
    TESTS = "tests only"
    NO_TESTS = "without tests"
    NO_SOURCE = "without source"
    HUGE = "too large"
    EMPTY = "without a change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A commit that would make a task."""

    commit: Logged
    headline: str
    guess: Guess
    source_files: int
    source_lines: int
    test_files: int
    test_lines: int
    score: int
    reasons: tuple[str, ...]


def unfit(commit: Logged, *, merges: bool) -> Unfit | None:
    """Return why a commit makes no task; None when it may."""
    subject = commit.message.partition("\n")[0]
    if not commit.parents:
        return Unfit.FIRST
    if len(commit.parents) > 1 and not merges:
        return Unfit.MERGE
    if not commit.touched:
        return Unfit.EMPTY
    if len(commit.touched) > _MOST_FILES:
        return Unfit.HUGE
    if _REVERT.match(subject) or "\nThis reverts commit " in commit.message:
        return Unfit.REVERT
    return _unfit_message(subject) or _unfit_paths(commit)


def _unfit_message(subject: str) -> Unfit | None:
    if _RELEASE.match(_NUMBER.sub("", subject)):
        return Unfit.RELEASE
    return Unfit.FORMATTING if _FORMATTING.search(subject) else None


def _unfit_paths(commit: Logged) -> Unfit | None:
    kinds = {path_kind(one.path) for one in commit.touched}
    if {PathKind.SOURCE, PathKind.TEST} <= kinds:
        lines = sum(one.lines for one in commit.of_kind(PathKind.SOURCE))
        return Unfit.HUGE if lines > _MOST_LINES else None
    only = {
        frozenset({PathKind.DOCS}): Unfit.DOCS,
        frozenset({PathKind.TEST}): Unfit.TESTS,
        frozenset({PathKind.VENDORED}): Unfit.VENDORED,
        frozenset({PathKind.VERSION}): Unfit.RELEASE,
        frozenset({PathKind.VERSION, PathKind.DOCS}): Unfit.RELEASE,
    }
    missing = Unfit.NO_SOURCE if PathKind.SOURCE not in kinds else Unfit.NO_TESTS
    return only.get(frozenset(kinds), missing)


def judged(commit: Logged, newest: int) -> Candidate:
    """Score a commit out of 100 and say what counts for and against it."""
    source, tests = commit.of_kind(PathKind.SOURCE), commit.of_kind(PathKind.TEST)
    line = headline(commit.message)
    parts = [
        _by_size(source),
        _by_files(source),
        _by_tests(tests),
        *_by_company(commit),
        _by_age((newest - commit.time) / _YEAR),
        *_by_words(line),
    ]
    return Candidate(
        commit=commit,
        headline=line,
        guess=guess(commit.message, {path_kind(one.path) for one in commit.touched}),
        source_files=len(source),
        source_lines=sum(one.lines for one in source),
        test_files=len(tests),
        test_lines=sum(one.lines for one in tests),
        score=max(0, min(100, 90 + sum(points for points, _ in parts))),
        reasons=tuple(reason for _, reason in parts if reason),
    )


Part = tuple[int, str]
"""Points for or against a commit, and the reason."""


def _by_size(source: tuple[Touched, ...]) -> Part:
    lines = sum(one.lines for one in source)
    steps = ((2, -6, "hardly a change"), (60, 0, "small"), (150, -8, "middle-sized"))
    for most, points, reason in (*steps, (400, -25, "large"), (_MOST_LINES, -45, "very large")):
        if lines <= most:
            return points, reason
    return -60, "huge"


def _by_files(source: tuple[Touched, ...]) -> Part:
    if len(source) == 1:
        return 0, "one source file"
    return -4 * min(len(source) - 2, 6), f"{len(source)} source files"


def _by_tests(tests: tuple[Touched, ...]) -> Part:
    added = sum(one.added or 0 for one in tests)
    if not added and any(one.added is None for one in tests):
        return -25, "only binary files of tests"
    if not added:
        return -45, "adds no line of a test"
    if added < 3:  # noqa: PLR2004 - less than the shortest test
        return -12, "hardly a line of a test"
    if added > 400:  # noqa: PLR2004 - more than anybody makes stronger
        return -10, "very many test lines"
    return 5, f"tests grow by {added} lines"


def _by_company(commit: Logged) -> Iterator[Part]:
    """Yield what else a commit touches: the less, the better."""
    if settings := len(commit.of_kind(PathKind.OTHER)):
        yield -5 * min(settings, 4), "touches settings or data"
    if commit.of_kind(PathKind.VENDORED):
        yield -20, "touches other people's code"
    if commit.of_kind(PathKind.VERSION):
        yield -8, "bumps the version"
    if any(one.added is None for one in commit.touched):
        yield -3, "binary files"
    if len(commit.parents) > 1:
        yield -5, "a merge"


def _by_age(years: float) -> Part:
    whole = int(years)
    if whole < 1:
        return 0, "recent"
    return -2 * min(whole, 10), f"{whole} year{'s' if whole > 1 else ''} older than the newest"


def _by_words(line: str) -> Iterator[Part]:
    if len(line) < 12:  # noqa: PLR2004 - "Fix #12" and the like
        yield -10, "its message says little"
    if vague := _VAGUE.search(line):
        yield -15, f'its message says "{vague[0].lower()}"'
    elif telling := _TELLING.search(line):
        yield 5, f'its message says "{telling[0].lower()}"'
