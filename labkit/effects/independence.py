"""Attempts of one configuration that are no independent draws: the same answers, the same tree."""

from collections.abc import Callable, Iterable
from itertools import combinations

from labkit.model import RunId
from labkit.records import RunRecord

Twins = tuple[tuple[RunId, RunId], ...]


def same_trees(records: Iterable[RunRecord]) -> Twins:
    """Return pairs of attempts that left the same tree, other than the base."""
    return _twins(
        records, lambda record: (record.result_tree != record.base_tree) and record.result_tree
    )


def same_answers(records: Iterable[RunRecord]) -> Twins:
    """Return pairs of attempts in which the model answered the same, word by word."""
    return _twins(records, lambda record: record.answers_digest)


def _twins(records: Iterable[RunRecord], told: Callable[[RunRecord], object]) -> Twins:
    known = sorted((record for record in records if told(record)), key=lambda record: record.run)
    return tuple(
        (first.run, second.run)
        for first, second in combinations(known, 2)
        if (first.run.task, first.run.configuration) == (second.run.task, second.run.configuration)
        and told(first) == told(second)
    )
