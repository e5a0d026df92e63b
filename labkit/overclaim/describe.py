"""The facts in words, for the second half of a finding: what the data say, what could be said."""

from labkit.fields import counted
from labkit.overclaim.facts import Facts, Pair, Side
from labkit.report.wording import (
    measured,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
    short,
)
from labkit.stats import Interval
from labkit.summary import Outcome

NOTHING = "not measured"


def rate(side: Side) -> str:
    """Write a pass rate with everything that belongs to it."""
    found = side.rate
    if found.value is None or found.interval is None:
        return f"{side.id} was not measured"
    return (
        f"{side.id} passed {short(side.passed)} of {counted(found.tasks, 'task')}: "
        f"{percent(found.value)} (95 % interval {percent_interval(found.interval)})"
    )


def strict(side: Side) -> str:
    """Write pass^2 with its denominator."""
    found = side.strict
    if found.value is None or found.interval is None:
        return f"pass^2 of {side.id} is not known: no task has two measured attempts"
    return (
        f"pass^2 of {side.id} is {percent(found.value)} of {counted(found.tasks, 'task')} with two "
        f"attempts (95 % interval {percent_interval(found.interval)})"
    )


def minutes(side: Side) -> str:
    """Write the median time of a configuration."""
    value = side.minutes.value
    return f"{side.id}: median {measured(value) + ' min' if value is not None else NOTHING}"


def difference(pair: Pair) -> str:
    """Write the difference with its interval."""
    found = pair.difference
    if found.value is None or found.interval is None:
        return f"{pair.first} and {pair.second} were not measured on any common task"
    return (
        f"{pair.second} - {pair.first} is {points(found.value)} over "
        f"{counted(found.tasks, 'task')} (95 % interval {points_interval(found.interval)})"
    )


def outcome(pair: Pair) -> str:
    """Write the verdict with the numbers that it rests on."""
    tested = f", mid-p {p_value(pair.p_mid)}" if pair.p_mid is not None else ""
    return f"{_verdict(pair)}: {difference(pair)}{tested}"


def _verdict(pair: Pair) -> str:
    match pair.outcome:
        case Outcome.DETECTABLE:
            return f"{pair.ahead} is detectably ahead"
        case Outcome.NOT_DETECTABLE:
            return f"no detectable difference between {pair.first} and {pair.second}"
        case Outcome.INDECISIVE:
            return f"the comparison of {pair.first} and {pair.second} is indecisive"


def outcomes(pairs: tuple[Pair, ...]) -> str:
    """Write several verdicts."""
    return "; ".join(map(outcome, pairs))


def honest_verdict(pair: Pair) -> str:
    """Say in one sentence what may be said of a comparison."""
    interval = pair.difference.interval
    match pair.outcome:
        case Outcome.DETECTABLE:
            return f"On these tasks {pair.ahead} is ahead: {difference(pair)}."
        case Outcome.NOT_DETECTABLE:
            return f"We found no detectable difference{_compatible(interval)}."
        case Outcome.INDECISIVE:
            return "Too little was measured to decide between them."


def _compatible(interval: Interval | None) -> str:
    return (
        f"; anything from {points_interval(interval)} is compatible with the data"
        if interval
        else ""
    )


def smallest(facts: Facts) -> str:
    """Say what these tasks could have shown."""
    for pair in facts.pairs:
        if pair.smallest_detectable is not None and pair.smallest_detectable <= 1:
            return (
                f"with {counted(pair.difference.tasks, 'task')} only differences of about "
                f"{100 * pair.smallest_detectable:.0f} points or more show"
            )
    return "so few tasks show no difference reliably"
