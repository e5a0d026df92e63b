"""A pool of several teams' summaries, as Markdown."""

from collections.abc import Iterator

from labkit.fields import counted
from labkit.report.wording import (
    p_value,
    percent,
    percent_interval,
    plain,
    points,
    points_interval,
    table,
    unavailable,
)
from labkit.summary import Estimate, Outcome
from labkit.summary.pool import Pool, PooledComparison


def render_pool(pool: Pool) -> str:
    """Return a pool as Markdown, ending in a newline."""
    sections = (_head, _verdicts, _teams, _limits)
    return "\n\n".join(block for section in sections for block in section(pool)) + "\n"


def _head(pool: Pool) -> Iterator[str]:
    yield f"# {counted(len(pool.teams), 'team')} together"
    yield "\n".join(
        f"- **{which}**: {plain(description)}, passed {_rate(pool.rates[which])}"
        for which, description in pool.configurations.items()
    )
    yield f"They differ in one thing: {plain(pool.difference)}."


def _rate(found: Estimate) -> str:
    if found.value is None:
        return unavailable(found.why)
    bar = percent_interval(found.interval) if found.interval else unavailable(found.why)
    return f"{percent(found.value)} of {counted(found.tasks, 'task')} (95 % interval {bar})"


def _verdicts(pool: Pool) -> Iterator[str]:
    for found in pool.comparisons:
        yield f"## {found.second} against {found.first}"
        yield _verdict(found)


def _word(found: PooledComparison) -> str:
    why = f" ({found.why})" if found.why else ""
    match found.outcome:
        case Outcome.DETECTABLE:
            return f"{found.ahead} is ahead: the difference is detectable."
        case Outcome.NOT_DETECTABLE:
            return f"No detectable difference{why}."
        case Outcome.INDECISIVE:
            return f"Undecided: {found.why}."


def _verdict(found: PooledComparison) -> str:
    difference, word = found.difference, _word(found)
    if difference.value is None or found.p_mid is None or found.p_exact is None:
        return word
    bar = points_interval(difference.interval) if difference.interval else "n/a"
    adjusted = (
        f", {p_value(found.p_adjusted)} by Holm"
        if found.p_adjusted not in {None, found.p_mid}
        else ""
    )
    return (
        f"{word} {found.second} - {found.first} is {points(difference.value)} over "
        f"{counted(difference.tasks, 'task')} (95 % interval {bar}). {found.first} did better in "
        f"{counted(found.for_first, 'team')}, {found.second} in "
        f"{counted(found.for_second, 'team')}; "
        f"sign-flip test by teams: mid-p {p_value(found.p_mid)}, exact p "
        f"{p_value(found.p_exact)}{adjusted}."
    )


def _teams(pool: Pool) -> Iterator[str]:
    yield "## Team by team"
    yield table(
        ["Team", "Tasks", *map(str, pool.configurations), "Suite version"],
        [
            [
                plain(row.team),
                str(row.tasks),
                *(
                    percent(found.value) if found.value is not None else unavailable(found.why)
                    for found in row.passed.values()
                ),
                f"`{plain(row.suite_version)}`",
            ]
            for row in pool.teams
        ],
    )


def _limits(pool: Pool) -> Iterator[str]:
    yield "## Limitations"
    texts = [
        "A team's tasks share a code base and their authors, so teams are the units of the "
        "intervals and of the test, and tasks weigh the same in the rates."
    ]
    if pool.shared:
        verb = "is" if pool.shared == 1 else "are"
        texts.append(
            f"{counted(pool.shared, 'task')} {verb} in the sets of several teams, which are not "
            "independent then: the intervals are too narrow."
        )
    yield "\n".join(f"- {text}" for text in texts)
