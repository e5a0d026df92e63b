import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.errors import InputError, IntegrityError
from labkit.seal import (
    Identity,
    check_recipient,
    identity_from,
    key_text,
    new_identity,
    open_sealed,
    read_identity,
    seal,
    write_identity,
)

HOLDER = new_identity()
BACKUP = new_identity()
STRANGER = new_identity()
SEALED = seal(b"assert slug('') == ''\n", [HOLDER.recipient, BACKUP.recipient])

# Made once with another implementation of age's format, with a work factor that keeps tests fast.
PHRASE = "correct horse"
LOCKED_RECIPIENT = "age15f2yrezrgw6gqsywwq3nrf50n0x03q04whujrv9h73q6ts27hyrsjn93r5"
LOCKED = """-----BEGIN AGE ENCRYPTED FILE-----
YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBvdkwrOHIxWkNYV2JQdG5r
RklpbDl3IDEwCjhUbGxMZU5PQlNhNHNYTVBONzg5Z2tiZ1g2R1BkSE1PRjA0Z2dh
dU4vaE0KLS0tIDVKOU00STRRaDBCTzVya0llaitIb3NHUkdXLzZjaXVhcTZKQU1C
L0l6S3MKU1v5eEkLigEka2U2CGuAgVikFrAfbb8l+sgN7qdG400PWi6SYfvLfLxl
BK+2fC6faKL01GW/VAQY4fL8c4VuMZt1Pp3P2T9ogyyhAvTgj7SaU/agcF8X71/1
CQefamwkGXhxrBGsjo2vuVIITQjCPgy62fO3SgxIEaTNKkmQNwJLSoQca2BbHAz2
Bj9AYKu8s6MqPMNWsyJevlbpX2rZ7RnZrmqYRsVNHWDzFZ0J39opkuKZouKKSQ==
-----END AGE ENCRYPTED FILE-----
"""


def private(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("identity", [HOLDER, BACKUP], ids=["holder", "backup"])
def test_either_recipient_opens(identity: Identity) -> None:
    assert open_sealed(SEALED, identity) == b"assert slug('') == ''\n"


@settings(max_examples=40)
@given(st.binary(max_size=200_000))
def test_what_is_sealed_comes_back(data: bytes) -> None:
    assert open_sealed(seal(data, [HOLDER.recipient]), HOLDER) == data


def test_any_changed_byte_is_one_and_the_same_refusal() -> None:
    messages = set()
    for place in range(len(SEALED)):
        altered = bytearray(SEALED)
        altered[place] ^= 0x20
        with pytest.raises(IntegrityError) as caught:
            open_sealed(bytes(altered), HOLDER)
        messages.add((caught.value.message, caught.value.hint))
    assert len(messages) == 1


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        SEALED[:10],
        SEALED[:-1],
        SEALED + b"\n",
        SEALED.replace(b"\n", b"\r\n"),
        SEALED.decode("latin-1").encode("utf-16"),
    ],
    ids=["empty", "header cut", "last byte cut", "byte added", "crlf", "utf-16"],
)
def test_a_mangled_file_is_refused(broken: bytes) -> None:
    with pytest.raises(IntegrityError, match="does not open with this key"):
        open_sealed(broken, HOLDER)


def test_a_large_file_cut_between_chunks_is_refused() -> None:
    chunk = 64 * 1024 + 16
    sealed = seal(bytes(3 * 64 * 1024), [HOLDER.recipient])
    payload = len(sealed) - 3 * chunk
    for count in (1, 2):
        with pytest.raises(IntegrityError):
            open_sealed(sealed[: payload + count * chunk], HOLDER)


