"""The order of configurations here, against their order on a public leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from labkit.errors import InputError, LabkitError, refuse
from labkit.model import ConfigurationId
from labkit.spreadsheet import read_table
from labkit.stats import Interval
from labkit.summary.pair import Comparison, Leaderboard, Outcome
from labkit.summary.whole import Summary

_COLUMNS = ("configuration", "score", "name")
_FEWEST = 2


def read_scores(
    data: bytes, place: str, known: Sequence[ConfigurationId]
) -> Mapping[ConfigurationId, float]:
    """Read a CSV file of `configuration,score`, higher being better; `name` is for people.

    Raises InputError that tells every problem of the file.
    """
    problems: list[str] = []
    found: dict[ConfigurationId, float] = {}
    for row in read_table(data, place, columns=_COLUMNS, needed=_COLUMNS[:2]):
        at = f"{place}, row {row.number}"
        try:
            which = ConfigurationId(row.cells["configuration"])
        except LabkitError as error:
            problems.append(f"{at}, column configuration: {error.message}")
            continue
        if which not in known:
            problems.append(f"{at}: there is no configuration {which} in this study")
        if which in found:
            problems.append(f"{at}: {which} is there a second time")
        try:
            found[which] = _score(row.cells["score"])
        except InputError as error:
            problems.append(f"{at}, column score: {error.message}")
    if len(found) < _FEWEST and not problems:
        problems.append(f"{place} has scores of fewer than two configurations: nothing to order")
    refuse(problems, hint="one row a configuration: its letter, and its score on the leaderboard")
    return found


def _score(text: str) -> float:
    try:
        value = float(text.removesuffix("%").strip().replace(",", "."))
    except ValueError:
        value = float("nan")
    if abs(value) < float("inf"):
        return value
    raise InputError(f"{text[:40]!r} is not a number")


@dataclass(slots=True)
class _Counts:
    """Pairs that the leaderboard orders."""

    same: int = 0
    opposite: int = 0
    agree: int = 0
    disagree: int = 0
    open: int = 0

    def add(self, board: float, here: Comparison) -> None:
        value = here.difference.value or 0.0
        self.same += board * value > 0
        self.opposite += board * value < 0
        if here.outcome is not Outcome.DETECTABLE:
            self.open += 1
        elif board * value > 0:
            self.agree += 1
        else:
            self.disagree += 1


def against(summary: Summary, scores: Mapping[ConfigurationId, float]) -> Leaderboard:
    """Compare the order of the configurations with that of their scores on a leaderboard."""
    counts = _Counts()
    measured = {
        (found.first, found.second): found
        for found in summary.comparisons
        if found.difference.value is not None
    }
    for first, second in combinations((s.id for s in summary.configurations if s.id in scores), 2):
        board = scores[second] - scores[first]
        if board and (first, second) in measured:
            counts.add(board, measured[first, second])
    pairs = counts.agree + counts.disagree + counts.open
    told = counts.agree - counts.disagree
    return Leaderboard(
        scores=dict(sorted(scores.items())),
        tau=(counts.same - counts.opposite) / pairs if pairs else None,
        interval=Interval(low=(told - counts.open) / pairs, high=(told + counts.open) / pairs)
        if counts.open
        else None,
        pairs=pairs,
        agree=counts.agree,
        disagree=counts.disagree,
        open=counts.open,
        why=_why(pairs, counts.open),
    )


def _why(pairs: int, undecided: int) -> str:
    if not pairs:
        return "no two configurations were measured here and have different scores there"
    if not undecided:
        return "every pair is told apart here, so there is no other order to allow for"
    return ""
