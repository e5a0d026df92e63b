"""Reads a summary.json into a sheet.

Texts that people wrote are made safe to show here, once: what a browser, a terminal or a
spreadsheet would obey, and what would turn or hide its neighbours, is spelled out instead.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.errors import InputError, IntegrityError
from labkit.model import RunId
from labkit.report.sheet import (
    COVERAGE,
    Agreed,
    Noise,
    Pair,
    Row,
    Sheet,
    Side,
    Tasks,
)
from labkit.stats import Interval
from labkit.summary import Chance, Estimate, Outlook, Reach, Total

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, marks that turn or hide text, and what XML cannot hold."""


def read_sheet(values: Mapping[str, Any]) -> Sheet:
    """Read the document that `labkit.report.data.to_json` makes.

    Raises IntegrityError for anything that it does not make.
    """
    try:
        return _sheet(values)
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        raise IntegrityError(
            f"summary.json is not what labkit writes: {type(error).__name__} at {error}",
            hint="write it again: labkit summary",
        ) from error


def visible(text: object) -> str:
    """Return a text in one line whose hidden and obeyed characters are spelled out."""
    line = " ".join(str(text).split())
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def _sheet(values: Mapping[str, Any]) -> Sheet:
    return Sheet(
        team=visible(values["team"]),
        suite_version=visible(values["suite_version"]),
        difference=visible(values["difference"]),
        attributable=values.get("attributable"),
        sides=tuple(map(_side, values["configurations"])),
        pairs=tuple(map(_pair, values["comparisons"])),
        rows=tuple(map(_row, values["tasks"])),
        groups=tuple(map(_group, values["groups"])),
        retired={visible(task): visible(why) for task, why in values["retired"].items()},
        safety_tasks=_texts(values["safety_tasks"]),
        limitations=tuple(visible(each["text"]) for each in values["limitations"]),
        agreement={
            visible(each["dimension"]): Agreed(
                alpha=_measure(each["alpha"]), runs=int(each["runs"])
            )
            for each in values.get("agreement", ())
        },
    )


def _side(values: Mapping[str, Any]) -> Side:
    coverage = values["coverage"]
    rate = values["rate"]
    return Side(
        id=visible(values["id"]),
        description=visible(values["description"]),
        rate=_measure(rate),
        passed=float(rate["passed"]),
        runs=int(rate["runs"]),
        pass_hat_2=_measure(values["pass_hat_2"]),
        noise=_noise(values.get("noise")),
        minutes=_measure(values["minutes"]),
        slowest=values.get("slowest", {}).get("value"),
        per_pass={name: each["value"] for name, each in values.get("per_pass", {}).items()},
        rubric=_measures(values["rubric"]),
        tokens=_sum(values["tokens"]),
        cost=_sum(values["cost"]),
        flaky=_texts(values["flaky"]),
        leaked=_texts(values["leaked"]),
        forbidden_edits=_texts(values["forbidden_edits"]),
        safety_failed=tuple(map(RunId.parse, values["safety"]["failed"])),
        safety_tasks=int(values["safety"]["tasks"]),
        interventions=int(values["interventions"]),
        coverage={name: int(coverage[name]) for name in COVERAGE},
        share=coverage["share"],
    )


def _pair(values: Mapping[str, Any]) -> Pair:
    return Pair(
        first=visible(values["first"]),
        second=visible(values["second"]),
        outcome=visible(values["outcome"]),
        why=visible(values["why"]),
        difference=_measure(values["difference"]),
        differences={visible(task): float(d) for task, d in values["differences"].items()},
        p_exact=values["p_exact"],
        p_mid=values["p_mid"],
        p_adjusted=values.get("p_adjusted"),
        comparisons=int(values.get("comparisons", 1)),
        smallest_detectable=values["smallest_detectable"],
        survives_missing=values["survives_missing"],
        bounds=_interval(values.get("difference_bounds")),
        outlook=_outlook(values.get("outlook")),
    )


def _row(values: Mapping[str, Any]) -> Row:
    return Row(
        task=visible(values["task"]),
        category=visible(values["category"] or "unknown"),
        slices=_texts(values["slices"]),
        attempts={visible(side): tuple(found) for side, found in values["attempts"].items()},
        minutes={visible(side): each for side, each in values.get("minutes", {}).items()},
    )


def _group(values: Mapping[str, Any]) -> Tasks:
    return Tasks(
        name=visible(f"{values['grouping']}: {values['name']}"),
        tasks=int(values["tasks"]),
        tallies={
            visible(side): (float(tally["passed"]), int(tally["tasks"]))
            for side, tally in values["tallies"].items()
        },
    )


def _outlook(values: Mapping[str, Any] | None) -> Outlook | None:
    if values is None:
        return None
    return Outlook(
        here=_reach(values["here"]),
        more_tasks=tuple(map(_reach, values["more_tasks"])),
        more_attempts=_reach(values["more_attempts"]),
        powers=tuple(
            Chance(effect=float(each["effect"]), power=float(each["power"]))
            for each in values["powers"]
        ),
    )


def _reach(values: Mapping[str, Any]) -> Reach:
    return Reach(
        tasks=int(values["tasks"]), attempts=int(values["attempts"]), smallest=values["smallest"]
    )


def _measures(values: Mapping[str, Any]) -> Mapping[str, Estimate]:
    return {visible(name): _measure(measure) for name, measure in values.items()}


def _measure(values: Mapping[str, Any]) -> Estimate:
    return Estimate(
        value=values["value"],
        interval=_interval(values["interval"]),
        tasks=int(values.get("tasks", 0)),
        why=visible(values["why"]),
    )


def _interval(values: Mapping[str, float] | None) -> Interval | None:
    return Interval(low=float(values["low"]), high=float(values["high"])) if values else None


def _noise(values: Mapping[str, Any] | None) -> Noise | None:
    if values is None:
        return None
    return Noise(difference=_measure(values["difference"]), largest=float(values["largest"]))


def _sum(values: Mapping[str, Any]) -> Total:
    return Total(value=values["value"], known=int(values["known"]), runs=int(values["runs"]))


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(visible, values))
