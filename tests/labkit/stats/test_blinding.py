"""How blind the blinding was."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.stats import blinding_index, blinding_interval, tango_interval

GUESSES = st.tuples(*[st.integers(0, 12)] * 3)


@pytest.mark.parametrize(
    ("correct", "wrong", "unsure", "choices", "expected"),
    [
        pytest.param(10, 0, 0, 2, 1.0, id="unblinded"),
        pytest.param(0, 10, 0, 2, -1.0, id="misled"),
        pytest.param(5, 5, 8, 2, 0.0, id="guessing"),
        pytest.param(0, 0, 8, 2, 0.0, id="nobody-knows"),
        pytest.param(10, 5, 3, 2, 5 / 18, id="somewhat"),
        pytest.param(3, 6, 0, 3, 0.0, id="guessing-among-three"),
        pytest.param(0, 8, 0, 3, -0.5, id="misled-among-three"),
    ],
)
def test_the_index(correct: int, wrong: int, unsure: int, choices: int, expected: float) -> None:
    assert blinding_index(correct, wrong, unsure, choices) == pytest.approx(expected, abs=1e-12)


@given(GUESSES, st.integers(2, 5))
def test_the_interval_holds_the_index_and_is_never_a_point(
    guesses: tuple[int, int, int], choices: int
) -> None:
    index = blinding_index(*guesses, choices)
    interval = blinding_interval(*guesses, choices)
    if not any(guesses):
        assert index is None
        assert interval is None
        return
    assert index is not None
    assert interval is not None
    assert -1 / (choices - 1) - 1e-12 <= interval.low <= index <= interval.high <= 1
    assert interval.low < interval.high


@given(GUESSES.filter(any))
def test_with_two_to_choose_from_it_is_the_interval_of_tango(
    guesses: tuple[int, int, int],
) -> None:
    correct, wrong, unsure = guesses
    assert blinding_interval(correct, wrong, unsure) == tango_interval(
        ((unsure, correct), (wrong, 0))
    )


@settings(deadline=None, max_examples=20)
@given(st.sampled_from([2, 3, 4]), st.sampled_from([0.0, 0.3]), st.sampled_from([9, 18]))
def test_guessing_is_rarely_called_unblinded_by_enumeration(
    choices: int, unsure: float, n: int
) -> None:
    right = (1 - unsure) / choices
    covered = 0.0
    for c in range(n + 1):
        for w in range(n + 1 - c):
            u = n - c - w
            ways = math.comb(n, c) * math.comb(n - c, w)
            chance = ways * right**c * (1 - unsure - right) ** w * unsure**u
            interval = blinding_interval(c, w, u, choices)
            assert interval is not None
            covered += chance * (0 in interval)
    assert covered >= 0.92


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param(lambda: blinding_index(-1, 2), "-1 is not a number of guesses", id="correct"),
        pytest.param(lambda: blinding_index(1, 2, -3), "-3 is not a number", id="unsure"),
        pytest.param(lambda: blinding_interval(1, 2, 0, 1), "nothing to guess", id="one-choice"),
        pytest.param(lambda: blinding_interval(1, 2, confidence=1), "confidence", id="confidence"),
    ],
)
def test_nonsense_is_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()
