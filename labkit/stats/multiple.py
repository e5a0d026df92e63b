"""More than one comparison: Holm's correction."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values adjusted by Holm (1979), in the order given.

    The i-th smallest of m is multiplied by m - i + 1; none is below one before it, none above 1.
    An adjusted p of at most .05 holds the chance of any false finding at 5 %, however the tests
    depend on each other. Raises ValueError for a p outside 0 to 1.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"{p} is not a p value: it lies outside 0 to 1")
    adjusted = [0.0] * len(p_values)
    least = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for position, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = least
    return tuple(adjusted)
