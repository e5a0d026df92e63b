import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.model import BlindId, ConfigurationId, Member, RunId, TaskId
from labkit.seal import new_identity
from labkit_instructor.blinding import (
    Blinding,
    Pack,
    new_blinding,
    open_blinding,
    open_results,
    write_blinding,
    write_packs,
)

KEY = bytes(range(32))
HOLDER, BACKUP = new_identity(), new_identity()


def some_runs(tasks: int, attempts: int = 2) -> tuple[RunId, ...]:
    return tuple(
        RunId(TaskId(f"task-{task}"), ConfigurationId(configuration), attempt)
        for task in range(tasks)
        for configuration in "AB"
        for attempt in range(1, attempts + 1)
    )


RUNS = some_runs(9)


@settings(max_examples=15, deadline=None)
@given(key=st.binary(min_size=32, max_size=32), tasks=st.integers(1, 60))
def test_every_run_has_a_name_of_its_own(key: bytes, tasks: int) -> None:
    runs = some_runs(tasks)
    names = Blinding(key=key, runs=runs).names
    assert set(names) == set(runs)
    assert len(set(names.values())) == len(runs)


def test_names_depend_on_the_key_and_not_on_the_order_of_runs() -> None:
    one = Blinding(key=KEY, runs=RUNS).names
    assert one == Blinding(key=KEY, runs=RUNS[::-1]).names
    other = Blinding(key=KEY[::-1], runs=RUNS).names
    assert sum(one[run] == other[run] for run in RUNS) < 3


def test_names_do_not_sort_as_runs_do() -> None:
    names = Blinding(key=KEY, runs=RUNS).names
    assert sorted(RUNS, key=names.__getitem__) != sorted(RUNS)


@pytest.mark.parametrize(("tasks", "digits"), [(666, 4), (667, 5)])
def test_large_pools_get_five_digits(tasks: int, digits: int) -> None:
    names = Blinding(key=KEY, runs=some_runs(tasks, attempts=3)).names
    assert {len(str(name)) for name in names.values()} == {1 + digits}
    assert len(set(names.values())) == tasks * 6


def test_the_commitment_is_a_plain_digest_of_the_key() -> None:
    expected = hashlib.sha256(b"labkit/blind-commit/v1\0" + KEY).hexdigest()
    assert Blinding(key=KEY, runs=RUNS).commitment == expected


def test_the_key_never_shows() -> None:
    assert "\\x01" not in repr(Blinding(key=KEY, runs=RUNS[:1]))


def test_a_fresh_key_comes_from_the_randomness_given() -> None:
    made = new_blinding([*RUNS, RUNS[0]], randomness=lambda size: b"r" * size)
    assert (made.key, made.runs) == (b"r" * 32, tuple(sorted(RUNS)))
    assert new_blinding(RUNS).key != new_blinding(RUNS).key


def test_nothing_to_blind_is_said() -> None:
    with pytest.raises(InputError, match="no runs to blind"):
        new_blinding([])


def test_each_scorer_sees_another_order() -> None:
    blinding = Blinding(key=KEY, runs=RUNS)
    names = blinding.names.values()
    ana, ben = (blinding.order(Member(who), names) for who in ("ana", "ben"))
    assert ana != ben
    assert sorted(ana) == sorted(ben) == sorted(names)
    assert ana == blinding.order(Member("ana"), reversed(list(names)))


def test_the_sealed_key_comes_back_to_holder_and_backup(tmp_path: Path) -> None:
    blinding = new_blinding(RUNS)
    path = tmp_path / "blue-blind.age"
    write_blinding(path, blinding, recipients=[HOLDER.recipient, BACKUP.recipient])
    for who in (HOLDER, BACKUP):
        opened = open_blinding(path.read_bytes(), identity=who, commitment=blinding.commitment)
        assert opened == blinding


def test_an_earlier_blinding_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "blue-blind.age"
    write_blinding(path, new_blinding(RUNS), recipients=[HOLDER.recipient])
    before = path.read_bytes()
    with pytest.raises(PhaseError, match="blinded already"):
        write_blinding(path, new_blinding(RUNS), recipients=[HOLDER.recipient])
    assert path.read_bytes() == before


def test_a_swapped_or_altered_key_is_refused(tmp_path: Path) -> None:
    one, two = new_blinding(RUNS), new_blinding(RUNS)
    path = tmp_path / "k.age"
    write_blinding(path, two, recipients=[HOLDER.recipient])
    with pytest.raises(IntegrityError, match="is not the one whose commitment was published"):
        open_blinding(path.read_bytes(), identity=HOLDER, commitment=one.commitment)
    with pytest.raises(IntegrityError, match="does not open with this key"):
        open_blinding(path.read_bytes()[:-1], identity=HOLDER, commitment=two.commitment)


PACKS = tuple(
    Pack(
        blind=BlindId(name),
        shown={"diff.patch": b"+x\n", "message.txt": b"done\n"},
        results={"grade.txt": f"{name}: pass\n".encode(), "leaks.txt": b""},
    )
    for name in ("B0042", "B0007")
)


def test_a_pack_shows_the_diff_and_hides_the_results(tmp_path: Path) -> None:
    key_file = tmp_path / "results.agekey"
    write_packs(tmp_path, PACKS, key_file)
    folder = tmp_path / "B0042"
    assert {path.name for path in folder.iterdir()} == {"diff.patch", "message.txt", "results.age"}
    assert b"pass" not in (folder / "results.age").read_bytes()
    opened = open_results(tmp_path, BlindId("B0042"), key_file)
    assert opened == {"grade.txt": b"B0042: pass\n", "leaks.txt": b""}


def test_results_moved_to_another_pack_are_noticed(tmp_path: Path) -> None:
    key_file = tmp_path / "results.agekey"
    write_packs(tmp_path, PACKS, key_file)
    (tmp_path / "B0007" / "results.age").replace(tmp_path / "B0042" / "results.age")
    with pytest.raises(IntegrityError, match="are another run's"):
        open_results(tmp_path, BlindId("B0042"), key_file)


def test_packs_are_written_once(tmp_path: Path) -> None:
    key_file = tmp_path / "results.agekey"
    write_packs(tmp_path, PACKS, key_file)
    with pytest.raises(PhaseError, match="there are blind packs"):
        write_packs(tmp_path, PACKS, key_file)


def test_an_interrupted_writing_of_packs_can_be_repeated(tmp_path: Path) -> None:
    key_file = tmp_path / "results.agekey"
    write_packs(tmp_path, PACKS[:1], key_file)
    key_file.unlink()
    write_packs(tmp_path, PACKS, key_file)
    for pack in PACKS:
        assert open_results(tmp_path, pack.blind, key_file) == pack.results
