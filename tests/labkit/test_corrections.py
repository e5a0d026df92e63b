"""Who may correct which hidden tests, and what then counts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labkit import sealrecord
from labkit.corrections import LOGGED, MADE, Correction, read_corrections
from labkit.errors import IntegrityError
from labkit.journal import Event, append
from labkit.model import Member, TaskId
from labkit.sealrecord import SealRecord
from labkit.settings import Person, Role, write_person
from labkit.signing import SigningKey
from labkit.suite import FrozenTask, Suite, digest
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file

ANA, BEN, TARA = Member("ana"), Member("ben"), Member("tara")
TASK, OTHER = TaskId("bug-1"), TaskId("bug")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
FROZEN = FrozenTask(
    author="ana", content="facts", commitment="c0", ciphertext="x", canaries=("k0", "k1")
)
SUITE = Suite(
    version="v",
    frozen_at="",
    difference="",
    configurations={},
    plan="",
    tasks={TASK: FROZEN, OTHER: replace(FROZEN, commitment="d0", canaries=("o",))},
)


class Team:
    """A workspace with three members who can sign."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder / "p")
        self.keys = {}
        for name in (ANA, BEN, TARA):
            key = self.keys[name] = SigningKey.generate(folder / f"{name}.pem")
            person = Person(
                name=name,
                role=Role.HOLDER if name == TARA else Role.STUDENT,
                full_name="",
                email="",
                signing_key=key.public,
            )
            write_person(self.workspace.member(name), person)

    def correct(
        self, number: int, replaces: str, new: str, by: Member = ANA, **more: object
    ) -> Correction:
        """Write a correction of bug-1, signed and logged."""
        key = self.keys[by]
        seal = SealRecord(
            task=TASK,
            sealed_by=by,
            commitment=new,
            ciphertext_sha256="y",
            recipients=("age1",),
            canary_digests=(f"k{number}", f"only {number}"),
            files=2,
            files_without_canary=0,
            sealed_at=NOW.isoformat(),
        )
        made = Correction(
            task=TASK,
            number=number,
            by=by,
            at=NOW.isoformat(),
            because="too strict",
            content="facts",
            replaces=replaces,
            seal=sealrecord.sign(seal, key),
        )
        made = replace(made, **more).sign(key)  # type: ignore[arg-type] # a test's own typing
        path = self.workspace.correction(TASK, number)
        write_file(path, made.text())
        event = Event(
            action=LOGGED, subject=path.name, digests={MADE: digest(made.text().encode())}
        )
        append(self.workspace.log(by), event, member=by, key=key, now=NOW)
        return made


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return Team(tmp_path)


def test_without_corrections_the_suite_counts(team: Team) -> None:
    found = read_corrections(team.workspace, SUITE)
    assert found.newest(TASK) is None
    assert found.commitment(SUITE, TASK) == "c0"
    assert found.canaries(SUITE) == SUITE.canaries


def test_the_newest_correction_counts_and_every_canary(team: Team) -> None:
    first = team.correct(1, "c0", "c1")
    second = team.correct(2, "c1", "c0", by=TARA)
    found = read_corrections(team.workspace, SUITE)
    assert found.made == {TASK: (first, second)}
    assert found.newest(TASK) == second
    assert found.commitment(SUITE, TASK) == "c0"
    assert found.commitment(SUITE, OTHER) == "d0"
    ours = dict.fromkeys(("k0", "k1", "k2", "only 1", "only 2"), TASK)
    assert found.canaries(SUITE) == {**ours, "o": OTHER}


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda team: team.correct(1, "c0", "c1", by=BEN), "ben is neither its author, ana, nor"),
        (lambda team: team.correct(1, "c9", "c1"), "does not follow what was in force"),
        (lambda team: team.correct(2, "c0", "c1"), "does not follow what was in force"),
        (lambda team: team.correct(1, "c0", "c1", content="others"), "another prompt or other"),
        (lambda team: team.correct(1, "c0", "c1", task=TaskId("bug-2")), "it is that of bug-2, 1"),
    ],
)
def test_what_is_no_correction_does_not_count(
    team: Team, spoil: Callable[[Team], object], why: str
) -> None:
    spoil(team)
    with pytest.raises(IntegrityError, match=why):
        read_corrections(team.workspace, SUITE)


def test_a_task_that_was_not_frozen_has_no_correction(team: Team) -> None:
    team.correct(1, "c0", "c1")
    suite = replace(SUITE, tasks={OTHER: SUITE.tasks[OTHER]})
    with pytest.raises(IntegrityError, match="the frozen suite has no such task"):
        read_corrections(team.workspace, suite)


def test_a_bundle_that_somebody_else_sealed_does_not_count(team: Team) -> None:
    made = team.correct(1, "c0", "c1")
    forged = sealrecord.sign(replace(made.seal, sealed_by=BEN), team.keys[BEN])
    team.correct(1, "c0", "c1", seal=forged)
    with pytest.raises(IntegrityError, match="its bundle was sealed by ben"):
        read_corrections(team.workspace, SUITE)


def test_a_seal_that_was_signed_by_another_key_does_not_count(team: Team) -> None:
    made = team.correct(1, "c0", "c1")
    team.correct(1, "c0", "c1", seal=sealrecord.sign(made.seal, team.keys[BEN]))
    with pytest.raises(IntegrityError, match="not signed by ana"):
        read_corrections(team.workspace, SUITE)
