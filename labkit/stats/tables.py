"""Two configurations on the same tasks, each task passed or not: the paired two-by-two table.

    table = ((both passed, only the first), (only the second, neither))

Every interval is of the first's rate less the second's, (b - c)/n with b = only the first and
c = only the second. With the strict verdict (all attempts passed) this speaks of pass^k, which is
another question than the pass rate: see `paired_interval` for that one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.stats.interval import Interval, upper_level
from labkit.stats.paired import SignFlip, sign_flip_test
from labkit.stats.quantiles import normal_quantile
from labkit.stats.rates import wilson_interval
from labkit.stats.score import Moves, score_interval

Table = Sequence[Sequence[int]]
_SIDES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChiSquared:
    """A chi-squared statistic with one degree of freedom, and its p."""

    statistic: float
    p: float


def mcnemar_test(b: int, c: int) -> SignFlip:
    """Test that tasks go to the first only (b) as often as to the second only (c), exactly.

    p_exact = 2 P(X <= min(b, c)) of X ~ Binomial(b + c, 1/2), at most 1; p_mid is less half of
    2 P(X = min(b, c)). It is the sign-flip test of b times +1 and c times -1, and p_exact = 1 for
    b = c = 0. Source: McNemar 1947; Fagerland, Lydersen and Laake 2013 for the mid-p.
    Raises ValueError for counts that are negative or not whole.
    """
    _check_counts((b, c))
    return sign_flip_test([1] * b + [-1] * c)


def mcnemar_chi_squared(b: int, c: int, *, corrected: bool = False) -> ChiSquared | None:
    """Return the textbook approximation: (b-c)^2/(b+c) is chi-squared.

    `corrected` takes 1 off |b-c| (Edwards 1948). For comparison only: uncorrected it rejects too
    often at few tasks, corrected too rarely. None for b = c = 0. Raises ValueError as
    `mcnemar_test` does.
    """
    _check_counts((b, c))
    if not b + c:
        return None
    apart = max(0, abs(b - c) - corrected)
    statistic = apart**2 / (b + c)
    return ChiSquared(statistic=statistic, p=math.erfc(math.sqrt(statistic / 2)))


def tango_interval(table: Table, confidence: float = 0.95) -> Interval:
    """Return Tango's score interval (1998) of the difference.

    All d with |b - c - nd| <= z sqrt(n(2q + d(1-d))), q being the maximum-likelihood share of c
    when the difference is d. It never has zero width: n ties give +-z^2/(n+z^2).
    Raises ValueError for anything but two rows of two counts, and for an empty table.
    """
    _, b, c, _ = cells = _cells(table)
    z = normal_quantile(upper_level(confidence))
    return score_interval(Moves(gains=b, losses=c, n=sum(cells)), z)


def newcombe_interval(table: Table, confidence: float = 0.95) -> Interval:
    """Return Newcombe's square-and-add interval (1998, method 10) of the difference.

    With Wilson intervals (l1, u1), (l2, u2) of both rates p1, p2 and D = p1 - p2:
    from D - sqrt((p1-l1)^2 - 2f(p1-l1)(u2-p2) + (u2-p2)^2)
    to D + sqrt((u1-p1)^2 - 2f(u1-p1)(p2-l2) + (p2-l2)^2). f is the correlation of the two verdicts,
    its numerator ad - bc reduced by n/2 towards 0 when positive; 0 when a margin is empty.
    Raises ValueError as `tango_interval` does.
    """
    a, b, c, d = _cells(table)
    n = a + b + c + d
    first, second = (a + b) / n, (a + c) / n
    one, two = (wilson_interval(rate, n, confidence) for rate in (first, second))
    shared = _corrected_correlation(a, b, c, d)

    def reach(mine: float, theirs: float) -> float:
        return math.sqrt(max(0.0, mine**2 - 2 * shared * mine * theirs + theirs**2))

    difference = (b - c) / n
    return Interval(
        low=difference - reach(first - one.low, two.high - second),
        high=difference + reach(one.high - first, second - two.low),
    )


def bonett_price_interval(table: Table, confidence: float = 0.95) -> Interval:
    """Return the adjusted Wald interval of Bonett and Price (2012) of the difference.

    With p = (b+1)/(n+2), q = (c+1)/(n+2): p - q +- z sqrt((p + q - (p-q)^2)/(n+2)), clipped to -1
    and 1. Raises ValueError as `tango_interval` does.
    """
    _, b, c, _ = cells = _cells(table)
    z = normal_quantile(upper_level(confidence))
    n = sum(cells) + 2
    gains, losses = (b + 1) / n, (c + 1) / n
    difference = gains - losses
    reach = z * math.sqrt((gains + losses - difference**2) / n)
    return Interval(low=max(-1.0, difference - reach), high=min(1.0, difference + reach))


def _corrected_correlation(a: int, b: int, c: int, d: int) -> float:
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    product = a * d - b * c
    if not margins:
        return 0.0
    reduced = max(product - (a + b + c + d) / 2, 0.0) if product > 0 else product
    return reduced / math.sqrt(margins)


def _cells(table: Table) -> tuple[int, int, int, int]:
    if len(table) != _SIDES or any(len(row) != _SIDES for row in table):
        raise ValueError("a paired table has two rows of two counts")
    (a, b), (c, d) = table
    _check_counts((a, b, c, d))
    if not a + b + c + d:
        raise ValueError("a paired table without tasks has no difference")
    return a, b, c, d


def _check_counts(counts: Sequence[int]) -> None:
    for count in counts:
        if count < 0 or count != int(count):
            raise ValueError(f"{count} is not a number of tasks")
