"""Cases that no grader could ever judge are told before anything is run; digests in reports."""

from pathlib import Path

import pytest

from labkit.evals import EvalCase, EvalRunner, EvalSuite, Split
from labkit.evals.reportfile import read_report
from labkit.graders import GRADERS, Case, Tools, lacking


@pytest.mark.parametrize(
    ("spec", "reference", "says"),
    [
        ({"name": "exact"}, None, "no reference"),
        ({"name": "exact"}, 0, ""),
        ({"name": "exact", "expected": "x"}, None, ""),
        ({"name": "contains_all"}, 5, "no reference"),
        ({"name": "contains_all"}, ["a"], ""),
        ({"name": "contains_all", "words": ["a"]}, None, ""),
        ({"name": "regex_match"}, 5, "no reference"),
        ({"name": "regex_match"}, "(", "cannot be used"),
        ({"name": "regex_match"}, "a+", ""),
        ({"name": "file_equals", "path": "a"}, None, "is given no content"),
        ({"name": "file_equals", "path": "a"}, "x", ""),
        ({"name": "all_of", "graders": [{"name": "exact"}]}, None, "no reference"),
        ({"name": "any_of", "graders": [{"name": "exact"}]}, None, "no reference"),
        ({"name": "any_of", "graders": [{"name": "exact"}]}, "x", ""),
    ],
)
def test_a_case_that_can_never_be_judged_is_never_run(
    spec: dict[str, object], reference: object, says: str
) -> None:
    grader = GRADERS.build(spec, tools=Tools())
    assert says in lacking(grader, Case(id="a", reference=reference))
    case = EvalCase("a", reference=reference, grader_spec=spec)
    found = EvalRunner(candidate=lambda _case, _trial: "x").run(EvalSuite([case])).cases[0]
    assert says in found.problem
    assert (found.trials == ()) is bool(says)


def test_a_graders_own_lacking_may_be_anything() -> None:
    class Odd:
        lacking = 5

        def __call__(self, *_: object) -> object:
            return None

    class Broken(Odd):
        def lacking(self, _: Case) -> str:  # type: ignore[override]
            raise ValueError("x")

    assert lacking(Odd(), Case(id="a")) == ""  # type: ignore[arg-type]
    assert lacking(Broken(), Case(id="a")) == ""  # type: ignore[arg-type]


def test_a_report_knows_its_cases_but_says_nothing_of_test_cases(tmp_path: Path) -> None:
    spec = {"name": "exact", "expected": "x"}
    suite = EvalSuite(
        [EvalCase("a", grader_spec=spec), EvalCase("b", grader_spec=spec, split=Split.TEST)]
    )
    EvalRunner(candidate=lambda _case, _trial: "x").run(suite, folder=tmp_path / "run")
    assert [case.digest for case in read_report(tmp_path / "run").cases] == [
        suite.digests["a"],
        "",
    ]
