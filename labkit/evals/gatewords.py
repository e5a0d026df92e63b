"""What a gate found, in sentences."""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import assert_never

from labkit.evals.compare import Comparison, TaskPair
from labkit.evals.drops import Drop
from labkit.evals.falsealarms import USUAL_ICC, FalseAlarms
from labkit.evals.gaterules import CaseRule, Metric
from labkit.fields import counted, first_words
from labkit.report.junitxml import xml_text
from labkit.stats import Bar, DropRule

_SMALLEST_CHANCE = 0.1
_FEWEST_FOR_A_SPREAD = 2
_SPACES = dict.fromkeys(map(ord, "\t\n\r"), " ")


def points(share: Fraction | float) -> str:
    """Write a difference of shares as points with three digits: 0.2 points, 1 point."""
    text = f"{100 * float(share):.3g}"
    return f"{text} point{'' if text in {'1', '-1'} else 's'}"


def percent(share: Fraction) -> str:
    """Write a share with three digits."""
    return f"{100 * float(share):.3g} %"


def signed(share: Fraction | float) -> str:
    """Write a difference of shares as points with its sign."""
    return f"+{points(share)}" if share > 0 else points(share)


def errors(many: Fraction) -> str:
    """Write a number of standard errors."""
    return f"{float(many):g} standard error{'' if many == 1 else 's'}"


def told_cases(lost: Sequence[TaskPair], rule: CaseRule, of: int) -> str:
    """Say which cases were lost under a rule."""
    now = "none passes now" if rule is CaseRule.ALL_TO_NONE else "not all pass now"
    if not lost:
        return f"no case of {of} in which all trials passed before and {now}"
    named = [
        f"{pair.id} ({pair.before.passes} of {pair.before.valid_trials} before, "
        f"{pair.after.passes} of {pair.after.valid_trials} now)"
        for pair in lost
    ]
    every = first_words(named, most=len(named))
    return f"all trials passed before and {now} in {counted(len(lost), 'case')}: {every}"


def told_drop(drop: Drop, metric: Metric, rule: DropRule, bar: Bar | None) -> str:
    """Say how far the figure moved, and what that is against the tolerance and the noise."""
    value = drop.value
    if value is None or drop.before is None or drop.after is None:
        needed = f"; it needs {counted(metric.k, 'sample')} with a verdict" if metric.k > 1 else ""
        hint = f" of a task on either side: labkit evaluate -n {metric.k}" if needed else ""
        return f"{metric.name}: not a single task has it on both sides{needed}{hint}"
    head = f"{metric.name}: {percent(drop.before)} before, {percent(drop.after)} now, "
    over = f" over {counted(drop.tasks, 'task')}"
    if drop.squared_error is None:
        why = (
            "fewer than two tasks have no standard error"
            if drop.tasks < _FEWEST_FOR_A_SPREAD
            else "a report without its cases gives no standard error (stderr)"
        )
        return f"{head}{_move(value)}{over}; {why}, so nothing can be decided"
    against = _against_better(-value, rule, bar) if rule.better else _against_drop(value, rule, bar)
    return f"{head}{_move(value)}{over}; {against}{_size(drop, rule, bar)}"


def _move(drop: Fraction) -> str:
    if not drop:
        return "no difference"
    return f"{points(drop)} less" if drop > 0 else f"{points(-drop)} more"


def _against_drop(value: Fraction, rule: DropRule, bar: Bar | None) -> str:
    if bar is None:
        allowed = "no more" if value > 0 else "no drop"
        within = f" than the tolerance of {points(rule.tolerance)}" if value > 0 else ""
        return f"{allowed}{within}"
    return f"a drop beyond the tolerance of {points(rule.tolerance)}, {_beside(bar, rule)}"


def _against_better(gain: Fraction, rule: DropRule, bar: Bar | None) -> str:
    if gain < 0:
        return "better was wanted, and it dropped"
    if not gain:
        return "better was wanted: not accepted"
    if bar is None:
        return f"no gain beyond the tolerance of {points(rule.tolerance)}: not accepted"
    accepted = "" if bar is Bar.ABOVE else ": not accepted"
    return (
        f"a gain beyond the tolerance of {points(rule.tolerance)}, {_beside(bar, rule)}{accepted}"
    )


