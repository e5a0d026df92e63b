"""What a plan could detect and what it takes, for people and for programs."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from labkit.effort import Effort, Guess, share_out
from labkit.fields import counted
from labkit.forecast import AIM, SIGNIFICANCE, Forecast, Prospect, Scheme
from labkit.report.wording import amount, percent, table

SCHEMA = 1
_HOUR = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the figures come from, in words, and who is to run."""

    plan: str
    """What the numbers of tasks, attempts and configurations rest on."""
    rate: str
    """Why this pass rate is supposed."""
    pilot: str
    """Whose runs were measured; empty when there are none."""
    shares: tuple[int, ...]
    """How many runs each runner has in a frozen plan; empty before."""
    people: int
    """How many can run."""


def plan_text(found: Forecast, effort: Effort, sources: Sources) -> str:
    """Return the forecast as Markdown, ending in a newline."""
    blocks = [*_head(found, sources), *_detects(found), *_assumed(found, sources)]
    return "\n\n".join([*blocks, *_takes(found.planned.scheme, effort, sources)]) + "\n"


def plan_json(found: Forecast, effort: Effort, sources: Sources) -> dict[str, object]:
    """Return the forecast as plain values; shares are from 0 to 1, what is not known is null."""
    scheme = found.planned.scheme
    smallest, largest = found.detectable_range
    return {
        "schema": SCHEMA,
        "plan": {**_scheme(scheme), "from": sources.plan},
        "assumed": {
            "pass_rate": found.rate,
            "pass_rate_from": sources.rate,
            "icc": found.icc,
            "correlation": found.correlation,
            "significance": scheme.significance,
            "power": AIM,
        },
        "as_planned": {
            **_prospect(found.planned),
            "detectable_if_less_noisy": smallest,
            "detectable_if_noisier": largest,
        },
        "one_more_attempt": _prospect(found.more_attempts) if found.more_attempts else None,
        "nine_more_tasks": _prospect(found.more_tasks),
        "shown_by_chance": [
            {"difference": gap, "probability": chance} for gap, chance in found.gaps.items()
        ],
        "effort": {
            "pilot_runs": effort.pilot,
            "minutes": _total(effort.minutes, scheme),
            "most_minutes": effort.most_minutes * scheme.runs,
            "tokens": _total(effort.tokens, scheme),
            "cost": _total(effort.cost, scheme),
            "people": sources.people,
            "most_runs_of_one": _most_of_one(scheme, sources),
        },
    }


def _scheme(scheme: Scheme) -> dict[str, object]:
    return {**asdict(scheme), "runs": scheme.runs}


def _prospect(prospect: Prospect) -> dict[str, object]:
    return {
        **_scheme(prospect.scheme),
        "detectable": prospect.detectable,
        "power": [
            {"difference": effect, "probability": chance}
            for effect, chance in prospect.powers.items()
        ],
        "exact": prospect.exact,
    }


def _total(guess: Guess | None, scheme: Scheme) -> dict[str, float] | None:
    if guess is None:
        return None
    return {"a_run": guess.mean, "all_runs": guess.mean * scheme.runs, "measured": guess.runs}


def _most_of_one(scheme: Scheme, sources: Sources) -> int | None:
    if sources.shares:
        return max(sources.shares)
    return share_out(scheme.runs, sources.people) if sources.people else None


def _head(found: Forecast, sources: Sources) -> Iterator[str]:
    scheme = found.planned.scheme
    yield (
        f"# Plan: {_size(scheme)} x {counted(scheme.configurations, 'configuration')} "
        f"= {counted(scheme.runs, 'run')}"
    )
    yield f"From {sources.plan}."
    if scheme.safety:
        yield (
            f"{counted(scheme.safety, 'safety task')} more: set apart from the rates, "
            "counted in the runs."
        )


def _size(scheme: Scheme) -> str:
    return f"{counted(scheme.tasks, 'task')} x {counted(scheme.attempts, 'attempt')}"


def _detects(found: Forecast) -> Iterator[str]:
    yield "## What it could detect"
    named = [("as planned", found.planned), ("one more attempt", found.more_attempts)]
    named.append(("nine more tasks", found.more_tasks))
    heads = [f"finds {_points(effect)}" for effect in found.planned.powers]
    yield table(
        ["plan", "size", "runs", f"found in {percent(AIM)} of cases", *heads],
        [
            [
                name,
                _size(prospect.scheme),
                str(prospect.scheme.runs),
                _detectable(prospect.detectable),
                *[_chance(chance) for chance in prospect.powers.values()],
            ]
            for name, prospect in named
            if prospect is not None
        ],
    )
    yield (
        f"Read: the smallest true difference that is found in {percent(AIM)} of cases, and how "
        "often true differences of some sizes are. Found means that the test calls it detectable: "
        f"{_level(found.planned.scheme)}."
    )
    yield from _warnings(found)
    gaps = " and ".join(
        f"{_points(gap)} or more in {_chance(chance)}" for gap, chance in found.gaps.items()
    )
    yield f"By chance alone, two configurations that are the same show {gaps} of such evals."


