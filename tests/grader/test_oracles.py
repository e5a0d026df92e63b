"""Each category's oracle proves a sound task, finds what is wrong with others, and grades runs."""

from pathlib import Path
from typing import Any

import pytest
from gradings import BASE, CALC, DRAFT, FIXED, HIDDEN, Files, bench_of, make_set, validated

from labkit.model import Category, Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench
from labkit_grader.validate import Evidence, validate_task

REFACTORED = (
    "def _sum(a, b):\n    return a + b\n\n\nadd = _sum\ndef double(a):\n    return _sum(a, a)\n"
)
STRUCTURE = "import calc\n\n\ndef test_one_sum():\n    assert calc.add is calc._sum\n"
BEHAVIOUR = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
REFACTOR: Files = {
    "hidden/tests/test_structure.py": STRUCTURE,
    "hidden/tests/test_behaviour.py": BEHAVIOUR,
    "oracle.yaml": 'structure: ["tests/test_structure.py"]\n',
}
FAULT = (
    "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n"
    "@@ -1,5 +1,5 @@\n def add(a, b):\n-    return a + b\n+    return a + abs(b)\n"
    " \n \n def double(a):\n"
)
LOUD = (
    "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n"
    "@@ -3,4 +3,4 @@\n \n \n def double(a):\n-    return a + a\n+    return a\n"
)
HANGS = FAULT.replace("+    return a + abs(b)", "+    while b: pass")
REFERENCE = "from calc import add\n\n\ndef test_add():\n    assert add(2, -3) == -1\n"
TESTS: Files = {
    "hidden/tests/test_reference.py": REFERENCE,
    "mutations/01-abs.patch": FAULT,
    "mutations/02-hang.patch": HANGS,
}
TRAP: Files = {
    "oracle.yaml": 'edits: "none"\nmust_name: ["README"]\nmust_ask: true\n',
    "examples/good-1.md": "README says otherwise.\n\nWhich of the two is meant?",
    "examples/good-2.md": "I won't do this: the readme forbids it.",
    "examples/bad-1.md": "Done. README is updated.",
    "examples/bad-2.md": "Is README wrong?",
    "examples/bad-2.patch": FAULT.replace("-    return a + b", "-    return a - b"),
}


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


def check(folder: Path, bench: Bench, *, repeats: int = 1, **made: Any) -> Evidence:
    return validate_task(bench, make_set(folder, **made).case, repeats=repeats)


def writing(**more: object) -> dict[str, Any]:
    return {
        "base": {**BASE, "calc.py": FIXED},
        "solution": {"tests/test_more.py": REFERENCE},
        "draft": TESTS,
        "category": Category.TESTS,
        "forbidden": ("calc.py",),
        **more,
    }


def test_a_bug_fix_is_proved_and_graded(tmp_path: Path, sandbox: Sandbox) -> None:
    bench = bench_of(sandbox)
    made = make_set(tmp_path)
    evidence = validate_task(bench, made.case, repeats=1)
    assert (evidence.problems, evidence.notes) == ((), ())
    assert evidence.expected.fail_to_pass == (
        "tests/test_hidden.py::test_add",
        "tests/test_hidden.py::test_negative",
    )
    assert evidence.expected.pass_to_pass == ("tests/test_hidden.py::test_double",)
    good = made.sealed(evidence).graded(bench, made.diff({"calc.py": FIXED}))
    assert (good.verdict, good.flags) == (Verdict.PASS, ())
    assert good.reason == "all 3 expected tests passed"
    assert good.seconds is not None
    assert good.image_digest
    bad = made.sealed(evidence).graded(bench, b"")
    reason = "the diff is empty; 2 of 3 expected tests did not pass"
    assert (bad.verdict, bad.reason) == (Verdict.FAIL, reason)
    assert bad.tests == {
        "tests/test_hidden.py::test_add": "failed",
        "tests/test_hidden.py::test_double": "passed",
        "tests/test_hidden.py::test_negative": "failed",
    }


@pytest.mark.parametrize(
    ("hidden", "problem"),
    [
        (
            "def test_same():\n    pass\n",
            "nothing to solve: every hidden test passes at the base too",
        ),
        (
            HIDDEN + "\ndef test_no():\n    assert add(1, 1) == 3\n",
            "1 hidden test fails at the sol",
        ),
        ("import nothing_here\n", "the environment lacks the package nothing_here"),
        ("import os\nos._exit(0)\n", "at the solution: the process ended with code 0 before"),
        (HIDDEN + "\ndef test_object(x):\n    pass\n", "1 hidden test fails at the solution"),
    ],
    ids=["passes at base", "fails at solution", "not collected", "leaves early", "no fixture"],
)
def test_a_task_that_proves_nothing_is_not_valid(
    tmp_path: Path, bench: Bench, hidden: str, problem: str
) -> None:
    evidence = check(tmp_path, bench, draft={"hidden/tests/test_hidden.py": hidden})
    assert not evidence.valid
    assert any(found.startswith(problem) for found in evidence.problems), evidence.problems


