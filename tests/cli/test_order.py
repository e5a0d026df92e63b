"""Steps out of order: each command that comes too early, or too late, names what to do instead."""

import pytest
from cli.labs import ANA, GREET, TARA, Stages

FROZEN = ("the suite is not frozen yet", "labkit task freeze")
NOT_HERE = ("4 of 4 planned runs are not here yet", "ana, ben: run labkit task run")


@pytest.mark.parametrize(
    ("stage", "command", "me", "says"),
    [
        ("joined", "task validate", "", ("there is no draft to validate", "labkit task new")),
        ("joined", "task seal", ANA, ("there is no draft to seal", "labkit task new")),
        ("joined", "task freeze", ANA, ("there are no tasks", "labkit task new")),
        ("drafted", "task seal", ANA, ("not proven sound", "labkit task validate")),
        ("proven", "task freeze", ANA, (f"task {GREET} (ana) is not sealed", "labkit task seal")),
        ("sealed", "task freeze", ANA, ("0 feature tasks", "ana wrote 1 task:", "--pilot")),
        ("sealed", "task run", ANA, FROZEN),
        ("sealed", "handin", ANA, FROZEN),
        ("sealed", "leaks", "", FROZEN),
        ("sealed", "grade", TARA, FROZEN),
        ("sealed", "blind", TARA, FROZEN),
        ("sealed", "summary", "", FROZEN),
        ("frozen", "handin", ANA, ("2 of your runs are not done", "labkit task run")),
        ("frozen", "leaks", "", ("there is no run to check yet", "labkit task run")),
        ("frozen", "grade", TARA, NOT_HERE),
        ("frozen", "blind", TARA, NOT_HERE),
        ("frozen", "summary", "", NOT_HERE),
        ("run", "grade", TARA, ("the leak check has not been made", "labkit leaks")),
        ("run", "blind", TARA, ("the leak check has not been made", "labkit leaks")),
        ("checked", "blind", TARA, ("4 runs are not graded", "labkit grade")),
        ("checked", "summary", "", ("4 runs are not graded", "labkit grade")),
        ("graded", "score", ANA, ("the runs are not blinded yet", "labkit blind")),
        ("graded", "unblind", TARA, ("the runs are not blinded yet", "labkit blind")),
        ("graded", "summary", "", ("the scores are not joined yet", "labkit unblind")),
        ("scored", "summary", "", ("the scores are not joined yet", "labkit unblind")),
    ],
)  # fmt: skip
def test_too_early(
    stages: Stages, stage: str, command: str, me: str, says: tuple[str, ...]
) -> None:
    stages.original(stage).refused(*command.split(), me=me, code=2, says=says)


@pytest.mark.parametrize(
    ("stage", "command", "me", "says"),
    [
        ("sealed", f"task seal {GREET}", ANA, (f"task {GREET} has no draft", "sealed already")),
        ("frozen", "task freeze", ANA, ("the suite is frozen already", "--again")),
        ("run", "task freeze --again", ANA, ("can no longer change", "a new lab")),
        (
            "run", "task new x --category bugfix --commit HEAD", ANA,
            ("can no longer change", "a new lab"),
        ),
        ("handed in", "handin", ANA, ("you have handed in already", "--again")),
        ("blinded", "task run", ANA, ("the runs are blinded already", "labkit status")),
        ("blinded", "blind", TARA, ("the runs are blinded already", "labkit score")),
        ("unblinded", "unblind", TARA, ("unblinded already", "labkit summary")),
        ("unblinded", "score", ANA, ("marks are closed", "labkit summary")),
        ("blinded", "score", TARA, ("nothing is assigned to tara", "--me")),
    ],
)  # fmt: skip
def test_too_late(stages: Stages, stage: str, command: str, me: str, says: tuple[str, ...]) -> None:
    stages.original(stage).refused(*command.split(), me=me, code=2, says=says)


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("joined", "next: labkit task new"),
        ("drafted", "next: labkit task validate"),
        ("sealed", "next: labkit task freeze"),
        ("frozen", "next: ana, ben: labkit task run"),
        ("run", "next: labkit leaks"),
        ("checked", "next: the holder: labkit grade"),
        ("graded", "next: the holder: labkit blind"),
        ("blinded", "next: labkit score: ana (2), ben (2)"),
        ("scored", "next: the holder: labkit unblind"),
        ("unblinded", "next: labkit summary"),
        ("summarised", "next: read "),
    ],
)
def test_status_says_what_comes_next(stages: Stages, stage: str, says: str) -> None:
    assert says in stages.original(stage).done("status")
