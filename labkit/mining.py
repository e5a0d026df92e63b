"""Ranks the solved commits of a history by how good a golden task they would make."""

from collections import Counter
from dataclasses import dataclass, field

from labkit.fitness import Candidate, Unfit, judged, unfit
from labkit.git import Repository
from labkit.gitlog import Logged, read_log


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """A history's candidates, best first, and how many commits were left out for what."""

    candidates: tuple[Candidate, ...]
    unfit: Counter[Unfit] = field(default_factory=Counter)

    @property
    def read(self) -> int:
        """How many commits were read."""
        return len(self.candidates) + self.unfit.total()


def mine(repository: Repository, *, merges: bool = False, since: str = "", path: str = "") -> Mined:
    """Rank the commits of the current branch; `path` keeps those that touch it, `since` newer ones.

    Merges are judged by their difference to the first parent, where they are wanted.
    """
    repository.commit("HEAD")
    left_out: Counter[Unfit] = Counter()
    fit: list[Logged] = []
    newest = 0
    for commit in read_log(repository, merges=merges, since=since, path=path):
        newest = max(newest, commit.time)
        why = unfit(commit, merges=merges)
        if why:
            left_out[why] += 1
        else:
            fit.append(commit)
    ranked = [judged(commit, newest) for commit in fit]
    ranked.sort(key=lambda one: (-one.score, -one.commit.time, one.commit.oid))
    return Mined(candidates=tuple(ranked), unfit=left_out)
