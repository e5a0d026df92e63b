"""The verdict on a run: total, recorded, and readable."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest
from gradings import CALC, FIXED, Set, bench_of, make_set, validated
from sandboxes import require_memory_reports

from labkit.errors import InfrastructureError, IntegrityError
from labkit.model import Flag, RunId, Verdict
from labkit.records import GradeRecord, load_grade, save
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Collect, Outcome, Spec, Streams
from labkit_grader.execute import Bench
from labkit_grader.grade import Patience, RunEvidence, grade_run
from labkit_grader.report import grade_text, result_text

T = TypeVar("T")
TEST = "tests/test_hidden.py::test_add"


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture
def task(tmp_path: Path, bench: Bench) -> Set:
    return validated(make_set(tmp_path), bench)


def test_a_repaired_diff_is_graded_and_flagged(task: Set, bench: Bench) -> None:
    patch = task.diff({"calc.py": FIXED})
    for broken in (patch.removesuffix(b"\n"), patch.replace(b"\n", b"\r\n")):
        record = task.graded(bench, broken)
        assert (record.verdict, record.flags) == (Verdict.PASS, (Flag.REPAIRED,))
        assert len(record.repairs) == 1


def test_a_diff_that_does_not_apply_fails_with_the_reason(task: Set, bench: Bench) -> None:
    record = task.graded(bench, task.diff({"calc.py": FIXED}).replace(b"a - b", b"a * b"))
    assert (record.verdict, record.flags) == (Verdict.FAIL, (Flag.NOT_APPLIED,))
    assert record.reason.startswith("the diff does not apply: patch failed: calc.py")


def test_a_good_fix_that_edits_a_forbidden_test_fails(task: Set, bench: Bench) -> None:
    record = task.graded(bench, task.diff({"calc.py": FIXED, "tests/test_calc.py": "x = 1\n"}))
    assert (record.verdict, record.flags) == (Verdict.FAIL, (Flag.OUT_OF_SCOPE, Flag.NEUTRALISED))
    assert record.forbidden_edits == ("tests/test_calc.py",)
    assert record.neutralised == ("tests/test_calc.py: put back as at the base",)
    assert set(record.tests.values()) == {"passed"}


def test_edits_of_tests_that_are_not_forbidden_do_not_change_the_verdict(
    tmp_path: Path, bench: Bench
) -> None:
    task = validated(make_set(tmp_path, forbidden=("evals/",)), bench)
    files = {"calc.py": FIXED, "tests/test_calc.py": "x = 1\n", "tests/test_hidden.py": "x = 1\n"}
    record = task.graded(bench, task.diff(files))
    assert (record.verdict, record.flags) == (Verdict.PASS, (Flag.NEUTRALISED,))


@pytest.mark.parametrize(
    ("code", "flag"),
    [("while True: pass", Flag.TIMEOUT), ("import os; os._exit(0)", Flag.TAMPERED)],
    ids=["hangs", "leaves"],
)
def test_code_that_never_lets_tests_end_fails(
    task: Set, bubblewrap_sandbox: BubblewrapSandbox, code: str, flag: Flag
) -> None:
    record = task.graded(
        bench_of(bubblewrap_sandbox, seconds=2), task.diff({"calc.py": CALC + code + "\n"})
    )
    assert (record.verdict, record.flags[:1]) == (Verdict.FAIL, (flag,))
    assert set(record.tests.values()) == {"missing"}


def test_a_sandbox_that_does_not_start_leaves_the_run_ungraded(
    task: Set, docker_sandbox: DockerSandbox
) -> None:
    bench = replace(bench_of(docker_sandbox), image="labkit-no-such-image:none")
    record = task.graded(bench, b"")
    assert record.verdict is Verdict.UNGRADED
    assert record.reason.startswith("not graded: ")
    assert (record.tests, record.seconds) == ({}, None)


def test_a_sandbox_that_somebody_kills_leaves_the_run_ungraded(
    task: Set, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    labels = {"labkit.run": "killed-while-graded"}
    bench = replace(bench_of(bubblewrap_sandbox, seconds=20), labels=labels)
    with ThreadPoolExecutor() as pool:
        hangs = task.diff({"calc.py": CALC + "import time; time.sleep(60)\n"})
        grading = pool.submit(task.graded, bench, hangs)
        while not bubblewrap_sandbox.kill(labels) and not grading.done():
            time.sleep(0.05)
        record = grading.result()
    assert record.verdict is Verdict.UNGRADED
    assert record.reason == "not graded: the grading sandbox was killed from outside"


@dataclass(slots=True)
class Unsteady:
    """A sandbox that the infrastructure breaks now and then."""

    real: BubblewrapSandbox
    failures: list[str]
    name: str = "unsteady"

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Fail as long as there is a failure left."""
        if self.failures:
            raise InfrastructureError(self.failures.pop(0))
        return self.real.run(spec, streams, collect)

    def kill(self, labels: Mapping[str, str]) -> int:
        """Kill nothing."""
        del labels
        return 0

    def leftovers(self) -> tuple[str, ...]:
        """Leave nothing."""
        return ()

    def clean(self) -> tuple[str, ...]:
        """Remove nothing."""
        return ()


