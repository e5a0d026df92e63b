"""Tests with wrong expectations: right code fails them, and code that cheats passes them."""

import ast
import math
import re
import textwrap
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit_grader.plugin import labkit_trial
from labkit_grader.pysource import Source, parse
from labkit_grader.twins.edits import Edit, edited
from labkit_grader.twins.guards import Noticed, python_twin, trial_files
from labkit_grader.twins.sites import Site, find_sites
from labkit_grader.twins.text import wrong_text
from labkit_grader.twins.wrong import Plain, word, wrong

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(max_size=20)
)


@given(value=PLAIN, seed=st.integers(0, 2**32))
def test_a_wrong_value_is_never_equal_however_loosely(value: Plain, seed: int) -> None:
    made = wrong(value, Random(seed))  # noqa: S311 - a test
    assert made != value
    if value is not None:
        assert type(made) is type(value)
    match value, made:
        case bool(), _:
            pass
        case str(), str():
            assert made.casefold().split() != value.casefold().split()
        case int() | float(), int() | float() if math.isfinite(value):
            assert not math.isclose(made, value, rel_tol=0.4, abs_tol=0.4)
        case _:
            pass


def test_words_can_name_things() -> None:
    chance = Random(1)  # noqa: S311
    for _ in range(2000):
        ast.parse(f"def {word(chance)}(): pass")


@given(data=st.binary(max_size=60), places=st.lists(st.integers(0, 60), max_size=6))
def test_insertions_leave_all_other_bytes(data: bytes, places: list[int]) -> None:
    edits = [
        Edit(start=min(p, len(data)), end=min(p, len(data)), text="\N{SNOWMAN}") for p in places
    ]
    made = edited(data, edits)
    assert len(made) == len(data) + 3 * len(edits)
    if b"\xe2" not in data:
        assert made.replace("\N{SNOWMAN}".encode(), b"") == data


def test_a_class_that_is_one_test_has_sites() -> None:
    data = b"class One(TestCase):\n    def runTest(self):\n        assert f() == 1\n"
    assert [site.owner for site in sites_of(data)] == ["One.runTest"]


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        edited(b"abcdef", [Edit(start=0, end=3, text=""), Edit(start=2, end=4, text="")])


SHAPES = {
    "number": "assert add(2, 3) == 5",
    "on the left": "assert 5 == add(2, 3)",
    "negative": "assert add(-2, -3) == -5",
    "text": "assert shout('a b') == 'A B'",
    "bytes": "assert shout('ab').encode() == b'AB'",
    "list": "assert [add(1, 1)] == [2]",
    "nested": "assert {'a': [add(1, 1)]} == {'a': [2]}",
    "empty list": "assert list(shout('')) == []",
    "empty dict": "assert dict() == {}",
    "empty text": "assert shout('') == ''",
    "builder": "from decimal import Decimal\n    assert Decimal(add(1, 1)) == Decimal('2')",
    "name": "assert add(2, 3) == FIVE",
    "expression": "assert add(2, 3) == 2 + FIVE - 2",
    "held": "want = 5\n    assert add(2, 3) == want",
    "held list": "want = [5]\n    assert [add(2, 3)] == want",
    "loop": "for a, want in [(2, 5), (3, 6)]:\n        assert add(a, 3) == want",
    "first of and": "assert add(2, 3) == 5 and True",
    "truth": "assert is_even(add(1, 1))",
    "not": "assert not is_even(add(1, 2))",
    "less": "assert add(1, 2) < 4",
    "in": "assert add(1, 2) in (3, 4)",
    "is": "assert nothing() is None",
    "chained": "assert 1 < add(1, 1) < 3",
    "message": "assert add(2, 3) == 5, 'five'",
    "many lines": "assert (\n        add(2, 3)\n        == 5\n    )",
    "walrus": "assert (got := add(2, 3)) == 5",
    "raises": "with raises(ZeroDivisionError):\n        divide(1, 0)",
    "raises and more": "with raises(ZeroDivisionError) as e:\n        divide(1, 0)\n    str(e)",
    "called raises": "raises(ZeroDivisionError, divide, 1, 0)",
    "no assertion": "add(2, 3)",
    "in a loop of a name": "rows = [2, 3]\n    for n in rows:\n        assert add(n, 0) == n",
    "in a loop of rows": "for n in range(2):\n        assert add(n, 3) == n + 3",
    "in with": "with open_nothing():\n        assert add(2, 3) == 5",
    "in try finally": "try:\n        assert add(2, 3) == 5\n    finally:\n        add(1, 1)",
    "non-ASCII before": "assert 'é' and add(2, 3) == 5",
}
RIGHT = """
import contextlib
FIVE = 5
def add(a, b): return a + b
def shout(s): return s.upper()
def is_even(n): return n % 2 == 0
def divide(a, b): return a / b
def nothing(): return None
open_nothing = contextlib.nullcontext
class raises:
    def __init__(self, kind, *call):
        self.kind = kind
        if call:
            with self: call[0](*call[1:])
    def __enter__(self): return self
    def __exit__(self, kind, error, trace):
        if kind is None: raise AssertionError('did not raise')
        return issubclass(kind, self.kind)
"""