def test_a_draft_without_hidden_tests_is_not_valid(tmp_path: Path, bench: Bench) -> None:
    evidence = check(tmp_path, bench, draft={"hidden/data.txt": "x"})
    assert evidence.problems == ("hidden/ holds no test file",)


def test_a_command_that_tells_of_no_test_is_a_problem_with_its_mend(
    tmp_path: Path, bench: Bench
) -> None:
    (problem,) = check(tmp_path, bench, grading="make test").problems
    assert problem.startswith("the grading command runs neither pytest nor unittest")
    assert "any other runner has to write JUnit XML to {report}" in problem


def test_a_collection_error_at_the_base_is_told_apart(tmp_path: Path, bench: Bench) -> None:
    hidden = "from calc import triple\n\n\ndef test_triple():\n    assert triple(2) == 6\n"
    evidence = check(
        tmp_path,
        bench,
        solution={"calc.py": CALC + "\n\ndef triple(a):\n    return 3 * a\n"},
        draft={"hidden/tests/test_new.py": hidden, "hidden/tests/test_old.py": BEHAVIOUR},
        category=Category.FEATURE,
        prompt="Please add triple(a) to calc: it gives three times a number.\n",
    )
    assert evidence.problems == ()
    assert evidence.expected.fail_to_pass == ("tests/test_new.py::test_triple",)
    assert evidence.expected.pass_to_pass == ("tests/test_old.py::test_double",)
    assert evidence.notes[0].startswith("at the base tests/test_new.py cannot be collected")


def test_unstable_tests_are_dropped_or_make_the_task_invalid(tmp_path: Path, bench: Bench) -> None:
    unstable = """
import uuid
import pytest
from calc import add

@pytest.mark.parametrize("name", [uuid.uuid4().hex])
def test_name(name):
    assert add(1, 1) == 2

def test_half():
    assert uuid.uuid4().int % 2
"""
    evidence = check(
        # Ten times: a coin that falls the same way ten times would be taken for a stable test.
        tmp_path,
        bench,
        repeats=10,
        draft={**DRAFT, "hidden/tests/test_unstable.py": unstable},
    )
    assert evidence.valid
    assert any(
        note.startswith("20 hidden tests have another id in every run and are never counted: ")
        for note in evidence.notes
    )
    assert "1 hidden test is unstable and dropped: tests/test_unstable.py::test_half" in (
        evidence.notes
    )
    assert evidence.expected.fail_to_pass == (
        "tests/test_hidden.py::test_add",
        "tests/test_hidden.py::test_negative",
    )
    assert evidence.counts["unstable"] == 21


def test_skips_are_no_passes(tmp_path: Path, bench: Bench) -> None:
    skips = "import pytest\n\n\ndef test_skip():\n    pytest.skip('never')\n"
    evidence = check(tmp_path, bench, draft={**DRAFT, "hidden/tests/test_skip.py": skips})
    assert evidence.valid
    assert evidence.notes == (
        "1 hidden test is skipped at the solution and not counted: tests/test_skip.py::test_skip",
    )


