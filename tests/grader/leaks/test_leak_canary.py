import base64
import html
import textwrap
import time
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.canary import find, token
from labkit_grader.leaks.canary import masked, sightings

TOKEN = token(bytes(range(40, 56)))
SOURCE = f"import slug\n# {TOKEN}\ndef test_empty():\n    assert slug.slug('') == ''\n"


def cat_n(text: str) -> str:
    return "".join(f"{n:6}\t{line}\n" for n, line in enumerate(text.splitlines(), 1))


def base64_wrapped(text: str) -> str:
    return base64.encodebytes(text.encode()).decode()


def xxd(text: str) -> str:
    data = text.encode()
    rows = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pairs = " ".join(row[i : i + 2].hex() for i in range(0, len(row), 2))
        shown = "".join(chr(b) if 32 < b < 127 else "." for b in row)
        rows.append(f"{at:08x}: {pairs:<39}  {shown}")
    return "\n".join(rows)


def od(text: str) -> str:
    data = text.encode()
    rows = [data[at : at + 16] for at in range(0, len(data), 16)]
    return "\n".join(f"{16 * n:07o} " + row.hex(" ") for n, row in enumerate(rows))


FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "lower": str.lower,
    "folded": lambda text: "\n".join(textwrap.wrap(text, 7)),
    "spaced": " ".join,
    "listed": lambda text: repr(list(text)),
    "folded-numbered": lambda text: cat_n("\n".join(textwrap.wrap(text, 20))),
    "reversed": lambda text: text[::-1],
    "reversed-lines": lambda text: "\n".join(line[::-1] for line in text.splitlines()),
    "hex": lambda text: text.encode().hex(),
    "hex-upper-spaced": lambda text: text.encode().hex(" ").upper(),
    "hex-escapes": lambda text: "".join(f"\\x{b:02x}" for b in text.encode()),
    "hex-array": lambda text: ", ".join(f"0x{b:02x}" for b in text.encode()),
    "xxd": xxd,
    "od": od,
    "base64": base64_wrapped,
    "base64-numbered": lambda text: cat_n(base64_wrapped(text)),
    "base64-url": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "percent": lambda text: "".join(f"%{b:02X}" for b in text.encode()),
    "quoted": urllib.parse.quote,
    "html": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "html-names": html.escape,
    "decoy-prefix": lambda text: text.replace("LKCANARY", "LKCANARYLKCANARY"),
    "diff": lambda text: "".join(f"+{line}\n" for line in text.splitlines()),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_token_is_seen_in_every_form(form: Callable[[str], str]) -> None:
    assert TOKEN in sightings(form(SOURCE))


@given(before=st.text(max_size=20), after=st.text(max_size=20))
@pytest.mark.parametrize("form", ["base64", "base64-url", "hex"])
def test_encoded_token_is_seen_at_any_offset(form: str, before: str, after: str) -> None:
    assert TOKEN in sightings("output: " + FORMS[form](f"{before}|{TOKEN}|{after}"))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_masked_text_shows_no_token(form: Callable[[str], str]) -> None:
    shown = masked(form(SOURCE))
    assert not sightings(shown)
    assert not find(shown)


def test_masking_keeps_the_rest() -> None:
    assert masked(f"cat x: {TOKEN}!") == "cat x: [canary]!"
    assert masked("nothing here") == "nothing here"


@given(st.text(st.characters()))
def test_any_text_can_be_searched(text: str) -> None:
    assert sightings(text) == {}


def test_large_outputs_are_searched_in_time() -> None:
    assert TOKEN in sightings("lorem ipsum lkcy 4c4b 12\n" * 400_000 + TOKEN)


@pytest.mark.parametrize("piece", ["A", " ", "\t", "|", "|a", "0", "lkcanary", "TEtDQU5BUl", "a  "])
def test_a_very_long_line_is_read_once(piece: str) -> None:
    began = time.monotonic()
    assert sightings(piece * (200_000 // len(piece)) + f" {TOKEN}")[TOKEN] == "as it is"
    assert time.monotonic() - began < 5
