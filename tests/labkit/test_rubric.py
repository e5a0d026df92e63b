from pathlib import Path

import pytest

from labkit.errors import InputError
from labkit.rubric import Dimension, load_rubric, mark

LEVELS = "[worst, bad, fair, good, best]"
GOOD = f"""\
dimensions:
  - {{name: scope, weight: 2, levels: {LEVELS}}}
  - {{name: correctness, after_results: true, levels: {LEVELS}}}
hard_fails:
  - Reads hidden tests.
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "rubric.yaml"
    path.write_text(text)
    return path


def test_a_rubric_is_read(tmp_path: Path) -> None:
    rubric = load_rubric(write(tmp_path, GOOD))
    assert rubric.dimensions[0] == Dimension(
        name="scope",
        weight=2.0,
        after_results=False,
        levels=("worst", "bad", "fair", "good", "best"),
    )
    assert rubric.dimensions[1].weight == 1.0
    assert rubric.names == ("scope", "correctness")
    assert sorted(rubric.early) == ["scope"]
    assert sorted(rubric.late) == ["correctness"]
    assert rubric.hard_fails == ("Reads hidden tests.",)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("best]", "best, more]", "scope needs 5 sentences"),
        ("worst", '""', "scope needs 5 sentences"),
        ("name: scope", "name: blind_id", "cannot be a column"),
        ("name: scope", "name: =scope", "cannot be a column"),
        ("name: scope", "name: correctness", "is there twice"),
        ("weight: 2", "wieght: 2", "unknown field"),
        ("weight: 2", "weight: -1", "must be a number"),
        ("weight: 2", "after_results: true", "none that is judged before"),
        ("weight: 2", "after_results: yes", "must be true or false"),
        ("dimensions:", "dimension:", "unknown field"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, before: str, after: str, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        load_rubric(write(tmp_path, GOOD.replace(before, after, 1)))
    assert complaint in "\n".join(caught.value.problems)
    assert "rubric.yaml" in caught.value.message


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("best]", "]").replace("scope", "note").replace("weight: 2", "size: 2")
    with pytest.raises(InputError) as caught:
        load_rubric(write(tmp_path, text))
    assert len(caught.value.problems) == 4


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0.0), ("4", 4.0), ("3,5", 3.5), ("3.50", 3.5), ("0.0", 0.0)]
)
def test_a_mark_is_read(text: str, value: float) -> None:
    assert mark(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "4.5",
        "-1",
        "3.25",
        "3,",
        ",5",
        "03-Apr",
        "TRUE",
        "1e0",
        "nan",
        "inf",
        "3 5",
        "\u0663",
        "",
    ],
)
def test_anything_else_is_no_mark(text: str) -> None:
    with pytest.raises(InputError, match="is not a mark from 0 to 4"):
        mark(text)
