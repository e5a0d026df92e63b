import base64
import io
import json
import string
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind
from labkit_runner.masking import MASK, Masker

TOKEN = "sk-ant-oat01-aB/3+d9_Zq-e==x7"
OTHER = "rt_0123456789"
AROUND = st.text(string.printable, max_size=40)
PLAIN = st.text(string.ascii_letters + string.digits + "-_./+=", min_size=12, max_size=60)


def masked(data: bytes, *secrets: str | bytes) -> bytes:
    return Masker(secrets).mask(data)[0]


@pytest.mark.parametrize(
    "text",
    [
        TOKEN,
        json.dumps(TOKEN),
        json.dumps(TOKEN).replace("/", "\\/"),
        json.dumps(json.dumps({"token": TOKEN})),
        quote(TOKEN, safe=""),
        TOKEN.encode().hex(),
        TOKEN.encode().hex().upper(),
        f"{TOKEN[:9]}\n{TOKEN[9:]}",
        f"{TOKEN[:9]}\r\n{TOKEN[9:]}",
        f"+{TOKEN[:9]}\n+{TOKEN[9:]}",
        json.dumps(f"{TOKEN[:9]}\n{TOKEN[9:]}"),
    ],
)
def test_a_secret_is_masked_in_every_form_that_honest_programs_write(text: str) -> None:
    shown = masked(f"before {text} after".encode(), TOKEN)
    assert shown.startswith(b"before ")
    assert shown.endswith(b" after")
    assert MASK in shown
    assert b"oat01" not in shown


@given(AROUND, AROUND, PLAIN, st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]))
def test_base64_is_masked_whatever_stands_around_the_secret(
    before: str, after: str, secret: str, encode: object
) -> None:
    encoded: bytes = encode(f"{before}{secret}{after}".encode())  # type: ignore[operator]
    shown = masked(encoded, secret)
    # At most the two digits at each end, which its neighbours have a part in, are left of it.
    assert len(shown) - len(MASK) <= len(encoded) - (len(secret) * 8 // 6 - 2)


def test_base64_with_broken_lines_is_masked() -> None:
    shown = masked(base64.encodebytes(b"x" * 50 + TOKEN.encode() * 3), TOKEN)
    assert shown.count(MASK) >= 3
    left = [part.strip() for part in shown.split(MASK)[1:]]
    assert max(map(len, left)) <= 4, left


@given(
    st.lists(st.sampled_from([TOKEN, OTHER, OTHER + "tail", TOKEN[:7], "\n", "\n+", "\\n", " x"])),
    st.lists(st.integers(0, 200)),
)
@example([TOKEN[:7], "\n", TOKEN[7:]], [8])
@example([OTHER + "tail"], [len(OTHER)])
@example([TOKEN[:2], "\n", TOKEN[2:]], [4, 6])
def test_pieces_are_masked_as_the_whole_is(parts: list[str], cuts: list[int]) -> None:
    masker = Masker([TOKEN, OTHER, OTHER + "tail"])
    data = "".join(parts).encode()
    out = io.BytesIO()
    stream = masker.stream(out)
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    start = 0
    for end in ends:
        stream.write(data[start:end])
        start = end
    stream.end()
    whole, hits = masker.mask(data)
    assert (out.getvalue(), stream.hits) == (whole, hits)


@given(st.binary(max_size=300), st.integers(1, 50))
def test_what_is_no_secret_passes_unchanged(data: bytes, size: int) -> None:
    out = io.BytesIO()
    stream = Masker([TOKEN]).stream(out)
    for start in range(0, len(data), size):
        stream.write(data[start : start + size])
    stream.end()
    assert out.getvalue() == data


def test_only_what_may_begin_a_secret_is_held_back() -> None:
    out = io.BytesIO()
    stream = Masker([TOKEN]).stream(out)
    stream.write(b"an ordinary line\n" + TOKEN[:5].encode())
    assert out.getvalue() == b"an ordinary line\n"


def test_lines_stay_lines_so_a_difference_still_applies() -> None:
    patch = f"@@ -0,0 +1,2 @@\n+{TOKEN[:9]}\n+{TOKEN[9:]}\n".encode()
    assert masked(patch, TOKEN) == b"@@ -0,0 +1,2 @@\n+" + MASK + b"\n+" + MASK + b"\n"


def test_short_and_empty_secrets_shred_nothing() -> None:
    assert masked(b"a b", "", "a") == b"a b"
    assert not Masker(["short"]).finds(b"short")


def test_files_are_masked_and_named() -> None:
    hits: list[str] = []
    entries = [
        Entry(path=b"a", kind=Kind.FILE, data=b"nothing"),
        Entry(path=b"b", kind=Kind.EXECUTABLE, data=b"\0" + TOKEN.encode()),
        Entry(path=TOKEN.encode().replace(b"/", b""), kind=Kind.FILE),
        Entry(path=b"d", kind=Kind.SYMLINK, data=TOKEN.encode()),
    ]
    masker = Masker([TOKEN, TOKEN.replace("/", "")])
    left = list(masker.entries(entries, hits))
    assert left[0] == entries[0]
    assert left[1] == Entry(path=b"b", kind=Kind.EXECUTABLE, data=b"\0" + MASK)
    assert left[3].data == MASK
    assert hits == ["b", MASK.decode(), "d"]
    assert not any(masker.finds(entry.data + entry.path) for entry in left)


def test_a_masker_does_not_show_its_secrets() -> None:
    masker = Masker([TOKEN])
    assert "oat01" not in repr(masker) + repr(masker.stream(io.BytesIO()))
