"""A study checks that its plan and its results belong together."""

import pytest
from studies import A, results, study

from labkit.errors import InputError
from labkit.model import HardFailKind, RunId, TaskId


@pytest.mark.parametrize(
    ("sign", "passed"),
    [
        pytest.param("+", True, id="pass"),
        pytest.param("-", False, id="fail"),
        pytest.param("u", None, id="ungraded"),
        pytest.param("?", None, id="missing"),
        pytest.param("L", False, id="a-leak-is-a-fail"),
        pytest.param("E", False, id="a-forbidden-edit-is-a-fail"),
    ],
)
def test_whether_a_run_counts_as_passed(sign: str, passed: object) -> None:
    (result,) = results({"bug": sign})
    assert result.passed is passed


def test_a_hard_fail_counts_although_the_run_was_never_graded() -> None:
    (result,) = results({"bug": "u"}, hard_fails=(HardFailKind.LEAK,))
    assert result.passed is False


def test_a_study_tells_all_that_does_not_belong_together_at_once() -> None:
    found = results({"bug": "++ ++"})
    stranger = RunId(TaskId("other"), A, 1)
    with pytest.raises(InputError) as caught:
        study((*found, found[0]), planned=(found[0].run, found[0].run, stranger))
    text = "\n".join(caught.value.problems)
    assert "run bug__A__1 is planned twice" in text
    assert "run bug__A__1 has two results" in text
    assert "run bug__A__2 is not in the plan" in text
    assert caught.value.hint


def test_nothing_planned_is_refused_and_never_reads_as_all_well() -> None:
    with pytest.raises(InputError) as caught:
        study()
    text = "\n".join(caught.value.problems)
    assert "there is no configuration" in text
    assert "no runs are planned" in text
