"""Inspect logs, as the real package reads them."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from foreign import Foreign
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InputError
from labkit.evals import (
    CaseResult,
    EvalCase,
    EvalSuite,
    RunReport,
    Sample,
    Status,
    TrialResult,
)
from labkit.evals.inspectlog import write_inspect_log
from labkit.graders import Verdict

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READ = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
whole = log.model_dump(mode="json")
summaries = read_eval_log_sample_summaries(sys.argv[1])
one = [read_eval_log_sample(sys.argv[1], each.id, each.epoch).epoch for each in summaries]
head = read_eval_log(sys.argv[1], header_only=True)
print(json.dumps({
    "log": whole,
    "summaries": [each.model_dump(mode="json") for each in summaries],
    "single": one,
    "header": head.model_dump(mode="json"),
}))
"""


def sample(case: str, number: int, verdict: Verdict, **more: Any) -> Sample:
    """Return a sample of a case."""
    status = Status.GRADED if verdict.graded else Status.ERRORED
    return Sample(case=case, number=number, seed=number, **({"status": status} | more),
                  verdict=verdict)  # fmt: skip


def result(*samples: Sample, **more: Any) -> CaseResult:
    """Return the result of a case that has these samples."""
    return CaseResult(
        id=samples[0].case,
        planned=len(samples),
        trials=tuple(map(TrialResult.of, samples)),
        samples=samples,
        **more,
    )


def report(*cases: CaseResult, **more: Any) -> RunReport:
    """Return a report of cases."""
    fields: dict[str, Any] = {
        "suite": "sums",
        "suite_version": "0123456789abcdef",
        "candidate": "tiny 1",
        "n": 2,
    }
    return RunReport(cases=cases, **(fields | more))


def members(path: Path) -> dict[str, Any]:
    """Return the files of a log."""
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


TWO = report(
    result(
        sample("add/two ±", 1, Verdict.passing("is as expected"), output="4", latency_ms=1500.0,
               cost=0.25, trace=({"tool": "sum", "of": [2, 2]},), edits=("a.py",)),
        sample("add/two ±", 2, Verdict.failing("expected 4"), output={"answer": 5}),
        slices=("sums",), tags=("safety",),
    ),
    result(
        sample("late", 1, Verdict.ungraded("the engine is gone")),
        sample("late", 2, Verdict.passing("exit 0"), output="ok \ud800", rollout="rollouts/late/2"),
    ),
    CaseResult(id="broken", planned=0, trials=(), problem="no such folder"),
    notes=("Seen.",),
)  # fmt: skip


