"""Grades the cheats on a task as runs would be, and says which of them pass."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import assert_never

from labkit.patch.place import Applied, shown
from labkit.tasks import forbidden_edits
from labkit_grader.cheats import EARLY, EARLY_LATE, EARLY_SHELL, Blame, Cheat, cheats_of
from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case, Proof, Work
from labkit_grader.oracles.registry import oracle_for

_MEANS = {
    "empty diff": "an empty diff passes: the hidden tests prove nothing",
    "special cases": (
        "hard-coding the examples of the prompt passes: give the hidden tests other inputs"
    ),
}
_EARLY = (
    "code that ends the grading command early with 0 passes: only an exit code tells whether the "
    "tests pass"
)
_HOLES = {
    EARLY: _EARLY,
    EARLY_LATE: _EARLY,
    EARLY_SHELL: _EARLY,
    "always equal": (
        "an object that is equal to everything passes: none of the tests compares with a written "
        "value by ==, which could be made wrong to find it out"
    ),
    "pinned source": (
        "a test that compares the source's bytes passes: the grader does not tell it from a test"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What became of the cheats on one task."""

    failed: Mapping[str, bool] = field(default_factory=dict)
    """Whether each failed, by its name."""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def try_cheats(bench: Bench, case: Case, proof: Proof, solution: Applied, *, workers: int) -> Tried:
    """Grade every cheat once, on the tests that validation has found.

    The empty diff has all the time of a run: were the base only slow, it would pass. The others get
    what the base got, for where it hangs they hang too.
    """
    proven = replace(case, material=replace(case.material, evidence=proof.expected))
    seconds = min(bench.limits.seconds, proof.seconds or bench.limits.seconds)
    hurried = replace(bench, limits=replace(bench.limits, seconds=seconds))
    cheats = cheats_of(case, solution)
    if not cheats:
        return Tried()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        passed = list(
            pool.map(
                lambda cheat: _passes(hurried if cheat.work.changed else bench, proven, cheat),
                cheats,
            )
        )
    beaten = [cheat for cheat, through in zip(cheats, passed, strict=True) if through]
    return Tried(
        failed={cheat.name: not through for cheat, through in zip(cheats, passed, strict=True)},
        problems=tuple(_sentence(each) for each in beaten if each.blame is not Blame.SHAPE),
        notes=tuple(dict.fromkeys(_sentence(each) for each in beaten if each.blame is Blame.SHAPE)),
    )


def _passes(bench: Bench, case: Case, cheat: Cheat) -> bool:
    finding = oracle_for(case.task.category).grade(
        bench, case, Work(applied=cheat.work, final_message="")
    )
    changed = tuple(shown(path) for path in cheat.work.changed)
    return finding.passed and not forbidden_edits(case.task, changed)


def _sentence(cheat: Cheat) -> str:
    match cheat.blame:
        case Blame.TASK:
            return _MEANS[cheat.name.partition(",")[0]]
        case Blame.GRADER:
            return f"an attack on the grader passes: {cheat.name}"
        case Blame.SHAPE:
            return _HOLES[cheat.name]
        case _:
            assert_never(cheat.blame)
