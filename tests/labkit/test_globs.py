"""Places as `forbidden:` and `allowed:` name them."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.globs import is_pattern, pattern_problem, within


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("tests", True), ("tests/a", True), ("tests/a/b", True), ("setup.py", True),
        ("tests2/a", False), ("test", False), ("a/tests/b", False), ("setup.pyc", False),
        ("Tests/a", False), ("", False), ("setup.py/x", True),
    ],
)  # fmt: skip
def test_a_prefix_is_a_whole_name(path: str, inside: bool) -> None:  # noqa: FBT001 - a table
    assert within(path, ("tests/", "setup.py")) is inside


PART = st.text("ab.-", min_size=1, max_size=3)


@given(st.lists(PART, min_size=1, max_size=3), st.lists(PART, max_size=3))
def test_whatever_lies_below_a_prefix_is_within_it(prefix: list[str], rest: list[str]) -> None:
    joined = "/".join(prefix)
    path = "/".join([*prefix, *rest])
    assert within(path, (joined,))
    assert within(path, (f"{joined}/",))
    assert not within(joined + "x", (joined,))
    assert not within(path, ())


@pytest.mark.parametrize(
    ("place", "inside", "outside"),
    [
        ("*.md", ["a.md", " .md", "a\n.md", "x.md/in/it"], ["d/a.md", "a.MD", "a.mdx"]),
        ("**/*.md", ["a.md", "d/a.md", "d/e/f.md", "d\nd/a.md"], ["a.mdx", "d/a.MD"]),
        ("src/**/gen_*.py", ["src/gen_a.py", "src/a/b/gen_b.py"], ["gen_a.py", "src/a/xgen_a.py"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs2/a", "adocs/b"]),
        ("docs/*/", ["docs/a", "docs/a/b"], ["doc/a"]),
        ("**/tests", ["tests", "tests/a", "a/tests/b"], ["atests", "tests2/a", "Tests/a"]),
        ("a?.py", ["ab.py", "a\u00e9.py"], ["a/.py", "a.py", "abc.py"]),
        ("[ab].py", ["a.py", "b.py", "[ab].py"], ["c.py"]),
        ("x[!ab].py", ["xc.py"], ["xa.py", "x/.py"]),
        ("x[+-9]y", ["x-y"], ["x/y"]),
        ("pages/[id].js", ["pages/[id].js", "pages/i.js"], ["pages/id.js"]),
        ("**", ["a", "a/b"], []),
        (".env*", [".env", ".env.test"], ["a/.env"]),
    ],
)
def test_patterns_are_read_from_the_root(place: str, inside: list[str], outside: list[str]) -> None:
    assert pattern_problem(place) == ""
    assert [path for path in (*inside, *outside) if within(path, (place,))] == inside


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("!tests/", "nothing can be taken out again"),
        ("a\\b", "holds a backslash"),
        ("src/*.{js,ts}", "write one line for each"),
        ("src/{js,ts}", "write one line for each"),
        ("*.py ", "ends in a blank"),
        ("[a", "is not a pattern"),
        ("[z-a]", "is not a pattern"),
        ("[a[b]", "is not a pattern"),
        ("[[:alpha:]]", "is not a pattern"),
    ],
)
def test_what_is_no_pattern_is_told(text: str, says: str) -> None:
    assert says in pattern_problem(text)


@pytest.mark.parametrize("text", ["tests/", "{{name}}/tests", "a b.py", "#notes", "a{2}.py"])
def test_plain_paths_have_no_problem(text: str) -> None:
    assert not is_pattern(text)
    assert pattern_problem(text) == ""
    assert within(text.rstrip("/"), (text,))


@given(st.text("ab/.*?[]!-{},\\ ", max_size=12), st.text("ab/.\n[]", max_size=12))
@example("[[]", "")
def test_any_place_and_any_path_have_an_answer(place: str, path: str) -> None:
    pattern_problem(place)
    assert within(path, (place,)) in (True, False)


@given(st.lists(st.sampled_from(["a", "b", "*", "?", "**"]), min_size=1, max_size=4),
       st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5))  # fmt: skip
@example(["**", "*", "**"], ["a", "a"])
def test_patterns_mean_what_folders_by_folders_say(pattern: list[str], path: list[str]) -> None:
    """The same, worked out by trying every way to give names to the pattern's parts."""

    def fits(parts: list[str], names: list[str]) -> bool:
        if not parts:
            return True  # and all that lies below
        if parts[0] == "**":
            rest = parts[1:] or ["*"]
            return any(fits(rest, names[count:]) for count in range(len(names)))
        first = parts[0].replace("*", ".*").replace("?", ".")
        return (
            bool(names) and re.fullmatch(first, names[0]) is not None and fits(parts[1:], names[1:])
        )

    place = "/".join(pattern)
    assert within("/".join(path), (place,)) is fits(pattern, path)
