"""How figures are written for people: units beside them, whole points, reasons for gaps."""

from collections.abc import Iterable, Sequence

from labkit.fields import counted
from labkit.stats import Interval
from labkit.summary import Estimate, Rate

NOT_AVAILABLE = "n/a"
_SMALLEST_P = 0.001
_WHOLE_FROM = 100
_MOST = 6


def unavailable(why: str) -> str:
    """Say that a figure is not there, and why: never 0."""
    return f"{NOT_AVAILABLE} ({why})"


def differ_in(difference: str, attributable: bool | None) -> str:  # noqa: FBT001 - a value, no option
    """Say what the configurations differ in, as far as the runs bear it out."""
    if attributable:
        return f"They differ in one thing: {difference}."
    declared = f"They were declared to differ in one thing: {difference}."
    if attributable is None:
        return f"{declared} Whether that is all is not known."
    return f"{declared} The runs tell another story: see the limitations."


def short(number: float) -> str:
    """Write at most one decimal: 6.5, and 6 for 6.0."""
    return f"{round(number, 1):g}"


def percent(share: float) -> str:
    """Write a share as whole per cent; few tasks carry no decimals."""
    return f"{100 * share:.0f} %"


def percent_interval(interval: Interval) -> str:
    """Write an interval of shares."""
    return f"{100 * interval.low:.0f} % to {percent(interval.high)}"


def points(difference: float) -> str:
    """Write a difference of shares as signed whole points."""
    return f"{_signed(difference)} points"


def points_interval(interval: Interval) -> str:
    """Write an interval of differences."""
    return f"{_signed(interval.low)} to {points(interval.high)}"


def p_value(p: float) -> str:
    """Write a p value with three digits, and never as 0."""
    return f"< {_SMALLEST_P}" if p < _SMALLEST_P else f"= {p:.3g}"


def amount(number: float) -> str:
    """Write an amount of tokens or money: three digits, and no decimals from 100 on."""
    return f"{number:,.0f}" if number >= _WHOLE_FROM else f"{number:.3g}"


def of_tasks(rate: Rate) -> str:
    """Write a rate in its own units: 6.5 of 9 tasks (18 runs)."""
    if rate.value is None:
        return unavailable(rate.why)
    return f"{short(rate.passed)} of {counted(rate.tasks, 'task')} ({counted(rate.runs, 'run')})"


def measured(number: float) -> str:
    """Write a measured value: one decimal, and below 1 the first digit that is not 0."""
    return f"{number:.1g}" if 0 < number < 1 else f"{number:.1f}"


def with_interval(estimate: Estimate, unit: str = "") -> str:
    """Write an estimate with its interval and tasks: 3.2 min (2.1 to 4.4; 9 tasks)."""
    if estimate.value is None:
        return unavailable(estimate.why)
    interval = estimate.interval
    bar = (
        f"{measured(interval.low)} to {measured(interval.high)}"
        if interval
        else f"interval {NOT_AVAILABLE}"
    )
    reason = "" if interval else f": {estimate.why}"
    return f"{measured(estimate.value)}{unit} ({bar}{reason}; {counted(estimate.tasks, 'task')})"


def listed(things: Iterable[object], nothing: str = "none") -> str:
    """Write things as a list within a sentence, as code."""
    return ", ".join(f"`{thing}`" for thing in things) or nothing


def few(things: Sequence[object], nothing: str = "none") -> str:
    """Write things as a list within a sentence, as code, cut after six."""
    shown = listed(things[:_MOST], nothing)
    return f"{shown} and {len(things) - _MOST} more" if len(things) > _MOST else shown


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a Markdown table."""
    head = list(header)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def plain(text: str) -> str:
    """Take the markup out of what people wrote: one line, no HTML."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _signed(difference: float) -> str:
    # Below one point, the first digit still tells on which side of 0 it lies.
    number = 100 * difference
    if abs(number) < 1:
        return f"{number:+.1g}" if number else "0"
    return f"{number:+.0f}"
