"""The run's account: what was asked and answered, what it cost, and when it is over."""

import asyncio
import time
from collections.abc import Callable, Mapping

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
        self._turns = 0
        self._failures = 0
        self._tokens = 0
        self._cost = 0.0
        self._quiet_since = time.monotonic()

    def number(self) -> int:
        """Return the next request's number."""
        self._numbers += 1
        return self._numbers

    def bound(self, asked: Asked | None) -> str:
        """Return why a request must not be sent on; empty: it may."""
        most = self._caps.requests
        if most is not None and asked and asked.main and self._turns + self._open_main >= most:
            self.reach("requests", most)
        return self._reached

    def open(self, *, main: bool) -> None:
        """A request is sent on."""
        self._open += 1
        self._open_main += main

    def close(self, *, main: bool) -> None:
        """It is over, in whatever way."""
        self._open -= 1
        self._open_main -= main
        self._quiet_since = time.monotonic()

    def price(self, asked: Asked | None, heard: Heard) -> float | None:
        """Return what an answer cost, by the model's name in the request or in the answer."""
        names = (asked.model if asked else "", heard.model)
        prices = next((self._prices[name] for name in names if name in self._prices), None)
        return cost_of(heard.usage, prices)

    def heard(self, *, main: bool, answered: bool, heard: Heard, cost: float | None) -> None:
        """Add what an exchange has used and what came of it."""
        if main:
            self._turns += answered
            self._failures = 0 if answered else self._failures + 1
        used = heard.usage or {}
        self._tokens += sum(used.get(kind, 0) for kind in _PRICED)
        self._cost += cost or 0.0
        for which, found, most in (
            ("tokens", self._tokens, self._caps.tokens),
            ("cost", self._cost, self._caps.cost),
            ("failures", self._failures, self._caps.failures),
        ):
            if most is not None and found > most:
                self.reach(which, most)

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
