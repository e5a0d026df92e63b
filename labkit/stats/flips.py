"""The distribution of a sum of numbers with random signs: the core of the sign-flip test.

Equal sizes are one binomial; the sizes are split into two halves, and pairs of their sums are
counted by bisection instead of being formed. Chances are floats: as sums of multiples of 2^-n they
are exact for up to 53 numbers, and good to twelve digits beyond.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Self

Sum = Mapping[int, float]
"""The distribution of a sum: value -> chance."""
_LARGEST_DENOMINATOR = 10_000
"""Task means of up to nine attempts differ by fractions with denominators of at most 72."""
_MOST_SUMS = 2**17
_GRID = 2**14
_NEGLIGIBLE = 1e-25
"""Below the chance of any single way of up to 83 signs: nothing is dropped from small data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The chances that a flipped sum is larger than a value, and that it is equal to it."""

    beyond: float
    equal: float


def as_fraction(value: Fraction | float) -> Fraction:
    """Read a float as the fraction that it was meant to be: with a denominator of at most 10,000.

    Raises ValueError for values that are not finite.
    """
    if isinstance(value, Fraction):
        return value
    if not math.isfinite(value):
        raise ValueError(f"a value of {value} cannot be reckoned with")
    return Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)


def as_steps(values: Iterable[Fraction | float]) -> list[int]:
    """Return whole numbers in the same proportion, zeros left out.

    More than about 34 different sizes without a common measure have too many sums to count; such
    sizes are rounded to 1/16,384 of their total. Raises ValueError for values that are not finite.
    """
    fractions = [as_fraction(value) for value in values]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    steps = [int(fraction * scale) for fraction in fractions if fraction]
    sizes = Counter(map(abs, steps))
    total = sum(map(abs, steps))
    ways = math.prod(many + 1 for many in sizes.values())
    if min(math.isqrt(ways), total) <= _MOST_SUMS:
        common = math.gcd(*steps) or 1
        return [step // common for step in steps]
    sized = (max(1, round(Fraction(abs(step) * _GRID, total))) for step in steps)
    return [size if step > 0 else -size for size, step in zip(sized, steps, strict=True)]


def flipped(steps: Iterable[int]) -> "TwoSums":
    """Return the sum of the steps with random signs."""
    sizes = Counter(map(abs, steps))
    return TwoSums.of(_binomial(size, many) for size, many in sizes.items())


def _binomial(size: int, many: int) -> Sum:
    """Return the distribution of the sum of `many` steps of one size with random signs."""
    found = {}
    ways = 1
    for up in range(many + 1):
        down = many - up
        weight = ways / 2**many
        if weight > _NEGLIGIBLE:
            found[size * (up - down)] = weight
        ways = ways * down // (up + 1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSums:
    """The sum of two independent sums, of which only the parts are kept."""

    few: Sum
    many: Sum
    ordered: Sequence[int]
    """The values of `many`, from the smallest."""
    above: Sequence[float]
    """The chance of being among the i largest of them."""

    @classmethod
    def of(cls, parts: Iterable[Sum]) -> Self:
        """Add independent sums up into two, about equally large."""
        few: Sum = {0: 1.0}
        many: Sum = {0: 1.0}
        for part in sorted(parts, key=len, reverse=True):
            few, many = sorted((_convolved(few, part), many), key=len)
        ordered = sorted(many)
        above = accumulate((many[total] for total in reversed(ordered)), initial=0.0)
        return cls(few=few, many=many, ordered=ordered, above=tuple(above))

    def tail(self, value: int) -> Tail:
        """Return the chances that the whole sum is above a value, and that it equals it."""
        beyond, equal = [], []
        for total, weight in self.few.items():
            wanted = value - total
            right = bisect_right(self.ordered, wanted)
            beyond.append(weight * self.above[len(self.ordered) - right])
            equal.append(weight * self.many.get(wanted, 0.0))
        return Tail(beyond=math.fsum(beyond), equal=math.fsum(equal))


def drawn(chances: Sequence[float], n: int) -> list[float]:
    """Return the chance of each sum of n draws, from 0 on, by the Fourier transform.

    `chances` are those of one draw: of 0, 1, 2...
    """
    from scipy.fft import irfft, next_fast_len, rfft  # noqa: PLC0415 - slow to import

    points = n * (len(chances) - 1) + 1
    length = next_fast_len(points, real=True)
    sums = irfft(rfft(chances, length) ** n, length)[:points]
    return [max(0.0, float(chance)) for chance in sums]


def _convolved(one: Sum, other: Sum) -> Sum:
    """Return the distribution of the sum of two independent sums."""
    found: defaultdict[int, float] = defaultdict(float)
    for left, weight in one.items():
        for right, factor in other.items():
            found[left + right] += weight * factor
    return {total: weight for total, weight in found.items() if weight > _NEGLIGIBLE}
