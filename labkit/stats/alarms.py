"""How often a whole gate stops a version that is the same: all of its rules at once.

A task's chance to be passed is drawn from a beta distribution and is the same for both versions, so
that the passes before and after follow from how often they pass together. What a gate decides
depends on the sum of the drops, on the sum of their squares, and on whether a case was lost; the
distribution of both sums is a convolution over the tasks, and where it is too large to hold, the
numbers of tasks with each outcome are drawn.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from labkit.stats.gates import DropRule, Outcome, pattern_chance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_MOST_POINTS = 700_000
"""Of the grid of both sums: about a second of work."""
_MOST_NUMBERS = 4_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 2_000, 20_000
_SEED = 2026
_NEGLIGIBLE = 1e-14
_LARGEST = 2**62
_CERTAIN = 3.0
"""What never happened in n draws has a chance below 3/n, at 95 %."""

Value = Callable[[int, int], Fraction]
"""The figure of a task of which so many trials were made, and so many passed."""
Lost = Callable[[int, int, int, int], bool]
"""Whether a case was lost: trials and passes before, trials and passes after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """One version, measured twice.

    Raises ValueError for no tasks, a task without trials, and for a mean or an icc outside 0 to 1
    or at its ends.
    """

    trials: Mapping[tuple[int, int], int]
    """How many tasks have so many trials before and after."""
    mean: float
    icc: float

    def __post_init__(self) -> None:
        if not self.tasks or any(min(pair) < 1 for pair in self.trials):
            raise ValueError("a gate needs tasks with trials on both sides")
        if not 0 < self.mean < 1 or not 0 < self.icc < 1:
            raise ValueError(
                f"a mean of {self.mean} and an icc of {self.icc}: both lie between 0 and 1"
            )

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return sum(self.trials.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRules:
    """What decides: the rule on the figure, and the rule on each case."""

    value: Value
    lost: Lost
    rule: DropRule | None
    """None: only cases decide."""
    paired: bool = True
    """Whether the error is that of the per-task drops; else of both sides by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarms:
    """How often a gate does not let the same version through."""

    block: float
    indecisive: float
    draws: int
    """0: computed, not drawn."""

    @property
    def passed(self) -> float:
        """How often it lets the same version through: the false yes of a gate that wants better."""
        return min(1.0, max(0.0, 1 - self.block - self.indecisive))

    def error(self, chance: float) -> float:
        """Return how far a drawn chance may be off, at 95 %; 0 where nothing was drawn."""
        if not self.draws:
            return 0.0
        return max(2 * math.sqrt(chance * (1 - chance) / self.draws), _CERTAIN / self.draws)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """One way a task can come out twice: its figures in whole steps."""

    before: int
    after: int
    lost: bool
    chance: float


def false_alarms(alike: Alike, gate: GateRules) -> Alarms:
    """Return how often a gate blocks, or does not decide about, a version that is the same.

    Computed by convolution where the sums are few, else drawn with a fixed seed: `Alarms.error`
    says how far that may be off. Every task is supposed to be measured, nothing to be missing.
    """
    scale, outcomes = _outcomes(alike, gate.value, gate.lost)
    steps = _Steps(tasks=alike.tasks, scale=scale, gate=gate)
    largest = max(abs(each.before - each.after) for many in outcomes.values() for each in many)
    points = (2 * largest * alike.tasks + 1) * (largest**2 * alike.tasks + 1)
    if gate.paired and points <= _MOST_POINTS:
        return _computed(alike, outcomes, steps, largest)
    return _drawn(alike, outcomes, steps)


def _outcomes(
    alike: Alike, value: Value, lost: Lost
) -> tuple[int, dict[tuple[int, int], tuple[_Outcome, ...]]]:
    """Return the steps in a whole, and the ways in which a task of each kind can come out."""
    values = {
        trials: [value(trials, passes) for passes in range(trials + 1)]
        for trials in {count for pair in alike.trials for count in pair}
    }
    scale = math.lcm(*(each.denominator for some in values.values() for each in some))
    found = {}
    for before, after in alike.trials:
        together = [
            pattern_chance(passed, before + after, alike.mean, alike.icc)
            for passed in range(before + after + 1)
        ]
        found[before, after] = tuple(
            _Outcome(
                before=int(values[before][x] * scale),
                after=int(values[after][y] * scale),
                lost=lost(before, x, after, y),
                chance=math.comb(before, x) * math.comb(after, y) * together[x + y],
            )
            for x in range(before + 1)
            for y in range(after + 1)
        )
    return scale, found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Steps:
    """The gate's rule on sums in whole steps."""

    tasks: int
    scale: int
    gate: GateRules

    def paired(self, total: int, squares: int) -> Outcome:
        """Decide by the sum of the drops and of their squares."""
        return self._judge(total, self.tasks * squares - total**2)

    def unpaired(self, sums: Sequence[int]) -> Outcome:
        """Decide by the sum and the sum of squares of each side."""
        before, before_squares, after, after_squares = sums
        spread = self.tasks * (before_squares + after_squares) - before**2 - after**2
        return self._judge(before - after, spread)

    def _judge(self, total: int, spread: int) -> Outcome:
        """Decide by n S and n Q - S^2, as `standard_errors_bar` has them."""
        if self.gate.rule is None:
            return Outcome.PASS
        if self.tasks == 1:
            return Outcome.INDECISIVE
        whole = self.tasks * self.scale
        error = Fraction(spread, whole**2 * (self.tasks - 1))
        return self.gate.rule.judge(Fraction(total, whole), error)[0]


def _computed(
    alike: Alike,
    outcomes: Mapping[tuple[int, int], Sequence[_Outcome]],
    steps: _Steps,
    largest: int,
) -> Alarms:
    """Weigh every pair of sums in which no case is lost; all the rest is blocked."""
    import numpy as np  # noqa: PLC0415 - slow to import
    from scipy.fft import irfft2, next_fast_len, rfft2  # noqa: PLC0415 - slow to import

    n = alike.tasks
    shape = (2 * largest * n + 1, largest**2 * n + 1)
    fast = tuple(next_fast_len(points, real=True) for points in shape)
    product: Any = 1.0
    kept = 1.0
    for pair, many in alike.trials.items():
        one = np.zeros((2 * largest + 1, largest**2 + 1))
        for each in outcomes[pair]:
            drop = each.before - each.after
            if not each.lost:
                one[largest + drop, drop**2] += each.chance
        kept *= float(one.sum()) ** many
        product *= rfft2(one, fast) ** many
    chances: Floats = irfft2(product, fast)[: shape[0], : shape[1]]
    found: defaultdict[Outcome, float] = defaultdict(float)
    for row, column in np.argwhere(chances > _NEGLIGIBLE).tolist():
        found[steps.paired(row - largest * n, column)] += float(chances[row, column])
    return Alarms(
        block=min(1.0, 1 - kept + found[Outcome.BLOCK]),
        indecisive=min(1.0, found[Outcome.INDECISIVE]),
        draws=0,
    )


def _drawn(
    alike: Alike, outcomes: Mapping[tuple[int, int], Sequence[_Outcome]], steps: _Steps
) -> Alarms:
    """Draw how many tasks come out in each way, often, and count what the gate decides."""
    cells = sum(map(len, outcomes.values()))
    draws = max(_FEWEST_DRAWS, min(_MOST_DRAWS, _MOST_NUMBERS // cells))
    found: Counter[Outcome] = Counter()
    for (*sums, lost), many in _draws(alike, outcomes, steps, draws):
        if lost:
            found[Outcome.BLOCK] += many
        elif steps.gate.paired:
            found[steps.paired(*sums)] += many
        else:
            found[steps.unpaired(sums)] += many
    return Alarms(
        block=found[Outcome.BLOCK] / draws,
        indecisive=found[Outcome.INDECISIVE] / draws,
        draws=draws,
    )


def _draws(
    alike: Alike,
    outcomes: Mapping[tuple[int, int], Sequence[_Outcome]],
    steps: _Steps,
    draws: int,
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield different sums, whether a case was lost as the last, and how often they were drawn."""
    import numpy as np  # noqa: PLC0415 - slow to import

    generator = np.random.default_rng(_SEED)
    exact = object if steps.scale**2 * alike.tasks > _LARGEST else np.int64
    sums: Any = 0
    for pair, many in sorted(alike.trials.items()):
        chances = np.array([each.chance for each in outcomes[pair]])
        counts = generator.multinomial(many, chances / chances.sum(), size=draws)
        columns = [_columns(each, paired=steps.gate.paired) for each in outcomes[pair]]
        sums = sums + counts.astype(exact) @ np.array(columns, dtype=exact)
    rows = Counter((*map(int, row[:-1]), int(row[-1] > 0)) for row in sums.tolist())
    yield from rows.items()


def _columns(each: _Outcome, *, paired: bool) -> tuple[int, ...]:
    if paired:
        drop = each.before - each.after
        return drop, drop**2, each.lost
    return each.before, each.before**2, each.after, each.after**2, each.lost
