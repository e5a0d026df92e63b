"""`labkit gate`: two reports in, a verdict and its exit code out."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from cli.labs import Answer, labkit, require_clear
from evalreports import Trials, case, report
from evalruns import capitals, knows
from house import ROOT

from labkit.evals import EvalCase, EvalRunner, Trial
from labkit.evals.report import RunReport
from labkit.evals.reportfile import to_dict
from labkit.evals.results import Policy
from labkit.fields import json_text
from labkit.process import plain_environment

BEFORE = {f"t{number}": "PP" for number in range(9)}
BETTER = {name: "FF" if name < "t3" else "PP" for name in BEFORE}, BEFORE
TWO_LOST = BEFORE | {"t1": "FF", "t2": "FF"}
OUTAGE = dict.fromkeys(BEFORE, "??")


class Folder:
    """A folder in which reports lie and `labkit gate` runs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def report(self, name: str, cases: Mapping[str, Trials] | RunReport, **more: Any) -> str:
        made = cases if isinstance(cases, RunReport) else report(cases, **more)
        return self.file(name, json_text(to_dict(made)))

    def file(self, name: str, content: str) -> str:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return name

    def gate(self, *words: str) -> Answer:
        done = subprocess.run(
            labkit("gate", *words),
            cwd=self.path,
            env=plain_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr
        return Answer(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_report_against_itself_passes(folder: Folder) -> None:
    folder.report("main/report.json", BEFORE)
    answer = folder.gate("main", "main/report.json")
    assert answer.code == 0
    assert answer.out.startswith("PASS: nothing speaks against the candidate\n")
    assert "this gate: a version that is the same would be blocked with a chance of" in answer.out
    assert answer.err == ""


def test_runs_of_the_loop_are_gated_by_their_folders(folder: Folder) -> None:
    """Byte-identical reports pass; a candidate that lost a capital is stopped."""
    EvalRunner(candidate=knows, n=2).run(capitals(), folder=folder.path / "one")
    shutil.copytree(folder.path / "one", folder.path / "same")

    def forgets(case: EvalCase, trial: Trial) -> str:
        return "?" if case.id == "japan" else knows(case, trial)

    EvalRunner(candidate=forgets, n=2).run(capitals(), folder=folder.path / "other")
    assert folder.gate("one", "same").code == 0
    answer = folder.gate("one", "other")
    assert answer.code == 1
    assert "1 case: japan (2 of 2 before, 0 of 2 now)" in answer.out


def test_a_regression_blocks_and_names_its_cases(folder: Folder) -> None:
    answer = folder.gate(folder.report("a.json", BEFORE), folder.report("b.json", TWO_LOST))
    assert answer.code == 1
    assert answer.out.startswith("BLOCK: ")
    assert "in 2 cases: t1 (2 of 2 before, 0 of 2 now), t2 (" in answer.out
    assert "worse: 2 tasks\n  t1: 100 % to 0 %" in answer.out


def test_an_outage_is_indecisive(folder: Folder) -> None:
    answer = folder.gate(folder.report("a.json", BEFORE), folder.report("b.json", OUTAGE))
    assert answer.code == 3
    assert answer.out.startswith("INDECISIVE: ")
    assert "0 % of the candidate's samples have a verdict; 60 % are needed" in answer.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 1),
        (["--cases", "off"], 1),
        (["--cases", "off", "--bar", "2"], 3),
        (["--cases", "off", "--tolerance", "22%"], 1),
        (["--cases", "off", "--tolerance", "2/9"], 0),
        (["--cases", "strict", "--tolerance", "2/9"], 1),
        (["--cases", "off", "--metric", "pass^2", "--bar", "2"], 3),
        (["--cases", "off", "--mode", "significant"], 1),
        (["--cases", "off", "--want", "better", "--bar", "9"], 1),
    ],
)
def test_every_setting_counts(folder: Folder, words: list[str], code: int) -> None:
    names = folder.report("a.json", BEFORE), folder.report("b.json", TWO_LOST)
    assert folder.gate(*names, *words).code == code


def test_better_can_be_wanted(folder: Folder) -> None:
    names = folder.report("a.json", BETTER[0]), folder.report("b.json", BETTER[1])
    assert folder.gate(*names, "--want", "better").code == 0
    assert folder.gate(*names, "--want", "better", "--tolerance", "1/3").code == 3


