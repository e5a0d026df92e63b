"""The development loop: a suite of cases, a candidate, a report, and a gate between two."""

from labkit.evals.answerfile import CandidateError
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.command import Command
from labkit.evals.escape import watched
from labkit.evals.hostcommand import HostCommand
from labkit.evals.hosted import Hosted
from labkit.evals.named import open_candidate
from labkit.evals.probe import Nature, Probed, probe
from labkit.evals.recorded import Recorded
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
    "CandidateError",
    "CaseResult",
    "Command",
    "Escaped",
    "EvalCase",
    "EvalRunner",
    "EvalSuite",
    "HostCommand",
    "Hosted",
    "Keep",
    "Nature",
    "Policy",
    "Probed",
    "Progress",
    "Recorded",
    "Replacement",
    "RunReport",
    "Sample",
    "Split",
    "Status",
    "TimedOut",
    "Trial",
    "TrialResult",
    "open_candidate",
    "probe",
    "read_report",
    "watched",
]
