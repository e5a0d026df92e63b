"""What people should know of a verdict beside it; nothing of this makes a pass or a fail."""

from dataclasses import replace

from labkit.model import Category, Flag
from labkit.patch.place import Applied, base_tree
from labkit.records import GradeRecord
from labkit_grader.builder import UNDOES
from labkit_grader.oracles.interface import Case
from labkit_grader.screen.screening import suspicions
from labkit_grader.testrun import Runner

WEAK = "only the exit code of the grading command tells so, the weakest of all ways"


def for_people(record: GradeRecord, case: Case, applied: Applied) -> GradeRecord:
    """Return a grade with what people should look at: suspicions, and how little it rests on."""
    weak = _is_weak(case)
    found = suspicions(
        base_tree(case.base), applied, prompt=case.task.prompt, hidden=case.material.hidden
    )
    if UNDOES in record.reason:
        found = (f"{UNDOES}: no honest change needs that", *found)
    earned = {Flag.SUSPICIOUS: bool(found), Flag.WEAK: weak}
    return replace(
        record,
        reason=f"{record.reason}; {WEAK}" if weak else record.reason,
        flags=(*record.flags, *(flag for flag, holds in earned.items() if holds)),
        suspicions=found,
    )


def _is_weak(case: Case) -> bool:
    """Return whether an exit code is all that the verdict rests on."""
    is_run = case.task.category is not Category.TRAP
    return is_run and case.command().runner is Runner.EXIT_CODE
