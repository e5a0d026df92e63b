"""What contradicts itself in a run of tests, by the numbers alone."""

import pytest

from labkit.model import Ended
from labkit_grader.tamper import contradictions
from labkit_grader.testrun import TestRun

A, B = "test_a.py::test_a", "test_a.py::test_b"


def run(code: int | None, reported: int | None, **outcomes: str) -> TestRun:
    tests = {f"test_a.py::test_{name}": outcome for name, outcome in outcomes.items()}
    return TestRun(
        ended=Ended.EXITED,
        exit_code=code,
        outcomes=tests,
        collected=tuple(tests),
        reported_exit=reported,
        seconds=1.0,
        image_digest="",
    )


@pytest.mark.parametrize(
    ("seen", "trouble"),
    [
        (run(0, 0, a="passed", b="skipped"), ""),
        (run(1, 1, a="passed", b="failed"), ""),
        (run(5, 5), ""),
        (run(2, 1, a="failed"), "exit code 2 does not go with the tests' outcomes"),
        (run(0, 0, a="failed"), "exit code 0 does not go with the tests' outcomes"),
        (run(1, 1, a="passed"), "exit code 1 does not go with the tests' outcomes"),
        (
            run(0, None, a="passed"),
            "the process ended with code 0 before pytest had finished: it printed nothing",
        ),
    ],
    ids=["passed", "failed", "none", "two codes", "lies", "strange", "early"],
)
def test_a_run_is_whole_only_when_all_of_it_agrees(seen: TestRun, trouble: str) -> None:
    assert seen.trouble == trouble


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (run(0, 0, a="passed", b="passed"), ()),
        (run(1, 1, a="failed"), ()),
        (run(0, 0, a="passed"), ("the run ended in 0, but 1 expected tests were not seen",)),
        (run(1, 0, a="passed", b="passed"), ("pytest ended in 0, but the process in 1",)),
        (run(3, None), ()),
    ],
    ids=["passed", "failed", "unseen", "two codes", "crashed"],
)
def test_only_what_cannot_be_honest_is_a_contradiction(
    seen: TestRun, found: tuple[str, ...]
) -> None:
    assert contradictions(seen, (A, B)) == found
