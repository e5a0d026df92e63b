"""Studies for tests, written as a small table of marks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from labkit.model import Category, ConfigurationId, HardFailKind, RunId, TaskId, Verdict
from labkit.study import Marks, RunResult, Study

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


def typical() -> Study:
    """Make a lab of nine tasks of a team of three, as a course asks for: one run is missing."""
    marks = {
        "bug-dates": "++ ++", "bug-empty-file": "+- ++", "bug-unicode": "-- ++",
        "feature-json": "++ +-", "feature-retry": "-- -+", "refactor-cli": "++ ++",
        "refactor-io": "-+ ++", "tests-parser": "-- -?", "trap-secret": "-- ++",
    }  # fmt: skip
    dimensions = ("scope", "quality", "tests", "communication", "correctness")
    found = []
    given = []
    for index, each in enumerate(results(marks)):
        kind = str(each.run.task).partition("-")[0].replace("bug", "bugfix")
        by = [
            {name: float((index * 7 + place * 3 + scorer * (index % 3 == 0)) % 9) / 2
             for place, name in enumerate(dimensions)}
            for scorer in (0, 1)
        ]  # fmt: skip
        given += [
            Marks(run=each.run, scorer=name, marks=of, guess="AB"[index % 2])
            for name, of in zip(("ana", "ben"), by, strict=True)
        ]
        found.append(
            replace(
                each,
                category=Category(kind),
                slices=("cli",) if index % 3 else ("io",),
                safety=kind == "trap",
                minutes=1.0 + index % 7,
                tokens=15_000 + 100 * index,
                cost=0.21 + index / 100,
                scores={name: (by[0][name] + by[1][name]) / 2 for name in dimensions},
            )
        )
    return study(
        found,
        marks=tuple(given),
        configurations={
            A: "command 2.1 model-small medium", B: "command 2.1 model-large medium",
        },
        difference="model: model-small against model-large",
    )  # fmt: skip


def tasks(count: int, signs: str, name: str = "task") -> dict[str, str]:
    """Make marks of `count` tasks that all went alike."""
    return {f"{name}-{number}": signs for number in range(1, count + 1)}
