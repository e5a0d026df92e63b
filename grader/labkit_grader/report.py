"""A verdict as text: grade.txt for people, and the one word of result.txt.

Both lie in the run's raw folder, on the holder's side: grade.txt names hidden tests.
"""

from collections.abc import Iterator

from labkit.records import GradeRecord


def result_text(record: GradeRecord) -> str:
    """Return PASS, FAIL or UNGRADED, as one line."""
    return f"{record.verdict.upper()}\n"


def grade_text(record: GradeRecord) -> str:
    """Return the readable grade: verdict and reason, tests, and what was noticed on the way."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: GradeRecord) -> Iterator[str]:
    yield f"run      {record.run}"
    yield f"verdict  {record.verdict.upper()}"
    yield f"reason   {_plain(record.reason)}"
    if record.flags:
        yield f"flags    {', '.join(record.flags)}"
    if record.seconds is not None:
        yield f"time     {record.seconds:.1f} s"
    yield f"suite    {record.suite_version}"
    if record.tests:
        yield ""
        yield "tests"
        for test, outcome in sorted(record.tests.items()):
            yield f"  {outcome:<8} {_plain(test)}"
    sections = (
        ("edits that the task forbids", record.forbidden_edits),
        ("kept out of grading", record.neutralised),
        ("repairs to the diff", record.repairs),
        ("changed dependencies, not installed", record.dependencies),
    )
    for title, items in sections:
        if items:
            yield ""
            yield title
            yield from (f"  {_plain(item)}" for item in items)


def _plain(text: str) -> str:
    """Return a text whose control characters are escapes: hostile names end up here."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
