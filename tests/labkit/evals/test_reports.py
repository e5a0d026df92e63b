"""Reports as files and pages: read back exactly, and honest about what is missing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from evalruns import case_of, report_of
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError, IntegrityError
from labkit.evals import EvalCase, EvalRunner, EvalSuite, RunReport
from labkit.evals.reportfile import from_dict, read_report

CASES = st.dictionaries(
    st.text("abc-", min_size=1, max_size=4), st.text("+-?uF", min_size=1, max_size=4), max_size=6
)


def written(tmp_path: Path, values: Mapping[str, Any] | str) -> Path:
    path = tmp_path / "report.json"
    path.write_text(values if isinstance(values, str) else json.dumps(values))
    return path


@given(CASES, st.booleans())
def test_a_report_is_read_back_as_it_was(cases: dict[str, str], subset: bool) -> None:  # noqa: FBT001
    report = report_of(cases, subset=subset, split="val", notes=("made by hand",))
    back = from_dict(json.loads(report.to_json()))
    assert back.to_dict() == report.to_dict()
    assert back.cases == report.cases


def test_scores_stay_exact() -> None:
    case = EvalCase("a", grader_spec={"name": "contains_all", "words": ["a", "b", "c"]})
    report = EvalRunner(candidate=lambda _, __: "a b").run(EvalSuite([case]))
    assert from_dict(report.to_dict()).reward == report.reward


def test_a_folder_stands_for_its_report(tmp_path: Path) -> None:
    path = written(tmp_path, report_of({"a": "+-"}).to_dict())
    assert read_report(tmp_path).to_dict() == read_report(path).to_dict()
    assert read_report(tmp_path).folder == tmp_path


def test_a_report_without_cases_has_totals() -> None:
    values = {
        "schema": 1,
        "suite": "s",
        "suite_version": "1",
        "reward": 0.7,
        "stderr": 0.1,
        "n_tasks": 10,
        "n_scored": 5,
    }
    report = from_dict(values)
    assert report.totals is not None
    assert str(report.reward) == "7/10"
    assert report.coverage is not None
    assert float(report.coverage) == 0.5
    with pytest.raises(ValueError, match="without its cases"):
        report.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"cases": [{}]},
        {"cases": 3},
        {"policy": "most"},
        {"n": "many"},
        {"cases": [{**report_of({"a": "+"}).to_dict()["cases"][0], "trials": [{"status": "?"}]}]},
    ],
)
def test_a_damaged_report_is_told(tmp_path: Path, change: dict[str, Any]) -> None:
    path = written(tmp_path, report_of({"a": "+"}).to_dict() | change)
    with pytest.raises(IntegrityError, match=r"report\.json is damaged"):
        read_report(path)


def test_what_is_no_report_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_report(tmp_path)
    with pytest.raises(IntegrityError, match="not of schema 1"):
        read_report(written(tmp_path, '{"schema": 2}'))
    with pytest.raises(IntegrityError, match="is damaged"):
        read_report(written(tmp_path, "nonsense"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("def answer(case, trial):\n    return 4\n", "it holds no JSON object"),
        ("[1]", "it holds no JSON object"),
        ("", "it holds no JSON object"),
        ('{"name": "suite", "cases": []}', "it lacks suite, suite_version"),
        (
            '{"schema": 1, "suite": "s", "suite_version": "1", "n": 3}',
            "it lacks n_tasks, n_scored",
        ),
    ],
)
def test_a_file_that_is_something_else_is_not_called_damaged(
    tmp_path: Path, content: str, why: str
) -> None:
    path = tmp_path / "agent.py"
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        read_report(path)
    assert refused.value.message == f"{path} is no report of a run: {why}"
    assert "git" not in (refused.value.hint or "")


def test_a_run_that_is_not_finished_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 1}')
    with pytest.raises(InputError, match="is not finished: it has no report") as refused:
        read_report(tmp_path)
    assert "--out" in (refused.value.hint or "")


def test_a_report_knows_where_it_was_read_from(tmp_path: Path) -> None:
    path = written(tmp_path, report_of({"a": "+"}).to_dict())
    assert (read_report(path).source, read_report(str(tmp_path)).source) == (path, tmp_path)


def test_the_page_tells_what_a_reader_asks_first() -> None:
    page = report_of({"a": "++", "b": "+-", "c": "--", "d": "??", "e": "++"}).to_markdown()
    assert "| pass@1 | 62 % of 4 tasks (95 % interval" in page
    assert "| pass^2 | 50 % of 4 tasks |" in page
    assert "| coverage | 8 of 10 samples, 4 of 5 tasks |" in page
    assert "| flaky cases | 1 |" in page
    assert "between tasks" in page
    assert page.index("`d`") < page.index("`b`"), "what was not measured stands first"


def test_the_page_of_nothing_has_no_figures() -> None:
    page = report_of({"a": "??"}).to_markdown()
    assert "n/a (no task was measured)" in page
    assert "| 0 %" not in page
    assert "decide nothing" in page


@pytest.mark.parametrize(
    ("signs", "tags", "told"),
    [
        ("+-", ("safety",), "**Safety: FAILED.** a: 1 of 2 samples failed."),
        ("++", ("safety",), "Safety: held in 1 case."),
        ("+?", ("safety",), "Safety: not known, samples are missing for `a`."),
        ("++", (), "Safety: the suite has no safety case."),
        ("+F", (), "**Safety: FAILED.** a: forbidden edits in 1 of 2 samples."),
    ],
)
def test_the_page_tells_of_safety(signs: str, tags: tuple[str, ...], told: str) -> None:
    case = case_of("a", signs, tags=tags)
    report = RunReport(suite="s", suite_version="1", candidate="c", n=2, cases=(case,))
    assert told in report.to_markdown()


def test_the_page_gives_the_first_reason_of_a_failure(tmp_path: Path) -> None:
    case = EvalCase("a", reference="Paris", grader_spec={"name": "exact"})
    report = EvalRunner(candidate=lambda _, __: "<b>|Lyon", n=2).run(
        EvalSuite([case]), folder=tmp_path / "run"
    )
    page = (tmp_path / "run/report.md").read_text()
    assert "| `a` | 0 of 2 | expected 'Paris', found '&lt;b>\\|Lyon' |" in page
    assert page == report.to_markdown()


def outcomes(xml: str) -> dict[str, str]:
    """Return what a viewer shows of each case."""
    found = {}
    for case in ET.fromstring(xml).iter("testcase"):  # noqa: S314 - written by labkit
        kinds = [f"{child.tag} {child.get('type', '')}".strip() for child in case]
        found[case.get("name", "")] = kinds[0] if kinds else "passed"
    return found


def test_junit_fails_what_failed_and_skips_what_is_missing() -> None:
    cases = {"a": "++", "b": "+-", "c": "--", "d": "??", "e": "+?"}
    xml = report_of(cases).to_junit()
    assert outcomes(xml) == {
        "a": "passed",
        "b": "failure flaky",
        "c": "failure fail",
        "d": "skipped",
        "e": "skipped",
    }
    root = ET.fromstring(xml)  # noqa: S314 - written by labkit
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "2", "0")
    assert root[0].get("skipped") == "2"


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        ({"a": "+-", "b": "??"}, "only 50 % of the samples have a verdict (60 % are needed)"),
        ({"a": "??"}, "only 0 % of the samples"),
        ({}, "nothing was planned"),
    ],
)
def test_junit_of_an_outage_is_seen_red(cases: dict[str, str], told: str) -> None:
    root = ET.fromstring(report_of(cases).to_junit())  # noqa: S314 - written by labkit
    assert (root.get("tests"), root.get("errors")) == (str(len(cases) + 1), "1")
    (error,) = root.iter("error")
    assert error.get("message", "").startswith(told)
    assert root[0].get("errors") == "1"


@given(st.text(min_size=1).filter(lambda text: text.isprintable() and len(text) <= 200))
def test_any_name_is_valid_xml(name: str) -> None:
    report = report_of({name: "+-"}, suite=f"{name}\x00\x1b", candidate="\ud800\uffff")
    root = ET.fromstring(report.to_junit())  # noqa: S314 - written by labkit
    assert [case.get("name") for case in root.iter("testcase")] == [name]


@given(CASES)
def test_every_report_has_every_form(cases: dict[str, str]) -> None:
    report = report_of(cases)
    assert report.to_markdown().endswith("\n")
    assert len(outcomes(report.to_junit())) == len(cases) + (not report.decisive)


def edited(at: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Return a report's values with one of them changed by hand."""
    made: dict[str, Any] = json.loads(report_of({"a": "+-", "b": "++", "c": "?+"}).to_json())
    held: Any = made
    for name in at[:-1]:
        held = held[name]
    held[at[-1]] = value
    return made


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("n_scored",), 2),
        (("valid",), 6),
        (("planned",), 4.0),
        (("reward",), 0.9),
        (("reward",), None),
        (("safety", "ok"), False),
        (("subset",), "no"),
        (("cases", 0, "passes"), 2),
        (("cases", 0, "reward"), 1),
        (("cases", 0, "id"), 7),
        (("cases", 0, "tags"), "safety"),
        (("cases", 0, "slices"), [[1]]),
        (("cases", 0, "problem"), None),
        (("cases", 0, "trials"), []),
        (("cases", 0, "trials", 0, "number"), "1"),
        (("cases", 0, "trials", 0, "number"), 3),
        (("cases", 0, "trials", 0, "cost"), -1),
        (("cases", 0, "trials", 0, "latency_ms"), "long"),
        (("cases", 0, "trials", 0, "forbidden"), None),
        (("cases", 0, "trials", 0, "lied"), "no"),
        (("cases", 0, "trials", 0, "status"), "forbidden"),
        (("cases", 0, "trials", 0, "status"), "errored"),
    ],
)
def test_a_report_that_does_not_fit_its_trials_is_damaged(
    tmp_path: Path, at: tuple[str | int, ...], value: object
) -> None:
    with pytest.raises(IntegrityError, match=r"report\.json is damaged"):
        read_report(written(tmp_path, edited(at, value)))


@pytest.mark.parametrize("change", [{"safety": {"ok": "false"}}, {"stderr": -0.1}])
def test_totals_that_no_tool_means_are_damaged(change: dict[str, Any]) -> None:
    totals = {"suite": "s", "suite_version": "1", "n_tasks": 1, "n_scored": 1, "reward": 0.5}
    with pytest.raises((TypeError, ValueError), match=r"false|standard error"):
        from_dict(totals | change)


def test_damage_is_told_in_words(tmp_path: Path) -> None:
    whole = report_of({"a": "+"}).to_dict()
    for values, says in (
        (whole | {"n_scored": 3}, "is damaged: the report says n_scored 3, and its trials make 1$"),
        ({"schema": 1, "suite": "s"}, "is damaged: it lacks the field 'suite_version'$"),
    ):
        with pytest.raises(IntegrityError, match=says):
            read_report(written(tmp_path, values))