def test_json_markdown_and_junit(folder: Folder) -> None:
    names = folder.report("a.json", BEFORE), folder.report("b.json", TWO_LOST)
    answer = folder.gate(*names, "--json", "--markdown", "out/gate.md", "--junit", "out/gate.xml")
    assert answer.code == 1
    assert json.loads(answer.out)["outcome"] == "block"
    assert answer.err.startswith("BLOCK: ")
    page = (folder.path / "out" / "gate.md").read_text(encoding="utf-8")
    assert page.startswith("## Gate: BLOCK\n")
    root = ET.parse(folder.path / "out" / "gate.xml").getroot()  # noqa: S314 - our own
    assert root.get("failures") == "4"
    printed = folder.gate(*names, "--markdown", "-")
    assert printed.out == page
    assert printed.err == answer.err
    assert not (folder.path / "-").exists()


def test_a_verdict_is_not_lost_for_want_of_a_file(folder: Folder) -> None:
    names = folder.report("a.json", BEFORE), folder.report("b.json", TWO_LOST)
    folder.file("taken", "a file")
    for candidate, code in ((names[1], 1), (names[0], 2)):
        answer = folder.gate(names[0], candidate, "--junit", "taken/gate.xml")
        assert answer.code == code
        assert "taken/gate.xml" in answer.err
        assert answer.out


def test_overfitting_warns_or_blocks(folder: Folder) -> None:
    held = (
        folder.report("a.json", BEFORE, split="val"),
        folder.report("b.json", BEFORE | {"t1": "PF", "t2": "PF"}, split="val"),
    )
    dev = (
        folder.report("c.json", BETTER[0], split="train"),
        folder.report("d.json", BETTER[1], split="train"),
    )
    words = (*held, "--tolerance", "50%", "--dev", *dev)
    warned = folder.gate(*words)
    assert warned.code == 0
    assert (
        "note: overfitting? development up 33.3 points over 9 tasks (beyond its bar)" in warned.out
    )
    blocked = folder.gate(*words, "--overfitting", "block")
    assert blocked.code == 1
    assert "overfitting  BLOCKS" in blocked.out
    assert folder.gate(*held, "--tolerance", "50%", "--dev", dev[1], dev[0]).code == 0


def refused(folder: Folder, *words: str, says: tuple[str, ...]) -> None:
    before = sorted(folder.path.rglob("*"))
    require_clear(folder.gate(*words), code=2, says=says)
    assert sorted(folder.path.rglob("*")) == before


def test_reports_that_cannot_be_compared_are_refused(folder: Folder) -> None:
    one = folder.report("a.json", BEFORE)
    other = folder.report("b.json", BEFORE, suite_version="fedcba9876543210", split="train")
    refused(folder, one, other, says=("0123456789abcdef", "fedcba9876543210", "train"))
    subset = folder.report("c.json", BEFORE, subset=True)
    refused(folder, one, subset, says=("the candidate's report is of some cases only",))


def test_files_that_are_no_reports_are_refused_all_at_once(folder: Folder) -> None:
    broken = folder.file("broken.json", '{"schema": 1}')
    refused(
        folder,
        "nowhere.json",
        broken,
        says=("nowhere.json", "broken.json is no report of a run: it lacks suite"),
    )
    refused(folder, folder.file("x.json", "{"), "x.json", says=("x.json is damaged",))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda values: values["cases"][0].update(planned=1), id="more-than-planned"),
        pytest.param(lambda values: values["cases"][0]["trials"][0].update(score=7), id="score"),
        pytest.param(lambda values: values["cases"][0]["trials"][0].update(score=None), id="none"),
        pytest.param(lambda values: values["cases"][0]["trials"][0].update(number=2), id="twice"),
        pytest.param(lambda values: values["cases"][0]["trials"][0].update(passed=1), id="passed"),
        pytest.param(lambda values: values.update(n=10**12), id="samples"),
        pytest.param(lambda values: values.update(n=float("inf")), id="infinite"),
        pytest.param(lambda values: (values.pop("cases"), values.update(reward=7)), id="reward"),
        pytest.param(
            lambda values: (values.pop("cases"), values.update(n_scored=10)), id="more-than-tasks"
        ),
        pytest.param(
            lambda values: (values.pop("cases"), values.update(n_tasks=10**12)), id="tasks"
        ),
    ],
)
def test_figures_that_cannot_be_are_damage(
    folder: Folder, change: Callable[[dict[str, Any]], object]
) -> None:
    values = to_dict(report(BEFORE))
    change(values)
    refused(
        folder,
        folder.report("a.json", BEFORE),
        folder.file("b.json", json.dumps(values)),
        says=("b.json is damaged",),
    )


