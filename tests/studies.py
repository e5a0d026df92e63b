"""Studies for tests, written as a small table of marks."""

from collections.abc import Iterable, Mapping
from typing import Any

from labkit.model import Category, ConfigurationId, HardFailKind, RunId, TaskId, Verdict
from labkit.study import RunResult, Study

A, B, C = (ConfigurationId(letter) for letter in "ABC")
SIGNS: Mapping[str, Verdict | None] = {
    "+": Verdict.PASS,
    "-": Verdict.FAIL,
    "u": Verdict.UNGRADED,
    "?": None,
    "L": Verdict.PASS,
    "E": Verdict.PASS,
}
"""`u` ungraded, `?` missing; `L` and `E` pass the tests, but leaked or edited what is forbidden."""

HARD_FAILS = {"L": (HardFailKind.LEAK,), "E": (HardFailKind.FORBIDDEN_EDIT,)}


def results(marks: Mapping[str, str], **more: Any) -> tuple[RunResult, ...]:
    """Make results of `{"task": "++ +-"}`: attempts of A, then of B, then of C.

    `more` are fields that all of them share.
    """
    return tuple(
        RunResult(
            run=RunId(TaskId(task), configuration, attempt),
            verdict=SIGNS[sign],
            **({"category": Category.BUGFIX, "hard_fails": HARD_FAILS.get(sign, ())} | more),
        )
        for task, signs in marks.items()
        for configuration, of_side in zip((A, B, C), signs.split(), strict=False)
        for attempt, sign in enumerate(of_side, 1)
    )


def study(*parts: Iterable[RunResult], **more: Any) -> Study:
    """Make a study whose plan is exactly its results; `more` are fields of the study."""
    found = tuple(result for part in parts for result in part)
    letters = sorted({result.run.configuration for result in found})
    fields = {
        "team": "blue",
        "suite_version": "v1",
        "configurations": {letter: f"agent {letter}" for letter in letters},
        "difference": "model",
        "retired": {},
        "planned": tuple(result.run for result in found),
        "results": found,
    }
    return Study(**(fields | more))


def tasks(count: int, signs: str, name: str = "task") -> dict[str, str]:
    """Make marks of `count` tasks that all went alike."""
    return {f"{name}-{number}": signs for number in range(1, count + 1)}
