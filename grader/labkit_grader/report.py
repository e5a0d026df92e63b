"""A verdict as text: grade.txt for people, and the one word of result.txt.

Both lie in the run's raw folder, on the holder's side: grade.txt names hidden tests.
"""

from collections.abc import Iterator, Mapping, Sequence

from labkit.records import GradeRecord
from labkit_grader.testrun import PASSED


def result_text(record: GradeRecord) -> str:
    """Return PASS, FAIL or UNGRADED, as one line."""
    return f"{record.verdict.upper()}\n"


def grade_text(record: GradeRecord, *, subject: str = "") -> str:
    """Return the readable grade: the verdict and why, what to look at, the tests, the rest.

    `subject` stands in place of the run's name, where no run was graded.
    """
    head = _head(record, subject)
    sections = [
        (title, [_plain(item) for item in items]) for title, items in _sections(record) if items
    ]
    blocks = [head, *([title, *(f"  {item}" for item in items)] for title, items in sections)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _head(record: GradeRecord, subject: str) -> list[str]:
    lines = [
        ("verdict", record.verdict.upper()),
        ("why", record.reason),
        ("handed in", record.submission),
        ("flags", ", ".join(record.flags)),
        ("run", subject or str(record.run)),
        ("suite", record.suite_version),
        ("took", "" if record.seconds is None else f"{record.seconds:.1f} s"),
    ]
    return [f"{name:<10} {_plain(text)}" for name, text in lines if text]


def _sections(record: GradeRecord) -> Iterator[tuple[str, Sequence[str]]]:
    yield "look at this (people decide; no part of the verdict)", record.suspicions
    yield "edits that the task forbids", record.forbidden_edits
    yield _tests_title(record.tests), [f"{how:<8} {test}" for test, how in _sorted(record.tests)]
    yield "ran, but is not expected: counts for nothing", record.unexpected
    yield "how the run was checked", [f"{name}: {seen}" for name, seen in record.checks.items()]
    yield "changed dependencies (nothing was installed)", record.dependencies
    yield "kept out of grading", record.neutralised
    yield "repairs to the diff", record.repairs
    if record.supersedes:
        yield "graded again", [f"because: {record.because}", f"instead of: {record.supersedes}"]


def _tests_title(tests: Mapping[str, str]) -> str:
    passed = sum(outcome == PASSED for outcome in tests.values())
    return f"tests: {passed} of {len(tests)} passed"


def _sorted(tests: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the tests with their outcomes, those first that did not pass."""
    return sorted(tests.items(), key=lambda item: (item[1] == PASSED, item))


def _plain(text: str) -> str:
    """Return a text whose control characters are escapes: hostile names end up here."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