def _beside(bar: Bar, rule: DropRule) -> str:
    match bar:
        case Bar.ABOVE:
            return f"and above the bar of {errors(rule.bar)}"
        case Bar.AT:
            return f"but exactly at the bar of {errors(rule.bar)}"
        case Bar.BELOW:
            return f"but within the bar of {errors(rule.bar)}: it may be noise"
        case _:
            assert_never(bar)


def _size(drop: Drop, rule: DropRule, bar: Bar | None) -> str:
    """Say how large a standard error is, and why one task that moved is always at the bar."""
    if drop.squared_error is None:
        return ""
    told = f" (one standard error: {points(sqrt(drop.squared_error))})"
    if bar is Bar.AT and drop.moved == 1 and rule.bar == 1:
        told += "; one task moved, and then the mean difference equals its standard error"
    return told


def told_pair(pair: TaskPair) -> str:
    """Say what one task did before and does now."""
    passed = (
        f"{pair.before.passes} of {pair.before.valid_trials} passed before, "
        f"{pair.after.passes} of {pair.after.valid_trials} now"
    )
    return f"{pair.id}: {percent(pair.reward_before)} to {percent(pair.reward_after)} ({passed})"


def told_noise(found: Comparison) -> str:
    """Say how the difference in reward lies against noise, whatever the gate's metric."""
    if found.mean is None or found.interval is None:
        return "there is no task that both reports scored one by one, so nothing can be paired"
    low, high = found.interval.low, found.interval.high
    tasks = counted(len(found.pairs), "task")
    if not found.test.moved:
        moved = f"none of {tasks} moved"
    elif not found.mean:
        moved = f"{found.test.moved} of {tasks} moved, as far up as down"
    else:
        moved = (
            f"{found.test.moved} of {tasks} moved; if nothing had changed, a difference as large "
            f"would be seen with a chance of {_chance(found.test.p_exact)} (sign-flip test; "
            f"{_chance(found.test.p_mid)} where those just as large count half: mid-p)"
        )
    return (
        f"the reward differs by {signed(found.mean)}, 95 % interval {signed(low)} to "
        f"{signed(high)}: the candidate may still be up to {points(max(0.0, -low))} worse or "
        f"{points(max(0.0, high))} better; {moved}"
    )


def told_alarms(found: FalseAlarms | None, *, better: bool = False) -> str:
    """Say how often the gate is wrong about a version that is the same, and what that supposes.

    Wrong is to block it; where `better` was wanted, to let it pass.
    """
    if found is None:
        wrong = "lets pass" if better else "stops"
        return f"how often it {wrong} a version that is the same cannot be said without a task"
    rates = found.rates
    wrongly = rates.passed if better else rates.block
    how = (
        f"drawn {rates.draws:,} times, so up to {points(rates.error(wrongly))} off"
        if rates.draws
        else "computed, not drawn"
    )
    graded = "; marks between pass and fail move less than it supposes" if found.graded else ""
    usual = (
        f"; at the usual correlation of {USUAL_ICC:.2f} it would "
        + (
            f"pass {_chance(found.usual.passed)}"
            if better
            else f"block {_chance(found.usual.block)}"
        )
        if found.usual
        else ""
    )
    tasks = counted(found.tasks, "task")
    if found.most_trials:
        tasks += f", reckoned with at most {found.most_trials} samples each"
    passed = f"pass as better with a chance of {_chance(rates.passed)}, " if better else ""
    return (
        f"a version that is the same would {passed}be blocked with a chance of "
        f"{_chance(rates.block)}, and not decided about with one of {_chance(rates.indecisive)} "
        f"({how}: "
        f"{tasks}; pass rate {found.mean:.2f}, {found.mean_from}; "
        f"intra-class correlation {found.icc:.2f}, {found.icc_from}{usual}{graded})."
    )


def one_line(text: str) -> str:
    """Return a text that can stand in any line, file or terminal: what is not printable, spelt."""
    return xml_text(text).translate(_SPACES)


def _chance(chance: float) -> str:
    percent = 100 * chance
    if 0 < percent < _SMALLEST_CHANCE:
        return f"under {_SMALLEST_CHANCE} %"
    return f"{percent:.3g} %"