def run(text: bytes, test: str = "test_it") -> str:
    """Run one test function beside right code, and return how it ended."""
    space: dict[str, object] = {}
    exec(RIGHT, space)  # noqa: S102 - our own text
    exec(text, space)  # noqa: S102
    try:
        space[test]()  # type: ignore[operator] # a function of the text
    except Exception as error:  # noqa: BLE001 - any end but a good one
        return type(error).__name__
    return "passed"


def sites_of(data: bytes, seed: int = 0) -> tuple[Site, ...]:
    source = Source(path="test_a.py", data=data, module=parse(data, "test_a.py"))
    return find_sites(source, Random(seed))  # noqa: S311


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_right_code_fails_every_wrong_expectation(shape: str, seed: int) -> None:
    data = f"def test_it():\n    {SHAPES[shape]}\n".encode()
    assert run(data) == "passed"
    sites = sites_of(data, seed)
    assert sites
    for site in sites:
        assert run(edited(data, site.wrong)) != "passed", edited(data, site.wrong).decode()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_trial_goes_on_and_notices(shape: str) -> None:
    data = f"def test_it():\n    {SHAPES[shape]}\n".encode()
    told: list[bool] = []

    class Trial:
        def truth(self, _file: str, _site: int, wrong: object) -> None:
            told.append(not wrong())  # type: ignore[operator]

        def value(self, _file: str, _site: int, wrong: object) -> None:
            told.append(not wrong)

        def reach(self, _file: str, _site: int) -> None:
            told.append(True)

    made = trial_files({"test_a.py": data}, "seed")["test_a.py"]
    text = made.replace(b"_labkit_trial", b"TRIAL")
    space: dict[str, object] = {"TRIAL": Trial()}
    exec(RIGHT, space)  # noqa: S102
    exec(text, space)  # noqa: S102
    space["test_it"]()  # type: ignore[operator]
    assert told
    assert all(told)


CHEATS = {
    "equal to all": "class E(int):\n    __eq__ = lambda *_: True\n    __hash__ = int.__hash__\n"
    "def add(a, b): return E(0)\n",
    "peeks at names": "import sys\ndef add(a, b): return sys._getframe(1).f_locals['want']\n",
}


@pytest.mark.parametrize(
    ("cheat", "shape"),
    [("equal to all", shape) for shape in ("number", "on the left", "list", "name", "expression")]
    + [("equal to all", shape) for shape in ("held", "first of and", "message", "walrus")]
    + [("peeks at names", shape) for shape in ("held", "loop")],
)
def test_a_cheat_passes_with_a_wrong_expectation_too(cheat: str, shape: str) -> None:
    data = f"def test_it():\n    {SHAPES[shape]}\n".encode()
    for site in sites_of(data):
        made = edited(data, site.wrong) + CHEATS[cheat].encode()
        assert run(made) == "passed", made.decode()


SWALLOWED = {
    "in try": "try:\n        assert add(2, 3) == 5\n    except AssertionError:\n        pass",
    "in raises": "with raises(AssertionError):\n        assert add(2, 3) == 6",
    "in a function of its own": "def check():\n        assert add(2, 3) == 5\n    keep = check",
    "in suppress": "with contextlib.suppress(Exception):\n        assert add(2, 3) == 5",
}


@pytest.mark.parametrize("shape", SWALLOWED)
def test_assertions_that_something_can_swallow_are_left_alone(shape: str) -> None:
    data = f"def test_it():\n    {SWALLOWED[shape]}\n".encode()
    for site in sites_of(data):
        made = edited(data, site.wrong)
        assert b"assert add(2, 3) == " in made
        assert run(made) != "passed"


UNCERTAIN = {
    "in if": "if FIVE:\n        assert add(2, 3) == 5",
    "in while": "n = 1\n    while n:\n        assert add(2, 3) == 5\n        n = 0",
    "in a loop over results": "for n in shout('AB'):\n        assert n == n.upper()",
    "over a name of results": "rows = shout('A')\n    for n in rows:\n        assert n == 'A'",
    "over nothing": "for n in []:\n        assert add(2, 3) == 6",
    "behind a return": "if add(1, 1) == 2:\n        return\n    assert add(2, 3) == 6",
    "behind a continue": "for n in (1, 2):\n        if n:\n            continue\n        assert n",
}