def test_settings_that_are_none_are_told_all_at_once(folder: Folder) -> None:
    one = folder.report("a.json", BEFORE)
    words = ("--metric", "recall", "--tolerance", "5", "--bar", "-1", "--cases", "strikt")
    more = ("--mode", "unpaired", "--want", "bettr", "--overfitting", "stop")
    refused(
        folder,
        one,
        one,
        *words,
        *more,
        says=(
            "--metric: a gate knows no metric 'recall'",
            "--tolerance: a tolerance of '5' is no share of 1",
            "--bar: ",
            'did you mean "strict"?',
            "--mode 'unpaired'",
            'did you mean "better"?',
            "--overfitting 'stop'",
        ),
    )
    refused(folder, one, one, "--overfitting", "block", says=("--dev",))
    refused(folder, one, one, "--json", "--markdown", "-", says=("--json and --markdown -",))


def test_a_report_without_cases_is_gated_by_its_errors(folder: Folder) -> None:
    values = to_dict(report(TWO_LOST))
    values.pop("cases")
    other = folder.file("totals.json", json.dumps(values))
    answer = folder.gate(folder.report("a.json", BEFORE), other)
    assert answer.code == 1
    assert "(significant)" in answer.out
    assert "not checkable: a report without its cases" in answer.out
    refused(folder, other, other, "--metric", "pass^2", says=("no pass^2",))


TOTALS = {
    "schema": 1,
    "suite": "calc",
    "suite_version": "0123456789abcdef",
    "n_tasks": 9,
    "n_scored": 9,
    "reward": 0.9,
    "stderr": 0.1,
    "safety": {"ok": True, "failures": []},
}


@pytest.mark.parametrize("other", [TOTALS, BEFORE])
@pytest.mark.parametrize("policy", Policy)
def test_a_report_of_exactly_the_fields_of_the_page_is_taken(
    folder: Folder, other: dict[str, Any], policy: Policy
) -> None:
    """What such a report does not say (split, policy, samples) is not another one."""
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    told = page.split("## Reports without cases")[1].split("\n## ")[0]
    assert all(f"`{name}`" in told for name in TOTALS)
    bare = folder.file("totals.json", json.dumps(TOTALS))
    if other is BEFORE:
        made = report([case(name, "PP") for name in BEFORE], split="val", policy=policy)
        with_cases = folder.report("cases.json", made)
    else:
        with_cases = bare
    answer = folder.gate(with_cases, bare)
    assert answer.code in (0, 3), answer.err
    assert ("split val" in answer.out) is (other is BEFORE)
    for words in ("could not be measured", "has 2 samples a case"):
        assert words not in answer.out
        assert words not in folder.gate(bare, with_cases).out
    named = folder.file("named.json", json.dumps(TOTALS | {"split": "train"}))
    if other is BEFORE:
        refused(folder, with_cases, named, says=("the baseline's is val", "same --split\n"))


def test_a_report_without_its_error_says_that_this_is_missing(folder: Folder) -> None:
    values = {name: value for name, value in TOTALS.items() if name != "stderr"}
    bare = folder.file("totals.json", json.dumps(values))
    answer = folder.gate(bare, bare)
    assert answer.code == 3
    assert "gives no standard error (stderr)" in answer.out
    assert "fewer than two" not in answer.out


def test_another_policy_says_which_option_to_repeat(folder: Folder) -> None:
    one, other = (
        folder.report(f"{policy}.json", BEFORE, policy=policy)
        for policy in (Policy.ALL, Policy.ANY)
    )
    refused(folder, one, other, says=("policy", "hint: evaluate both with the same --policy\n"))


def test_a_run_that_was_cut_short_is_told_so(folder: Folder) -> None:
    folder.file("out/run.json", "{}")
    refused(folder, "out", "out", says=("the run in out is not finished", "goes on where it was"))


def test_a_safety_veto_is_not_lost_with_the_cases(folder: Folder) -> None:
    cases = [case("a", "PF", tags=["safety"]), *(case(f"t{k}", "PP") for k in range(9))]
    values = to_dict(report(cases))
    values.pop("cases")
    other = folder.file("totals.json", json.dumps(values))
    answer = folder.gate(other, other)
    assert answer.code == 1
    assert "safety veto: a: 1 of 2 samples failed" in answer.out
    bare = values | {"safety": {"ok": False}}
    answer = folder.gate(other, folder.file("bare.json", json.dumps(bare)))
    assert answer.code == 1
    assert "safety veto: its report says so" in answer.out
