"""report.json: a run report as plain values, and read back with its counts exact."""

import dataclasses
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from labkit.errors import InputError, IntegrityError
from labkit.evals.metrics import AtK, Figures, Safety
from labkit.evals.report import RunReport, Totals
from labkit.evals.reportcases import read_case, require_consistent
from labkit.evals.results import CaseResult, Policy, exact
from labkit.fields import first_words, read_bytes

SCHEMA = 1
NAME = "report.json"
_AGAIN = "make it again with labkit evaluate"
_MOST_SAMPLES = 100_000
_MOST_TASKS = 10_000_000


def to_dict(report: RunReport) -> dict[str, Any]:
    """Return report.json's values; what is not estimable is None.

    Raises ValueError for a report that came without its cases.
    """
    if report.totals:
        raise ValueError("a report without its cases is not written again")
    return {
        "schema": SCHEMA,
        "suite": report.suite,
        "suite_version": report.suite_version,
        "split": report.split,
        "subset": report.subset,
        "candidate": report.candidate,
        "code": report.code,
        "n": report.n,
        "seed": report.seed,
        "policy": str(report.policy),
        "notes": list(report.notes),
        "warnings": list(report.warnings),
        "safety": {
            "ok": report.safety.ok,
            "cases": report.safety.cases,
            "failures": list(report.safety.failures),
            "unmeasured": list(report.safety.unmeasured),
        },
        **_figures(report.figures),
        "noise": _noise(report),
        "slices": {name: _figures(found) for name, found in report.slices.items()},
        "cases": [_case(case) for case in report.cases],
    }


def _figures(found: Figures) -> dict[str, Any]:
    return {
        "n_tasks": found.n_tasks,
        "n_scored": found.n_scored,
        "coverage": _number(found.coverage),
        "planned": found.planned,
        "valid": found.valid,
        "reward": _number(found.reward),
        "interval": [found.interval.low, found.interval.high] if found.interval else None,
        "stderr": found.standard_error,
        "pass_at": {str(each.k): _at(each) for each in found.pass_at},
        "pass_hat": {str(each.k): _at(each) for each in found.pass_hat},
        "passed": found.passed,
        "undecided": found.undecided,
        "flakes": found.flakes,
        "latency_ms": dataclasses.asdict(found.latency_ms) if found.latency_ms else None,
        "cost": dataclasses.asdict(found.cost) if found.cost else None,
        "false_claims": found.lies,
        "statuses": dict(found.statuses),
    }


def _number(exact: Fraction | None) -> float | None:
    return None if exact is None else float(exact)


def _at(found: AtK) -> dict[str, Any]:
    return {"value": found.value, "tasks": found.tasks}


def _noise(report: RunReport) -> dict[str, Any]:
    parts, combined = report.noise.parts, report.noise.combined
    return {
        "variance": dataclasses.asdict(parts) if parts else None,
        "legacy_combined_stderr": combined,
    }


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "id": case.id,
        "slices": list(case.slices),
        "tags": list(case.tags),
        "problem": case.problem,
        "digest": case.digest or None,
        "planned": case.planned,
        "valid_trials": case.valid_trials,
        "passes": case.passes,
        "passed": case.passed,
        "reward": _number(case.reward),
        "trials": [dataclasses.asdict(trial) for trial in case.trials],
    }


def read_report(path: Path | str) -> RunReport:
    """Read a report: a report.json, or a folder that holds one.

    A report of somebody else's may lack `cases`; then its totals are all there is. Raises
    InputError when there is no such file, when it is no report, and for the folder of a run that is
    not finished; IntegrityError when it is damaged.
    """
    given = Path(path)
    file = _file_of(given)
    values = _values(file)
    try:
        return dataclasses.replace(from_dict(values, folder=file.parent), source=given)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise IntegrityError(f"{file} is damaged: {_why(error)}", hint=_AGAIN) from error


def _why(error: Exception) -> str:
    """Return what is wrong in words: of a missing field, Python says the name alone."""
    return f"it lacks the field {error}" if isinstance(error, KeyError) else str(error)


