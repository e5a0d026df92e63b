"""The development loop: a suite of cases, a candidate, a report, and a gate between two."""

from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.compare import Comparison, compare_runs
from labkit.evals.gate import GateDecision, RegressionGate
from labkit.evals.gaterules import CaseRule, GateMode, Want
from labkit.evals.overfitting import Overfitting
from labkit.evals.report import RunReport
from labkit.evals.reportfile import read_report
from labkit.evals.results import CaseResult, Policy, TrialResult
from labkit.evals.runner import EvalRunner, Keep, Progress
from labkit.evals.sample import (
    Answer,
    Candidate,
    Escaped,
    Replacement,
    Sample,
    Status,
    TimedOut,
    Trial,
)

__all__ = [
    "Answer",
    "Candidate",
    "CaseResult",
    "CaseRule",
    "Comparison",
    "Escaped",
    "EvalCase",
    "EvalRunner",
    "EvalSuite",
    "GateDecision",
    "GateMode",
    "Keep",
    "Overfitting",
    "Policy",
    "Progress",
    "RegressionGate",
    "Replacement",
    "RunReport",
    "Sample",
    "Split",
    "Status",
    "TimedOut",
    "Trial",
    "TrialResult",
    "Want",
    "compare_runs",
    "read_report",
]
