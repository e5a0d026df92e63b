"""What cannot be true of an honest run of tests: signs that the graded code acted on its grading.

A contradiction never makes a pass; what is merely strange is no contradiction. Checks that need
tests of the kit's own among the hidden ones (a sentinel that must fail, a twin with wrong
expectations) belong here too.
"""

from labkit.model import Ended
from labkit_grader.testrun import TestRun


def contradictions(run: TestRun, expected: tuple[str, ...]) -> tuple[str, ...]:
    """Return one sentence for each contradiction between what a run says and what was seen."""
    if run.ended is not Ended.EXITED or run.garbled:
        return ()  # many an honest runner writes control characters as they are
    found: list[str] = []
    unseen = [test for test in expected if test not in run.outcomes]
    if run.reported_exit is not None and run.reported_exit != run.exit_code:
        found.append(
            f"{run.runner} ended in {run.reported_exit}, but the process in {run.exit_code}"
        )
    if run.exit_code == 0 and unseen:
        found.append(f"the run ended in 0, but {len(unseen)} expected tests were not seen")
    if run.exit_code == 0 and run.trouble:
        found.append(f"the run ended in 0, but {run.trouble}")
    return tuple(found)
