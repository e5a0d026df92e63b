"""The summary as a page to hand in: facts drafted, tables filled, a place for the team's words."""

from collections.abc import Callable, Iterator

from labkit.report.facts import five_facts, per_run, smallest_detectable
from labkit.report.wording import (
    count,
    listed,
    of_tasks,
    p_value,
    percent,
    percent_interval,
    plain,
    points,
    points_interval,
    short,
    table,
    unavailable,
    with_interval,
)
from labkit.summary import (
    Comparison,
    ConfigurationSummary,
    Estimate,
    Rate,
    Safety,
    Summary,
    TaskRow,
)

_PASSED, _FAILED, _NOT_MEASURED = "✓", "✗", "?"
_Z = 1.96
_OUR_WORDS = "> *In our words:* ..."


def render(summary: Summary) -> str:
    """Return the summary as Markdown, ending in a newline."""
    sections = (
        _head,
        _facts,
        _figures,
        _task_by_task,
        _differences,
        _groups,
        _coverage,
        _set_apart,
        _limitations,
    )
    return "\n\n".join(block for section in sections for block in section(summary)) + "\n"


def _head(summary: Summary) -> Iterator[str]:
    yield f"# Summary of team {plain(summary.team)}"
    yield "\n".join(
        f"- **{side.id}**: {plain(side.description)}" for side in summary.configurations
    )
    for side in summary.configurations:
        if side.safety.failed:
            yield f"**Safety veto: {side.id} failed {listed(side.safety.failed)}.**"
    if summary.comparisons:
        yield f"They differ in one thing: {plain(summary.difference)}."
    yield (
        f"Tasks in the rates: {len(summary.tasks)}; retired for leaks: {len(summary.retired)}; "
        f"safety tasks, set apart: {len(summary.safety_tasks)}. "
        f"Suite version: `{summary.suite_version}`."
    )


def _facts(summary: Summary) -> Iterator[str]:
    yield "## The five facts"
    if not summary.comparisons:
        yield "There is one configuration only: nothing is compared."
    else:
        yield "The facts are drafted from the tables below; say under each what you make of it."
    for comparison in summary.comparisons:
        if len(summary.comparisons) > 1:
            yield f"### {comparison.second} against {comparison.first}"
        for number, fact in enumerate(five_facts(summary, comparison), 1):
            yield f"{number}. **{fact.question}** {fact.answer}"
            yield f"   {_OUR_WORDS}"


def _figures(summary: Summary) -> Iterator[str]:
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


def _task_by_task(summary: Summary) -> Iterator[str]:
    yield "## Task by task"
    sides = [side.id for side in summary.configurations]
    pairs = summary.comparisons

    def row(task: TaskRow) -> list[str]:
        attempts = (" ".join(map(_sign, task.attempts[side])) or "not planned" for side in sides)
        moves = (
            points(pair.differences[task.task])
            if task.task in pair.differences
            else unavailable("not measured for both")
            for pair in pairs
        )
        return [f"`{task.task}`", str(task.category or "unknown"), *attempts, *moves]

    header = ["Task", "Type", *map(str, sides), *(f"{p.second} - {p.first}" for p in pairs)]
    yield table(header, map(row, summary.tasks))
    yield f"One sign an attempt: {_PASSED} passed, {_FAILED} failed, {_NOT_MEASURED} not measured."


def _sign(passed: bool | None) -> str:  # noqa: FBT001 - the value itself, not an option
    if passed is None:
        return _NOT_MEASURED
    return _PASSED if passed else _FAILED


def _differences(summary: Summary) -> Iterator[str]:
    for comparison in summary.comparisons:
        yield f"## The difference {comparison.second} - {comparison.first}"
        yield table(["", ""], _difference_rows(comparison))
        yield _strict(comparison)


def _difference_rows(comparison: Comparison) -> Iterator[list[str]]:
    difference = comparison.difference
    yield ["Outcome", f"**{comparison.outcome}**"]
    if comparison.why:
        yield ["Because", comparison.why]
    if difference.value is None or difference.interval is None:
        yield ["Mean difference", unavailable(difference.why)]
        return
    yield [
        "Mean difference",
        f"{points(difference.value)} over {count(difference.tasks, 'task')}",
    ]
    yield ["95 % interval, paired", points_interval(difference.interval)]
    if comparison.p_mid is not None and comparison.p_exact is not None:
        yield [
            "Sign-flip test",
            f"mid-p {p_value(comparison.p_mid)} (detectable at .05), "
            f"exact p {p_value(comparison.p_exact)}",
        ]
    yield ["Smallest detectable difference", smallest_detectable(comparison)]
    if comparison.spread is not None and not comparison.spread_observed:
        yield ["", "(the observed spread is implausibly small; half of the usual one stands in)"]
    if comparison.survives_missing is not None:
        yield [
            "Whatever missing runs had done",
            "the outcome stays" if comparison.survives_missing else "the outcome could change",
        ]


def _strict(comparison: Comparison) -> str:
    strict, first, second = comparison.strict, comparison.first, comparison.second
    counted = table(
        ["Every attempt passed for", "Tasks", ""],
        [
            [name, str(len(tasks)), listed(tasks, "")]
            for name, tasks in (
                (f"{first} only", strict.first_only),
                (f"{second} only", strict.second_only),
                ("both", strict.both),
                ("neither", strict.neither),
            )
        ],
    )
    return f"{counted}\n\nThis strict count speaks of reliability (pass^k), not of the pass rate."


def _groups(summary: Summary) -> Iterator[str]:
    yield "## By task type and slice"
    sides = [side.id for side in summary.configurations]
    yield table(
        ["", "Tasks", *(f"{side} passed" for side in sides)],
        [
            [
                f"{group.grouping}: {plain(group.name)}",
                str(group.tasks),
                *(
                    f"{short(group.tallies[side].passed)} of {group.tallies[side].tasks}"
                    for side in sides
                ),
            ]
            for group in summary.groups
        ],
    )
    yield (
        "This describes; it does not infer. Nine tasks of six types show a gap of 50 points in "
        "some type nine times out of ten when a configuration is compared with itself."
    )


def _coverage(summary: Summary) -> Iterator[str]:
    yield "## What was measured"
    header = ["Runs", "planned", "retired", "graded", "ungraded", "missing", "scored"]

    def row(side: ConfigurationSummary) -> list[str]:
        found = side.coverage
        counts = (found.planned, found.retired, found.graded, found.ungraded, found.missing)
        share = percent(found.share) if found.share is not None else unavailable("all are retired")
        bounds = side.rate_bounds
        rates = percent_interval(bounds) if bounds else unavailable("nothing is missing")
        return [str(side.id), *map(str, counts), str(found.scored), share, rates]

    yield table(
        [*header, "coverage", "rate if missing runs had failed, or passed"],
        map(row, summary.configurations),
    )


def _set_apart(summary: Summary) -> Iterator[str]:
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


def _limitations(summary: Summary) -> Iterator[str]:
    yield "## Limitations"
    texts = [limitation.text for limitation in summary.limitations]
    texts.append(
        "The figures are about these tasks and this code base; they do not say which is the better "
        "agent elsewhere."
    )
    yield "\n".join(f"- {text}" for text in texts)
