"""What runs have spent, what further ones are expected to spend, and whether a budget bears it.

Tokens and money that broken tries took were spent as well. What is not known is never taken for 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labkit.bounds import Budget, Caps
from labkit.fields import counted
from labkit.records import RunRecord

Tried = Mapping[str, object]
"""A voided try, as records hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens and money, with how many runs and tries used tokens at a price that nobody knows."""

    tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        """Return both together."""
        return Spent(
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
            unpriced=self.unpriced + other.unpriced,
        )


def spent(tokens: object, cost: object) -> Spent:
    """Return what one run or try has spent.

    Without tokens nothing was metered. With them, a cost of None is one that nobody knows, even
    where there are none: what broke off before it told of any has used some.
    """
    used = tokens if isinstance(tokens, int) else 0
    if isinstance(cost, int | float):
        return Spent(tokens=used, cost=float(cost))
    return Spent(tokens=used, unpriced=0 if tokens is None else 1)


def spent_on_tries(voided: Iterable[Tried]) -> Spent:
    """Return what broken tries have spent."""
    return sum((spent(each.get("tokens"), each.get("cost")) for each in voided), Spent())


def spent_on_run(record: RunRecord) -> Spent:
    """Return what a run has spent, its broken tries too."""
    return spent(record.tokens, record.cost) + spent_on_tries(record.voided)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """What runs will take; None where neither earlier runs nor limits tell."""

    minutes: float | None
    tokens: float | None
    cost: float | None
    by_limits: frozenset[str] = frozenset()
    """Which of them are only the most that the limits allow."""

    def __add__(self, other: "Likely") -> "Likely":
        """Return both together: not known when one is not."""
        return Likely(
            minutes=_both(self.minutes, other.minutes),
            tokens=_both(self.tokens, other.tokens),
            cost=_both(self.cost, other.cost),
            by_limits=self.by_limits | other.by_limits,
        )


NOTHING = Likely(minutes=0.0, tokens=0.0, cost=0.0)


def _both(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def likely(earlier: Sequence[RunRecord], caps: Caps, most_minutes: float) -> Likely:
    """Return what a run takes, by the mean of earlier ones like it, else by its limits."""
    takes = {
        "minutes": _mean([record.seconds / 60 for record in earlier], most_minutes),
        "tokens": _mean(_metered(earlier, [record.tokens for record in earlier]), caps.tokens),
        "cost": _mean(_metered(earlier, [record.cost for record in earlier]), caps.cost),
    }
    return Likely(
        **{name: value for name, (value, _) in takes.items()},
        by_limits=frozenset(name for name, (_, limited) in takes.items() if limited),
    )


def _metered(
    earlier: Sequence[RunRecord], figures: Sequence[float | None]
) -> Sequence[float | None]:
    """Return the figures; nothing for every run where no run asked a model through labkit."""
    metered = any(record.requests is not None for record in earlier)
    return figures if metered else [0.0 for _ in figures]


def _mean(figures: Sequence[float | None], limit: float | None) -> tuple[float | None, bool]:
    known = [figure for figure in figures if figure is not None]
    if known:
        return sum(known) / len(known), False
    return limit, limit is not None


def over_budget(budget: Budget, so_far: Spent, more: Likely, what: str) -> str:
    """Say why the budget does not bear `more`, which is `what`; empty when it does.

    What is not known is let pass while there is something left, as only a run can tell it.
    """
    for name, most, used, takes in (
        ("tokens", budget.tokens, so_far.tokens, more.tokens),
        ("cost", budget.cost, so_far.cost, more.cost),
    ):
        if most is None:
            continue
        told = f"of the budget of {amount(name, most)} {amount(name, used)} is spent"
        if used >= most:
            return told
        if takes is not None and used + takes > most:
            return f"{told}, and {what} may take {amount(name, takes)}"
    if budget.cost is not None and so_far.unpriced:
        return (
            f"what {counted(so_far.unpriced, 'run')} cost is not known (finished or broken: no "
            "price for a kind of their tokens, or an answer that did not tell them), so the budget "
            f"of {amount('cost', budget.cost)} cannot be kept: write prices into providers: in "
            "labkit.yaml, for the runs to come, or say --yes"
        )
    return ""


def amount(name: str, value: float) -> str:
    """Return tokens or money as people read it, a little money with two digits that count."""
    if name == "tokens":
        return f"{value:,.0f} tokens"
    places = 1 - math.floor(math.log10(value)) if 0 < value < 1 else 2
    return f"{value:.{places}f}"


def minutes(value: float) -> str:
    """Return a time as people read it: below a minute in seconds."""
    return f"{value * 60:.1f} s" if value < 1 else f"{value:.1f} min"