@pytest.fixture(scope="module")
def read(foreign: Foreign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what Inspect reads of a log of two cases."""
    suite = EvalSuite([EvalCase(id="add/two ±", inputs=[2, 2], reference="4")], name="sums")
    path = tmp_path_factory.mktemp("log") / "run.eval"
    write_inspect_log(TWO, path, created=NOW, suite=suite)
    return foreign.ask(READ, str(path))


@pytest.mark.registry
@pytest.mark.slow
def test_inspect_reads_what_the_run_was(read: Any) -> None:
    log = read["log"]
    assert (log["status"], log["version"]) == ("success", 2)
    assert (log["eval"]["task"], log["eval"]["model"]) == ("sums", "tiny 1")
    assert log["eval"]["task_version"] == "0123456789abcdef"
    assert log["eval"]["metadata"]["suite_version"] == "0123456789abcdef"
    assert log["eval"]["metadata"]["unusable_cases"] == {"broken": "no such folder"}
    assert log["eval"]["metadata"]["safety"] is False
    assert log["eval"]["config"]["epochs"] == 2


@pytest.mark.registry
@pytest.mark.slow
def test_inspect_reads_every_sample(read: Any) -> None:
    samples = {(each["id"], each["epoch"]): each for each in read["log"]["samples"]}
    assert set(samples) == {("add/two ±", 1), ("add/two ±", 2), ("late", 1), ("late", 2)}
    first, second = samples["add/two ±", 1], samples["add/two ±", 2]
    assert first["scores"]["passed"]["value"] == "C"
    assert first["scores"]["passed"]["explanation"] == "is as expected"
    assert second["scores"]["passed"]["value"] == "I"
    assert (first["input"], first["target"], first["total_time"]) == ("[2, 2]", "4", 1.5)
    assert first["events"][0]["data"] == {"tool": "sum", "of": [2, 2]}
    assert (first["metadata"]["cost"], first["metadata"]["edits"]) == (0.25, ["a.py"])
    assert second["output"]["completion"] == '{"answer": 5}'
    late = samples["late", 1]
    assert (late["error"]["message"], late["scores"]) == ("not graded: the engine is gone", None)
    assert samples["late", 2]["output"]["completion"] == "ok ?"


@pytest.mark.registry
@pytest.mark.slow
def test_inspect_reads_the_figures(read: Any) -> None:
    log = read["log"]
    (score,) = log["results"]["scores"]
    metrics = {name: each["value"] for name, each in score["metrics"].items()}
    assert metrics["accuracy"] == 0.75
    assert metrics["pass_at_2"] == 1
    assert (log["results"]["total_samples"], log["results"]["completed_samples"]) == (4, 3)
    assert (score["scored_samples"], score["unscored_samples"]) == (3, 1)
    assert len(read["summaries"]) == 4
    assert read["single"] == [1, 2, 1, 2]
    assert read["header"]["results"] == log["results"]
    assert log["reductions"][0]["samples"][0]["value"] == 0.5


@pytest.mark.registry
@pytest.mark.slow
def test_inspect_reads_scores_that_are_numbers(foreign: Foreign, tmp_path: Path) -> None:
    path = tmp_path / "run.eval"
    partial = result(sample("a", 1, Verdict.passing("most of it", score=0.75)))
    write_inspect_log(report(partial, n=1), path, created=NOW)
    log = foreign.ask(READ, str(path))["log"]
    assert log["samples"][0]["scores"]["score"]["value"] == 0.75
    assert log["samples"][0]["input"] == "a"
    passed, score = log["results"]["scores"]
    assert passed["metrics"]["accuracy"]["value"] == 1
    assert score["metrics"]["mean"]["value"] == 0.75
    assert "stderr" not in passed["metrics"]


def test_a_log_is_never_overwritten_and_never_half_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.eval"
    write_inspect_log(TWO, path, created=NOW)
    before = path.read_bytes()
    with pytest.raises(InputError, match="already there"):
        write_inspect_log(TWO, path, created=NOW)
    assert path.read_bytes() == before
    unkept = result(sample("a", 1, Verdict.passing("yes"), trace=({"of": object()},)))
    with pytest.raises(TypeError):
        write_inspect_log(report(unkept), tmp_path / "other.eval", created=NOW)
    assert [each.name for each in tmp_path.iterdir()] == ["new"]


def test_a_report_that_measured_nothing_has_no_figure(tmp_path: Path) -> None:
    path = tmp_path / "run.eval"
    missing = result(sample("a", 1, Verdict.ungraded("away")))
    write_inspect_log(report(missing, n=1, candidate=""), path, created=NOW)
    header = members(path)["header.json"]
    assert header["results"]["scores"][0]["metrics"] == {}
    assert header["eval"]["model"] == "unknown"


VERDICTS = st.one_of(
    st.sampled_from([Verdict.passing("yes"), Verdict.failing("no"), Verdict.ungraded("away")]),
    st.floats(0, 1).map(lambda score: Verdict.passing("partly", score=score)),
)


@given(st.lists(st.lists(VERDICTS, min_size=1, max_size=3), max_size=4))
def test_every_sample_is_there_once_with_its_verdict(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[list[Verdict]]
) -> None:
    path = tmp_path_factory.mktemp("log") / "run.eval"
    cases = [
        result(*(sample(f"c{place}", number, each) for number, each in enumerate(of, 1)))
        for place, of in enumerate(verdicts)
    ]
    write_inspect_log(report(*cases, n=3), path, created=NOW)
    found = members(path)
    for case in cases:
        for trial in case.trials:
            kept = found.pop(f"samples/{case.id}_epoch_{trial.number}.json")
            assert ("error" in kept) == (trial.passed is None)
            if trial.passed is not None:
                assert kept["scores"]["passed"]["value"] == ("C" if trial.passed else "I")
                assert kept["scores"].get("score", {}).get("value", trial.score) == trial.score
    assert len(found["summaries.json"]) == sum(map(len, verdicts))
    assert not [name for name in found if name.startswith("samples/")]
