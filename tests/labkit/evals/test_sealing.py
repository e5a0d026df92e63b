"""The sealed test split: nothing lost, nothing left, nothing opened that was changed."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.evals import EvalSuite, Split
from labkit.evals import sealing as sealing_module
from labkit.evals.sealedsplit import Places, SealedSplit, open_split, sealed_split
from labkit.evals.sealing import Sealer, Sealing, seal_split
from labkit.evals.suitefile import read_suite
from labkit.evals.suitewriting import suite_values
from labkit.fields import json_text
from labkit.seal import Identity, new_identity

NOW = "2026-03-01T10:00:00+00:00"
SECRET = "swordfish"
YAML = f"""\
# My cases.
name: mine
cases:
  # the first
  - id: alpha
    inputs: |
      # no comment
      text
    grader: {{name: exact}}
  # {SECRET}: only for the test
  - id: omega
    inputs: {SECRET}
    reference: 1.5
    grader: {{name: exact}}
    folder: files/omega
    split: test
  # of beta
  - id: beta
    grader: {{name: exact}}
    folder: files/beta
    inputs: 1
  - id: zeta
    grader: {{name: exact}}
    split: test
    folder: files/beta
    # {SECRET} again
"""
REST = """\
# My cases.
name: mine
cases:
  # the first
  - id: alpha
    inputs: |
      # no comment
      text
    grader: {name: exact}
  # of beta
  - id: beta
    grader: {name: exact}
    folder: files/beta
    inputs: 1
"""


def lay(folder: Path, text: str = YAML, name: str = "suite.yaml") -> Path:
    """Write the suite with its folders and return its file."""
    for case, content in (("omega", f"print('{SECRET}')\n"), ("beta", "x = 1\n")):
        below = folder / "files" / case
        (below / "deep" / "__pycache__").mkdir(parents=True)
        (below / "deep" / "__pycache__" / "run.pyc").write_text(content)
        (below / "deep" / "run.sh").write_text(content)
        (below / "deep" / "run.sh").chmod(0o755)
    path = folder / name
    path.write_text(text)
    return path


def split_of(path: Path) -> EvalSuite:
    return read_suite(path).suite.only(Split.TEST)


def lay_tasks(folder: Path) -> Path:
    """Write three fixture tasks, of which one is for the test."""
    for name, split, word in (("a", "val", "x"), ("omega", "test", SECRET), ("z", "train", "y")):
        for tree in ("buggy", "expected"):
            (folder / name / tree).mkdir(parents=True)
            (folder / name / tree / "app.sh").write_text(f"{word} {tree}\n")
            (folder / name / tree / "app.sh").chmod(0o755)
        (folder / name / "task.yaml").write_text(
            f"goal: Mend it.\nsplit: {split}\nsetup: [make]\n"
            "verifier: {name: file_equals, path: app.sh}\n"
        )
    return folder


@pytest.fixture
def identity() -> Identity:
    return new_identity()


def sealer(tmp_path: Path, identity: Identity, *, at_hand: bool = True) -> Sealer:
    return Sealer(
        recipients=(identity.recipient,),
        backups=tmp_path / "home",
        identity=identity if at_hand else None,
    )


def sealed(path: Path, with_: Sealer) -> Sealing:
    return seal_split(read_suite(path), with_, now=NOW)


def plain_of(folder: Path) -> list[Path]:
    """Return the files that still have the secret in them, by name or content."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and (SECRET.encode() in path.read_bytes() or "omega" in str(path))
    ]


def test_the_test_split_goes_into_the_seal_and_comes_back_the_same(
    tmp_path: Path, identity: Identity
) -> None:
    path = lay(tmp_path / "s")
    before = split_of(path)
    version = before.version
    done = sealed(path, sealer(tmp_path, identity))
    assert (done.backup, done.kept, done.commented) == (None, (), True)
    assert (done.record.cases, done.record.taken_out) == (2, True)
    assert path.read_text() == REST
    assert not plain_of(tmp_path)
    assert not (tmp_path / "s" / "files" / "omega").exists()
    assert (tmp_path / "s" / "files" / "beta" / "deep" / "run.sh").exists()
    assert not list((tmp_path / "home").iterdir())
    opened = open_split(path, identity).lay_out(tmp_path / "private").suite
    assert opened.version == version
    assert [case.id for case in opened.cases] == ["omega", "zeta"]
    assert {case.split for case in opened.cases} == {Split.TEST}


