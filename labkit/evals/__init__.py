"""The development loop: a suite of cases, a candidate, a report, and a gate between two."""

from labkit.evals.answerfile import CandidateError
from labkit.evals.bundled import apply_known_fixes, bundled_fixtures, do_nothing, write_bundled
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.command import Command
from labkit.evals.compare import Comparison, compare_runs
from labkit.evals.edits import apply_diff, apply_replacements, read_replacements
from labkit.evals.escape import watched
from labkit.evals.fixtures import FixtureTask, read_fixtures
from labkit.evals.gate import GateDecision, RegressionGate
from labkit.evals.gaterules import CaseRule, GateMode, Want
from labkit.evals.harness import EvalHarness, EvalReport, SampleResult, TaskReport
from labkit.evals.hostcommand import HostCommand
from labkit.evals.hosted import Hosted
from labkit.evals.named import open_candidate
from labkit.evals.overfitting import Overfitting
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
from labkit.evals.suitefile import read_suite_file
from labkit.evals.verifiers import VerifierRegistry

__all__ = [
    "Answer",
    "Candidate",
    "CandidateError",
    "CaseResult",
    "CaseRule",
    "Command",
    "Comparison",
    "Escaped",
    "EvalCase",
    "EvalHarness",
    "EvalReport",
    "EvalRunner",
    "EvalSuite",
    "FixtureTask",
    "GateDecision",
    "GateMode",
    "HostCommand",
    "Hosted",
    "Keep",
    "Nature",
    "Overfitting",
    "Policy",
    "Probed",
    "Progress",
    "Recorded",
    "RegressionGate",
    "Replacement",
    "RunReport",
    "Sample",
    "SampleResult",
    "Split",
    "Status",
    "TaskReport",
    "TimedOut",
    "Trial",
    "TrialResult",
    "VerifierRegistry",
    "Want",
    "apply_diff",
    "apply_known_fixes",
    "apply_replacements",
    "bundled_fixtures",
    "compare_runs",
    "do_nothing",
    "open_candidate",
    "probe",
    "read_fixtures",
    "read_replacements",
    "read_report",
    "read_suite_file",
    "watched",
    "write_bundled",
]
