"""The verdict on a run: total, recorded, and readable."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from gradings import CALC, FIXED, Set, bench_of, make_set, validated
from sandboxes import require_memory_reports

from labkit.errors import IntegrityError
from labkit.model import Flag, Verdict
from labkit.records import load_grade, save
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.docker import DockerSandbox
from labkit_grader.execute import Bench
from labkit_grader.report import grade_text, result_text

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
    assert text.splitlines()[:2] == ["run      bug-1__A__1", "verdict  FAIL"]
    assert f"  missing  {TEST}" in text
    for part in (
        "edits that the task forbids\n  tests/test_calc.py\n",
        "kept out of grading\n  caf\u00e9\\n.pth: removed\n",
        "repairs to the diff\n  the lost final newline was put back\n",
        "flags    out_of_scope, repaired, neutralised\n",
    ):
        assert part in text
