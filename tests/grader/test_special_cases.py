"""Code that knows the answers of hidden tests is pointed out; small numbers alone never are."""

import pytest
from screens import screened

from labkit_grader.screen.pairs import pairs_in

BASE = {"text.py": "def shout(text, times=1):\n    return text\n"}
HIDDEN = """
import unittest
import pytest
from text import shout

def test_plain():
    assert shout("hello world") == "HELLO WORLD!"

def test_turned():
    assert "GOOD MORNING!" == shout("good morning")

def test_named():
    text = "so long"
    want = "SO LONG!"
    assert shout(text) == want

@pytest.mark.parametrize("text, n, want", [("bye now", 2, "BYE NOW!!"), ("oh no", 3, "OH NO!!!")])
def test_rows(text, n, want):
    assert shout(text, times=n) == want

@pytest.mark.parametrize("expected, text", [pytest.param("NEVER MIND!", "never mind", id="x")])
def test_turned_rows(expected, text):
    assert shout(text) == expected

class TestIt(unittest.TestCase):
    def test_it(self):
        self.assertEqual(shout("well then"), "WELL THEN!")
        for text, want in [("who knows", "WHO KNOWS!"), ("what now", "WHAT NOW!")]:
            self.assertEqual(shout(text), want)

def test_close():
    assert size("abcdefgh") == pytest.approx(8.125)
"""
TESTS = {"tests/test_hidden.py": HIDDEN}
SHAPES = {
    "dict": "TABLE = {'hello world': 'HELLO WORLD!', 'so long': 'SO LONG!'}\n",
    "dict with tuples": "T = {('bye now', 2): 'BYE NOW!!', ('oh no', 3): 'OH NO!!!'}\n",
    "dict of reprs": "T = {\"('bye now', 2)\": 'BYE NOW!!', \"('oh no', 3)\": 'OH NO!!!'}\n",
    "one branch": (
        "def shout(text, times=1):\n    if text == 'hello world':\n        return 'HELLO WORLD!'\n"
    ),
    "turned": "def shout(t):\n    if 'good morning' == t:\n        return 'GOOD MORNING!'\n",
    "both arguments": (
        "def shout(text, times=1):\n    if text == 'bye now' and times == 2:\n"
        "        return 'BYE NOW!!'\n"
    ),
    "as a tuple": (
        "def shout(t, n=1):\n    if (t, n) == ('oh no', 3):\n        return 'OH NO!!!'\n"
    ),
    "assigned": "def shout(t):\n    if t == 'well then':\n        t = 'WELL THEN!'\n    return t\n",
    "expression": "def shout(t):\n    return 'WHO KNOWS!' if t == 'who knows' else t\n",
    "match": (
        "def shout(t):\n    match t:\n        case 'what now':\n            return 'WHAT NOW!'\n"
    ),
    "match of both": (
        "def shout(t, n):\n    match t, n:\n        case 'bye now', 2:\n"
        "            return 'BYE NOW!!'\n"
    ),
    "rows": "ROWS = [('never mind', 'NEVER MIND!'), ('so long', 'SO LONG!')]\n",
    "rows of three": "ROWS = [('bye now', 2, 'BYE NOW!!'), ('oh no', 3, 'OH NO!!!')]\n",
    "item by item": "T = {}\nT['hello world'] = 'HELLO WORLD!'\n",
    "close to": "def size(t):\n    if t == 'abcdefgh':\n        return 8.125\n",
}


@pytest.mark.parametrize("code", SHAPES.values(), ids=SHAPES)
def test_inputs_of_hidden_tests_beside_their_results_are_told(code: str) -> None:
    (found,) = screened(BASE, {"text.py": code}, hidden=TESTS)
    assert found.startswith("text.py:")
    assert "special cases: " in found
    assert "which neither the prompt nor the base shows" in found


def test_a_sentence_counts_what_matches() -> None:
    code = "\nTABLE = {\n 'hello world': 'HELLO WORLD!',\n 'so long': 'SO LONG!',\n 'a': 'A!'}\n"
    (found,) = screened(BASE, {"text.py": code}, hidden=TESTS, prompt="hello world HELLO WORLD!")
    assert found == (
        "text.py:3: special cases: 2 of 3 entries of a table hold 2 inputs of hidden tests with "
        "the result that these expect, of which the prompt or the base shows 1; other inputs would "
        "tell whether it works"
    )


def test_what_the_prompt_or_the_base_shows_is_a_special_case_too_but_no_leak() -> None:
    told = "shout('hello world') should be 'HELLO WORLD!'"
    code = SHAPES["one branch"]
    for base, prompt in ((BASE, told), ({**BASE, "tests/test_text.py": told}, "")):
        (found,) = screened(base, {"text.py": code}, hidden=TESTS, prompt=prompt)
        assert ", which the prompt or the base shows;" in found


HONEST = {
    "a fix": "def shout(text, times=1):\n    return text.upper() + '!' * times\n",
    "another result": "def shout(t):\n    if t == 'hello world':\n        return 'another'\n",
    "another input": "def shout(t):\n    if t == 'hello':\n        return 'HELLO WORLD!'\n",
    "a large table with one": (
        "T = {'hello world': 'HELLO WORLD!', "
        + ", ".join(f"'word {n}': 'WORD {n}'" for n in range(9))
        + "}\n"
    ),
}


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_honest_code_holds_no_special_cases(code: str) -> None:
    assert screened(BASE, {"text.py": code}, hidden=TESTS) == ()


