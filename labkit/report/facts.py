"""The five facts of a comparison, drafted from the figures; the words are the student's."""

from dataclasses import dataclass

from labkit.model import ConfigurationId
from labkit.report.wording import (
    amount,
    count,
    measured,
    of_tasks,
    p_value,
    points,
    points_interval,
    short,
    unavailable,
)
from labkit.summary import (
    Comparison,
    ConfigurationSummary,
    Group,
    Grouping,
    Outcome,
    Summary,
    Total,
)

SMALLEST_GROUP = 5
_LARGEST_EFFECT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One of the five questions, with what the figures say."""

    question: str
    answer: str


def five_facts(summary: Summary, comparison: Comparison) -> tuple[Fact, ...]:
    """Draft the five facts of one comparison, in the order in which they are asked for."""
    sides = {side.id: side for side in summary.configurations}
    first, second = sides[comparison.first], sides[comparison.second]
    return (
        Fact(question="Which won?", answer=_which(comparison)),
        Fact(question="By how much?", answer=_how_much(comparison, first, second)),
        Fact(question="On which task types?", answer=_types(summary, comparison)),
        Fact(question="At what cost?", answer=_costs(first, second)),
        Fact(question="Does the difference exceed the error bar?", answer=_exceeds(comparison)),
    )


def _which(comparison: Comparison) -> str:
    why = f" ({comparison.why})" if comparison.why else ""
    match comparison.outcome:
        case Outcome.DETECTABLE:
            return f"{comparison.ahead}: the difference is detectable. {_moves(comparison)}"
        case Outcome.NOT_DETECTABLE:
            return f"Neither: no detectable difference{why}. {_moves(comparison)}"
        case Outcome.INDECISIVE:
            return f"Undecided, the comparison is indecisive: {comparison.why}."


def _moves(comparison: Comparison) -> str:
    better = sum(value > 0 for value in comparison.differences.values())
    worse = sum(value < 0 for value in comparison.differences.values())
    level = len(comparison.differences) - better - worse
    return (
        f"{comparison.first} did better on {count(worse, 'task')}, {comparison.second} on "
        f"{count(better, 'task')}; they were level on {count(level, 'task')}."
    )


def _how_much(
    comparison: Comparison, first: ConfigurationSummary, second: ConfigurationSummary
) -> str:
    difference = comparison.difference
    if difference.value is None or difference.interval is None:
        return unavailable(difference.why)
    return (
        f"{first.id} passed {of_tasks(first.rate)}, {second.id} {of_tasks(second.rate)}. "
        f"{second.id} - {first.id} is {points(difference.value)} over the "
        f"{count(difference.tasks, 'task')} measured for both "
        f"(95 % interval {points_interval(difference.interval)})."
    )


def _types(summary: Summary, comparison: Comparison) -> str:
    groups = [group for group in summary.groups if group.grouping is Grouping.CATEGORY]
    if not groups:
        return unavailable("no task was measured")
    told = "; ".join(_tallies(group, comparison) for group in groups)
    small = all(group.tasks < SMALLEST_GROUP for group in groups)
    caution = (
        f"no type has {SMALLEST_GROUP} tasks" if small else "types are compared without a test"
    )
    return f"{told}. This describes these tasks and proves nothing beyond them: {caution}."


def _tallies(group: Group, comparison: Comparison) -> str:
    def tally(configuration: ConfigurationId) -> str:
        found = group.tallies[configuration]
        return f"{configuration} {short(found.passed)} of {found.tasks}"

    return f"{group.name}: {tally(comparison.first)}, {tally(comparison.second)}"


def _costs(first: ConfigurationSummary, second: ConfigurationSummary) -> str:
    return " ".join(_cost(side) for side in (first, second))


def _cost(side: ConfigurationSummary) -> str:
    minutes = side.minutes
    time = (
        f"{measured(minutes.value)} min" if minutes.value is not None else unavailable(minutes.why)
    )
    return (
        f"{side.id}: median {time} per task, tokens {per_run(side.tokens)}, "
        f"cost {per_run(side.cost)}, {count(side.interventions, 'intervention')}."
    )


def per_run(total: Total) -> str:
    """Write a total by run, and itself: 1,500 a run (27,000 in 18 runs)."""
    if total.value is None:
        return unavailable("not recorded")
    known = count(total.known, "run")
    runs = known if total.known == total.runs else f"the {total.known} of {total.runs} runs known"
    return f"{amount(total.value / total.known)} a run ({amount(total.value)} in {runs})"


def _exceeds(comparison: Comparison) -> str:
    interval = comparison.difference.interval
    if interval is None or comparison.p_mid is None or comparison.p_exact is None:
        return unavailable(comparison.difference.why)
    inside = "includes" if 0 in interval else "leaves out"
    answer = {
        Outcome.DETECTABLE: "Yes.",
        Outcome.NOT_DETECTABLE: "No.",
        Outcome.INDECISIVE: "Not decided.",
    }[comparison.outcome]
    return (
        f"{answer} The paired interval {points_interval(interval)} {inside} 0; sign-flip test: "
        f"mid-p {p_value(comparison.p_mid)}, exact p {p_value(comparison.p_exact)}. "
        f"{smallest_detectable(comparison)}"
    )


def smallest_detectable(comparison: Comparison) -> str:
    """Say what difference these tasks could have shown."""
    smallest = comparison.smallest_detectable
    tasks = count(comparison.difference.tasks, "task")
    if smallest is None:
        return f"Smallest detectable difference: {unavailable(f'{tasks} compared')}."
    if smallest > _LARGEST_EFFECT:
        return f"{tasks} cannot reliably detect any difference."
    return (
        f"{tasks} reliably show only true differences of about {100 * smallest:.0f} points or more."
    )