def test_a_wrong_key_says_the_same_as_an_altered_file() -> None:
    with pytest.raises(IntegrityError) as wrong:
        open_sealed(SEALED, STRANGER)
    with pytest.raises(IntegrityError) as cut:
        open_sealed(SEALED[:-1], HOLDER)
    assert (wrong.value.message, wrong.value.hint) == (cut.value.message, cut.value.hint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty"),
        ("# only a remark\n", "empty"),
        (HOLDER.secret, "a private key was given where a public one is meant"),
        (HOLDER.secret.lower(), "a private key was given where a public one is meant"),
        ("age1short", "is not an age public key"),
        ("ssh-ed25519 AAAAC3Nz", "is not an age public key"),
        (f"{HOLDER.recipient}\n{BACKUP.recipient}", "is not an age public key"),
    ],
    ids=["empty", "remark", "secret", "lower-case secret", "short", "ssh", "two"],
)
def test_a_bad_recipient_is_named(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        check_recipient(text)


def test_a_recipient_with_a_mark_and_blanks_is_tidied() -> None:
    assert check_recipient(f"\ufeff  {HOLDER.recipient}\r\n") == HOLDER.recipient


def test_nobody_to_seal_to_is_refused() -> None:
    with pytest.raises(InputError, match="nobody to seal to"):
        seal(b"x", [])


def test_no_message_shows_the_secret() -> None:
    assert HOLDER.secret not in repr(HOLDER)
    with pytest.raises(InputError) as caught:
        check_recipient(HOLDER.secret)
    assert HOLDER.secret[20:] not in f"{caught.value.message} {caught.value.hint}"


def test_the_written_key_file_is_private_and_opens_with_its_passphrase(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "holder.agekey"
    write_identity(path, HOLDER, passphrase=PHRASE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().startswith("-----BEGIN AGE ENCRYPTED FILE-----\n")
    assert [item.name for item in path.parent.iterdir()] == ["holder.agekey"]
    assert read_identity(path, passphrase=PHRASE) == HOLDER


def test_a_key_file_of_another_age_program_opens(tmp_path: Path) -> None:
    path = private(tmp_path / "k", LOCKED.encode())
    assert read_identity(path, passphrase=PHRASE).recipient == LOCKED_RECIPIENT


def test_a_wrong_passphrase_is_said(tmp_path: Path) -> None:
    path = private(tmp_path / "k", LOCKED.encode())
    with pytest.raises(IntegrityError, match="does not open with this passphrase"):
        read_identity(path, passphrase=PHRASE + "s")


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = private(tmp_path / "k", LOCKED.encode())
    with pytest.raises(InputError, match="never overwritten"):
        write_identity(path, HOLDER, passphrase=PHRASE)
    assert path.read_text() == LOCKED


def test_an_empty_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="passphrase is empty"):
        write_identity(tmp_path / "k", HOLDER, passphrase="")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_plain_key_file_reads_as_any_editor_saves_it(tmp_path: Path, encoding: str) -> None:
    text = f"# created: 2026-01-01\r\n{HOLDER.secret}\r\n"
    path = private(tmp_path / "k", text.encode(encoding))
    assert read_identity(path, passphrase="") == HOLDER


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = private(tmp_path / "k", LOCKED.encode())
    path.chmod(0o644)
    with pytest.raises(InputError, match="can be read by others"):
        read_identity(path, passphrase=PHRASE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HOLDER.recipient, "holds a public key, and the private one is meant"),
        (f"{HOLDER.secret}\n{BACKUP.secret}", "holds 2 private keys"),
        ("hello", "holds 0 private keys"),
        (HOLDER.secret[:-1], "the private key is damaged"),
    ],
    ids=["public", "two", "none", "cut"],
)
def test_a_bad_key_file_is_named(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        identity_from(text, "holder.agekey")


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n", "is empty"),
        (b"\x80\x81", "not text"),
        (b"a" * 100_000, "too large"),
    ],
    ids=["empty", "blank", "binary", "large"],
)
def test_a_file_that_is_no_key_file_is_named(data: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        key_text(data, "k")


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no key file"):
        read_identity(tmp_path / "none", passphrase="")
