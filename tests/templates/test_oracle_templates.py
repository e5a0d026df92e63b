"""The oracle files that a draft starts with: each can be read, and so can all that they suggest."""

import re
from importlib.resources import files

import pytest

from labkit.errors import InputError
from labkit.model import Category
from labkit_grader.oraclefile import Rules, read_rules

SUGGESTED = re.compile(r"^(\s*)# ((?:- )?(?!edits:|true:)[a-z_]+: ?[\[{\"a-z!].*)$")
COMBINED = {"edits: none": "edits: allowed", "{}\n": "\n"}


def text_of(category: Category) -> str:
    return (files("labkit_templates") / "task" / f"oracle-{category}.yaml").read_text("utf-8")


@pytest.mark.parametrize("category", Category)
def test_each_category_has_a_file_that_teaches(category: Category) -> None:
    text = text_of(category)
    assert text.startswith("# How ")
    rules = read_rules(text.encode(), category)
    blank = category in {Category.BUGFIX, Category.FEATURE, Category.OTHER, Category.TESTS}
    assert (rules == Rules()) is blank


@pytest.mark.parametrize(
    ("category", "count"), [(Category.REFACTOR, 12), (Category.TESTS, 1), (Category.TRAP, 5)]
)
def test_every_suggestion_in_it_can_be_used(category: Category, count: int) -> None:
    lines = text_of(category).splitlines(keepends=True)
    found = [SUGGESTED.match(line.rstrip("\n")) for line in lines]
    assert sum(match is not None for match in found) == count
    text = "".join(
        f"{match[1]}{match[2]}\n" if match else line
        for match, line in zip(found, lines, strict=True)
    )
    for old, new in COMBINED.items():
        text = text.replace(old, new)
    try:
        rules = read_rules(text.encode(), category)
    except InputError as error:
        raise AssertionError(f"{error.problems}\n{text}") from error
    assert rules != Rules()
