"""Intervals of tasks that come in clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.stats import clustered_interval, clustered_size, paired_interval

DIFFERENCES = st.lists(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=6),
    min_size=2,
    max_size=10,
)
MEANS = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=6), min_size=2, max_size=10
)


@given(DIFFERENCES)
def test_the_interval_holds_the_mean_and_is_never_narrower_than_without_clusters(
    clusters: list[list[float]],
) -> None:
    whole = [value for cluster in clusters for value in cluster]
    found = clustered_interval(clusters)
    assert found is not None
    plain = paired_interval(whole)
    mean = sum(whole) / len(whole)
    assert -1 <= found.low <= mean + 1e-9
    assert mean - 1e-9 <= found.high <= 1
    assert found.high - found.low >= plain.high - plain.low - 1e-9


def test_clusters_that_stand_together_widen_the_interval() -> None:
    mixed = clustered_interval([[1, -1]] * 6)
    apart = clustered_interval([[1, 1], [-1, -1]] * 3)
    assert mixed is not None
    assert apart is not None
    assert apart.high > 1.2 * mixed.high


@given(MEANS)
def test_the_size_lies_between_one_and_the_number_of_tasks(clusters: list[list[float]]) -> None:
    size = clustered_size(clusters)
    assert size is not None
    assert 1 <= size <= sum(map(len, clusters))


def test_one_cluster_has_neither() -> None:
    assert clustered_interval([[1.0, 0.5]]) is None
    assert clustered_size([[1.0, 0.5]]) is None


@pytest.mark.parametrize(
    "clusters", [pytest.param([[], [1]], id="empty"), pytest.param([[2], [1]], id="outside")]
)
def test_nonsense_is_refused(clusters: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="a cluster needs tasks"):
        clustered_interval(clusters)
    with pytest.raises(ValueError, match="a cluster needs tasks"):
        clustered_size(clusters)
