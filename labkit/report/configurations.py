"""The table of each configuration by itself."""

from collections.abc import Callable, Iterator

from labkit.fields import counted
from labkit.report.extras import agreed
from labkit.report.facts import per_run
from labkit.report.wording import (
    few,
    of_tasks,
    percent,
    percent_interval,
    plain,
    table,
    unavailable,
    with_interval,
)
from labkit.summary import ConfigurationSummary, Coverage, Estimate, Rate, Repeat, Safety, Summary

_Z = 1.96
_PAIR = 2
_Row = tuple[str, Callable[[ConfigurationSummary], str]]


def figures(summary: Summary) -> Iterator[str]:
    """Write the main table: a row for each figure, a column for each configuration."""
    yield "## Each configuration by itself"
    sides = summary.configurations
    yield table(
        ["", *(str(side.id) for side in sides)],
        [[name, *map(figure, sides)] for name, figure in _rows(summary)],
    )
    yield (
        "Attempts are averaged within a task; tasks are the units. Intervals: Wilson's (rates), "
        "order statistics (minutes), Student's t (marks). The teaching approximation is too "
        f"narrow with few tasks.{_noise(summary)}"
    )


def _rows(summary: Summary) -> Iterator[_Row]:
    sides = summary.configurations
    yield "Tasks passed", lambda side: of_tasks(side.rate)
    yield "Pass rate, 95 % interval", lambda side: _rate(side.rate)
    yield "Teaching approximation", lambda side: _teaching(side.rate)
    if summary.retired:
        yield "With leaked runs as fails", lambda side: _with_leaks(side.rate_with_leaks)
    yield "pass^2, of tasks tried twice", lambda side: _pass_hat(side.pass_hat_2)
    for k in sorted({found.k for side in sides for found in side.repeats if found.k > _PAIR}):
        yield f"pass^{k}, of tasks tried {k} times", _pass_hat_k(k)
    yield "Flaky tasks", lambda side: few(side.flaky)
    yield "Coverage", lambda side: _coverage(side.coverage)
    if any(side.rate_bounds for side in sides):
        yield "Rate if missing runs failed, or passed", _bounds
    yield "Median minutes per task", lambda side: with_interval(side.minutes, " min")
    if any(side.tokens.known for side in sides):
        yield "Tokens", lambda side: per_run(side.tokens)
    yield "Cost", lambda side: per_run(side.cost)
    for name in sides[0].rubric:
        yield f"Rubric: {plain(name)} (0 to 4){agreed(summary, name)}", _mark(name)
    yield "Hard fails", _hard_fails
    if summary.safety_tasks:
        yield "Safety tasks, 95 % Clopper-Pearson", lambda side: _safety(side.safety)
    if any(side.interventions for side in sides):
        yield "Interventions", lambda side: str(side.interventions)


def _mark(dimension: str) -> Callable[[ConfigurationSummary], str]:
    return lambda side: with_interval(side.rubric[dimension])


def _rate(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return unavailable(rate.why)
    return f"{percent(rate.value)} ({percent_interval(rate.interval)})"


def _teaching(rate: Rate) -> str:
    if rate.teaching_error is not None:
        return f"± {_Z * 100 * rate.teaching_error:.0f} points"
    return unavailable(rate.why or "it says nothing at 0 % and 100 %")


def _with_leaks(rate: Rate | None) -> str:
    if rate is None:
        return unavailable("no task is retired")
    return f"{of_tasks(rate)}: {_rate(rate)}" if rate.value is not None else _rate(rate)


def _pass_hat_k(k: int) -> Callable[[ConfigurationSummary], str]:
    def write(side: ConfigurationSummary) -> str:
        found: Repeat | None = next((each for each in side.repeats if each.k == k), None)
        return _pass_hat(found.pass_hat) if found else unavailable("fewer attempts")

    return write


def _pass_hat(estimate: Estimate) -> str:
    if estimate.value is None or estimate.interval is None:
        return unavailable(estimate.why)
    return (
        f"{percent(estimate.value)} of {counted(estimate.tasks, 'task')} "
        f"({percent_interval(estimate.interval)})"
    )


def _coverage(found: Coverage) -> str:
    planned = found.planned - found.retired
    if not planned:
        return unavailable("every task is retired")
    lost = [
        f"{number} {what}"
        for number, what in ((found.missing, "missing"), (found.ungraded, "ungraded"))
        if number
    ]
    rest = f": {', '.join(lost)}" if lost else ""
    return f"{found.graded} of {counted(planned, 'planned run')}{rest}"


def _bounds(side: ConfigurationSummary) -> str:
    if side.rate_bounds is None:
        return unavailable("nothing is missing")
    return f"{percent(side.rate_bounds.low)}, or {percent(side.rate_bounds.high)}"


def _hard_fails(side: ConfigurationSummary) -> str:
    kinds = [
        f"{what} {few(runs)}"
        for what, runs in (("leaked", side.leaked), ("forbidden edits", side.forbidden_edits))
        if runs
    ]
    number = counted(len({*side.leaked, *side.forbidden_edits}), "run")
    return f"{number}: {'; '.join(kinds)}" if kinds else number


def _safety(safety: Safety) -> str:
    if safety.interval is None:
        return unavailable("no safety task was measured")
    return (
        f"held on {safety.held} of {counted(safety.tasks, 'task')} "
        f"({percent_interval(safety.interval)})"
    )


def _noise(summary: Summary) -> str:
    """Say how far a configuration is from itself, for scale."""
    found = [
        f"{100 * side.noise.typical:.0f} points, seldom above {100 * side.noise.largest:.0f}, "
        f"of {side.id}"
        for side in summary.configurations
        if side.noise is not None
    ]
    if not found:
        return ""
    return f" Noise alone, second attempts against first, makes about {'; '.join(found)}."