@pytest.mark.parametrize("shape", UNCERTAIN)
def test_assertions_that_an_honest_solution_may_never_come_to_are_left_alone(shape: str) -> None:
    text = f"def test_it():\n    {UNCERTAIN[shape]}\n"
    assert run(text.encode()) == "passed"
    sites = sites_of(text.encode())
    assert not sites or "return" not in text
    for site in sites:  # at most the end of the test
        made = edited(text.encode(), site.wrong).decode()
        assert made.startswith(text.rstrip("\n"))


HANDED_ON = """
def check(got, want):
    assert got == want

def test_it():
    {use}
    assert add(2, 3) == 5
"""


@pytest.mark.parametrize(
    ("use", "count"), [("check(1, 1)", 2), ("run(check)", 1), ("run(lambda: check(1, 1))", 2)]
)
def test_a_function_that_asserts_for_tests_counts_unless_it_is_handed_on(
    use: str, count: int
) -> None:
    assert len(sites_of(HANDED_ON.format(use=use).encode())) == count


ROWS = """
import pytest

@pytest.mark.parametrize("a, b, want", [(2, 3, 5), pytest.param(1, 1, 2, id="ones")])
def test_add(a, b, want):
    assert add(a, b) == want
"""


def test_rows_of_parameters_are_changed_where_they_stand() -> None:
    data = textwrap.dedent(ROWS).encode()
    (site,) = sites_of(data)
    made = edited(data, site.wrong).decode()
    assert "(2, 3, 5)" not in made
    assert "1, 1, 2" not in made
    assert "assert add(a, b) == want" in made


def test_rows_that_are_not_written_out_are_rebound() -> None:
    data = b"""
import pytest
@pytest.mark.parametrize("a, want", CASES)
def test_add(a, want):
    "Adds."
    assert add(a) == want
"""
    (site,) = sites_of(data)
    lines = edited(data, site.wrong).decode().splitlines()
    assert lines[5].startswith("    want = (want, '")
    assert lines[6] == "    assert add(a) == want"


def test_a_twin_changes_one_site_of_each_function() -> None:
    data = b"""
def test_one():
    assert f() == 1
    assert f() == 1
def test_two():
    assert g() == 2
"""
    one, again, two = (site.place for site in sites_of(data))
    noticed: Noticed = {"t::test_one": {"t.py": (one, again)}, "t::test_two": {"t.py": (two,)}}
    seen = set()
    for seed in map(str, range(20)):
        twin = python_twin({"t.py": data}, noticed, tuple(noticed), seed)
        lines = twin.files["t.py"].decode().splitlines()
        changed = [n for n, line in enumerate(lines) if line not in data.decode().splitlines()]
        assert len(changed) == 2
        assert twin.tests == ("t::test_one", "t::test_two")
        seen.add(changed[0])
    assert seen == {2, 3}


def test_places_that_this_kit_does_not_find_are_left_alone() -> None:
    """Evidence outlives the kit that sealed it."""
    data = b"def test_one():\n    assert f() == 1\n"
    twin = python_twin({"t.py": data}, {"t::test_one": {"t.py": (3, 99999)}}, ("t::test_one",), "s")
    assert (dict(twin.files), twin.tests) == ({}, ())


def test_a_trial_that_has_told_enough_still_tells_what_is_blunt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(labkit_trial, "_MOST_LINES", 1)
    lines: list[tuple[int, bool]] = []

    class Report:
        def write(self, _kind: str, *, site: int, noticed: bool, **_more: object) -> None:
            lines.append((site, noticed))

    trial = labkit_trial.Trial(Report())  # type: ignore[arg-type] # what it needs of a report
    for site, noticed in ((1, True), (2, True), (1, True), (1, False), (1, True)):
        trial.tell("t.py", site, noticed=noticed)
    assert lines == [(1, True), (1, False)]


LOUD = {"truth", "not", "less", "in", "raises", "no assertion", "name", "loop"}


@pytest.mark.parametrize("shape", ["number", "text", "list", "held", "first of and", *sorted(LOUD)])
def test_a_quiet_site_has_nothing_that_a_right_test_would_not_have(shape: str) -> None:
    sites = sites_of(f"def test_it():\n    {SHAPES[shape]}\n".encode())
    assert [site.is_quiet for site in sites] == [shape not in LOUD]


@pytest.mark.parametrize(
    ("cookie", "is_changed"),
    [("", True), ("# -*- encoding: utf8 -*-", True), ("# coding: latin-1", False)],
)
def test_places_are_counted_in_utf_8(cookie: str, is_changed: bool) -> None:  # noqa: FBT001
    data = f"{cookie}\ndef test_one():\n    assert f() == 1\n".encode()
    assert bool(trial_files({"t.py": data}, "seed")) is is_changed
    assert trial_files({"t.py": b"# coding: nonsense\n"}, "seed") == {}


