import contextlib
import json
import math
from typing import Any

import pytest
from hostile import HOSTILE_VALUES
from hypothesis import given
from hypothesis import strategies as st

from labkit.evals.pipes import MOST_LINE
from labkit.evals.wire import DEEPEST, UnfitError, pack, unpack

TEXTS = st.text(st.characters(exclude_categories=())) | st.sampled_from(["!", "!tuple", "!dict"])
NUMBERS = st.integers() | st.floats(allow_nan=False)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | st.binary()
KEYS = TEXTS | st.integers() | st.binary() | st.tuples(TEXTS, st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(TEXTS, inner)
        | st.dictionaries(KEYS, inner)
    ),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        pairs = zip(one.items(), other.items(), strict=False)
        return len(one) == len(other) and all(same(a, b) for a, b in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(VALUES)
def test_any_plain_value_survives(value: object) -> None:
    line = pack(value, "it")
    assert b"\n" not in line
    assert same(unpack(line), value)


@given(st.recursive(st.none() | NUMBERS | TEXTS, st.lists))
def test_json_is_sent_as_it_is(value: object) -> None:
    assert json.loads(pack(value, "it")) == value


def test_what_is_no_number_survives() -> None:
    found = unpack(pack([math.nan, math.inf, -math.inf], "it"))
    assert math.isnan(found[0])
    assert found[1:] == [math.inf, -math.inf]


def nested(depth: int) -> object:
    value: object = 1
    for count in range(depth):
        value = [value] if count % 2 else {"a": value}
    return value


def test_the_deepest_survives_and_a_deeper_one_is_refused() -> None:
    assert same(unpack(pack(nested(DEEPEST), "it")), nested(DEEPEST))
    for depth in (DEEPEST + 1, 100_000):
        with pytest.raises(UnfitError, match="the answer is nested more than 100 deep"):
            pack(nested(depth), "the answer")


def test_a_huge_one_is_refused() -> None:
    with pytest.raises(UnfitError, match=r"the answer takes 16,777,220 bytes, and at most 16,777"):
        pack("a" * (MOST_LINE + 2), "the answer")
    with pytest.raises(UnfitError, match="a whole number of more than 4000 digits"):
        pack(10**5000, "the answer")
    assert unpack(pack(-(10**3999), "it")) == -(10**3999)


@pytest.mark.parametrize("value", [{1, 2}, object(), test_a_huge_one_is_refused, iter(())])
def test_what_has_no_form_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(UnfitError, match=f"it holds a value of type {type(value).__name__}"):
        pack([value], "it")


@pytest.mark.parametrize("count", range(len(HOSTILE_VALUES)))
def test_a_hostile_value_is_sent_as_what_it_holds_or_upsets_only_its_own_process(
    count: int,
) -> None:
    try:
        line = pack(HOSTILE_VALUES[count], "it")
    except Exception:  # noqa: BLE001 - its own code runs, in the worker
        return
    unpack(line)


@given(st.binary())
def test_any_bytes_are_a_value_or_refused(line: bytes) -> None:
    with contextlib.suppress(UnfitError):
        unpack(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"!bytes": "xx"}',
        b'{"!bytes": 5}',
        b'{"!tuple": 5}',
        b'{"!dict": [1]}',
        b'{"!dict": [[[], 1]]}',
        b'{"!other": 1}',
        b"9" * 5000,
    ],
)
def test_what_nobody_packs_is_refused(line: bytes) -> None:
    with pytest.raises(UnfitError, match="is not a message"):
        unpack(line)