@pytest.mark.parametrize("form", ["json", "list", "jsonl", "flow"])
def test_every_form_can_be_sealed(tmp_path: Path, identity: Identity, form: str) -> None:
    yaml = read_suite(lay(tmp_path / "s"))
    values = suite_values("mine", yaml.suite.cases, tmp_path / "s")
    name, text = {
        "json": ("s.json", json_text(values)),
        "list": ("s.json", json.dumps(values["cases"])),
        "jsonl": ("s.jsonl", "\n".join(map(json.dumps, values["cases"])) + "\n\n"),
        "flow": ("s.yaml", f"# {SECRET}\n" + json.dumps(values)),
    }[form]
    yaml.path.unlink()
    path = tmp_path / "s" / name
    path.write_text(text)
    version, rest = split_of(path).version, read_suite(path).suite.only(Split.VAL).version
    done = sealed(path, sealer(tmp_path, identity))
    assert done.commented is (form != "flow")
    assert not plain_of(tmp_path)
    assert read_suite(path).suite.version == rest
    assert open_split(path, identity).lay_out(tmp_path / "private").suite.version == version


def test_the_seal_is_an_ordinary_age_file_of_a_tar(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    sealed(path, sealer(tmp_path, identity))
    data = Places(path).sealed.read_bytes()
    assert data.startswith(b"age-encryption.org/v1")
    record = Places(path).record.read_text()
    for hidden in (SECRET, "omega", "zeta", "run.sh"):
        assert hidden not in record


def test_without_the_key_a_private_copy_is_kept(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    done = sealed(path, sealer(tmp_path, identity, at_hand=False))
    assert done.backup
    assert done.backup.stat().st_mode & 0o777 == 0o600
    names = subprocess.run(
        ["tar", "-tf", done.backup], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "suite/files/omega/deep/run.sh" in names
    assert plain_of(tmp_path) == [done.backup]
    assert open_split(path, identity).record == done.record


def test_fixture_tasks_are_sealed_with_their_folders(tmp_path: Path, identity: Identity) -> None:
    folder = lay_tasks(tmp_path / "s")
    version = split_of(folder).version
    sealed(folder, sealer(tmp_path, identity))
    assert not plain_of(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == [
        "a",
        "suite.test.age",
        "suite.test.json",
        "z",
    ]
    assert [case.id for case in read_suite(folder).suite.cases] == ["a", "z"]
    found = open_split(folder, identity).lay_out(tmp_path / "private")
    assert (found.suite.version, found.problems) == (version, ())
    assert found.tasks[0].setup == ("make",)
    assert (found.tasks[0].buggy / "app.sh").stat().st_mode & 0o100


def test_what_desktops_leave_goes_too_and_what_editors_leave_is_told(
    tmp_path: Path, identity: Identity
) -> None:
    folder = lay_tasks(tmp_path / "s")
    (folder / "omega" / ".DS_Store").write_bytes(b"\0")
    done = sealed(folder, sealer(tmp_path, identity))
    assert not (folder / "omega").exists()
    again = lay_tasks(tmp_path / "t")
    (again / "omega" / "buggy" / "app.sh~").write_text("echo\n")
    done = sealed(again, sealer(tmp_path, identity))
    assert done.kept == (again / "omega" / "buggy" / "app.sh~",)
    assert [path for path in (again / "omega").rglob("*") if path.is_file()] == list(done.kept)


@pytest.mark.parametrize("stop_after", [0, 1, 2])
def test_an_interrupted_sealing_of_fixture_tasks_goes_on(
    tmp_path: Path, identity: Identity, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    folder = lay_tasks(tmp_path / "s")
    version = split_of(folder).version
    real = Path.unlink
    calls: list[Path] = []

    def unlink(path: Path, *, missing_ok: bool = False) -> None:
        if path.name in ("task.yaml", "app.sh"):
            if len(calls) == stop_after:
                raise KeyboardInterrupt
            calls.append(path)
        real(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt):
        sealed(folder, sealer(tmp_path, identity))
    monkeypatch.undo()
    sealed(folder, sealer(tmp_path, identity))
    assert not (folder / "omega").exists()
    assert not plain_of(tmp_path)
    opened = open_split(folder, identity).lay_out(tmp_path / "private")
    assert opened.suite.version == version


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (YAML.replace("split: test", "split: val"), "has no test case"),
        (YAML.replace("reference: 1.5", "reference: no"), "disagree about no"),
        (
            "cases: [{id: a, split: test, grader: {name: exact}}]",
            "every case of .* is a test case",
        ),
    ],
)
def test_what_cannot_be_sealed_is_refused_and_nothing_changes(
    tmp_path: Path, identity: Identity, text: str, says: str
) -> None:
    path = lay(tmp_path / "s", text)
    before = {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()}
    with pytest.raises(InputError, match=says):
        sealed(path, sealer(tmp_path, identity))
    assert {one: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()} == before


def test_a_split_is_sealed_once(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    sealed(path, sealer(tmp_path, identity))
    path.write_text(YAML)
    with pytest.raises(PhaseError, match="already sealed, since 2026-03-01"):
        sealed(path, sealer(tmp_path, identity))


@pytest.mark.parametrize(
    "step", ["write_private", "rewrite:1", "rewrite:2", "rewrite:3", "rewrite:4", "_prune"]
)
@pytest.mark.parametrize("at_hand", [True, False])
def test_an_interrupted_sealing_loses_nothing_and_goes_on(
    tmp_path: Path,
    identity: Identity,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    at_hand: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    path = lay(tmp_path / "s")
    version = split_of(path).version
    name, _, count = step.partition(":")
    real, calls = getattr(sealing_module, name), []

    def broken(*args: object) -> object:
        calls.append(args)
        if len(calls) == int(count or 1):
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(sealing_module, name, broken)
    with pytest.raises(KeyboardInterrupt):
        sealed(path, sealer(tmp_path, identity, at_hand=at_hand))
    monkeypatch.undo()
    done = sealed(path, sealer(tmp_path, identity, at_hand=at_hand))
    assert path.read_text() == REST
    assert plain_of(tmp_path) == ([done.backup] if done.backup else [])
    assert bool(done.backup) is not at_hand
    assert open_split(path, identity).lay_out(tmp_path / "private").suite.version == version


def interrupted(
    path: Path, tmp_path: Path, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seal, and stop when the sealed file is written but nothing was taken out."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sealing_module, "_take_out", stop)
    with pytest.raises(KeyboardInterrupt):
        sealed(path, sealer(tmp_path, identity))
    monkeypatch.undo()


def test_after_an_interruption_new_test_cases_are_not_lost(
    tmp_path: Path, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lay(tmp_path / "s")
    interrupted(path, tmp_path, identity, monkeypatch)
    path.write_text(YAML.replace("reference: 1.5", "reference: 2.5"))
    with pytest.raises(InputError, match="omega is not as it was") as caught:
        sealed(path, sealer(tmp_path, identity))
    assert caught.value.more == ()
    assert "reference: 2.5" in path.read_text()


def test_after_an_interruption_without_its_copy_the_key_helps(
    tmp_path: Path, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lay(tmp_path / "s")
    interrupted(path, tmp_path, identity, monkeypatch)
    for copy in (tmp_path / "home").iterdir():
        copy.unlink()
    with pytest.raises(PhaseError, match=r"its copy .* is gone"):
        sealed(path, sealer(tmp_path, identity, at_hand=False))
    assert sealed(path, sealer(tmp_path, identity)).record.taken_out


def test_a_plain_file_that_changed_since_is_not_deleted(
    tmp_path: Path, identity: Identity, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lay(tmp_path / "s")
    interrupted(path, tmp_path, identity, monkeypatch)
    changed = tmp_path / "s" / "files" / "omega" / "deep" / "run.sh"
    changed.write_text("something new\n")
    with pytest.raises(InputError, match="omega is not as it was"):
        sealed(path, sealer(tmp_path, identity))
    path.write_text(REST)
    done = sealed(path, sealer(tmp_path, identity))
    assert done.kept == (changed,)
    assert changed.read_text() == "something new\n"


def test_before_it_is_sealed_there_is_no_split_to_open(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    assert sealed_split(path) is None
    with pytest.raises(PhaseError, match="has no sealed test split"):
        open_split(path, identity)


def test_whatever_was_changed_is_an_integrity_error(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    record = sealed(path, sealer(tmp_path, identity)).record
    places = Places(path)
    good_record, good_seal = places.record.read_text(), places.sealed.read_bytes()
    other = lay(tmp_path / "other", YAML.replace("reference: 1.5", "reference: 2.5"))
    sealed(other, sealer(tmp_path, identity))
    forged = Places(other).sealed.read_bytes()

    def refused(says: str, seal: bytes | None, text: str | None) -> None:
        record_data = None if text is None else text.encode()
        for file, content in ((places.sealed, seal), (places.record, record_data)):
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content)
        with pytest.raises(IntegrityError, match=says):
            open_split(path, identity)

    refused("is not the file that was sealed", good_seal + b"x", good_record)
    refused("is not the file that was sealed", forged, good_record)
    swapped = replace(
        record, ciphertext_sha256=SealedSplit.load(Places(other).record).ciphertext_sha256
    )
    refused("not what was committed to", forged, swapped.text())
    refused("not what was committed to", good_seal, replace(record, commitment="00" * 32).text())
    refused("is there without", good_seal, None)
    refused("is not there, and", None, good_record)
    refused("is damaged", good_seal, "{")
    refused("is damaged", good_seal, good_record.replace('"cases"', '"case"'))
    refused("is not of schema", good_seal, good_record.replace('"schema": 1', '"schema": 9'))
    fewer = replace(record, cases=1)
    places.record.write_text(fewer.text())
    places.sealed.write_bytes(good_seal)
    with pytest.raises(IntegrityError, match="not what was committed to"):
        open_split(path, identity).lay_out(tmp_path / "private")


def test_another_key_opens_nothing(tmp_path: Path, identity: Identity) -> None:
    path = lay(tmp_path / "s")
    sealed(path, sealer(tmp_path, identity))
    with pytest.raises(IntegrityError, match="does not open with this key"):
        open_split(path, new_identity())
