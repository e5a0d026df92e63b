"""What chance alone makes of attempts that disagree, against all ways to deal them out."""

from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import largest_noise, noise_at_least, typical_noise


def sizes(moved: int) -> list[int]:
    return [abs(sum(signs)) for signs in product((-1, 1), repeat=moved)]


@pytest.mark.parametrize("moved", range(11))
def test_noise_is_what_all_signs_give(moved: int) -> None:
    every = sizes(moved)
    assert typical_noise(moved) == pytest.approx(fmean(every))
    for size in range(moved + 2):
        share = fmean(found >= size for found in every)
        assert noise_at_least(moved, size) == pytest.approx(share)
    largest = largest_noise(moved)
    assert fmean(found <= largest for found in every) >= 0.95
    smaller = [size for size in set(every) if size < largest]
    assert all(fmean(found <= size for found in every) < 0.95 for size in smaller)


@given(st.integers(0, 3000))
def test_noise_stays_in_its_bounds(moved: int) -> None:
    assert 0 <= typical_noise(moved) <= moved
    assert 0 <= largest_noise(moved) <= moved


def test_a_negative_number_is_refused() -> None:
    for figure in (typical_noise, largest_noise):
        with pytest.raises(ValueError, match="cannot have moved"):
            figure(-1)
    with pytest.raises(ValueError, match="cannot have moved"):
        noise_at_least(-1, 0)
