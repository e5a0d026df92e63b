"""Who scores which run: never one's own task, where possible not a run one made, evenly spread."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.errors import InputError
from labkit.fields import first_words
from labkit.model import BlindId, Member
from labkit.scores import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorable:
    """A run to be scored, with those who know it."""

    blind: BlindId
    author: Member
    runner: Member


def assign(
    runs: Sequence[Scorable], scorers: Sequence[Member], *, each: int = 2, solo: bool = False
) -> Assignment:
    """Give every run `each` scorers where there are so many, and at least one.

    The author of a task never scores its runs. Who made a run scores it only where others do not
    suffice. In solo mode the one person scores everything, once. Blind ids, random already, decide
    between equals, so the same lab always gets the same assignment.
    Raises InputError that names runs which nobody may score.
    """
    each = 1 if solo else each
    pools = {run.blind: _pool(run, scorers, each=each, solo=solo) for run in runs}
    nobody = [str(blind) for blind, pool in pools.items() if not pool]
    if nobody:
        raise InputError(
            f"nobody may score {first_words(nobody)}: every scorer wrote the task",
            hint="add a scorer, or declare solo mode in evals/labkit.yaml",
        )
    chosen: dict[BlindId, set[Member]] = {}
    load: Counter[Member] = Counter(dict.fromkeys(scorers, 0))
    for run in sorted(runs, key=lambda item: item.blind):
        pool = pools[run.blind]
        by_load = sorted(pool, key=lambda scorer: (load[scorer], scorer))
        chosen[run.blind] = set(by_load[:each])
        load.update(chosen[run.blind])
    _even_out(chosen, pools, load)
    return tuple(sorted((blind, scorer) for blind, who in chosen.items() for scorer in who))


def _pool(run: Scorable, scorers: Sequence[Member], *, each: int, solo: bool) -> frozenset[Member]:
    """Return who may score a run; the runner is among them only where the others do not suffice."""
    able = frozenset(scorer for scorer in scorers if solo or scorer != run.author)
    strangers = able - {run.runner}
    return strangers if len(strangers) >= each else able


def _even_out(
    chosen: dict[BlindId, set[Member]],
    pools: dict[BlindId, frozenset[Member]],
    load: Counter[Member],
) -> None:
    """Move single runs from a busy scorer to a freer one until no move helps.

    Each move lowers the sum of squared loads, so this ends.
    """
    moved = True
    while moved:
        moved = False
        for blind, who in chosen.items():
            move = _best_move(who, pools[blind], load)
            if move is not None:
                who.symmetric_difference_update(move)
                load.update({move[0]: -1, move[1]: 1})
                moved = True


def _best_move(
    who: set[Member], pool: frozenset[Member], load: Counter[Member]
) -> tuple[Member, Member] | None:
    """Return the busy scorer to relieve of a run and the free one to take it, if that evens out."""
    moves = [
        (load[busy] - load[free], busy, free)
        for busy in who
        for free in pool - who
        if load[busy] - load[free] > 1
    ]
    return max(moves)[1:] if moves else None
