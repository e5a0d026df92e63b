"""The summary as a page to hand in: facts drafted, tables filled, a place for the team's words."""

from collections.abc import Iterator

from labkit.report.configurations import coverage, figures, set_apart
from labkit.report.facts import five_facts, smallest_detectable
from labkit.report.wording import (
    count,
    listed,
    p_value,
    plain,
    points,
    points_interval,
    short,
    table,
    unavailable,
)
from labkit.summary import (
    Comparison,
    Summary,
    TaskRow,
)

_PASSED, _FAILED, _NOT_MEASURED = "✓", "✗", "?"
_OUR_WORDS = "> *In our words:* ..."


def render(summary: Summary) -> str:
    """Return the summary as Markdown, ending in a newline."""
    sections = (
        _head,
        _facts,
        figures,
        _task_by_task,
        _differences,
        _groups,
        coverage,
        set_apart,
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
            f"mid-p {p_value(comparison.p_mid)} (counts as detectable from .05 down), "
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


def _limitations(summary: Summary) -> Iterator[str]:
    yield "## Limitations"
    texts = [plain(limitation.text) for limitation in summary.limitations]
    texts.append(
        "The figures are about these tasks and this code base; they do not say which is the better "
        "agent elsewhere."
    )
    yield "\n".join(f"- {text}" for text in texts)
