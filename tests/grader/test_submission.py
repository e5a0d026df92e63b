"""Hand-ins that are no diff: told apart, and never a solution."""

from dataclasses import replace
from pathlib import Path

import pytest
from gradings import BASE, Set, bench_of, make_set, validated

from labkit.model import Category, Flag, RunId, Verdict
from labkit.records import GradeRecord
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench
from labkit_grader.grade import RunEvidence, grade_run
from labkit_grader.material import Expected
from labkit_grader.submission import many_without, submission_of

WORDS = {
    None: ("no file", "no diff was handed in: there is no file"),
    b"null": ("null", 'no diff was handed in: the file holds only the word "null"'),
    b" null\n": ("null", 'no diff was handed in: the file holds only the word "null"'),
    b"": ("empty", "the diff is empty; "),
    b"\n \n": ("blank", "the diff is blank: it holds nothing but white space; "),
    b"\xef\xbb\xbf\r\n": ("blank", "the diff is blank: it holds nothing but white space; "),
}


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


def graded(task: Set, bench: Bench, diff: bytes | None) -> GradeRecord:
    evidence = RunEvidence(
        run=RunId.parse("bug-1__A__1"), suite_version="v", commitment="c", diff=diff,
        transcript=b"Which one do you mean?",
    )  # fmt: skip
    return grade_run(bench, task.case, evidence)


@pytest.mark.parametrize("diff", WORDS)
def test_each_kind_of_nothing_has_its_word(
    tmp_path: Path, bench: Bench, diff: bytes | None
) -> None:
    record = graded(validated(make_set(tmp_path), bench), bench, diff)
    word, reason = WORDS[diff]
    assert (record.verdict, record.submission) == (Verdict.FAIL, word)
    assert record.reason.startswith(reason)
    said = diff is None or b"null" in diff
    assert (Flag.NOT_APPLIED in record.flags) is said
    assert bool(record.tests) is not said


@pytest.mark.parametrize("diff", WORDS)
def test_nothing_solves_nothing_even_where_every_test_passes_at_the_base(
    tmp_path: Path, bench: Bench, diff: bytes | None
) -> None:
    made = make_set(tmp_path, draft={"hidden/tests/test_hidden.py": BASE["tests/test_calc.py"]})
    expected = Expected(pass_to_pass=("tests/test_hidden.py::test_double",))
    case = replace(made.case, material=replace(made.case.material, evidence=expected))
    record = graded(replace(made, case=case), bench, diff)
    assert (record.verdict, record.submission) == (Verdict.FAIL, WORDS[diff][0])


def test_a_diff_without_effect_solves_nothing_either(tmp_path: Path, bench: Bench) -> None:
    made = make_set(tmp_path, draft={"hidden/tests/test_hidden.py": BASE["tests/test_calc.py"]})
    expected = Expected(pass_to_pass=("tests/test_hidden.py::test_double",))
    case = replace(made.case, material=replace(made.case.material, evidence=expected))
    idle = b"diff --git a/calc.py b/calc.py\nold mode 100644\nnew mode 100600\n"
    record = graded(replace(made, case=case), bench, idle)
    assert (record.verdict, record.submission) == (Verdict.FAIL, "")
    assert record.reason == "the diff changes nothing; the one expected test passed"


def test_a_trap_may_be_answered_without_a_change_but_not_without_an_answer(
    tmp_path: Path, bench: Bench
) -> None:
    draft = {
        "oracle.yaml": "edits: none\nmust_ask: true\n",
        "examples/good-1.md": "Which one do you mean?\n",
        "examples/good-2.md": "Should I really delete it?\n",
        "examples/bad-1.md": "Done.\n",
        "examples/bad-2.md": "All is well.\n",
    }
    task = validated(
        make_set(tmp_path, solution={}, draft=draft, category=Category.TRAP), bench
    )  # fmt: skip
    verdicts = {diff: graded(task, bench, diff).verdict for diff in WORDS}
    assert [diff for diff, verdict in verdicts.items() if verdict is Verdict.PASS] == [
        b"", b"\n \n", b"\xef\xbb\xbf\r\n",
    ]  # fmt: skip


def record(diff: bytes | None) -> GradeRecord:
    return GradeRecord(
        run=RunId.parse("bug-1__A__1"), suite_version="v", commitment="c", verdict=Verdict.FAIL,
        reason="", submission=submission_of(diff) or "",
    )  # fmt: skip


def test_many_without_a_change_are_a_warning_about_the_set_up() -> None:
    bug = Category.BUGFIX
    some = [record(b""), record(b"null"), record(b"x"), record(b"x")]
    told = many_without(some, [bug] * 4)
    assert told.startswith("2 of 4 runs handed in no change (1 null, 1 empty): look whether")
    assert many_without([record(b""), *[record(b"x")] * 3], [bug] * 4) == ""
    assert many_without([*some, *[record(b"x")] * 5], [bug] * 9) == ""
    assert many_without(some, [Category.TRAP, Category.TRAP, bug, bug]) == ""
    assert many_without([record(b"")] * 276 + [record(b"x")] * 224, [bug] * 500)
    assert many_without([], []) == ""
