"""What kind of work a commit was, by its message and its paths, and the reason that is given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.guess import guess, headline, new_public_names
from labkit.model import Category
from labkit.testpaths import PathKind

BOTH = (PathKind.SOURCE, PathKind.TEST)


@pytest.mark.parametrize(
    ("message", "kinds", "names", "category", "reason"),
    [
        ("More", (PathKind.TEST,), 0, "tests", "it touches nothing but tests"),
        ("Fix docs", (PathKind.DOCS, PathKind.TEST), 0, "other", "it touches no source file"),
        ("fix(slug): x", BOTH, 3, "bugfix", 'its message begins with "fix(slug):"'),
        ("feat!: x", BOTH, 0, "feature", 'its message begins with "feat!:"'),
        ("Fixed the add button", BOTH, 0, "bugfix", 'its message says "fixed"'),
        ("Add a fix button", BOTH, 0, "feature", 'its message says "add"'),
        ("Renamed things", BOTH, 0, "refactor", 'its message says "renamed"'),
        ("Move things", BOTH, 2, "feature", "it adds 2 new public names"),
        ("Words", BOTH, 1, "feature", "it adds a new public name"),
        ("Words", BOTH, 0, "bugfix", "it changes behaviour and adds no public name"),
        ("", BOTH, None, "bugfix", "it changes behaviour and adds no public name"),
        ("Merge branch x\n\nFix slug", BOTH, 0, "bugfix", 'its message says "fix"'),
    ],
)
def test_a_guess_and_its_reason(
    message: str, kinds: tuple[PathKind, ...], names: int | None, category: str, reason: str
) -> None:
    found = guess(message, kinds, names)
    assert (str(found.category), found.reason) == (category, reason)


@given(st.text(), st.sets(st.sampled_from(PathKind)), st.none() | st.integers(0, 5))
def test_every_commit_gets_some_category(
    message: str, kinds: set[PathKind], names: int | None
) -> None:
    found = guess(message, kinds, names)
    assert found.category in Category
    assert found.reason


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Fix it\n\nBody", "Fix it"),
        ("Merge pull request #3 from a/b\n\nHandle empty names", "Handle empty names"),
        ("Merge branch 'x'", "Merge branch 'x'"),
        ("Merge branch 'x'\n\nSigned-off-by: A <a@b>", "Merge branch 'x'"),
        (" \n\n", ""),
    ],
)
def test_the_line_that_says_what_was_done(message: str, line: str) -> None:
    assert headline(message) == line


def test_new_public_names_of_several_languages() -> None:
    before = [b"def old():\n    pass\n"]
    after = [
        b"def old(): pass\nasync def fresh(): pass\nclass Fine:\n    def method(self): pass\n"
        b"def _private(): pass\n\n        def inner(): pass\n",
        b"export default function cart() {}\nfunc (c *Cart) Total() int {\npub fn slug() {}\n",
    ]
    names = {name.decode() for name in new_public_names(before, after)}
    assert names == {"fresh", "Fine", "method", "cart", "Total", "slug"}
