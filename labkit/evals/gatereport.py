"""A gate's decision for people, for programs, and for the viewers of a CI."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from labkit.evals.compare import Comparison, TaskPair
from labkit.evals.gate import GateDecision
from labkit.evals.gatechecks import Check, CheckName
from labkit.evals.gaterules import GateMode, Want
from labkit.evals.gatewords import (
    errors,
    one_line,
    percent,
    points,
    signed,
    told_alarms,
    told_noise,
    told_pair,
)
from labkit.fields import counted
from labkit.report.wording import plain, table
from labkit.stats import Outcome

SCHEMA = 1
_MOST_TASKS = 20
_SIGNS = {
    Outcome.PASS: "passed",
    Outcome.BLOCK: "BLOCKS",
    Outcome.INDECISIVE: "not decided",
    None: "not checked",
}
_MEANINGS = {
    Outcome.PASS: "nothing speaks against the candidate",
    Outcome.BLOCK: "the candidate is not let through",
    Outcome.INDECISIVE: "the data carry neither a yes nor a no",
}
_BETTER = "better than the baseline"


def to_text(decision: GateDecision) -> str:
    """Return the verdict, why, which tasks, and what noise alone does, for a terminal."""
    lines = [
        f"{decision.outcome.upper()}: {_meaning(decision)}",
        f"candidate {decision.comparison.candidate_words}, "
        f"baseline {decision.comparison.baseline_words}",
        f"suite {decision.comparison.suite} {decision.comparison.suite_version}, "
        f"split {_split(decision.comparison)}; {told_settings(decision)}",
        "",
    ]
    lines += [
        f"  {check.name:12} {_SIGNS[check.outcome]:12} {check.detail}" for check in decision.checks
    ]
    for head, pairs in _moved(decision.comparison):
        lines += ["", f"{head}: {counted(len(pairs), 'task')}"]
        lines += [f"  {told_pair(pair)}" for pair in pairs[:_MOST_TASKS]]
        lines += _rest(pairs)
    lines += ["", f"noise: {told_noise(decision.comparison)}", f"this gate: {_own(decision)}"]
    lines += [f"note: {note}" for note in decision.notes]
    return "".join(f"{one_line(line)}\n" for line in lines)


def _meaning(decision: GateDecision) -> str:
    """Say what a verdict means of the gate that gave it."""
    if decision.gate.want is not Want.BETTER or decision.blocked:
        return _MEANINGS[decision.outcome]
    if not decision.passed:
        return f"not shown to be {_BETTER}, and not stopped"
    bar = decision.gate.rule.bar
    above = f", by more than {errors(bar)}" if bar else ""
    interval = decision.comparison.interval
    chance = "; chance alone may still explain it" if interval is None or 0 in interval else ""
    return f"{_BETTER} on these tasks{above}{chance}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _split(found: Comparison) -> str:
    return found.split or "not known"


def told_settings(decision: GateDecision) -> str:
    """Say how the gate was set."""
    gate, rule = decision.gate, decision.gate.rule
    wanted = "has to be better" if gate.want is Want.BETTER else "must be no worse"
    return (
        f"{gate.measure.name} {wanted}, tolerance {points(rule.tolerance)}, bar "
        f"{errors(rule.bar)} ({decision.mode}), cases: {gate.cases}"
    )


def to_markdown(decision: GateDecision) -> str:
    """Return the decision as Markdown, for the summary of a CI step."""
    found = decision.comparison
    blocks = [
        f"## Gate: {decision.outcome.upper()}",
        f"**{_capital(_meaning(decision))}.** Candidate "
        f"{plain(found.candidate_words)} against baseline {plain(found.baseline_words)} on "
        f"{plain(found.suite)} {_code(found.suite_version)}, split {plain(_split(found))}; "
        f"{told_settings(decision)}.",
        table(
            ["Check", "Outcome", "Found"],
            (
                [str(each.name), _SIGNS[each.outcome], plain(each.detail)]
                for each in decision.checks
            ),
        ),
    ]
    for head, pairs in _moved(found):
        rows = (
            [
                _code(pair.id),
                percent(pair.reward_before),
                percent(pair.reward_after),
                signed(pair.difference),
            ]
            for pair in pairs[:_MOST_TASKS]
        )
        blocks += [f"### {head.capitalize()}", table(["Task", "Before", "Now", "Difference"], rows)]
        blocks += [line.strip() for line in _rest(pairs)]
    if found.slices:
        rows = ([plain(s.name), str(s.tasks), signed(s.mean)] for s in found.slices)
        blocks += [
            "### By slice, as description only",
            table(["Slice", "Tasks", "Difference"], rows),
        ]
    blocks += [f"**Noise**: {told_noise(found)}", f"**This gate**: {_own(decision)}"]
    blocks += [f"- {plain(note)}" for note in decision.notes]
    return "\n\n".join(_clean(block) for block in blocks) + "\n"


def to_dict(decision: GateDecision) -> dict[str, Any]:
    """Return the decision as plain values; fractions stand both exactly and as numbers."""
    found, alarms = decision.comparison, decision.false_alarms
    values = {
        "schema": SCHEMA,
        "outcome": str(decision.outcome),
        "blocked": decision.blocked,
        "reasons": list(decision.reasons),
        "checks": [_check(check) for check in decision.checks],
        "settings": {
            "metric": decision.gate.measure.name,
            "tolerance": _number(decision.gate.rule.tolerance),
            "cases": str(decision.gate.cases),
            "mode": str(decision.mode),
            "bar": _number(decision.gate.rule.bar),
            "want": str(decision.gate.want),
        },
        "suite": found.suite,
        "suite_version": found.suite_version,
        "split": found.split,
        "baseline": found.baseline,
        "candidate": found.candidate,
        "baseline_code": found.baseline_code,
        "candidate_code": found.candidate_code,
        "baseline_from": found.baseline_from,
        "candidate_from": found.candidate_from,
        "metric": {
            "before": _number(decision.drop.before),
            "after": _number(decision.drop.after),
            "drop": _number(decision.drop.value),
            "squared_error": _number(decision.drop.squared_error),
            "tasks": decision.drop.tasks,
        },
        "comparison": _comparison(found),
        "false_alarms": alarms.to_dict() if alarms else None,
        "notes": list(decision.notes),
    }
    cleaned: dict[str, Any] = _cleaned(values)
    return cleaned


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": str(check.name),
        "outcome": None if check.outcome is None else str(check.outcome),
        "detail": check.detail,
        "cases": list(check.cases),
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    interval = found.interval
    return {
        "tasks": len(found.pairs),
        "mean": _number(found.mean),
        "interval": [interval.low, interval.high] if interval else None,
        "p_exact": found.test.p_exact if found.pairs else None,
        "p_mid": found.test.p_mid if found.pairs else None,
        "regressed": [_task(pair) for pair in found.regressed],
        "improved": [_task(pair) for pair in found.improved],
        "lost": list(found.lost),
        "won": list(found.won),
        "missing_now": list(found.missing_now),
        "missing_before": list(found.missing_before),
        "slices": {
            each.name: {"tasks": each.tasks, "mean": _number(each.mean)} for each in found.slices
        },
    }


def _task(pair: TaskPair) -> dict[str, Any]:
    return {
        "id": pair.id,
        "before": _number(pair.reward_before),
        "after": _number(pair.reward_after),
        "difference": _number(pair.difference),
    }


def _number(exact: Fraction | None) -> dict[str, Any] | None:
    return None if exact is None else {"exact": str(exact), "value": float(exact)}


def _cleaned(value: Any) -> Any:
    """Return plain values whose texts can be written anywhere."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, dict):
        return {one_line(key): _cleaned(each) for key, each in value.items()}
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


def _moved(found: Comparison) -> Iterator[tuple[str, Sequence[TaskPair]]]:
    for head, pairs in (("worse", found.regressed), ("better", found.improved)):
        if pairs:
            yield head, pairs


def _rest(pairs: Sequence[TaskPair]) -> list[str]:
    rest = len(pairs) - _MOST_TASKS
    return [f"  and {counted(rest, 'more task')}, named in the JSON"] if rest > 0 else []


def _own(decision: GateDecision) -> str:
    without = any(check.name is CheckName.OVERFITTING for check in decision.checks)
    told = told_alarms(decision.false_alarms, better=decision.gate.want is Want.BETTER)
    if decision.mode is GateMode.SIGNIFICANT and decision.false_alarms:
        told += " The errors are those of each side, not of the pairs."
    return f"{told} The rule on overfitting is not in it." if without else told


def _code(text: str) -> str:
    """Write a name as code, which no markup in it can leave."""
    quoted = one_line(text).replace("`", "'")
    return f"`{quoted}`"


def _clean(block: str) -> str:
    return "\n".join(map(one_line, block.split("\n")))
