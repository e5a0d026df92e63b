"""What a prompt gives away and what it keeps back, as problems and as notes, with the line."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind
from labkit.model import Category
from labkit.patch.place import Tree
from labkit.scaffold import is_untouched, prompt_skeleton
from labkit_grader.prompt import Background, check_prompt, count_words
from labkit_grader.vocabulary import WORD, code_of

Files = Mapping[str, str]
BASE: Files = {
    "shop/cart.py": (
        "from shop.price import gross\n\n\nclass Cart:\n    def total(self, items):\n"
        "        return sum(gross(item) for item in items)\n"
    ),
    "shop/price.py": "RATE = 119\n\n\ndef gross(item):\n    return item * RATE / 100\n",
    "tests/test_cart.py": "def test_total():\n    pass\n",
    "CHANGES": "Closes #12, see https://example.org/a/issues/12 and commit abcdef1\n",
    "README.md": "A shop. It adds up carts.\n",
}
SOLUTION: Files = {
    **BASE,
    "shop/cart.py": BASE["shop/cart.py"].replace(
        "        return sum(gross(item) for item in items)\n",
        "        # an empty cart costs nothing at all\n"
        "        return self._rounded_sum(items, remainder=0) or clamp_total(items)\n\n"
        "    def _rounded_sum(self, items, remainder):\n"
        '        """Whole cents only."""\n'
        "        return sum(map(gross, items)) + remainder * 8640125\n\n"
        "    def in_currency(self, code):\n"
        '        if not re.match(r"[A-Z]{3}$", code):\n'
        '            raise ValueError("a currency has three letters")\n'
        "        return sorted(convert_all(self, code, symbol=True))\n\n"
        "    @property\n    def __len__(self):\n        return 0\n",
    ),
    "shop/rounding.py": "def clamp_total(items):\n    return max(items)\n",
    "CHANGES": BASE["CHANGES"] + "An empty cart costs nothing (at last).\n",
    "README.md": "A shop.\n",
}
HIDDEN = {
    "tests/test_currencies.py": (
        "from shop.cart import Cart\n\n\ndef test_three_letters():\n"
        "    Cart().in_currency('EUR', symbol=True)\n\n\n"
        "class TestEmpty:\n    def test_total(self):\n        pass\n"
    ),
    "tests/data/prices_2024.csv": "1,2\n",
}
NEUTRAL = "Please look at the cart of an empty shop: the total is not what people would expect.\n"
LONG = f"{NEUTRAL.strip()} It is about in_currency and its symbol.\n"
COMMITS = ("1a2b3c4d5e6f70811a2b3c4d5e6f70811a2b3c4d", "99887766554433221100aabbccddeeff00112233")


def tree(files: Files) -> Tree:
    return {
        path.encode(): Entry(path=path.encode(), kind=Kind.FILE, data=text.encode())
        for path, text in files.items()
    }


def background(
    base: Files = BASE,
    solution: Files = SOLUTION,
    hidden: Files = HIDDEN,
    category: Category = Category.BUGFIX,
) -> Background:
    return Background(
        base=tree(base),
        solution=tree(solution),
        hidden={path: text.encode() for path, text in hidden.items()},
        category=category,
        commits=COMMITS,
    )


NAMES = "the prompt names what only the solution has: "
LINES = "the prompt holds lines of the solution: "
TESTS = "the prompt holds hidden tests by name: "
FILE = "the prompt names files that only the solution has: "
COMMIT = "the prompt names commits of the solution's history: "
LINK = "the prompt points to where the solution was discussed: "
CHANGED = "the prompt names files that the solution changes, which tells where to look: "
LITERAL = "the prompt holds texts or numbers that only the solution has and no hidden test uses: "
WORDS = "the prompt uses words that are names in the solution and stand nowhere in the base: "


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Perhaps with _rounded_sum?", f"{NAMES}_rounded_sum (line 2)"),
        ("clamp_total() and `remainder`", f"{NAMES}clamp_total (line 2), remainder (line 2)"),
        ("Write   `return sum(map(gross, items)) + remainder * 8640125`.", LINES),
        ("Make test_three_letters pass.", f"{TESTS}test_three_letters (line 2)"),
        ("There is a class TestEmpty for it.", f"{TESTS}TestEmpty (line 2)"),
        ("See tests/test_currencies.py.", f"{TESTS}test_currencies (line 2)"),
        ("It goes wrong with prices_2024.csv.", f"{TESTS}prices_2024.csv (line 2)"),
        ("Put it into shop/rounding.py.", f"{FILE}shop/rounding.py (line 2)"),
        ("Put it into rounding.py.", f"{FILE}rounding.py (line 2)"),
        ("As in 1A2B3C4.", f"{COMMIT}1A2B3C4 (line 2)"),
        ("It was mended in 99887766554433221100aabbccddeeff00112233.", f"{COMMIT}9988"),
        ("This is #123.", f"{LINK}#123 (line 2)"),
        ("See ours/shop#7 and GH-8.", f"{LINK}ours/shop#7 (line 2), GH-8 (line 2)"),
        ("See https://example.org/ours/shop/pull/45.", f"{LINK}https://example.org/ours/shop/pull/45"),
        ("It must match [A-Z]{3}$ of course.", "the prompt holds patterns that only the solution"),
        (
            "[What happens, with the shortest input that shows it and the real output or error.]",
            "the prompt still holds what its template asks to replace: [What happens",
        ),
    ],
)  # fmt: skip
def test_what_a_prompt_gives_away(line: str, problem: str) -> None:
    found = check_prompt(f"{LONG}{line}\n", background())
    assert any(told.startswith(problem) for told in found.problems), found
    assert len(found.problems) == 1, found.problems


def test_a_colour_is_no_link() -> None:
    assert check_prompt(f"{LONG}A colour such as #123456 has none.\n", background()).problems == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Write `return -x` there.", 1),
        ("Write ` return  -x ` there.", 1),
        ("It does return -x there.", 0),
    ],
)
def test_a_short_line_that_stands_as_code_is_a_leak(line: str, told: int) -> None:
    base = {b"a.py": Entry(path=b"a.py", kind=Kind.FILE, data=b"def f(x):\n    return x\n")}
    fixed = {b"a.py": replace(base[b"a.py"], data=b"def f(x):\n    return -x\n")}
    against = Background(base=base, solution=fixed, hidden={})
    found = check_prompt(f"The sign of what f gives is wrong today. {line}\n", against)
    assert len(found.problems) == told, found


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("Give it a __len__ then.", f"{WORDS}__len__ (line 2)"),
        ("Sometimes there is a remainder left.", f"{WORDS}remainder (line 2)"),
        ("The seconds are 8640125, oddly.", f"{LITERAL}8640125 (line 2)"),
        ('It should say "a currency has three letters".', f"{LITERAL}a currency has three letters"),
        ("An empty cart costs nothing (at last).", f"{LITERAL}An empty cart costs nothing (at"),
        ("It happens in shop/cart.py.", f"{CHANGED}shop/cart.py (line 2)"),
    ],
)
def test_what_its_author_should_look_at(line: str, note: str) -> None:
    found = check_prompt(f"{LONG}{line}\n", background())
    assert any(told.startswith(note) for told in found.notes), found
    assert found.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        "Please add in_currency(code), with symbol=True for signs.",  # the tests need both
        "`def in_currency(self, code):` is what I have in mind.",
        "gross() and Cart.total() stay; RATE is 119.",
        "test_total in tests/test_cart.py stays as it is.",
        "conftest.py and __init__.py are no secret.",
        "An empty cart costs nothing at all.",  # a comment of the solution
        "Whole cents only.",  # a docstring
        "Closes #12, see https://example.org/a/issues/12 and commit abcdef1",  # as the base says
        "Use #fff and &#8364; and step # 3; C# is no link, 1234567 no commit.",
        "In the year 2024 there were 1000 carts and 100000 items.",
        "A property is a property; use sorted() or isinstance.",
        "def clamp is no line, nor is max(items).",
        "修复购物车 空购物车的总价不对。 Ähnlich für Übergrößen, naïve café.",
    ],
)
def test_what_is_no_leak(line: str) -> None:
    found = check_prompt(f"{LONG}{line}\n", background())
    assert (found.leaks, found.problems, found.notes) == ((), (), ())


def test_a_new_name_that_the_tests_import_has_to_be_told() -> None:
    hidden = {
        "tests/test_new.py": (
            "import shop.rounding as r\nfrom shop.rounding import clamp_total\n"
            "from shop import cart\nfrom json import dumps\n\n\n"
            "def helper_total(): pass\n\n\ndef test_it():\n"
            "    helper_total(clamp_total(cart.convert_all), r.in_currency)\n"
            "    cart.Cart()._rounded_sum(remainder=3)\n"
        )
    }
    found = check_prompt(NEUTRAL, background(hidden=hidden))
    needed = ("clamp_total", "convert_all", "in_currency", "rounding")
    assert found.problems == (
        "the hidden tests import names that the prompt never mentions, so nobody can know them: "
        + ", ".join(needed),
    )
    assert found.notes == (
        "the hidden tests use names that only the solution has and the prompt never mentions: "
        "_rounded_sum, remainder",
    )
    told = f"{NEUTRAL}I want {', '.join(needed)} and _rounded_sum(remainder=1).\n"
    found = check_prompt(told, background(hidden=hidden))
    assert (found.problems, found.notes) == ((), ())
    assert check_prompt(LONG, background(hidden=hidden, category=Category.TESTS)).problems == ()


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("", "0 words, at least 6 are needed"),
        ("Fix.", "1 word, at least 6 are needed"),
        ("It does not work at", "5 words, at least 6 are needed"),
        ("修复空标题", "3 words, at least 6 are needed"),
    ],
)
def test_a_prompt_that_is_too_short_says_the_measure(prompt: str, said: str) -> None:
    (problem,) = check_prompt(prompt, background()).problems
    assert problem.startswith(f"the prompt is too short to act on: {said}; say what happens")


def test_words_are_counted_in_any_script() -> None:
    assert count_words("It's 2 words, über-all") == 5
    assert count_words("空标题的链接是空的应该是横线") == 7
    assert count_words("Пустой заголовок даёт пустую ссылку") == 5


@pytest.mark.parametrize("category", Category)
def test_an_untouched_template_is_told_line_by_line(category: Category) -> None:
    skeleton = prompt_skeleton(category, ("pkg/tests/", "test_x.py"))
    assert is_untouched(skeleton, category)
    found = check_prompt(skeleton, background(category=category))
    assert any("still holds what its template" in problem for problem in found.problems)
    assert found.leaks == ()
    half = skeleton.replace("[", "", 2)
    assert not is_untouched(half, category)
    assert not is_untouched(LONG, category)


def test_without_a_solution_only_the_rest_is_looked_at() -> None:
    found = check_prompt(f"{LONG}_rounded_sum and 1a2b3c4\n", background(solution=BASE))
    assert found.problems == (f"{COMMIT}1a2b3c4 (line 2)",)


def test_the_tests_of_a_tests_task_are_its_solution() -> None:
    solution = {**BASE, "tests/test_cart.py": "def test_total():\n    assert total_of([]) == 0\n"}
    prompt = f"{LONG}Write `assert total_of([]) == 0` in tests/test_cart.py.\n"
    hidden = {"tests/test_reference.py": "def test_reference(): pass\n"}
    found = check_prompt(
        prompt, background(solution=solution, hidden=hidden, category=Category.TESTS)
    )
    assert found.problems == (f"{LINES}assert total_of([]) == 0 (line 2)",)


@pytest.mark.parametrize(
    ("path", "source", "leak"),
    [
        (
            "web/cart.js",
            "// helper\nexport function sumOfItems(list) { return 1; }\n",
            "sumOfItems",
        ),
        ("cart.go", "/* note */\nfunc roundCents(x int) int { return x }\n", "roundCents"),
        ("run.sh", "# remark_here\nround_it() { echo 1; }\n", "round_it"),
        ("old.py", "print 'python 2'\nround_cents = lambda: 0\n", "round_cents"),
    ],
)
def test_other_languages_are_read_by_their_words(path: str, source: str, leak: str) -> None:
    found = check_prompt(
        f"{LONG}Is it {leak}, remark_here?\n", background(solution={**BASE, path: source})
    )
    assert found.problems == (f"{NAMES}{leak} (line 2)",)


def test_names_of_tests_in_other_languages() -> None:
    hidden = {
        "cart.test.js": "import { sumOfItems } from './cart';\nit('adds nothing to nothing', f);\n",
        "cart_test.go": "func TestRounds(t *testing.T) {}\n",
    }
    solution = {**BASE, "cart.js": "export function sumOfItems(a) {}\n"}
    given = background(solution=solution, hidden=hidden)
    found = check_prompt(f"{LONG}It adds nothing to nothing; TestRounds.\n", given)
    assert found.problems == (
        f"{TESTS}TestRounds (line 2), adds nothing to nothing (line 2)",
        "the hidden tests import names that the prompt never mentions, so nobody can know them: "
        "sumOfItems",
    )


def test_texts_of_a_call_count_and_documentation_does_not() -> None:
    lines = (
        '"""Module doc."""', "# c", '"""More doc."""', "f(", '    "a text",', '    x="b text"  # c',
        '    "c",', ")", "def g():", "    # c", '    "Doc of g."', "",
    )  # fmt: skip
    found = code_of(b"a.py", "\n".join(lines).encode())
    assert found.strings == {"a text", "b text", "c"}
    assert found.names == {"f", "x", "def", "g"}
    assert found.lines == {"f(", '"a text",', 'x="b text" # c', '"c",', ")", "def g():"}


def test_binary_and_broken_files_are_no_trouble() -> None:
    raw = tree(SOLUTION)
    odd = {
        b"a.py": Entry(path=b"a.py", kind=Kind.FILE, data=b"\0\xff" * 50),
        b"b\xff.py": Entry(path=b"b\xff.py", kind=Kind.FILE, data=b"def \xff(:\n"),
        b"c.png": Entry(path=b"c.png", kind=Kind.FILE, data=b"\x89PNG\0"),
    }
    found = check_prompt(
        NEUTRAL,
        Background(
            base=tree(BASE), solution={**raw, **odd}, hidden={"x.py": b"\0", "tests/y.py": b"def ("}
        ),
    )
    assert found.problems == ()


base_words = sorted({word for text in BASE.values() for word in WORD.findall(text)})
spacing = st.sampled_from([" ", "\n", ", ", ". ", "\t"])


@given(st.lists(st.tuples(st.sampled_from(base_words), spacing), max_size=40))
def test_words_of_the_base_alone_never_leak(parts: list[tuple[str, str]]) -> None:
    prompt = "".join(word + space for word, space in parts)
    assert check_prompt(prompt, background()).leaks == ()


@given(st.text(max_size=200))
def test_every_prompt_can_be_checked(prompt: str) -> None:
    found = check_prompt(prompt, background())
    lines = len(prompt.splitlines())
    assert all(0 <= one.line <= lines for one in found.remarks)


@given(st.binary(max_size=300), st.sampled_from([b"a.py", b"a.js", b"a.sh", b"a.go"]))
def test_every_file_can_be_read(data: bytes, path: bytes) -> None:
    code_of(path, data)


def more(line: str, *, base: str = "", hidden: str = "", source: str = "") -> tuple[str, ...]:
    """Return what is found when a source file is added to the solution, and other files to both."""
    files = {**BASE, "notes.md": base}
    found = check_prompt(
        f"{NEUTRAL}{line}\n",
        background(
            base=files,
            solution={**files, "shop/more.py": source},
            hidden={"tests/test_more.py": hidden},
        ),
    )
    return found.problems + found.notes


LINE = "every_cent = round_up(total, every=5)"


@pytest.mark.parametrize(
    ("line", "source", "known"),
    [
        ("Is it round_up?", "round_up = 1\n", "round_up"),
        (LINE, f"{LINE}\n", LINE),
        ("It says too many carts, oddly.", 'x = "too many carts"\n', "too many carts"),
        ("It takes 86399 seconds.", "x = 86399\n", "86399"),
    ],
    ids=["name", "line", "text", "number"],
)
def test_what_stands_in_the_base_or_in_a_hidden_test_is_told_freely(
    line: str, source: str, known: str
) -> None:
    assert len(more(line, source=source)) == 1
    assert more(line, source=source, base=f"Elsewhere: {known}.\n") == ()
    assert more(line, source=source, hidden=f"# {known}\n") == ()


def test_years_and_single_words_are_no_literals_to_tell() -> None:
    source = 'x = "marzipan"\ny = 2031\nz = 100000\n'
    assert more("No marzipan in 2031, not for 100000.", source=source) == ()


def test_names_of_the_tests_own_and_of_other_libraries_need_not_be_told() -> None:
    source = "round_up = make_cart = 1\n"
    hidden = "from elsewhere import round_up\nfrom tests.test_more import make_cart\n"
    assert more("", source=source, hidden=f"{hidden}def make_cart(): pass\n") == ()
    (problem,) = more("", source=source, hidden=hidden.replace("elsewhere", "shop.cart"))
    assert problem.endswith("nobody can know them: make_cart, round_up")
    (problem,) = more("", source=source, hidden="from .shop import round_up\n")
    assert problem.endswith("nobody can know them: round_up")