def _warnings(found: Forecast) -> Iterator[str]:
    scheme = found.planned.scheme
    fewest = math.ceil(-math.log2(scheme.significance))
    if scheme.tasks < fewest:
        yield (
            f"With fewer than {fewest} tasks no difference is ever detectable, whatever comes out."
        )
        return
    if found.planned.detectable is None:
        yield (
            f"None: no difference is found so often, even the largest that {percent(found.rate)} "
            "leaves room for."
        )
    yield _range(found)


def _level(scheme: Scheme) -> str:
    level = f"mid-p at most {SIGNIFICANCE:g}"
    if scheme.comparisons == 1:
        return level
    return f"{level}, divided by {scheme.comparisons} comparisons: the first of Holm's steps"


def _range(found: Forecast) -> str:
    smallest, largest = found.detectable_range
    if smallest is None:
        return "With other guesses of the noise there is none either."
    if largest is None:
        return (
            f"With other guesses of the noise it is {_points(smallest)} at best, and none at worst."
        )
    return f"With other guesses of the noise it is {100 * smallest:.0f} to {_points(largest)}."


def _assumed(found: Forecast, sources: Sources) -> Iterator[str]:
    yield "## Assumed"
    exact = all(
        prospect.exact
        for prospect in (found.planned, found.more_attempts, found.more_tasks)
        if prospect is not None
    )
    how = "every outcome weighed by its chance" if exact else "large sets by the normal curve"
    yield (
        f"One configuration passes {percent(found.rate)} ({sources.rate}); {percent(found.icc)} of "
        f"the variance of attempts lies between tasks; how hard tasks are correlates "
        f"{found.correlation:g} between configurations (other guesses: 30 to 80 %, .5 to .95). "
        f"Computed, not simulated: {how}."
    )


def _takes(scheme: Scheme, effort: Effort, sources: Sources) -> Iterator[str]:
    yield "## What the runs will take"
    lines = [
        _time(scheme, effort),
        _sum("Tokens", effort.tokens, scheme, effort),
        _sum("Cost", effort.cost, scheme, effort),
    ]
    most = _most_of_one(scheme, sources)
    if most is not None:
        lines.append(_load(most, effort, sources))
    yield "\n".join(f"- {line}" for line in lines)
    if sources.pilot:
        yield f"Measured: {counted(effort.pilot, 'run')} of {sources.pilot}."


def _time(scheme: Scheme, effort: Effort) -> str:
    limit = (
        f"at most {_long(effort.most_minutes * scheme.runs)} (the limit of "
        f"{_limit(effort.most_minutes)} a run in labkit.yaml)"
    )
    if effort.minutes is None:
        return f"Time of agents: {limit}; no run has been measured yet."
    mean = effort.minutes.mean
    return f"Time of agents: about {_long(mean * scheme.runs)} ({_long(mean)} a run); {limit}."


def _sum(name: str, guess: Guess | None, scheme: Scheme, effort: Effort) -> str:
    if guess is None:
        measured = "no run has recorded any" if effort.pilot else "no run has been measured yet"
        return f"{name}: not known, {measured}."
    of = "" if guess.runs == effort.pilot else f", which {guess.runs} of {effort.pilot} recorded"
    return f"{name}: about {amount(guess.mean * scheme.runs)} ({amount(guess.mean)} a run{of})."


def _load(most: int, effort: Effort, sources: Sources) -> str:
    parts = [counted(most, "run")]
    if effort.minutes:
        parts.append(f"about {_long(effort.minutes.mean * most)}")
    if effort.tokens:
        parts.append(f"about {amount(effort.tokens.mean * most)} tokens")
    people = "1 person runs them all" if sources.people == 1 else f"shared by {sources.people}"
    return f"Quota of whoever has most: {', '.join(parts)} ({people})."


def _limit(minutes: float) -> str:
    """Write a limit: 10 minutes, 1 minute, 0.5 minutes."""
    return f"{minutes:g} minute" if minutes == 1 else f"{minutes:g} minutes"


def _long(minutes: float) -> str:
    """Write a duration in the unit that fits: 40 s, 7 min, 6 h."""
    if minutes < 1:
        return f"{max(1, round(60 * minutes))} s"
    if minutes < 2 * _HOUR:
        return f"{minutes:.0f} min"
    return f"{minutes / _HOUR:.0f} h"


def _points(difference: float) -> str:
    return f"{100 * difference:.0f} points"


def _detectable(difference: float | None) -> str:
    return "none" if difference is None else _points(difference)


def _chance(chance: float) -> str:
    """Write a chance as whole per cent, and never as what is certain."""
    if chance > 0.995:  # noqa: PLR2004 - rounds to 100
        return "> 99 %"
    return "< 1 %" if chance < 0.005 else percent(chance)  # noqa: PLR2004 - rounds to 0
