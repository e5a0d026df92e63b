"""Test beside val: what may be said of overfitting, and what may not."""

import pytest

from labkit.evals import EvalCase, EvalRunner, EvalSuite, RunReport
from labkit.evals.tuned import tuned_words


def measured(right: int, of: int, name: str = "mine") -> RunReport:
    """Measure a candidate that is right on so many cases."""
    suite = EvalSuite(
        EvalCase(f"t{number:02}", reference="yes", grader_spec={"name": "exact"})
        for number in range(of)
    )
    return EvalRunner(
        candidate=lambda case, _: "yes" if int(case.id[1:]) < right else "no", name=name
    ).run(suite)


@pytest.mark.parametrize(
    ("val", "test", "says"),
    [
        (
            (19, 20),
            (8, 20),
            "val 95 %, test 40 %: test is -55 points from val, more than 2 standard errors: "
            "overfitting (val was learned), or the test cases are harder",
        ),
        ((19, 20), (17, 20), "which may be noise: overfitting cannot be told from chance"),
        ((12, 20), (16, 20), "test is +20 points from val: no sign of overfitting"),
        ((10, 20), (10, 20), "no difference: no sign of overfitting"),
        ((1, 1), (0, 1), "with so few cases nothing can be said of overfitting"),
    ],
)
def test_what_is_said(val: tuple[int, int], test: tuple[int, int], says: str) -> None:
    assert says in tuned_words(measured(*val), measured(*test))


def test_a_val_report_of_another_candidate_is_told() -> None:
    told = tuned_words(measured(5, 9, name="older"), measured(5, 9, name="newer"))
    assert "(val is of older)" in told


def test_without_a_figure_nothing_is_compared() -> None:
    def down(*_: object) -> object:
        raise ConnectionError("no answer")

    suite = EvalSuite([EvalCase("a", grader_spec={"name": "exact"})])
    told = tuned_words(measured(5, 9), EvalRunner(candidate=down).run(suite))
    assert "nothing to compare" in told