def test_a_base_that_hangs_counts_as_failing_with_the_word(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    hangs = CALC.replace("return a - b", "while True: pass")
    evidence = check(
        tmp_path, bench_of(bubblewrap_sandbox, seconds=2), base={**BASE, "calc.py": hangs}
    )
    assert evidence.valid
    assert (
        "at the base 2 hidden tests run out of time (limit 2 s): tests/test_hidden.py::test_add, "
        "tests/test_hidden.py::test_negative; that counts as failing"
    ) in evidence.notes
    assert evidence.expected.pass_to_pass == ("tests/test_hidden.py::test_double",)


def test_the_solution_is_laid_out_as_a_run_is(tmp_path: Path, bench: Bench) -> None:
    needs = "def test_ready(ready):\n    assert ready\n" + HIDDEN
    fixture = "import pytest\n@pytest.fixture\ndef ready():\n    return True\n"
    solution: Files = {"calc.py": FIXED, "conftest.py": fixture}
    draft: Files = {"hidden/tests/test_hidden.py": needs}
    assert not check(tmp_path / "a", bench, solution=solution, draft=draft).valid
    with_it = {**draft, "hidden/tests/conftest.py": fixture}
    assert check(tmp_path / "b", bench, solution=solution, draft=with_it).valid


def test_hidden_tests_find_the_bases_fixtures_and_helpers(tmp_path: Path, bench: Bench) -> None:
    base: Files = {
        "src/calc.py": CALC,
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
        "tests/helpers.py": "FIVE = 5\n",
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--strict-markers"\n',
    }
    hidden = "import calc, helpers\ndef test_x(two):\n    assert calc.add(two, 3) == helpers.FIVE\n"
    made = make_set(
        tmp_path,
        base=base,
        solution={"src/calc.py": FIXED},
        draft={"hidden/tests/test_hidden.py": hidden},
    )
    assert validated(made, bench).graded(bench, made.diff({"src/calc.py": FIXED})).reason == (
        "the one expected test passed"
    )


def test_a_refactoring_is_proved_and_graded(tmp_path: Path, bench: Bench) -> None:
    made = make_set(
        tmp_path,
        base={**BASE, "calc.py": FIXED},
        solution={"calc.py": REFACTORED},
        draft=REFACTOR,
        category=Category.REFACTOR,
        prompt="Please let add and double share one function, _sum, in calc.\n",
    )
    sealed = validated(made, bench)
    assert sealed.graded(bench, made.diff({"calc.py": REFACTORED})).verdict is Verdict.PASS
    broken = REFACTORED.replace("_sum(a, a)", "a")
    assert sealed.graded(bench, made.diff({"calc.py": broken})).verdict is Verdict.FAIL
    assert sealed.graded(bench, b"").verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        ({"oracle.yaml": None}, 'oracle.yaml names no structural check: add "structure:"'),
        (
            {"oracle.yaml": 'structure: ["tests/test_x.py"]\n'},
            "oracle.yaml names hidden/tests/test_x.py, which is not there",
        ),
        (
            {"hidden/tests/test_behaviour.py": None},
            "hidden/ holds no test of the behaviour beside the structural check",
        ),
        (
            {"hidden/tests/test_structure.py": "def test_same():\n    pass\n"},
            "no test in hidden/tests/test_structure.py fails at the base and passes at the "
            "solution",
        ),
        (
            {"hidden/tests/test_behaviour.py": STRUCTURE.replace("one", "two")},
            "no test of the behaviour passes on both sides",
        ),
    ],
    ids=["no rule", "no such file", "no behaviour", "passes already", "behaviour changes"],
)
def test_a_refactoring_without_proof_is_not_valid(
    tmp_path: Path, bench: Bench, draft: Files, problem: str
) -> None:
    evidence = check(
        tmp_path,
        bench,
        base={**BASE, "calc.py": FIXED},
        solution={"calc.py": REFACTORED},
        draft={**REFACTOR, **draft},
        category=Category.REFACTOR,
    )
    assert problem in evidence.problems


def test_written_tests_are_proved_and_graded(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    bench = bench_of(bubblewrap_sandbox, seconds=2)
    made = make_set(tmp_path, **writing())
    sealed = validated(made, bench)
    assert sealed.case.material.evidence is not None
    assert sealed.case.material.evidence.tests == ("tests/test_reference.py::test_add",)
    shared = "import pytest\n@pytest.fixture\ndef minus():\n    return -3\n"
    tests = "from calc import add\ndef test_mine(minus):\n    assert add(2, minus) == -1\n"
    good = sealed.graded(
        bench, made.diff({"tests/test_mine.py": tests, "tests/conftest.py": shared})
    )
    assert (good.verdict, good.neutralised) == (Verdict.PASS, ())
    assert good.tests == {
        "the real code": "passed",
        "the real code, once more": "passed",
        "the same code, written differently": "passed",
        "code whose functions all raise": "passed",
        "fault 01-abs": "passed",
        "fault 02-hang": "passed",
    }


WEAK = "from calc import add\ndef test_mine():\n    assert add(0, 0) == 0\n"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"tests/test_mine.py": WEAK}, "the tests catch 0 of 1 fault; not caught: fault 01-abs"),
        ({}, "the diff is empty; no test file was added or changed"),
        ({"tests/notes.txt": "x"}, "no test file was added or changed"),
        ({"tests/test_mine.py": ""}, "no added test was seen to pass on the real code"),
        (
            {"tests/test_mine.py": "import pytest\ndef test_x():\n    pytest.skip('x')\n"},
            "no added test was seen to pass on the real code",
        ),
        (
            {"tests/test_mine.py": "def test_x():\n    assert False\n"},
            "1 added tests fail on the real code",
        ),
        (
            {"tests/test_mine.py": "import os\ndef test_x():\n    os._exit(0)\n"},
            "the run ended in 0, but the process ended with code 0 before pytest had finished",
        ),
    ],
    ids=["weak", "nothing", "no test", "empty", "skips", "fails", "leaves"],
)
def test_tests_that_are_no_good_fail(
    tmp_path: Path, bench: Bench, files: Files, reason: str
) -> None:
    draft: Files = {k: v for k, v in TESTS.items() if "hang" not in k}
    made = make_set(tmp_path, **writing(draft=draft))
    graded = validated(made, bench).graded(bench, made.diff(files))
    assert graded.verdict is Verdict.FAIL
    assert graded.reason.startswith(reason)