def test_a_twin_is_of_the_tests_that_notice_it() -> None:
    data = b"def test_one():\n    assert f() == 1\ndef test_two():\n    assert g() == 2\n"
    place = sites_of(data)[1].place
    twin = python_twin(
        {"t.py": data}, {"t::test_two": {"t.py": (place,)}}, ("t::test_one", "t::test_two"), "s"
    )
    assert twin.tests == ("t::test_two",)
    assert b"assert f() == 1" in twin.files["t.py"]


TEXTS = {
    "a.test.js": ("assert.strictEqual(add(2, 3), 5);", "add(2, 3)"),
    "b.test.js": ("expect(add(2, 3)).toBe(5)", "add(2, 3)"),
    "c.test.ts": ("expect(name()).toEqual('bo b')", "name()"),
    "T.java": ("assertEquals(5, add(2, 3));", "add(2, 3)"),
    "a.rs": ("assert_eq!(add(2, 3), 5);", "add(2, 3)"),
    "a.rb": ("assert_equal 5, add(2, 3)", "add(2, 3)"),
    "a.sh": ('[ "$(add 2 3)" = 5 ] || exit 1', "add 2 3"),
    "b.sh": ('test "$(add 2 3)" -eq 5', "add 2 3"),
    "test_a.py": ("assert add(2, 3) == 5", "add(2, 3)"),
    "test_b.py": ("self.assertEqual(add(2, 3), 5)", "add(2, 3)"),
    "a_test.go": ("assert.Equal(t, 5, add(2, 3))", "add(2, 3)"),
}


@pytest.mark.parametrize("path", TEXTS)
def test_expectations_of_other_languages_are_changed(path: str) -> None:
    line, kept = TEXTS[path]
    made = wrong_text(path, f"{line}\n".encode(), Random(3))  # noqa: S311
    assert made is not None
    assert made.decode() != f"{line}\n"
    assert kept in made.decode()
    assert made.decode().replace(kept, "").strip() != line.replace(kept, "")


@pytest.mark.parametrize("path", ["a.test.js", "test_a.py"])
def test_numbers_in_texts_are_changed_whatever_their_sign_and_stay_small(path: str) -> None:
    line = {"a.test.js": "assert.equal(f(), -5);", "test_a.py": "assert f() == -5"}[path]
    made = {wrong_text(path, line.encode(), Random(seed)) for seed in range(99)}  # noqa: S311
    wanted = {line.replace("5", str(digit)).encode() for digit in (0, 1, 2, 3, 7, 8, 9)}
    assert made == wanted


def test_a_wrong_value_is_written_as_the_file_writes_its_own() -> None:
    data = b'def test_one():\n    assert f() == "bo b"\ndef test_two():\n    assert f() == 0.25\n'
    one, two = (site.place for site in sites_of(data))
    noticed: Noticed = {"t::test_one": {"t.py": (one,)}, "t::test_two": {"t.py": (two,)}}
    for seed in map(str, range(20)):
        made = python_twin({"t.py": data}, noticed, tuple(noticed), seed).files["t.py"].decode()
        assert re.search(r'f\(\) == "(?:[a-z]o b|b[aeiu] b|bo [a-z])"\n', made)
        assert re.search(r"f\(\) == [0-9]+\.[0-9]{1,2}\n", made)


@given(st.text(max_size=20), st.randoms(use_true_random=False))
def test_a_wrong_text_differs_whatever_its_case_and_has_its_vowels(
    text: str, chance: Random
) -> None:
    made = wrong(text, chance)
    assert isinstance(made, str)
    assert made.casefold() != text.casefold()
    if len(made) == len(text):
        assert [each in "aeiouAEIOU" for each in made] == [each in "aeiouAEIOU" for each in text]


@given(st.integers(min_value=-9, max_value=9), st.randoms(use_true_random=False))
def test_a_digit_is_wrong_by_another_digit(value: int, chance: Random) -> None:
    made = wrong(value, chance)
    assert isinstance(made, int)
    assert abs(made) < 10
    assert abs(made - value) > 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.test.js", "const add = require('./calc')\nlet x = 5\n// assert.equal(add(2, 3), 5)\n"),
        ("a.unknown", "assert_equal 5, add(2, 3)\n"),
        ("a.sh", "X=5\nexport NAME='five'\n"),
        ("a.test.js", ""),
    ],
)
def test_what_is_no_expectation_stays(path: str, text: str) -> None:
    assert wrong_text(path, text.encode(), Random(3)) is None  # noqa: S311


@given(st.binary(max_size=300))
def test_any_bytes_are_no_trouble(data: bytes) -> None:
    wrong_text("a.test.js", data, Random(1))  # noqa: S311
    trial_files({"test_a.py": data}, "seed")
