"""Secrets stand in nothing that is told, in whatever form they come."""

import base64
import io
import itertools
import json
from urllib.parse import quote

import pytest
from gateways import SECRET
from hypothesis import given
from hypothesis import strategies as st

from labkit_runner.gateway.masks import HIDDEN, Flow, Mask, Watch, forms
from labkit_runner.gateway.telling import Teller

MASK = Mask([SECRET, 'say "friend"\nand enter', "ñandú/秘密-42", "tiny"])
WORDS = st.lists(
    st.sampled_from([SECRET, SECRET[:9], SECRET[9:], "x", "\n", "sk-", "tin", "y", "é", "tiny"]),
    max_size=12,
).map("".join)


def split(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


@given(text=WORDS, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_a_flow_masks_what_the_whole_text_would_mask(text: str, cuts: list[int]) -> None:
    flow = Flow(MASK)
    found = "".join(flow.feed(piece) for piece in split(text, cuts)) + flow.end()
    for secret in (SECRET, "tiny"):
        assert secret not in found
    assert found.replace(HIDDEN, "") == MASK.text(text).replace(HIDDEN, "")


@given(text=WORDS, cuts=st.lists(st.integers(0, 400), max_size=12))
def test_a_secret_is_never_handed_on_whole(text: str, cuts: list[int]) -> None:
    mask = Mask([SECRET])
    watch = Watch(mask)
    handed, held, leaked = "", "", False
    for piece in split(text, cuts):
        held += piece
        seen = watch.look(piece)
        if seen:
            leaked = True
            break
        if seen is False:
            handed, held = handed + held, ""
    assert leaked == (SECRET in text)
    assert not mask.found(handed)
    if not leaked:
        assert handed + held == text


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "z", "zz"])
def test_every_form_is_seen(before: str, after: str) -> None:
    inside = f"{before}{SECRET}{after}".encode()
    for text in (
        inside.decode(),
        base64.b64encode(inside).decode(),
        base64.urlsafe_b64encode(inside).decode(),
        inside.hex(),
        inside.hex().upper(),
        quote(inside, safe=""),
        json.dumps(inside.decode()),
        "".join(f"%{byte:02x}" for byte in inside),
        "".join(f"\\u{byte:04X}" for byte in inside),
        inside.decode().upper(),
    ):
        assert MASK.found(text), text
        assert HIDDEN in MASK.text(f"<{text}>")


def test_a_short_text_is_masked_as_it_is_only() -> None:
    assert list(forms("tiny")) == ["tiny"]
    assert MASK.text("a tiny thing") == f"a {HIDDEN} thing"


def test_without_secrets_nothing_changes() -> None:
    mask = Mask([""])
    assert mask.text("anything") == "anything"
    assert not mask.found("")
    assert mask.undecided("anything") == 0


@given(
    before=st.text(max_size=5),
    after=st.text(max_size=5),
    name=st.sampled_from(["params", "target", SECRET]),
)
def test_no_line_holds_a_secret_and_every_line_is_json(before: str, after: str, name: str) -> None:
    out = io.BytesIO()
    teller = Teller(out, MASK)
    secret = 'say "friend"\nand enter'
    teller.tell("refused", **{name: [f"{before}{SECRET}{after}", {secret: secret, "n": 7}]})
    digest = teller.part({"text": f"{before}{SECRET}"})
    assert teller.part({"text": f"{before}{SECRET}"}) == digest
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    for line in lines:
        json.loads(line)
        assert SECRET.encode() not in line
        assert b"friend" not in line
