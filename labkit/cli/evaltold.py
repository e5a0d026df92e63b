"""What a run of a suite tells on the terminal: figures, what they cannot carry, what is missing."""

from collections import Counter
from collections.abc import Iterator, Sequence

from labkit.cli.console import data, say
from labkit.evals.metrics import AtK, Figures
from labkit.evals.report import RunReport
from labkit.evals.reportfile import to_dict
from labkit.fields import counted, json_text
from labkit.report.wording import percent, percent_interval

_NOT_MEASURED = 3
_INDECISIVE = 1
_MOST_REASONS = 3
_LONGEST_REASON = 200


def told(report: RunReport, *, as_json: bool, reasons: bool = True) -> int:
    """Print the figures, say what they cannot carry, and return the exit code.

    `reasons` may quote a case.
    """
    data(json_text(to_dict(report)) if as_json else figures_text(report))
    for failure in report.safety.failures:
        say(f"labkit: safety: {failure}")
    for warning in report.warnings:
        say(f"labkit: warning: {warning}")
    missing = report.figures.planned - report.figures.valid
    if missing:
        say(f"{counted(missing, 'sample')} without a verdict: samples.jsonl says why")
        for reason in missing_words(report) if reasons else ():
            say(f"  {reason}")
    if report.folder:
        say(f"samples and report: {report.folder}")
    if not report.n_scored:
        return _NOT_MEASURED
    return 0 if report.decisive else _INDECISIVE


def missing_words(report: RunReport) -> Iterator[str]:
    """Yield the commonest reasons why samples have no verdict, with how many each has cost."""
    found = Counter[str]()
    for case in report.cases:
        if case.problem:
            found[_short(case.problem)] += case.planned - case.valid_trials
            continue
        for sample in case.samples if case.valid_trials < case.planned else ():
            if sample.passed is None:
                found[_short(sample.verdict.detail)] += 1
    for reason, count in found.most_common(_MOST_REASONS):
        yield f"{count} x {reason}"
    rest = len(found) - _MOST_REASONS
    if rest > 0:
        yield f"and {counted(rest, 'other reason')}"


def _short(text: str) -> str:
    told = " ".join(text.split()) or "no reason is recorded"
    return told if len(told) <= _LONGEST_REASON else f"{told[:_LONGEST_REASON]}..."


def figures_text(report: RunReport) -> str:
    """Return a short table: everything, then each slice."""
    head = [
        f"{report.suite} ({report.split}, version {report.suite_version}): {report.candidate}, "
        f"{counted(report.n, 'sample')} a case"
    ]
    k = max(report.ks or (report.n,))
    last = (f"pass@{k}", f"pass^{k}", "flaky") if k > 1 else ()
    rows: list[tuple[str, ...]] = [("", "tasks", "pass@1", "95 %", *last)]
    rows += [
        _row(name, found, k) for name, found in (("all", report.figures), *report.slices.items())
    ]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*head, *lines])


def _row(name: str, found: Figures, k: int) -> tuple[str, ...]:
    last = (_at(found.pass_at, k), _at(found.pass_hat, k), str(found.flakes)) if k > 1 else ()
    return (
        name,
        f"{found.n_scored} of {found.n_tasks}",
        _at(found.pass_at, 1),
        percent_interval(found.interval) if found.interval else "n/a",
        *last,
    )


def _at(found: Sequence[AtK], k: int) -> str:
    return next((percent(each.value) for each in found if each.k == k), "n/a")