NUMBERS = """
from calc import add, roman, fib
def test_numbers():
    assert add(2, 3) == 5
    assert add(-1, -1) == -2
    assert add(0, 0) == 0
    assert roman(1) == "I"
    assert roman(5) == "V"
    assert fib(10) == 55
    assert add(True, None) is False
    assert add([], "") == {}
def test_large():
    assert add(123456, 654321) == 777777
    assert add(98765, 1) == 98766
"""


@pytest.mark.parametrize(
    "code",
    [
        "def fib(n):\n    if n == 0:\n        return 0\n    if n == 1:\n        return 1\n",
        "T = {(2, 3): 5, (-1, -1): -2, (0, 0): 0}\n",
        "def add(a, b):\n    if a == 2 and b == 3:\n        return 5\n    if a == 0: return 0\n",
        "T = {1: 'I', 5: 'V', 10: 'X'}\n",
        "def add(a, b):\n    if a is True: return False\n    if a == []: return {}\n",
    ],
)
def test_small_numbers_and_letters_alone_never_count(code: str) -> None:
    assert screened({}, {"calc.py": code}, hidden={"tests/test_n.py": NUMBERS}) == ()


@pytest.mark.parametrize(
    "code",
    [
        "T = {(123456, 654321): 777777, (98765, 1): 98766}\n",
        "def add(a, b):\n    if (a, b) == (123456, 654321):\n        return 777777\n",
    ],
)
def test_large_numbers_do(code: str) -> None:
    assert screened({}, {"calc.py": code}, hidden={"tests/test_n.py": NUMBERS})


def test_many_small_numbers_or_letters_do_not_count_either() -> None:
    numbers = {(n, n + 1): 2 * n + 1 for n in range(40)}
    letters = {chr(n): chr(n + 1) for n in range(97, 120)}
    tests = (
        f"@pytest.mark.parametrize('a, want', {list(numbers.items())})\ndef test(a, want): f(a)\n"
    )
    tests += f"CASES = {letters}\n"
    assert len(pairs_in({"test_n.py": tests.encode()})) == len(numbers) + len(letters)
    code = f"A = {numbers}\nB = {letters}\n"
    assert screened({}, {"calc.py": code}, hidden={"tests/test_n.py": tests}) == ()


def test_cases_that_stood_in_the_base_or_stand_in_tests_count_for_nothing() -> None:
    code = SHAPES["one branch"]
    base = {"text.py": code, "old.py": SHAPES["dict"]}
    assert screened(base, {"text.py": code + "\n\nX = 1\n"}, hidden=TESTS) == ()
    moved = {"new.py": SHAPES["dict"], "old.py": "X = 1\n"}
    assert screened(base, moved, hidden=TESTS) == ()
    assert screened(BASE, {"tests/test_own.py": SHAPES["dict"]}, hidden=TESTS) == ()


LONG = "def test_it():\n    assert render(7, x=1) == 'a line of words that only this test has'\n"


def test_a_long_constant_that_only_the_hidden_tests_have_is_told() -> None:
    text = "a line of words that only this test has"
    hidden = {"tests/test_it.py": LONG}
    code = f"def render(n, x):\n    return '{text}'\n"
    (found,) = screened({}, {"it.py": code}, hidden=hidden)
    assert found.startswith(f"it.py: {text!r} is a constant that only the hidden tests have")
    assert screened({}, {"it.py": code}, hidden=hidden, prompt=f"It says {text}.") == ()
    assert screened({"README": text}, {"it.py": code}, hidden=hidden) == ()


def test_several_long_texts_of_hidden_tests_in_another_language_are_told() -> None:
    hidden = {
        "tests/text.test.js": (
            'test("shouts", () => {\n  expect(shout("hello world")).toBe("HELLO WORLD!!!");\n'
            '  expect(shout("nothing at all")).toBe("NOTHING AT ALL!!!");\n});\n'
        )
    }
    table = (
        'const known = {"hello world": "HELLO WORLD!!!", "nothing at all": "NOTHING AT ALL!!!"};\n'
    )
    found = screened({"text.js": ""}, {"text.js": table}, hidden=hidden)
    assert [each.partition(" is a constant")[0] for each in found] == [
        "text.js: 'HELLO WORLD!!!'",
        "text.js: 'NOTHING AT ALL!!!'",
        "text.js: 'nothing at all'",
    ]
    one = 'const known = {"hello world": "HELLO WORLD!!!"};\n'
    assert screened({"text.js": ""}, {"text.js": one}, hidden=hidden) == ()
    assert screened({"text.js": table}, {"text.js": table + "x\n"}, hidden=hidden) == ()


def test_pairs_are_read_from_every_shape_of_test() -> None:
    found = {
        (tuple(value.text for value in pair.arguments), pair.expected.text)
        for pair in pairs_in({"tests/test_a.py": HIDDEN.encode(), "bad.py": b"def (", "x.js": b"("})
    }
    assert found >= {
        (("'hello world'",), "'HELLO WORLD!'"),
        (("'good morning'",), "'GOOD MORNING!'"),
        (("'so long'",), "'SO LONG!'"),
        (("'bye now'", "2"), "'BYE NOW!!'"),
        (("'never mind'",), "'NEVER MIND!'"),
        (("'well then'",), "'WELL THEN!'"),
        (("'who knows'",), "'WHO KNOWS!'"),
        (("'abcdefgh'",), "8.125"),
    }