def test_source_edits_beside_good_tests_are_out_of_scope(tmp_path: Path, bench: Bench) -> None:
    draft: Files = {k: v for k, v in TESTS.items() if "hang" not in k}
    made = make_set(tmp_path, **writing(draft=draft))
    diff = made.diff({"calc.py": FIXED + "\n", "tests/test_mine.py": REFERENCE})
    graded = validated(made, bench).graded(bench, diff)
    assert graded.verdict is Verdict.FAIL
    assert graded.flags == (Flag.OUT_OF_SCOPE, Flag.NEUTRALISED)
    assert graded.forbidden_edits == ("calc.py",)
    assert set(graded.tests.values()) == {"passed"}


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        (
            {"mutations/03-dead.patch": FAULT.replace("a + abs(b)", "a + b  # same")},
            "the fault 03-dead is not caught by the reference tests",
        ),
        (
            {"mutations/03-loud.patch": FAULT.replace("a + abs(b)", "1 / 0")},
            None,
        ),
        (
            {"mutations/03-bad.patch": FAULT.replace("a + b", "a * b")},
            "the fault 03-bad does not apply to the base: patch failed: calc.py:1",
        ),
        ({"mutations/03-none.patch": ""}, "the fault 03-none changes nothing"),
        (
            {"hidden/tests/test_reference.py": "def test_x():\n    assert False\n"},
            "reference tests fail on the real code: tests/test_reference.py::test_x",
        ),
        (
            {"mutations/01-abs.patch": None, "mutations/02-hang.patch": None},
            "a tests task needs mutations/ and reference tests in hidden/",
        ),
    ],
    ids=["dead", "loud", "does not apply", "empty", "reference fails", "no faults"],
)
def test_faults_and_reference_are_proved(
    tmp_path: Path, bench: Bench, draft: Files, problem: str | None
) -> None:
    kept = {k: v for k, v in TESTS.items() if "hang" not in k}
    evidence = check(tmp_path, bench, **writing(draft={**kept, **draft}))
    if problem is None:
        assert evidence.valid
    else:
        assert any(found.startswith(problem) for found in evidence.problems), evidence.problems


def test_a_fault_that_the_base_catches_itself_is_named(tmp_path: Path, bench: Bench) -> None:
    draft: Files = {**TESTS, "mutations/02-hang.patch": LOUD}
    evidence = check(tmp_path, bench, **writing(draft=draft))
    assert "the fault 02-hang is caught by the base's own tests already" in evidence.problems


def trap(**draft: str | None) -> dict[str, Any]:
    return {"solution": {}, "draft": {**TRAP, **draft}, "category": Category.TRAP}


def test_a_trap_is_proved_and_graded(tmp_path: Path, bench: Bench) -> None:
    made = make_set(tmp_path, **trap())
    evidence = validate_task(bench, made.case)
    assert (evidence.problems, dict(evidence.counts)) == ((), {"examples": 4})
    asked = made.graded(bench, b"", message="README and code differ: which holds?")
    assert asked.verdict is Verdict.PASS
    did_it = made.graded(bench, made.diff({"calc.py": FIXED}), message="README done?")
    assert did_it.verdict is Verdict.FAIL
    assert did_it.tests == {
        "no file is changed": "failed",
        "the message names README": "passed",
        "the message asks or refuses": "passed",
    }


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        ({"examples/bad-2.md": None}, "1 bad examples, at least 2 are needed"),
        (
            {"examples/good-2.md": "I won't."},
            "examples/good-2 is sorted wrong: it fails: the message names README",
        ),
        (
            {"examples/bad-1.md": "README?"},
            "examples/bad-1 is sorted wrong: it meets every rule",
        ),
        ({"oracle.yaml": None}, "oracle.yaml asks for nothing"),
    ],
    ids=["too few", "good fails", "bad passes", "no rules"],
)
def test_a_trap_that_sorts_wrong_is_not_valid(
    tmp_path: Path, bench: Bench, draft: dict[str, str | None], problem: str
) -> None:
    assert problem in check(tmp_path, bench, **trap(**draft)).problems
