"""What validation finds to guard a task's verdicts with, and how grading uses it."""

import re
from dataclasses import replace

import pytest
from gradings import CALC, FIXED, Set, bench_of, make_set, validated

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.guarding import new_twin
from labkit_grader.twins.guards import Guards
from labkit_grader.validate import validate_task

ROWS = """
import pytest
from calc import add, double

@pytest.mark.parametrize(("a", "b", "want"), [(2, 3, 5), (-1, 4, 3)])
def test_add(a, b, want):
    assert add(a, b) == want

def test_twice():
    for number in (1, 2):
        assert double(number) == 2 * number

def check(result, want):
    assert result == want

def test_helped():
    check(add(2, 2), 4)

@pytest.mark.skipif(True, reason="never")
def test_skipped():
    assert add(1, 1) == 2

def test_runs():
    add(1, 2)
"""
PASSED_BY_ALL = "def add(a, b): return type('E', (int,), {'__eq__': lambda *_: True})(0)\n"
ID = "tests/test_hidden.py::"


@pytest.fixture(scope="module")
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=30)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, bench: Bench) -> Set:
    made = make_set(
        tmp_path_factory.mktemp("rows"),
        draft={"hidden/tests/test_hidden.py": ROWS},
        solution={"calc.py": FIXED},
    )
    return validated(made, bench)


def expected(task: Set) -> Expected:
    evidence = task.case.material.evidence
    assert evidence is not None
    return evidence


def test_validation_finds_which_wrong_expectations_are_noticed(rows: Set) -> None:
    guards = expected(rows).guards
    assert set(guards.noticed) == {
        f"{ID}test_add[2-3-5]",
        f"{ID}test_add[-1-4-3]",
        f"{ID}test_twice",
        f"{ID}test_helped",
        f"{ID}test_runs",
    }
    assert guards.sentinel == ("function", "method")
    assert expected(rows).others == (f"{ID}test_skipped",)


def test_most_twins_are_quiet_and_some_ask_everybody(rows: Set) -> None:
    tests = expected(rows).tests
    sizes = [len(twin.tests) for _ in range(60) if (twin := new_twin(rows.case, tests))]
    assert set(sizes) == {2, 5}
    assert sizes.count(2) > sizes.count(5)


def test_guards_are_kept_as_they_are(rows: Set) -> None:
    assert Expected.of(expected(rows).values()) == expected(rows)


def test_evidence_of_an_older_kit_has_no_guards() -> None:
    assert Expected.of({"fail_to_pass": ["a"], "pass_to_pass": []}).guards == Guards()


def test_the_same_task_is_guarded_the_same_each_time(rows: Set, bench: Bench) -> None:
    again = validate_task(bench, rows.case, repeats=1)
    assert again.expected == expected(rows)


def test_a_pass_tells_of_what_was_checked(rows: Set, bench: Bench) -> None:
    record = rows.graded(bench, rows.diff({"calc.py": FIXED}))
    assert (record.verdict, record.flags) == (Verdict.PASS, ())
    twin = record.checks["twin"]
    assert re.fullmatch("[25] tests of 5 asked for a wrong result, and none passed", twin)
    assert {name: said for name, said in record.checks.items() if name != "twin"} == {
        "process": "it ended with code 1, as it must beside the sentinel's failures, "
        "and the report agrees",
        "sentinel": "6 tests that had to fail did",
    }


def test_a_fail_is_not_run_twice(rows: Set, bench: Bench) -> None:
    record = rows.graded(bench, b"")
    assert record.verdict is Verdict.FAIL
    assert "twin" not in record.checks


def test_what_equals_everything_is_told(rows: Set, bench: Bench) -> None:
    record = rows.graded(
        bench, rows.diff({"calc.py": PASSED_BY_ALL + "def double(a): return add(a, a)"})
    )
    assert (record.verdict, record.flags) == (Verdict.FAIL, (Flag.TAMPERED,))
    assert "passed with a wrong expectation too: " in record.reason


