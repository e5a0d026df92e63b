"""A run as an Inspect log (`.eval`), for `inspect view` and everything else that reads those.

A log is a zip of JSON files: a header, one file a sample, summaries of them. It is written here by
hand, in version 2 of the format, so that labkit needs nothing of Inspect's.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult, TrialResult
from labkit.evals.sample import Sample
from labkit.fields import canonical_json
from labkit.suite import digest
from labkit.wholefile import whole_file

_VERSION = 2
_ID_DIGITS = 22
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_MARKS = {True: "C", False: "I"}
"""Inspect's own words for right and wrong."""
_LONGEST_IN_SUMMARY = 1024


def write_inspect_log(
    report: RunReport, path: Path, *, created: datetime, suite: EvalSuite | None = None
) -> None:
    """Write a run as a new log. `suite` is where inputs and references are taken from, if known.

    A sample without a verdict has an error and no score. Raises InputError when the file is there.
    """
    log = _Log(report=report, created=created.isoformat(timespec="seconds"), suite=suite)
    with (
        whole_file(path, new=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, values in log.members():
            # What no UTF-8 can hold becomes a question mark: readers refuse the whole log for it.
            text = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
            member = zipfile.ZipInfo(name, date_time=_ZIP_TIME)
            archive.writestr(member, text, compress_type=zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, kw_only=True)
class _Log:
    report: RunReport
    created: str
    suite: EvalSuite | None

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yield the files of the log, the samples one by one."""
        spec = self._spec()
        yield "_journal/start.json", {"version": _VERSION, "eval": spec, "plan": _PLAN}
        cases = {case.id: case for case in self.suite.cases} if self.suite else {}
        summaries = []
        for result in self.report.cases:
            samples = {sample.number: sample for sample in result.samples}
            for trial in result.trials:
                made = self._sample(result, trial, samples.get(trial.number), cases.get(result.id))
                summaries.append(_summary(made))
                yield f"samples/{result.id}_epoch_{trial.number}.json", made
        yield "summaries.json", summaries
        yield "reductions.json", list(self._reductions())
        yield (
            "header.json",
            {
                "version": _VERSION,
                "status": "success",
                "eval": spec,
                "plan": _PLAN,
                "results": self._results(),
                "stats": {"started_at": self.created, "completed_at": self.created},
            },
        )

    def _spec(self) -> dict[str, Any]:
        report = self.report
        pinned = [report.suite, report.suite_version, report.candidate, report.seed, report.n]
        name = digest(canonical_json([*pinned, self.created]))
        return {
            "eval_id": name[:_ID_DIGITS],
            "run_id": name[_ID_DIGITS : 2 * _ID_DIGITS],
            "task_id": digest(report.suite.encode())[:_ID_DIGITS],
            "created": self.created,
            "task": report.suite or "suite",
            "task_version": report.suite_version,
            "dataset": {
                "name": report.suite,
                "samples": len(report.cases),
                "sample_ids": [case.id for case in report.cases],
                "shuffled": False,
            },
            "model": report.candidate or "unknown",
            "config": {"epochs": report.n, "epochs_reducer": ["mean"]},
            "scorers": [{"name": name} for name in self._scorers],
            "metadata": self._metadata(),
        }

    def _metadata(self) -> dict[str, Any]:
        report = self.report
        return {
            "suite_version": report.suite_version,
            "split": report.split,
            "subset": report.subset,
            "seed": report.seed,
            "policy": str(report.policy),
            "coverage": None if report.coverage is None else float(report.coverage),
            "safety": report.safety.ok,
            "safety_failures": list(report.safety.failures),
            "notes": list(report.notes),
            "warnings": list(report.warnings),
            "unusable_cases": {case.id: case.problem for case in report.cases if case.problem},
        }

    @cached_property
    def _scorers(self) -> tuple[str, ...]:
        """Return the names of the scorers: a second one where scores are more than a pass."""
        scores = {trial.score for case in self.report.cases for trial in case.valid}
        return ("passed",) if scores <= {0.0, 1.0} else ("passed", "score")

    def _sample(
        self,
        result: CaseResult,
        trial: TrialResult,
        sample: Sample | None,
        case: EvalCase | None,
    ) -> dict[str, Any]:
        asked = _text(case.inputs) if case else result.id
        answer = "" if sample is None else _text(sample.output)
        why = sample.verdict.detail if sample else str(trial.status)
        made: dict[str, Any] = {
            "id": result.id,
            "epoch": trial.number,
            "input": asked,
            "target": _text(case.reference) if case else "",
            "messages": [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": answer},
            ],
            "output": _output(self.report.candidate, answer),
            "metadata": _about(result, trial, sample),
            "events": [self._event(step) for step in (sample.trace if sample else ())],
        }
        if trial.latency_ms is not None:
            made["total_time"] = made["working_time"] = trial.latency_ms / 1000
        if trial.passed is None:
            made["error"] = {"message": why, "traceback": "", "traceback_ansi": ""}
        else:
            values = {"passed": _MARKS[trial.passed], "score": trial.score}
            made["scores"] = {
                name: {"value": values[name], "answer": answer, "explanation": why}
                for name in self._scorers
            }
        return made

    def _event(self, step: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "event": "info",
            "source": "trace",
            "data": dict(step),
            "timestamp": self.created,
            "working_start": 0.0,
        }

    def _results(self) -> dict[str, Any]:
        figures = self.report.figures
        return {
            "total_samples": figures.planned,
            "completed_samples": figures.valid,
            "scores": [
                {
                    "name": name,
                    "scorer": name,
                    "reducer": "mean",
                    "scored_samples": figures.valid,
                    "unscored_samples": figures.planned - figures.valid,
                    "metrics": {
                        metric: {"name": metric, "value": value}
                        for metric, value in self._metrics(name).items()
                    },
                }
                for name in self._scorers
            ],
        }

    def _metrics(self, scorer: str) -> dict[str, float]:
        """Return the figures of a scorer; what is not estimable is left out."""
        figures = self.report.figures
        if scorer == "score":
            found = {
                "mean": None if figures.reward is None else float(figures.reward),
                "stderr": figures.standard_error,
            }
        else:
            found = {"accuracy": next((at.value for at in figures.pass_at if at.k == 1), None)}
            if len(self._scorers) == 1:
                found["stderr"] = figures.standard_error
            found |= {f"pass_at_{at.k}": at.value for at in figures.pass_at}
            found |= {f"pass_hat_{at.k}": at.value for at in figures.pass_hat}
        return {name: value for name, value in found.items() if value is not None}

    def _reductions(self) -> Iterator[dict[str, Any]]:
        scored = [case for case in self.report.cases if case.valid_trials]
        for name in self._scorers:
            values = [
                float(case.reward or 0) if name == "score" else case.passes / case.valid_trials
                for case in scored
            ]
            yield {
                "scorer": name,
                "reducer": "mean",
                "samples": [
                    {"value": value, "sample_id": case.id}
                    for case, value in zip(scored, values, strict=True)
                ],
            }


_PLAN: Mapping[str, Any] = {"name": "labkit", "steps": [], "config": {}}


def _text(value: object) -> str:
    """Return plain values as a viewer shows them: texts as they are, all else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _output(model: str, answer: str) -> dict[str, Any]:
    return {
        "model": model or "unknown",
        "choices": [{"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}],
        "completion": answer,
    }


def _about(result: CaseResult, trial: TrialResult, sample: Sample | None) -> dict[str, Any]:
    """Return what labkit knows of a sample and Inspect has no place for."""
    found: dict[str, Any] = {
        "status": str(trial.status),
        "slices": list(result.slices),
        "tags": list(result.tags),
        "forbidden_edits": trial.forbidden,
        "false_claim": trial.lied,
    }
    if trial.cost is not None:
        found["cost"] = trial.cost
    if sample is not None:
        found |= {
            "seed": sample.seed,
            "edits": None if sample.edits is None else list(sample.edits),
            "success_self_reported": sample.success_self_reported,
            "rollout": sample.rollout,
        }
    return found


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the list of samples shows of one."""
    kept = ("id", "epoch", "metadata", "total_time", "working_time")
    found = {name: sample[name] for name in kept if name in sample}
    found |= {name: sample[name][:_LONGEST_IN_SUMMARY] for name in ("input", "target")}
    scores: Mapping[str, Mapping[str, Any]] = sample.get("scores", {})
    if scores:
        found["scores"] = {
            name: {"value": score["value"], "answer": score["answer"][:_LONGEST_IN_SUMMARY]}
            for name, score in scores.items()
        }
    if "error" in sample:
        found["error"] = sample["error"]["message"]
    messages: Sequence[object] = sample["messages"]
    return found | {"completed": True, "message_count": len(messages)}
