import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from labkit import sealrecord
from labkit.bundle import pack_files
from labkit.canary import digest, find
from labkit.errors import InputError, IntegrityError
from labkit.model import Member, RunId, TaskId
from labkit.readable import Known, still_readable
from labkit.seal import new_identity, seal
from labkit.signing import SigningKey
from labkit_instructor.custody import (
    Sealer,
    SealPaths,
    hidden_digests,
    open_runs,
    open_task,
    seal_runs,
    seal_task,
    write_runs,
)

TASK = TaskId("bug-slug")
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOLDER, BACKUP = new_identity(), new_identity()
DRAFT = {
    "hidden/tests/test_slug.py": b"import slug\n\n\ndef test_none():\n    assert slug.make('')\n",
    "oracle.yaml": b"structure: []\n",
    "mutations/01-a.patch": b"diff --git a/a b/a\n",
    "examples/good-1.md": b"I ask which one you mean.\n",
    "evidence.json": b'{"fail_to_pass": []}',
}


@pytest.fixture
def sealer(tmp_path: Path) -> Sealer:
    key = SigningKey.generate(tmp_path / "keys" / "ana.pem")
    return Sealer(member=Member("ana"), key=key, recipients=(HOLDER.recipient, BACKUP.recipient))


@pytest.fixture
def paths(tmp_path: Path) -> SealPaths:
    return SealPaths(
        vault=tmp_path / "handover" / "blue-bug-slug.age",
        record=tmp_path / "evals" / "seals" / "bug-slug.json",
    )


def test_a_sealed_task_opens_for_the_holder_and_the_backup(
    sealer: Sealer, paths: SealPaths
) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    assert sealrecord.load(paths.record) == record
    for identity in (HOLDER, BACKUP):
        bundle = open_task(
            paths.vault.read_bytes(), record, identity=identity, public=sealer.key.public
        )
        assert bundle.task == TASK
        assert bundle.files.keys() == DRAFT.keys()
        assert bundle.files["evidence.json"] == DRAFT["evidence.json"]


def test_every_published_digest_is_of_a_token_in_the_vault(
    sealer: Sealer, paths: SealPaths
) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    bundle = open_task(paths.vault.read_bytes(), record, identity=HOLDER, public=sealer.key.public)
    inside = [word for data in bundle.files.values() for word in find(data)]
    assert sorted(record.canary_digests) == sorted(digest(word) for word in inside)
    assert len(set(inside)) == len(inside) == 6
    assert (record.files, record.files_without_canary) == (5, 1)


def test_nothing_hidden_shows_in_the_record(sealer: Sealer, paths: SealPaths) -> None:
    seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    shown = paths.record.read_text()
    assert "LKCANARY" not in shown
    assert "test_slug" not in shown
    assert "hidden" not in shown


def test_sealing_the_same_again_changes_nothing(sealer: Sealer, paths: SealPaths) -> None:
    first = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    before = paths.vault.read_bytes()
    again = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW + timedelta(days=1))
    assert (again, paths.vault.read_bytes()) == (first, before)


def test_a_lost_vault_is_sealed_again_under_the_same_commitment(
    sealer: Sealer, paths: SealPaths
) -> None:
    first = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    paths.vault.unlink()
    again = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    assert again.commitment == first.commitment
    assert again.canary_digests == first.canary_digests
    assert again.ciphertext_sha256 != first.ciphertext_sha256
    open_task(paths.vault.read_bytes(), again, identity=HOLDER, public=sealer.key.public)


def test_a_new_backup_gets_the_same_content(sealer: Sealer, paths: SealPaths) -> None:
    first = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    new = new_identity()
    wider = replace(sealer, recipients=(HOLDER.recipient, new.recipient))
    again = seal_task(TASK, DRAFT, sealer=wider, paths=paths, now=NOW)
    assert again.commitment == first.commitment
    open_task(paths.vault.read_bytes(), again, identity=new, public=sealer.key.public)


def test_other_content_needs_to_be_asked_for(sealer: Sealer, paths: SealPaths) -> None:
    first = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    before = paths.vault.read_bytes()
    other = DRAFT | {"oracle.yaml": b"structure: [a]\n"}
    with pytest.raises(InputError, match="sealed with other content"):
        seal_task(TASK, other, sealer=sealer, paths=paths, now=NOW)
    assert paths.vault.read_bytes() == before
    again = seal_task(TASK, other, sealer=sealer, paths=paths, now=NOW, overwrite=True)
    assert again.commitment != first.commitment