def test_a_bundle_without_guards_is_graded_as_before(rows: Set, bench: Bench) -> None:
    bare = replace(expected(rows), guards=Guards())
    case = replace(rows.case, material=replace(rows.case.material, evidence=bare))
    record = replace(rows, case=case).graded(bench, rows.diff({"calc.py": FIXED}))
    assert record.verdict is Verdict.PASS
    assert record.checks["twin"].startswith("not run: ")
    assert record.checks["sentinel"].startswith("not run: ")


def test_more_parameters_than_validation_saw_are_listed(
    tmp_path_factory: pytest.TempPathFactory, bench: Bench
) -> None:
    hidden = ROWS.replace("[(2, 3, 5), (-1, 4, 3)]", "__import__('calc').CASES")
    made = make_set(
        tmp_path_factory.mktemp("cases"),
        draft={"hidden/tests/test_hidden.py": hidden},
        base={"calc.py": f"CASES = [(2, 3, 5)]\n{CALC}", "README.md": "x\n"},
        solution={"calc.py": f"CASES = [(2, 3, 5)]\n{FIXED}"},
    )
    task = validated(made, bench)
    more = f"CASES = [(2, 3, 5), (4, 4, 8)]\n{FIXED}"
    record = task.graded(bench, task.diff({"calc.py": more}))
    assert record.verdict is Verdict.PASS, record.reason
    assert record.unexpected == (f"{ID}test_add[4-4-8]",)


INJECTS = """
import sys
def inject():
    module = sys.modules.get('test_hidden') or sys._getframe(2).f_globals
def add(a, b): return a + b
def double(a): return 2 * a
def test_mine(): pass
frame = sys._getframe()
while frame:
    if frame.f_globals.get('__file__', '').endswith('test_hidden.py'):
        frame.f_globals['test_mine'] = test_mine
    frame = frame.f_back
"""


def test_a_test_that_the_code_put_in_is_told(rows: Set, bench: Bench) -> None:
    record = rows.graded(bench, rows.diff({"calc.py": INJECTS}))
    assert record.verdict is Verdict.FAIL
    assert Flag.TAMPERED in record.flags
    assert "of no hidden file" in record.reason


@pytest.mark.parametrize(
    "grading", ["python -m pytest -k hidden", "python -m pytest -m 'not slow'"]
)
def test_a_selection_that_leaves_the_sentinel_out_is_said(
    rows: Set, bench: Bench, grading: str
) -> None:
    case = replace(rows.case, task=replace(rows.case.task, grading=grading))
    evidence = validate_task(bench, case, repeats=1)
    assert evidence.problems == ()
    left_out = "-k" in grading
    assert (evidence.expected.guards.sentinel == ()) is left_out
    assert any("has to fail was not run" in note for note in evidence.notes) is left_out
    task = replace(rows, case=case).sealed(evidence)
    assert task.graded(bench, task.diff({"calc.py": FIXED})).verdict is Verdict.PASS


def test_a_project_that_stops_at_the_first_failure_is_graded(rows: Set, bench: Bench) -> None:
    case = replace(rows.case, task=replace(rows.case.task, grading="python -m pytest -x"))
    task = replace(rows, case=case).sealed(validate_task(bench, case, repeats=1))
    assert task.graded(bench, task.diff({"calc.py": FIXED})).verdict is Verdict.PASS
    assert task.graded(bench, b"").verdict is Verdict.FAIL


def test_hidden_tests_that_show_nothing_are_told_of(
    tmp_path_factory: pytest.TempPathFactory, bench: Bench
) -> None:
    hidden = "import calc\n\ndef test_add(): assert calc.add(2, 3) == 5\n"
    made = make_set(tmp_path_factory.mktemp("line"), draft={"hidden/tests/test_hidden.py": hidden})
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.expected.guards.tests == {f"{ID}test_add"}


def test_verdicts_are_guarded_in_both_sandboxes(rows: Set, sandbox: Sandbox) -> None:
    bench = bench_of(sandbox)
    assert rows.graded(bench, rows.diff({"calc.py": FIXED})).verdict is Verdict.PASS
    record = rows.graded(
        bench, rows.diff({"calc.py": PASSED_BY_ALL + "def double(a): return add(a, a)"})
    )
    assert record.flags == (Flag.TAMPERED,)
