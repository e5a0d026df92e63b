"""The development loop: a suite of cases, a candidate, a report, and a gate between two."""

from labkit.evals.bundled import (
    apply_known_fixes,
    bundled_fixtures,
    do_nothing,
    write_bundled,
)
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.edits import apply_diff, apply_replacements, read_replacements
from labkit.evals.fixtures import FixtureTask, read_fixtures
from labkit.evals.harness import EvalHarness, EvalReport, SampleResult, TaskReport
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
from labkit.evals.verifiers import VerifierRegistry

__all__ = [
    "Answer",
    "Candidate",
    "CaseResult",
    "Escaped",
    "EvalCase",
    "EvalHarness",
    "EvalReport",
    "EvalRunner",
    "EvalSuite",
    "FixtureTask",
    "Keep",
    "Policy",
    "Progress",
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
    "apply_diff",
    "apply_known_fixes",
    "apply_replacements",
    "bundled_fixtures",
    "do_nothing",
    "read_fixtures",
    "read_replacements",
    "read_report",
    "write_bundled",
]