def test_a_vault_that_no_record_tells_of_is_kept(sealer: Sealer, paths: SealPaths) -> None:
    paths.vault.parent.mkdir()
    paths.vault.write_bytes(b"somebody's")
    with pytest.raises(InputError, match="no seal record tells of it"):
        seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    assert paths.vault.read_bytes() == b"somebody's"
    assert not paths.record.exists()


def test_an_empty_draft_is_refused(sealer: Sealer, paths: SealPaths) -> None:
    with pytest.raises(InputError, match="the draft is empty"):
        seal_task(TASK, {}, sealer=sealer, paths=paths, now=NOW)


def test_a_bad_recipient_leaves_nothing_behind(sealer: Sealer, paths: SealPaths) -> None:
    wrong = replace(sealer, recipients=(HOLDER.secret,))
    with pytest.raises(InputError, match="a private key was given"):
        seal_task(TASK, DRAFT, sealer=wrong, paths=paths, now=NOW)
    assert not paths.vault.exists()
    assert not paths.record.exists()


def test_any_changed_byte_of_a_vault_is_noticed(sealer: Sealer, paths: SealPaths) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    sealed = paths.vault.read_bytes()
    for place in range(0, len(sealed), 997):
        altered = bytearray(sealed)
        altered[place] ^= 1
        with pytest.raises(IntegrityError, match="is not the file that was sealed"):
            open_task(bytes(altered), record, identity=HOLDER, public=sealer.key.public)


def test_a_vault_of_another_task_is_noticed(sealer: Sealer, paths: SealPaths) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    other = SealPaths(vault=paths.vault.with_name("b.age"), record=paths.record.with_name("b.json"))
    seal_task(TaskId("b"), DRAFT, sealer=sealer, paths=other, now=NOW)
    with pytest.raises(IntegrityError, match="is not the file that was sealed"):
        open_task(other.vault.read_bytes(), record, identity=HOLDER, public=sealer.key.public)


def test_content_that_was_not_committed_to_is_noticed(sealer: Sealer, paths: SealPaths) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    for forged in (replace(record, commitment="0" * 64), replace(record, task=TaskId("b"))):
        signed = sealrecord.sign(forged, sealer.key)
        with pytest.raises(IntegrityError, match="does not hold what was committed to"):
            open_task(paths.vault.read_bytes(), signed, identity=HOLDER, public=sealer.key.public)


def test_a_record_signed_by_another_is_refused(
    sealer: Sealer, paths: SealPaths, tmp_path: Path
) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    ben = SigningKey.generate(tmp_path / "keys" / "ben.pem")
    with pytest.raises(IntegrityError, match="is not signed by ana"):
        open_task(paths.vault.read_bytes(), record, identity=HOLDER, public=ben.public)
    with pytest.raises(IntegrityError, match="is not signed by ana"):
        sealrecord.check(replace(record, files=6), sealer.key.public)


def test_a_strangers_key_opens_nothing(sealer: Sealer, paths: SealPaths) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    with pytest.raises(IntegrityError, match="does not open with this key"):
        open_task(
            paths.vault.read_bytes(), record, identity=new_identity(), public=sealer.key.public
        )


@pytest.mark.parametrize(
    "change",
    [{"task": "a b"}, {"files": 1, "extra": 2}, {"recipients": None}, {"task": "other"}],
    ids=["bad task", "extra field", "no list", "another task"],
)
def test_a_damaged_record_is_refused(
    sealer: Sealer, paths: SealPaths, change: dict[str, object]
) -> None:
    seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    values = json.loads(paths.record.read_text()) | change
    paths.record.write_text(json.dumps(values))
    with pytest.raises(IntegrityError, match="seal record"):
        sealrecord.load(paths.record)


