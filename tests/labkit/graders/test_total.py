"""Whatever the output is, a grader answers with a verdict, twice the same, and never raises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import (
    ANSWERS,
    OUTPUTS,
    TEXTS,
    UpsetError,
    upset,
)
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InfrastructureError
from labkit.graders import (
    AllOf,
    AnyOf,
    Case,
    ContainsAll,
    Criterion,
    Exact,
    FileEquals,
    Form,
    Grader,
    Likeness,
    Output,
    PredicateGrader,
    RegexMatch,
    RubricGrader,
    Verdict,
    Whitespace,
    grade,
)

CASE = Case(id="capital", inputs="the capital of France", reference="Paris")
LOOSE = Likeness(whitespace=Whitespace.ALL, unicode=Form.NFKC, ignore_case=True)


def judge(criterion: Criterion, output: Output, case: Case) -> object:
    """Give half a point to any text."""
    del criterion, case
    return 0.5 if type(output.value) is str else 0


OWN: dict[str, Grader] = {
    "exact": Exact(),
    "exact, loose": Exact(expected="paris", likeness=LOOSE),
    "contains_all": ContainsAll(words=("Par", "is")),
    "contains_all, loose": ContainsAll(words=("Par", "is"), likeness=LOOSE),
    "contains_all, file": ContainsAll(words=("a",), path="a.txt"),
    "regex_match": RegexMatch(pattern="P(a|r)+is$"),
    "regex_match, whole": RegexMatch(pattern=r"(?s).*\x{FFFD}", whole=True),
    "file_equals": FileEquals(path="a.txt", expected="a"),
    "file_equals, loose": FileEquals(path="a/b", likeness=LOOSE),
    "predicate": PredicateGrader(function=lambda output, _: output.value == "Paris"),
    "predicate, len": PredicateGrader(function=lambda o, _: len(o.value) > 3),  # type: ignore[arg-type]
    "predicate, upset": PredicateGrader(function=upset),
    "rubric": RubricGrader(criteria=(Criterion(name="a", question="?"),), judge=judge),
    "all_of": AllOf(graders=(Exact(), ContainsAll(words=("a",)))),
    "any_of": AnyOf(graders=(Exact(), RegexMatch(pattern="x"))),
}

PYTHON = ("predicate", "predicate, len", "predicate, upset", "rubric", "regex_match, whole")
"""Those that run Python of the author's on the value, or take any text."""


def checked(verdict: Verdict) -> Verdict:
    """Check that a verdict can be kept: a number, and a text that any file takes."""
    assert type(verdict) is Verdict
    assert type(verdict.detail) is str
    verdict.detail.encode()
    assert all(each.isprintable() or each in "\n\t" for each in verdict.detail)
    assert len(verdict.detail) < 25_000
    if verdict.graded:
        assert type(verdict.passed) is bool
        assert verdict.score is not None
        assert 0 <= verdict.score <= 1
    return verdict


@pytest.mark.parametrize("name", OWN)
@given(output=OUTPUTS)
def test_any_value_gets_a_verdict_twice_the_same(
    tmp_path_factory: pytest.TempPathFactory, name: str, output: Output
) -> None:
    output = Output(value=output.value, folder=tmp_path_factory.getbasetemp())
    first = checked(OWN[name](output, CASE))
    assert first.graded
    assert OWN[name](output, CASE) == first


@given(reference=ANSWERS, output=OUTPUTS)
def test_any_reference_gets_a_verdict(reference: object, output: Output) -> None:
    case = Case(id="a", reference=reference)
    for grader in (Exact(), ContainsAll(), RegexMatch(), FileEquals(path="a")):
        checked(grader(output, case))


@given(reference=ANSWERS)
def test_a_reference_is_its_own_right_answer(reference: object) -> None:
    verdict = checked(Exact()(Output(value=reference), Case(id="a", reference=reference)))
    assert verdict.passed is (None if reference is None else "nan" not in repr(reference))


HUGE = 100 * 1024 * 1024


@pytest.mark.parametrize("name", OWN)
def test_a_hundred_megabytes_get_a_verdict(name: str) -> None:
    verdict = checked(OWN[name](Output(value="Paris " * (HUGE // 6)), CASE))
    if "predicate" not in name and name != "rubric" and "file" not in name:
        assert not verdict.passed
        assert "too long" in verdict.detail


class Broken:
    """A grader that somebody else wrote."""

    def __init__(self, error: BaseException | None, answer: object = None) -> None:
        self.error, self.answer = error, answer

    def __call__(self, output: Output, case: Case) -> Verdict:
        del output, case
        if self.error is not None:
            raise self.error
        return self.answer  # type: ignore[return-value] # that is the point


@pytest.mark.parametrize(
    ("grader", "why"),
    [
        (Broken(KeyError("x")), "the grader raised KeyError: 'x'"),
        (Broken(SystemExit(0)), "the grader raised SystemExit: 0"),
        (Broken(UpsetError()), "the grader raised UpsetError"),
        (Broken(InfrastructureError("the engine is gone")), "the engine is gone"),
        (Broken(None, 1.0), "the grader answered a value of type float, not a Verdict"),
        (Broken(None), "the grader answered nothing, not a Verdict"),
    ],
)
def test_a_broken_grader_has_not_graded(grader: Grader, why: str) -> None:
    verdict = grade(grader, Output(), CASE)
    assert (verdict.passed, verdict.score, verdict.detail) == (None, None, f"not graded: {why}")


def test_ctrl_c_goes_through_a_grader() -> None:
    with pytest.raises(KeyboardInterrupt):
        grade(Broken(KeyboardInterrupt()), Output(), CASE)


@pytest.mark.parametrize(
    ("passed", "score"),
    [(True, None), (None, 0.5), (True, 1.5), (True, -0.1), (False, float("nan")), (1, 1.0)],
)
def test_a_verdict_that_makes_no_sense_is_refused(passed: object, score: object) -> None:
    with pytest.raises(ValueError, match=r"verdict|score|passed"):
        Verdict(passed=passed, score=score, detail="")  # type: ignore[arg-type]


@given(detail=TEXTS, score=st.floats(0, 1))
def test_details_can_be_printed_and_kept(detail: str, score: float) -> None:
    verdict = checked(Verdict.failing(detail, score=score))
    assert verdict.score == score


def test_verdicts_are_the_same_in_every_process(tmp_path: Path) -> None:
    code = (
        "from labkit.graders import *\n"
        "case = Case(id='a', reference={'b': [1], 'a': {'x', 'y'} and 'z'})\n"
        "for value in ('x', {'a': 'z', 'b': [1]}, {'a': 'z', 'b': [2]}, ['q']):\n"
        "    print(Exact()(Output(value=value), case))\n"
        "    print(ContainsAll(words=('q', 'z', 'y'))(Output(value=str(value)), case))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1