def _file_of(given: Path) -> Path:
    """Return the file of a report; raises InputError for a run that has none yet."""
    from labkit.evals.runfolder import MADE_OF  # noqa: PLC0415 - it writes reports

    if not given.is_dir():
        return given
    if not (given / NAME).exists() and (given / MADE_OF).exists():
        raise InputError(
            f"the run in {given} is not finished: it has no {NAME} yet",
            hint="repeat the command that began it, with the same --out: it goes on where it was",
        )
    return given / NAME


def _values(file: Path) -> dict[str, Any]:
    """Return a report's values; raises InputError for a file that is something else."""
    data = read_bytes(file)
    named = file.name == NAME
    if not named and not data.lstrip().startswith(b"{"):
        raise _no_report(file, "it holds no JSON object")
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(f"{file} is damaged: {error}", hint=_AGAIN) from error
    if not named:
        totals = () if "cases" in values else ("n_tasks", "n_scored")
        needed = ("suite", "suite_version", *totals)
        if lacking := [name for name in needed if name not in values]:
            raise _no_report(file, f"it lacks {first_words(lacking)}")
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise IntegrityError(
            f"{file} is not of schema {SCHEMA}", hint="it was written by another version of labkit"
        )
    return values


def _no_report(file: Path, why: str) -> InputError:
    return InputError(
        f"{file} is no report of a run: {why}",
        hint=f"give the folder of a finished run, or the {NAME} in it; docs/gate.md lists what a "
        "report of another tool's needs",
    )


def from_dict(values: Mapping[str, Any], *, folder: Path | None = None) -> RunReport:
    """Return the report of report.json's values.

    Raises KeyError, TypeError or ValueError when they are not what `to_dict` makes.
    """
    policy = Policy(values.get("policy", Policy.ALL))
    n = int(values.get("n", 1))
    if not 1 <= n <= _MOST_SAMPLES:
        raise ValueError(f"{n} samples a case")
    report = RunReport(
        suite=str(values["suite"]),
        suite_version=str(values["suite_version"]),
        candidate=str(values.get("candidate", "")),
        code=str(values.get("code", "")),
        split=str(values.get("split", "all" if "cases" in values else "")),
        subset=_truth(values.get("subset", False)),
        n=n,
        seed=int(values.get("seed", 0)),
        policy=policy,
        ks=tuple(sorted(map(int, values.get("pass_at", {})))),
        notes=tuple(map(str, values.get("notes", ()))),
        cases=tuple(read_case(case, policy) for case in values.get("cases", ())),
        totals=None if "cases" in values else _totals(values),
        folder=folder,
    )
    if not report.totals:
        require_consistent(values, report)
    return report


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _totals(values: Mapping[str, Any]) -> Totals:
    def number(name: str) -> Fraction | None:
        return None if values.get(name) is None else exact(float(values[name]))

    reward = number("reward")
    if reward is not None and not 0 <= reward <= 1:
        raise ValueError(f"a reward of {float(reward)} is none")
    if (error := number("stderr")) is not None and error < 0:
        raise ValueError(f"a standard error of {float(error)} is none")
    tasks, scored = int(values["n_tasks"]), int(values["n_scored"])
    if not 0 <= scored <= tasks <= _MOST_TASKS:
        raise ValueError(f"{scored} scored tasks of {tasks}")
    return Totals(
        reward=reward,
        standard_error=error,
        n_tasks=tasks,
        n_scored=scored,
        safety=_safety(values.get("safety") or {}),
    )


def _safety(values: Mapping[str, Any]) -> Safety:
    """Return the safety verdict of a report without cases: its failures are never lost."""
    failures = tuple(map(str, values.get("failures", ())))
    ok = values.get("ok")
    if ok is not None and not _truth(ok) and not failures:
        failures = ("its report says so, without saying where",)
    return Safety(
        cases=int(values.get("cases", 0)),
        failures=failures,
        unmeasured=tuple(map(str, values.get("unmeasured", ()))),
    )
