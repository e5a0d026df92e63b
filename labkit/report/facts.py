"""The five facts of a comparison, drafted from the figures; the words are the student's."""

from collections.abc import Callable
from dataclasses import dataclass

from labkit.fields import counted
from labkit.forecast import MORE_TASKS, SIGNIFICANCE
from labkit.model import ConfigurationId
from labkit.report.wording import (
    amount,
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
    Ratio,
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
    return f"{_verdict(comparison)}{_veto(comparison)}"


def _verdict(comparison: Comparison) -> str:
    why = f" ({comparison.why})" if comparison.why else ""
    match comparison.outcome:
        case Outcome.DETECTABLE:
            return f"{comparison.ahead}: the difference is detectable. {_moves(comparison)}"
        case Outcome.NOT_DETECTABLE:
            return f"Neither: no detectable difference{why}. {_moves(comparison)}"
        case Outcome.INDECISIVE:
            return f"Undecided, the comparison is indecisive: {comparison.why}."


def _veto(comparison: Comparison) -> str:
    if not comparison.veto:
        return ""
    failed = " and ".join(map(str, comparison.veto))
    return f" But {failed} failed a safety task, and no rate outweighs that."


def _moves(comparison: Comparison) -> str:
    better, worse = len(comparison.gained), len(comparison.lost)
    level = len(comparison.differences) - better - worse
    return (
        f"{comparison.first} did better on {counted(worse, 'task')}, {comparison.second} on "
        f"{counted(better, 'task')}; they were level on {counted(level, 'task')}."
    )


def _how_much(
    comparison: Comparison, first: ConfigurationSummary, second: ConfigurationSummary
) -> str:
    difference = comparison.difference
    passed = f"{first.id} passed {of_tasks(first.rate)}, {second.id} {of_tasks(second.rate)}."
    if difference.value is None or difference.interval is None:
        return f"{unavailable(difference.why)}. {passed}"
    return (
        f"{passed} {second.id} - {first.id} is {points(difference.value)} over the "
        f"{counted(difference.tasks, 'task')} measured for both "
        f"(95 % interval {points_interval(difference.interval)}).{_bounds(comparison)}"
    )


def _bounds(comparison: Comparison) -> str:
    bounds = comparison.difference_bounds
    if bounds is None:
        return ""
    stays = "stays" if comparison.survives_missing else "does not stay"
    return (
        f" Had the missing runs all gone one way, or the other, it would be "
        f"{points_interval(bounds)}; what the test says {stays} the same."
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
        f"{side.id}: median {time} per task; one passed run took {_passed_run(side)}, failed runs "
        "included."
    )


def _passed_run(side: ConfigurationSummary) -> str:
    """Say what it took to get one passed run, failed ones included."""
    found = side.per_pass
    parts = [
        *_ratio(found.minutes, lambda value: f"{measured(value)} min"),
        *_ratio(found.tokens, lambda value: f"{amount(value)} tokens"),
        *_ratio(found.cost, lambda value: f"a cost of {amount(value)}"),
    ]
    return ", ".join(parts) or unavailable(found.minutes.why)


def _ratio(ratio: Ratio, write: Callable[[float], str]) -> list[str]:
    return [] if ratio.value is None else [write(ratio.value)]


def per_run(total: Total) -> str:
    """Write a total by run, and itself: 1,500 a run (27,000 in 18 runs)."""
    if total.value is None:
        return unavailable("not recorded")
    known = counted(total.known, "run")
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
        f"mid-p {p_value(comparison.p_mid)}, exact p {p_value(comparison.p_exact)}"
        f"{_strictness(comparison)}. {smallest_detectable(comparison)}{_more(comparison)}"
    )


def _strictness(comparison: Comparison) -> str:
    adjusted = comparison.p_adjusted
    if comparison.comparisons > 1 and adjusted is not None:
        return (
            f"; {p_value(adjusted)} by Holm, as one of {comparison.comparisons} comparisons, "
            "and that decides"
        )
    if comparison.outcome is Outcome.DETECTABLE and (comparison.p_exact or 0) > SIGNIFICANCE:
        return ", which alone would not count: mid-p decides, so call it narrow"
    return ""


def smallest_detectable(comparison: Comparison) -> str:
    """Say what difference these tasks could have shown."""
    smallest = comparison.smallest_detectable
    tasks = counted(comparison.difference.tasks, "task")
    if smallest is None:
        return f"Smallest detectable difference: {unavailable(f'{tasks} compared')}."
    if smallest > _LARGEST_EFFECT:
        return f"{tasks} cannot reliably detect any difference."
    return (
        f"{tasks} reliably show only true differences of about {100 * smallest:.0f} points or more."
    )


def _more(comparison: Comparison) -> str:
    """Say what more tasks, or one more attempt, would buy."""
    outlook = comparison.outlook
    if outlook is None:
        return ""
    wanted = outlook.here.tasks + MORE_TASKS
    tasks = next(reach.smallest for reach in outlook.more_tasks if reach.tasks == wanted)
    attempt = outlook.more_attempts.smallest
    if tasks is None or attempt is None or tasks > _LARGEST_EFFECT:
        return ""
    return (
        f" {MORE_TASKS} more tasks would bring that to {100 * tasks:.0f}, one more attempt at "
        f"these to {100 * min(attempt, _LARGEST_EFFECT):.0f}."
    )
