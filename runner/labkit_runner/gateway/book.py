"""The run's account: what was asked and answered, what it cost, and when it is over."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from labkit_runner.gateway.apis.interface import Asked, Heard
from labkit_runner.gateway.settings import Caps, Settings

_MILLION = 1_000_000
_PRICED = ("input", "output", "cache_read", "cache_write")


def cost_of(
    usage: Mapping[str, int] | None, prices: Mapping[str, float | None] | None
) -> float | None:
    """Return what tokens cost; None where one that was used has no price, or nothing is known."""
    if usage is None or prices is None:
        return None
    total = 0.0
    for kind in _PRICED:
        count, price = usage.get(kind, 0), prices.get(kind)
        if count and price is None:
            return None
        total += count * (price or 0.0)
    return total / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What came of an exchange."""

    main: bool
    generates: bool
    answered: bool
    is_free: bool
    """Whether it was refused by the model's API, or never arrived."""
    whole: bool
    usage: Mapping[str, int] | None
    cost: float | None
    names: tuple[str, ...]
    """Of the model, in the request and in the answer."""
    sent: int
    """Bytes of the request."""
    got: int
    """Bytes of the answer, unpacked."""
    asked_for: int = 0
    """The most tokens that the request lets the answer have; 0: it does not say."""

    @property
    def most_usage(self) -> Mapping[str, int]:
        """What it has used; where it did not tell, an upper estimate.

        A token is at least a byte. What broke off may have been written to its end elsewhere.
        """
        if self.usage is not None:
            return self.usage
        if self.is_free:
            return {}
        output = self.got if self.whole else max(self.got, self.asked_for)
        return {"input": self.sent, "output": output}


class Book:
    """Counts, and says when a bound is reached: once, for the first one."""

    def __init__(self, settings: Settings, over: Callable[[str, float], None]) -> None:
        self._caps: Caps = settings.caps
        self._prices = settings.prices
        self._over = over
        self._reached = ""
        self._numbers = 0
        self._open = 0
        self._open_main = 0
        self._open_sides = 0
        self._saw_main = False
        self._turns = 0
        self._sides = 0
        self._failures = 0
        self._tokens = 0
        self._cost = 0.0
        self._quiet_since = time.monotonic()

    def number(self) -> int:
        """Return the next request's number."""
        self._numbers += 1
        return self._numbers

    def bound(self, *, main: bool, generates: bool) -> str:
        """Return why a request must not be sent on; empty: it may."""
        most = self._caps.requests
        if most is not None and self._turns_with(main=main, generates=generates) > most:
            self.reach("requests", most)
        return self._reached

    def _turns_with(self, *, main: bool, generates: bool) -> int:
        """Return how many turns there are when it is sent on.

        Where no request has offered tools so far, all that generate are turns.
        """
        if main:
            return self._turns + self._open_main + 1
        if generates and not self._saw_main:
            return self._sides + self._open_sides + 1
        return 0

    def open(self, *, main: bool, generates: bool) -> None:
        """A request is sent on."""
        self._open += 1
        self._open_main += main
        self._open_sides += generates and not main
        self._saw_main = self._saw_main or main

    def close(self, *, main: bool, generates: bool) -> None:
        """It is over, in whatever way."""
        self._open -= 1
        self._open_main -= main
        self._open_sides -= generates and not main
        self._quiet_since = time.monotonic()

    def price(self, asked: Asked | None, heard: Heard) -> float | None:
        """Return what an answer cost, by the model's name in the request or in the answer."""
        names = (asked.model if asked else "", heard.model)
        prices = next((self._prices[name] for name in names if name in self._prices), None)
        return cost_of(heard.usage, prices)

    def heard(self, came: Came) -> None:
        """Add what an exchange has used and what came of it."""
        self._turns += came.main and came.answered
        self._sides += came.generates and not came.main and came.answered
        if came.main or (came.generates and not self._saw_main):
            self._failures = 0 if came.answered else self._failures + 1
        used = came.most_usage
        self._tokens += sum(used.get(kind, 0) for kind in _PRICED)
        self._cost += self._most_cost(came, used) if came.cost is None else came.cost
        for which, found, most in (
            ("tokens", self._tokens, self._caps.tokens),
            ("cost", self._cost, self._caps.cost),
            ("failures", self._failures, self._caps.failures),
        ):
            if most is not None and found > most:
                self.reach(which, most)

    def _most_cost(self, came: Came, used: Mapping[str, int]) -> float:
        """Return an upper estimate: what has no price has the highest that is known."""
        known = [self._prices[name] for name in came.names if name in self._prices]
        told = [each or 0.0 for price in known or self._prices.values() for each in price.values()]
        prices = {kind: max(told, default=0.0) for kind in _PRICED}
        prices.update({kind: each for kind, each in (known[0] if known else {}).items() if each})
        return cost_of(used, prices) or 0.0

    def reach(self, which: str, limit: float) -> None:
        """Say that the run is over."""
        if not self._reached:
            self._reached = which
            self._over(which, limit)

    async def watch_idle(self) -> None:
        """Wait until nothing has been asked for too long."""
        most = self._caps.idle_seconds
        while True:
            quiet = 0.0 if self._open else time.monotonic() - self._quiet_since
            if quiet >= most:
                self.reach("idle", most)
                return
            await asyncio.sleep(min(1.0, max(0.01, most - quiet)))
