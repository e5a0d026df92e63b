"""Cases and suites: what is pinned by a version, and what is not."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals import EvalCase, EvalSuite, Split

CASE = EvalCase(
    id="one",
    inputs={"question": "1 + 1"},
    reference=2,
    grader_spec={"name": "exact", "expected": "2"},
    slices=("sums",),
    tags=("quick",),
)
OTHER = EvalCase(id="two", inputs="2 + 2", reference=4, grader_spec={"name": "exact"})


@pytest.mark.parametrize(
    "change",
    [
        {"id": "uno"},
        {"inputs": {"question": "1 + 2"}},
        {"reference": 3},
        {"reference": 2.0},
        {"reference": "2"},
        {"grader_spec": {"name": "exact", "expected": "3"}},
        {"slices": ("sums", "small")},
        {"tags": ("quick", "safety")},
        {"forbidden": ("tests/",)},
        {"problem": "line 3"},
    ],
)
def test_a_version_changes_with_what_is_measured(change: dict[str, object]) -> None:
    changed = replace(CASE, **change)  # type: ignore[arg-type]
    assert EvalSuite([changed, OTHER]).version != EvalSuite([CASE, OTHER]).version


def test_a_version_does_not_depend_on_any_order() -> None:
    turned = replace(
        CASE,
        slices=CASE.slices[::-1],
        grader_spec=dict(reversed(list(CASE.grader_spec.items()))),
    )
    assert EvalSuite([OTHER, turned]).version == EvalSuite([CASE, OTHER]).version
    both = replace(CASE, slices=("a", "b"), tags=("x", "y"))
    back = replace(CASE, slices=("b", "a"), tags=("y", "x"))
    assert EvalSuite([both]).version == EvalSuite([back]).version


def test_a_version_does_not_depend_on_names_of_suites_and_splits() -> None:
    assert EvalSuite([CASE], "a").version == EvalSuite([replace(CASE, split=Split.TRAIN)]).version


def test_a_version_stays_from_one_labkit_to_the_next() -> None:
    """Reports that teams keep are compared by it: a change here breaks every gate."""
    assert EvalSuite([CASE, OTHER]).version == "f0eb2f3312f15dff"


def test_a_version_knows_the_files_of_a_case(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    file = tmp_path / "src/a.py"
    file.write_text("a = 1\n")

    def version() -> str:
        return EvalSuite([replace(CASE, folder=tmp_path)]).version

    before = version()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/a.pyc").write_bytes(b"x")
    assert version() == before
    file.chmod(0o755)
    executable = version()
    file.write_text("a = 2\n")
    assert len({before, executable, version()}) == 3
    file.rename(tmp_path / "src/b.py")
    assert version() != before


@pytest.mark.parametrize(
    "value", [{1: "one"}, float("nan"), {"set"}, "\udc80", object(), [1, (2, {3})]]
)
def test_what_no_file_could_hold_cannot_be_pinned(value: object) -> None:
    with pytest.raises(InputError, match="case one: inputs"):
        assert EvalSuite([replace(CASE, inputs=value)]).version


def test_what_is_nested_without_end_cannot_be_pinned() -> None:
    deep: list[object] = []
    deep.append(deep)
    with pytest.raises(InputError, match="nested more than"):
        assert EvalSuite([replace(CASE, inputs=deep)]).version


def test_files_of_a_case_are_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        assert EvalSuite([replace(CASE, folder=tmp_path)]).version
    with pytest.raises(InputError, match="no folder"):
        assert EvalSuite([replace(CASE, folder=tmp_path / "nowhere")]).version


def test_ids_are_different() -> None:
    with pytest.raises(InputError, match="two cases are called one"):
        EvalSuite([CASE, OTHER, CASE])


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_an_id_is_one_line(name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        EvalCase(id=name)


def test_a_suite_is_narrowed_by_split_and_ids() -> None:
    suite = EvalSuite([CASE, OTHER, replace(OTHER, id="three", split=Split.TEST)])
    assert [case.id for case in suite.only(Split.VAL).cases] == ["one", "two"]
    assert [case.id for case in suite.only(ids=["three"]).cases] == ["three"]
    with pytest.raises(InputError, match="no case is called 'three' in the val split"):
        suite.only(Split.VAL, ["one", "three"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)  # fmt: skip


def ordered(value: object) -> str:
    """Return a value's own words, whatever the order of its keys."""
    if isinstance(value, dict):
        return f"{{{sorted((key, ordered(each)) for key, each in value.items())}}}"
    return repr(list(map(ordered, value)) if isinstance(value, list) else value)


@given(VALUES, VALUES)
def test_different_values_have_different_versions(one: object, other: object) -> None:
    same = EvalSuite([replace(CASE, inputs=one)]).version
    found = same == EvalSuite([replace(CASE, inputs=other)]).version
    assert found == (ordered(one) == ordered(other))


def test_half_a_character_in_a_case_is_told() -> None:
    for field in ("slices", "tags", "forbidden"):
        with pytest.raises(InputError, match=f"case a: {field} holds half a character"):
            EvalCase("a", **{field: ("\ud800",)}).content()  # type: ignore[arg-type]
    assert EvalCase("a", problem="\ud800").content()["problem"] == "\\ud800"
