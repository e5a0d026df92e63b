from pathlib import Path

from runner.test_logins import ACCESS, REFRESH, a_file
from runs import a_configuration

from labkit.configurations import Configuration
from labkit_runner.manual import Told
from labkit_runner.masking import MASK
from labkit_runner.veil import veil_of

OTHER = b"sk-ant-oat01-" + b"Zz9-" * 10
PAID: Configuration = a_configuration(agent="claude-code", login="subscription")


def told(*transcripts: bytes, notes: str = "") -> Told:
    named = {f"{place}.jsonl": data for place, data in enumerate(transcripts)}
    return Told(transcripts=named, count=1, interventions=(f"gave it {ACCESS}",), notes=notes)


def test_nothing_of_a_login_is_kept_of_what_a_person_brings(tmp_path: Path) -> None:
    a_file(tmp_path)
    opaque = REFRESH.removeprefix("sk-ant-").encode()  # has no shape, but stands in the file
    found = veil_of(PAID, tmp_path).told(told(ACCESS.encode(), b"x" + OTHER, notes=REFRESH))
    assert list(found.transcripts.values()) == [MASK, b"x" + MASK]
    assert found.interventions == ("gave it [masked]",)
    assert found.notes == "[masked]"
    assert found.remarks == ("the transcript held 2 secrets of a login, masked now: revoke it",)
    assert veil_of(PAID, tmp_path).over([]).mask(b"sk-ant-" + opaque)[0] == MASK


def test_a_login_that_is_over_is_masked_all_the_same(tmp_path: Path) -> None:
    a_file(tmp_path, expiresAt=1_000_000)
    assert not veil_of(PAID, tmp_path).remarks
    assert veil_of(PAID, tmp_path).over([]).finds(ACCESS.encode())


def test_without_the_login_its_shape_is_masked_and_that_is_said(tmp_path: Path) -> None:
    veil = veil_of(PAID, tmp_path)
    found = veil.told(told(ACCESS.encode()))
    assert list(found.transcripts.values()) == [MASK]
    assert "could not be read" in found.remarks[0]
    assert str(tmp_path) not in "".join(found.remarks)


def test_what_stands_in_the_project_itself_is_left(tmp_path: Path) -> None:
    veil = veil_of(a_configuration(agent="claude-code"), tmp_path)
    assert veil.over([OTHER], known=[b"key = " + OTHER]).mask(OTHER) == (OTHER, 0)
    assert veil.over([OTHER]).mask(OTHER) == (MASK, 1)
