"""The development loop: a suite of cases, a candidate, a report, and a gate between two."""

from labkit.evals.case import EvalCase, EvalSuite, Split
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
    "Escaped",
    "EvalCase",
    "EvalRunner",
    "EvalSuite",
    "Keep",
    "Policy",
    "Progress",
    "Replacement",
    "RunReport",
    "Sample",
    "Split",
    "Status",
    "TimedOut",
    "Trial",
    "TrialResult",
    "read_report",
]
