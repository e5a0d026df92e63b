"""The tables of each configuration by itself: figures, coverage, what is set apart."""

from collections.abc import Callable, Iterator

from labkit.report.facts import per_run
from labkit.report.wording import (
    count,
    listed,
    of_tasks,
    percent,
    percent_interval,
    plain,
    table,
    unavailable,
    with_interval,
)
from labkit.summary import ConfigurationSummary, Estimate, Rate, Safety, Summary

_Z = 1.96


def figures(summary: Summary) -> Iterator[str]:
    """Write the main table: a row for each figure, a column for each configuration."""
    yield "## Each configuration by itself"
    dimensions = tuple(summary.configurations[0].rubric)
    figures: list[tuple[str, Callable[[ConfigurationSummary], str]]] = [
        ("Tasks passed", lambda side: of_tasks(side.rate)),
        ("Pass rate, 95 % interval", lambda side: _rate(side.rate)),
        ("Teaching approximation", lambda side: _teaching(side.rate)),
        ("With leaked runs as fails", lambda side: _with_leaks(side.rate_with_leaks)),
        ("pass^2, 95 % interval", lambda side: _pass_hat_2(side.pass_hat_2)),
        ("Flaky tasks", lambda side: listed(side.flaky)),
        ("Median minutes per task", lambda side: with_interval(side.minutes, " min")),
        *((f"Rubric: {plain(name)} (0 to 4)", _mark(name)) for name in dimensions),
        ("Hard fails", lambda side: count(_hard_fails(side), "run")),
        ("Interventions", lambda side: str(side.interventions)),
        ("Tokens", lambda side: per_run(side.tokens)),
        ("Cost", lambda side: per_run(side.cost)),
    ]
    yield table(
        ["", *(str(side.id) for side in summary.configurations)],
        [[name, *map(figure, summary.configurations)] for name, figure in figures],
    )
    yield (
        "Attempts are averaged within a task, and tasks are the units. The interval of the rate "
        "is Wilson's, with the number of tasks as n. The teaching approximation is 1.96 "
        "sqrt(p(1-p)/n); it misses too often with few tasks, and says nothing at 0 % and 100 %. "
        "pass^2 is the chance that two attempts both pass. Minutes and marks show the interval of "
        "the median (order statistics) and of the mean (Student's t)."
    )


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


def _pass_hat_2(estimate: Estimate) -> str:
    if estimate.value is None or estimate.interval is None:
        return unavailable(estimate.why)
    return (
        f"{percent(estimate.value)} of {count(estimate.tasks, 'task')} with two attempts "
        f"({percent_interval(estimate.interval)})"
    )


def _hard_fails(side: ConfigurationSummary) -> int:
    return len({*side.leaked, *side.forbidden_edits})


def coverage(summary: Summary) -> Iterator[str]:
    """Write how much of the plan was measured."""
    yield "## What was measured"
    header = ["Runs", "planned", "retired", "run", "graded", "ungraded", "missing", "scored"]

    def row(side: ConfigurationSummary) -> list[str]:
        found = side.coverage
        before = (found.planned, found.retired, found.run)
        after = (found.graded, found.ungraded, found.missing, found.scored)
        share = percent(found.share) if found.share is not None else unavailable("all are retired")
        bounds = side.rate_bounds
        rates = percent_interval(bounds) if bounds else unavailable("nothing is missing")
        return [str(side.id), *map(str, (*before, *after)), share, rates]

    yield table(
        [*header, "coverage", "rate if missing runs had failed, or passed"],
        map(row, summary.configurations),
    )
    yield (
        "Coverage is graded of planned runs, retired ones left out of both, safety tasks included."
    )


def set_apart(summary: Summary) -> Iterator[str]:
    """Write what stands beside the rates: hard fails, safety tasks, retired tasks."""
    yield "## Set apart"
    for side in summary.configurations:
        yield "\n".join(
            [
                f"- **{side.id}**, leaks: {listed(side.leaked)}",
                f"- **{side.id}**, forbidden edits: {listed(side.forbidden_edits)}",
                f"- **{side.id}**, safety (a veto, never part of a mean): {_safety(side.safety)}",
            ]
        )
    retired = [f"- `{task}`: {plain(reason)}" for task, reason in summary.retired.items()]
    yield "Retired tasks, out of the rates for every configuration:" + (
        "\n\n" + "\n".join(retired) if retired else " none."
    )


def _safety(safety: Safety) -> str:
    if safety.interval is None:
        return unavailable("no safety task was measured")
    failed = f"; failed: {listed(safety.failed)}" if safety.failed else ""
    return (
        f"held on {safety.held} of {count(safety.tasks, 'task')} "
        f"(95 % Clopper-Pearson: {percent_interval(safety.interval)}){failed}"
    )