def test_copies_of_the_draft_and_of_the_vaults_content_are_found(
    sealer: Sealer, paths: SealPaths, tmp_path: Path
) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    bundle = open_task(paths.vault.read_bytes(), record, identity=HOLDER, public=sealer.key.public)
    project = tmp_path / "project"
    project.mkdir()
    name = "hidden/tests/test_slug.py"
    (project / "draft_copy.py").write_bytes(DRAFT[name])
    (project / "vault_copy.py").write_bytes(bundle.files[name])
    (project / "short.yaml").write_bytes(DRAFT["oracle.yaml"])
    known = Known(canaries=frozenset(record.canary_digests), files=hidden_digests(DRAFT))
    found = {item.path.name for item in still_readable([project], known).remnants}
    assert found == {"draft_copy.py", "vault_copy.py"}


def test_planted_tests_still_run(sealer: Sealer, paths: SealPaths, tmp_path: Path) -> None:
    record = seal_task(TASK, DRAFT, sealer=sealer, paths=paths, now=NOW)
    bundle = open_task(paths.vault.read_bytes(), record, identity=HOLDER, public=sealer.key.public)
    path = tmp_path / "test_slug.py"
    path.write_bytes(bundle.files["hidden/tests/test_slug.py"])
    subprocess.run(["python3", "-m", "py_compile", path], check=True)


RUN = RunId.parse("bug-slug__A__1")


def raw_run(folder: Path, run: RunId = RUN) -> Path:
    path = folder / "raw" / str(run)
    path.mkdir(parents=True)
    (path / "diff.patch").write_bytes(b"diff --git\n\xff")
    (path / "run.json").write_text("{}")
    (path / "link").symlink_to("/etc/passwd")
    return path


def test_runs_come_to_the_holder_as_they_were(sealer: Sealer, tmp_path: Path) -> None:
    other = RunId.parse("bug-slug__B__2")
    target = tmp_path / "blue-raw-ana.age"
    seal_runs([raw_run(tmp_path), raw_run(tmp_path, other)], sealer=sealer, target=target)
    runs = open_runs(
        target.read_bytes(), identity=HOLDER, member=Member("ana"), public=sealer.key.public
    )
    expected = {"diff.patch": b"diff --git\n\xff", "run.json": b"{}"}
    assert runs == {RUN: expected, other: expected}
    raw = tmp_path / "holder" / "raw"
    assert write_runs(runs, raw) == (RUN, other)
    assert (raw / str(RUN) / "diff.patch").read_bytes() == b"diff --git\n\xff"
    assert write_runs(runs, raw) == ()


def test_a_run_that_is_there_with_other_content_is_kept(tmp_path: Path) -> None:
    there = tmp_path / "raw" / str(RUN) / "run.json"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    with pytest.raises(IntegrityError, match="with other content"):
        write_runs({RUN: {"a.txt": b"", "run.json": b"{}"}}, tmp_path / "raw")
    assert there.read_text() == "mine"
    assert not there.with_name("a.txt").exists()


def test_an_earlier_hand_in_is_not_overwritten_unasked(sealer: Sealer, tmp_path: Path) -> None:
    target = tmp_path / "blue-raw-ana.age"
    folders = [raw_run(tmp_path)]
    first = seal_runs(folders, sealer=sealer, target=target)
    with pytest.raises(InputError, match="already there"):
        seal_runs(folders, sealer=sealer, target=target)
    assert seal_runs(folders, sealer=sealer, target=target, overwrite=True) != first


def test_no_runs_are_nothing_to_hand_in(sealer: Sealer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runs to hand in"):
        seal_runs([], sealer=sealer, target=tmp_path / "x")


def test_a_hand_in_under_a_false_name_is_refused(sealer: Sealer, tmp_path: Path) -> None:
    target = tmp_path / "x.age"
    seal_runs([raw_run(tmp_path)], sealer=sealer, target=target)
    ben = SigningKey.generate(tmp_path / "keys" / "ben.pem")
    with pytest.raises(IntegrityError, match="is not the hand-in of ben"):
        open_runs(target.read_bytes(), identity=HOLDER, member=Member("ben"), public=ben.public)
    with pytest.raises(IntegrityError, match="is not signed by ana"):
        open_runs(target.read_bytes(), identity=HOLDER, member=Member("ana"), public=ben.public)
    forged = seal(pack_files({"kind": "runs", "member": "ana"}, {}), [HOLDER.recipient])
    with pytest.raises(IntegrityError, match="is not signed by ana"):
        open_runs(forged, identity=HOLDER, member=Member("ana"), public=sealer.key.public)
