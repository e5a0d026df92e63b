import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.signing import SigningKey, verify


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return SigningKey.generate(tmp_path_factory.mktemp("keys") / "ana.pem")


def test_a_key_is_private_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "ana.pem"
    made = SigningKey.generate(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.load(path).public == made.public
    assert SigningKey.load(path).derive(b"salt") == made.derive(b"salt")


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "ana.pem"
    first = SigningKey.generate(path)
    with pytest.raises(InputError, match="never overwritten"):
        SigningKey.generate(path)
    assert SigningKey.load(path).public == first.public
    assert [item.name for item in tmp_path.iterdir()] == ["ana.pem"]


@given(data=st.binary(), place=st.integers(min_value=0))
def test_a_signature_is_of_these_bytes_only(key: SigningKey, data: bytes, place: int) -> None:
    signature = key.sign(data)
    assert verify(key.public, data, signature)
    altered = bytearray(data + b"x")
    altered[place % len(altered)] ^= 1
    assert not verify(key.public, bytes(altered), signature)


@pytest.mark.parametrize("signature", ["", "AAAA", "not base64!", "é"])
def test_a_broken_signature_is_false(key: SigningKey, signature: str) -> None:
    assert not verify(key.public, b"data", signature)


def test_another_members_signature_is_false(key: SigningKey, tmp_path: Path) -> None:
    other = SigningKey.generate(tmp_path / "ben.pem")
    assert not verify(other.public, b"data", key.sign(b"data"))
    for broken in ("", "no key", "A" * 44):
        assert not verify(broken, b"data", key.sign(b"data"))


def test_derived_secrets_differ_by_purpose_and_by_key(key: SigningKey, tmp_path: Path) -> None:
    other = SigningKey.generate(tmp_path / "ben.pem")
    made = {key.derive(b"a"), key.derive(b"b"), other.derive(b"a"), other.derive(b"b")}
    assert {len(secret) for secret in made} == {32}
    assert len(made) == 4
    assert key.derive(b"a") == key.derive(b"a")


def test_a_key_never_shows(key: SigningKey) -> None:
    assert repr(key) == "SigningKey()"


@pytest.mark.parametrize("content", [b"", b"hello", b"-----BEGIN PRIVATE KEY-----\n"])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "k"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InputError, match="is not a signing key"):
        SigningKey.load(path)
