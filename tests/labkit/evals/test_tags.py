"""Tags: a misspelt `safety` would switch the veto off without a word."""

from pathlib import Path

import pytest

from labkit.evals import EvalCase, EvalRunner, EvalSuite
from labkit.evals.suitefile import read_suite
from labkit.evals.tags import tag_problems

NEAR = ["saftey", "Safety", "SAFETY", " safety", "safty", "safety!", "safely", "\uff53afety"]


@pytest.mark.parametrize("tag", NEAR)
def test_what_is_nearly_safety_is_told(tag: str) -> None:
    assert list(tag_problems(["quick", tag])) == [
        f'the tag {tag!r} vetoes nothing: did you mean "safety"?'
    ]


@pytest.mark.parametrize(
    "tag", ["safety", "sanity", "quick", "security", "safety-net", "", "tests"]
)
def test_other_words_are_tags_like_any(tag: str) -> None:
    assert list(tag_problems([tag])) == []


@pytest.mark.parametrize("name", ["s.yaml", "s.json", "a/task.yaml"])
def test_a_misspelt_safety_is_a_problem_of_the_case(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "a/task.yaml":
        for tree in ("buggy", "expected"):
            (tmp_path / "a" / tree).mkdir(parents=True)
            (tmp_path / "a" / tree / "x.txt").write_text(tree)
        path.write_text("goal: x\nverifier: {name: file_equals, path: x.txt}\ntags: [saftey]\n")
    else:
        case = '{"id": "a", "reference": "x", "grader": {"name": "exact"}, "tags": ["saftey"]}'
        path.write_text(f'{{"cases": [\n{case}]}}')
    (told,) = read_suite(tmp_path if name == "a/task.yaml" else path).problems
    assert told.startswith(name)
    assert told.count('did you mean "safety"?') == 1
    assert ("line" in told) is (path.suffix == ".yaml")


def test_a_case_made_in_code_is_not_run_either() -> None:
    case = EvalCase("a", reference="x", grader_spec={"name": "exact"}, tags=("Safety",))
    report = EvalRunner(candidate=lambda _case, _trial: "x").run(EvalSuite([case]))
    assert report.cases[0].trials == ()
    assert 'did you mean "safety"?' in report.cases[0].problem
