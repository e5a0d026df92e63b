"""How often a task's tests are run to expose unstable ones, and how likely that is to work."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LEAST, USUAL, MOST = 3, 8, 10
BUDGET = 20.0
"""Seconds: nine typical tasks on two cores, cheats included, then take less than three minutes."""
FLAKY = 1 / 3
"""The failure rate for which the chance of notice is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How many rounds are run: `least` in any case, up to `most` while `budget` seconds last."""

    least: int = LEAST
    most: int = USUAL
    budget: float = BUDGET
    thorough: bool = True
    """Also run the solution's tests in the reverse order, and the cheats."""

    @classmethod
    def exactly(cls, rounds: int, *, thorough: bool = True) -> "Repeats":
        """Return so many rounds, whatever they take."""
        return cls(least=rounds, most=rounds, thorough=thorough)

    def rounds(self, clock: Callable[[], float] = time.monotonic) -> Iterator[int]:
        """Yield the number of each round, from 1; a round that would not fit is not begun.

        A round is taken to last as long as those before it did on average.
        """
        begun = clock()
        for number in range(1, self.most + 1):
            done = number - 1
            if done >= self.least:
                spent = clock() - begun
                if spent + spent / done > self.budget:
                    return
            yield number


def chance_of_notice(runs: int, rate: float = FLAKY) -> float:
    """Return how likely a test that fails at `rate` by chance is noticed in `runs` runs.

    A test counts only if it passes in every run at the solution, so one that should count and fails
    now and then goes unnoticed exactly when all runs pass: 1 - (1 - rate) ** runs, the chance of at
    least one success in independent trials (the binomial distribution's complement at zero; Feller,
    An Introduction to Probability Theory I, chapter VI). A test that fails every time is no less
    noticed: it is a failure at the solution. Where the base shows the same chance, as for a test
    that passes on both sides, there are twice the runs and the true chance is higher.
    """
    return 1 - (1 - rate) ** runs
