"""Holm's correction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import holm

PS = st.lists(st.floats(0, 1), max_size=8)


# R's p.adjust(method = "holm"); the ten values are of R's multtest, as statsmodels tests them.
@pytest.mark.parametrize(
    ("given_ps", "expected"),
    [
        pytest.param([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], id="four"),
        pytest.param([0.01, 0.02, 0.03, 0.04, 0.05], [0.05, 0.08, 0.09, 0.09, 0.09], id="flat"),
        pytest.param(
            [
                0.838541367553,
                0.642193923795,
                0.680845947633,
                0.967833824309,
                0.71626938238,
                0.177096952723,
                5.23656777208e-05,
                0.0202732688798,
                0.00028140506198,
                0.0149877310796,
            ],
            [
                *[1.0] * 6,
                0.000523656777208,
                0.1419128821586,
                0.00253264555782,
                0.1199018486368,
            ],
            id="multtest",
        ),
        pytest.param([], [], id="none"),
        pytest.param([0.03], [0.03], id="one"),
    ],
)
def test_published_values(given_ps: list[float], expected: list[float]) -> None:
    assert list(holm(given_ps)) == pytest.approx(expected, abs=1e-9)


@given(PS)
def test_order_is_kept_and_all_lie_between_the_p_and_bonferronis(ps: list[float]) -> None:
    adjusted = holm(ps)
    for p, q in zip(ps, adjusted, strict=True):
        assert p <= q <= min(1, p * len(ps)) + 1e-15
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert [q for _, q in pairs] == sorted(adjusted)


@given(PS, st.floats(0.001, 0.999))
def test_it_rejects_what_the_step_down_rule_rejects(ps: list[float], level: float) -> None:
    rejected = 0
    for position, p in enumerate(sorted(ps)):
        if (len(ps) - position) * p > level:
            break
        rejected += 1
    assert sum(q <= level for q in holm(ps)) == rejected


@pytest.mark.parametrize("p", [-0.01, 1.01, float("nan")])
def test_what_is_no_p_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="not a p value"):
        holm([0.5, p])