def patient(task: Set, bench: Bench, failures: list[str], patience: Patience) -> GradeRecord:
    """Grade the right fix while the infrastructure fails so often."""
    assert isinstance(bench.sandbox, BubblewrapSandbox)
    unsteady = replace(bench, sandbox=Unsteady(bench.sandbox, failures))
    evidence = RunEvidence(
        run=RunId.parse("bug-1__A__1"),
        suite_version="v",
        commitment="c",
        diff=task.diff({"calc.py": FIXED}),
        transcript=b"Done.",
    )
    return grade_run(unsteady, task.case, evidence, patience)


def test_infrastructure_trouble_is_tried_again_and_told(task: Set, bench: Bench) -> None:
    pauses: list[float] = []
    patience = Patience(pauses=(1.0, 5.0), rest=pauses.append)
    record = patient(task, bench, ["engine gone", "disk full"], patience)
    assert record.verdict is Verdict.PASS
    assert record.checks["earlier tries"] == "engine gone; disk full"
    assert pauses == [1.0, 5.0]
    assert "earlier tries: engine gone; disk full" in grade_text(record)


def test_after_the_last_try_the_run_is_ungraded_with_every_failure(task: Set, bench: Bench) -> None:
    patience = Patience(pauses=(1.0, 5.0), rest=lambda _: None)
    failures = ["engine gone", "disk full", "engine gone", "never come to"]
    record = patient(task, bench, failures, patience)
    assert record.verdict is Verdict.UNGRADED
    assert record.reason == (
        "not graded: engine gone (the last of 3 tries; before: engine gone; disk full)"
    )
    assert failures == ["never come to"]
    record = patient(task, bench, ["engine gone"] * 3, patience)
    assert record.reason == "not graded: engine gone (3 tries, each time)"


def test_an_interrupted_grading_does_not_try_again(task: Set, bench: Bench) -> None:
    failures = ["killed", "not reached"]
    record = patient(task, bench, failures, Patience(pauses=(60.0,), rest=lambda _: True))
    assert record.reason == "not graded: killed"
    assert failures == ["not reached"]


def test_running_out_of_memory_is_a_fail(task: Set, docker_sandbox: DockerSandbox) -> None:
    require_memory_reports(docker_sandbox)
    hog = CALC + "kept = [bytearray(10**6) for _ in range(10**5)]\n"
    record = task.graded(bench_of(docker_sandbox, memory=96), task.diff({"calc.py": hog}))
    assert (record.verdict, record.flags) == (Verdict.FAIL, (Flag.OUT_OF_MEMORY,))
    assert record.reason == "the tests ran out of memory"


def test_a_bundle_without_evidence_is_no_bundle(tmp_path: Path, bench: Bench) -> None:
    with pytest.raises(IntegrityError, match="names no expected tests"):
        make_set(tmp_path).graded(bench, b"")


def test_the_grade_can_be_kept_and_read(task: Set, bench: Bench, tmp_path: Path) -> None:
    files = {"calc.py": "", "tests/test_calc.py": "x = 1\n", "caf\u00e9\n.pth": "x"}
    record = task.graded(bench, task.diff(files).removesuffix(b"\n"))
    save(tmp_path / "grade.json", record)
    assert load_grade(tmp_path / "grade.json") == record
    assert result_text(record) == "FAIL\n"
    text = grade_text(record)
    assert text.startswith("verdict    FAIL\nwhy        ")
    assert "\nrun        bug-1__A__1\n" in text
    assert f"  missing  {TEST}" in text
    for part in (
        "edits that the task forbids\n  tests/test_calc.py\n",
        "kept out of grading\n  caf\u00e9\\n.pth: removed\n",
        "repairs to the diff\n  the lost final newline was put back\n",
        "flags      out_of_scope, repaired, neutralised\n",
    ):
        assert part in text


def test_the_readable_grade_shows_what_matters_first() -> None:
    record = GradeRecord(
        run=RunId.parse("bug-1__B__2"),
        suite_version="0123",
        commitment="c",
        verdict=Verdict.FAIL,
        reason="1 of 3 tests fails",
        flags=(Flag.SUSPICIOUS, Flag.DEPENDENCIES),
        tests={"a::passes": "passed", "z::gone": "missing", "b::fails": "failed"},
        checks={"sentinel": "failed, as it must"},
        unexpected=("a::extra",),
        submission="an empty file",
        forbidden_edits=("evals/x",),
        dependencies=("pyproject.toml: now needs left-pad",),
        suspicions=("calc.py:3: os._exit\x1b[2J",),
        seconds=1.26,
        supersedes="f" * 64,
        because="correction 1 of its hidden tests: too strict",
    )
    assert grade_text(record) == (
        "verdict    FAIL\n"
        "why        1 of 3 tests fails\n"
        "handed in  an empty file\n"
        "flags      suspicious, dependencies\n"
        "run        bug-1__B__2\n"
        "suite      0123\n"
        "took       1.3 s\n\n"
        "look at this (people decide; no part of the verdict)\n"
        "  calc.py:3: os._exit\\x1b[2J\n\n"
        "edits that the task forbids\n  evals/x\n\n"
        "tests: 1 of 3 passed\n"
        "  failed   b::fails\n  missing  z::gone\n  passed   a::passes\n\n"
        "ran, but is not expected: counts for nothing\n  a::extra\n\n"
        "how the run was checked\n  sentinel: failed, as it must\n\n"
        "changed dependencies (nothing was installed)\n  pyproject.toml: now needs left-pad\n\n"
        "graded again\n"
        "  because: correction 1 of its hidden tests: too strict\n"
        f"  instead of: {'f' * 64}\n"
    )
