"""`labkit export`: a study as a report, reports and runs for other tools, and what is refused."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import RUNS, Lab, Stages, require_clear

from labkit.evals import Answer, EvalCase, EvalRunner, EvalSuite, RunReport, Trial
from labkit.evals.reportfile import read_report, to_dict
from labkit.fields import json_text

At = Callable[[str], Lab]


@pytest.fixture(scope="module")
def finished(stages: Stages) -> Lab:
    """Return a lab that has been through every phase."""
    return stages.original("unblinded")


def test_a_study_is_a_report_a_log_and_trajectories(finished: Lab, tmp_path: Path) -> None:
    report, log, runs = tmp_path / "a.json", tmp_path / "a.eval", tmp_path / "runs"
    words = ("--report", str(report), "--inspect", str(log), "--atif", str(runs))
    finished.done("export", "--study", "A", *words)
    read = read_report(report)
    assert read.n_tasks == 2
    assert read.reward == 1
    assert read.candidate.startswith("A: scripted 1 model-A")
    suite = json.loads(finished.workspace.suite.read_bytes())
    assert read.suite_version == suite["version"]
    other = tmp_path / "b.json"
    finished.done("export", "--study", "B", "--report", str(other))
    assert read_report(other).reward == 0
    assert read_report(other).suite_version == read.suite_version
    with zipfile.ZipFile(log) as archive:
        assert "header.json" in archive.namelist()
    mine = [run for run in RUNS if "__A__" in run]
    assert sorted(path.stem for path in runs.iterdir()) == sorted(mine)
    trajectory = json.loads((runs / f"{mine[0]}.json").read_bytes())
    assert trajectory["session_id"] == mine[0]
    assert trajectory["steps"][0]["message"].startswith("Greet strangers, please")
    assert any(step["message"] == "Mended." for step in trajectory["steps"])
    assert trajectory["agent"]["model_name"] == "model-A"


def test_nothing_of_a_study_is_told_before_the_scores_are_in(lab_at: At, tmp_path: Path) -> None:
    lab = lab_at("blinded")
    words = ("export", "--study", "A", "--report", str(tmp_path / "a.json"))
    lab.refused(*words, code=2, says=("not joined yet", "labkit unblind"))
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("export",), "nothing to export"),
        (("export", "--study", "A"), "nothing to write is named"),
        (("export", "--study", "Z", "--report", "z.json"), "no configuration Z"),
        (("export", "--study", "a", "--report", "z.json"), "not one capital letter"),
        (("export", "x.json", "--study", "A", "--report", "z.json"), "two sources"),
        (("export", "x.json", "--report", "z.json"), "a report already"),
        (("export", "x.json"), "nothing to write is named"),
        (("export", "x.json", "--inspect", "z.eval"), "no file or folder x.json"),
        (("export", "words.py", "--inspect", "z.eval"), "is no report of a run"),
        (("export", "x.json", "--inspect", "words.py"), "words.py is already there"),
        (("export", "x.json", "--atif", "tests"), "tests is not empty"),
        (("export", "x.json", "--atif", "words.py"), "words.py is not a folder"),
    ],
)
def test_what_is_refused(finished: Lab, words: tuple[str, ...], says: str) -> None:
    answer = finished.labkit(*words)
    require_clear(answer, code=2, says=(says,))
    assert not [*finished.project.folder.glob("z.*")]


def test_a_report_without_samples_has_no_trajectories(finished: Lab, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    empty = RunReport(suite="s", suite_version="v", candidate="c", n=1, cases=())
    path.write_text(json_text(to_dict(empty) | {"cases": []}), encoding="utf-8")
    words = ("export", str(path), "--inspect", str(tmp_path / "x.eval"))
    require_clear(finished.labkit(*words), code=2, says=("has no cases",))
    study = tmp_path / "a.json"
    finished.done("export", "--study", "A", "--report", str(study))
    answer = finished.labkit("export", str(study), "--atif", str(tmp_path / "runs"))
    require_clear(answer, code=2, says=("no samples are kept beside",))
    finished.done("export", str(study), "--inspect", str(tmp_path / "x.eval"))
    assert (tmp_path / "x.eval").is_file()


def test_a_kept_run_has_its_samples(finished: Lab, tmp_path: Path) -> None:
    spec = {"name": "exact"}
    suite = EvalSuite(
        EvalCase(id=name, inputs=2, reference="4", grader_spec=spec) for name in ("../a b", "two")
    )

    def candidate(case: EvalCase, trial: Trial) -> Answer:
        if case.id == "two" and trial.number == 2:
            raise ValueError("the model is away")
        return Answer(output="4", trace=[{"tool": "sum", "arguments": {"of": [2, 2]}}])

    run = tmp_path / "run"
    EvalRunner(candidate=candidate, n=2).run(suite, folder=run)
    log, folder = tmp_path / "x.eval", tmp_path / "traces"
    finished.done("export", str(run), "--inspect", str(log), "--atif", str(folder))
    assert sorted(path.name for path in folder.iterdir()) == [
        "%2E.%2Fa%20b__1.json", "%2E.%2Fa%20b__2.json", "two__1.json", "two__2.json",
    ]  # fmt: skip
    first = json.loads((folder / "two__1.json").read_bytes())
    assert first["steps"][1]["tool_calls"][0]["arguments"] == {"of": [2, 2]}
    assert first["steps"][2]["message"] == "4"
    assert first["extra"]["suite_version"] == suite.version
    with zipfile.ZipFile(log) as archive:
        sample = json.loads(archive.read("samples/two_epoch_1.json"))
        lost = json.loads(archive.read("samples/two_epoch_2.json"))
    assert sample["events"][0]["data"]["tool"] == "sum"
    assert "the model is away" in lost["error"]["message"]
