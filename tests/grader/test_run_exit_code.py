"""Tasks graded by commands that tell nothing but their exit code."""

from pathlib import Path

import pytest
from gradings import Files, bench_of, make_set, validated

from labkit.archive import Entry, Kind
from labkit.model import Category, Ended, Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.command import read_command
from labkit_grader.execute import run_tests
from labkit_grader.review import WEAK
from labkit_grader.testrun import ENDS_IN_0, TestRun
from labkit_grader.validate import validate_task

BROKEN = "echo $(($1 - $2))\n"
RIGHT = "echo $(($1 + $2))\n"
CHECK = """
[ $# -gt 0 ] || set -- tests/*.test
for file in "$@"; do
    while read -r left right sum; do
        got=$(sh add.sh "$left" "$right")
        [ "$got" = "$sum" ] || { echo "$left + $right is not $got"; exit 3; }
    done <"$file"
done
"""
SHELL: Files = {"add.sh": BROKEN, "tests/check.sh": CHECK, "tests/zero.test": "0 0 0\n"}
CASES = "2 3 5\n7 0 7\n-1 -1 -2\n"
COMMAND = "sh tests/check.sh {tests}"
PROMPT = "Sums of two numbers come out wrong.\n"
ONLY_EXIT = "only an exit code tells whether the tests pass"


def run(sandbox: Sandbox, script: str) -> TestRun:
    entry = Entry(path=b"run.sh", kind=Kind.FILE, data=script.encode())
    command = read_command(("sh", "run.sh"))
    return run_tests(bench_of(sandbox, seconds=5), {b"run.sh": entry}, command, ())


def test_a_shell_project_is_proven_cheated_on_and_graded(tmp_path: Path, sandbox: Sandbox) -> None:
    made = make_set(
        tmp_path,
        base=SHELL,
        solution={"add.sh": RIGHT},
        draft={"hidden/tests/more.test": CASES},
        grading=COMMAND,
        prompt=PROMPT,
    )
    bench = bench_of(sandbox)
    evidence = validate_task(bench, made.case)
    assert evidence.problems == ()
    assert evidence.expected.fail_to_pass == (ENDS_IN_0,)
    assert evidence.expected.pass_to_pass == ()
    assert any(note.startswith(ONLY_EXIT) for note in evidence.notes)
    assert evidence.cheats["empty diff"]
    assert evidence.cheats["deleted tests"]
    task = made.sealed(evidence)
    solved = task.graded(bench, task.diff({"add.sh": RIGHT}))
    assert (solved.verdict, solved.flags) == (Verdict.PASS, (Flag.WEAK,))
    assert solved.reason.endswith(WEAK)
    for changes in ({}, {"add.sh": "echo 5\n"}, {"add.sh": "exit 0\n"}, {"add.sh": None}):
        record = task.graded(bench, task.diff(changes))
        assert (record.verdict, record.tests) == (Verdict.FAIL, {ENDS_IN_0: "failed"})
    record = task.graded(bench, task.diff({"tests/check.sh": "exit 0\n"}))
    assert record.verdict is Verdict.FAIL
    assert record.neutralised == ("tests/check.sh: put back as at the base",)


def test_a_script_that_the_command_names_is_put_back_outside_of_test_folders_too(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(
        tmp_path,
        base={"add.sh": BROKEN, "check.sh": CHECK},
        solution={"add.sh": RIGHT},
        draft={"hidden/tests/more.test": CASES},
        grading="sh check.sh {tests}",
        prompt=PROMPT,
    )
    bench = bench_of(bubblewrap_sandbox)
    task = validated(made, bench)
    assert task.graded(bench, task.diff({"check.sh": "exit 0\n"})).verdict is Verdict.FAIL


WRITTEN = '. ./add.sh\n[ "$(add 2 3)" = 5 ]\n'
HELD = '. ./add.sh\nsum=5\n[ "$(add 2 3)" = "$sum" ]\n'


@pytest.mark.parametrize(("check", "is_noticed"), [(WRITTEN, True), (HELD, False)])
def test_an_early_exit_is_noticed_by_written_values_or_said_in_a_note(
    tmp_path: Path,
    bubblewrap_sandbox: BubblewrapSandbox,
    check: str,
    is_noticed: bool,  # noqa: FBT001
) -> None:
    """The check reads the code under test into its own process, so that code can end it."""
    made = make_set(
        tmp_path,
        base={"add.sh": "add() { echo $(($1 - $2)); }\n"},
        solution={"add.sh": "add() { echo $(($1 + $2)); }\n"},
        draft={"hidden/tests/add.test.sh": check},
        grading="sh {tests}",
        prompt=PROMPT,
    )
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case)
    assert evidence.problems == ()
    assert evidence.cheats["early exit of a script"] is is_noticed
    said = any("ends the grading command early with 0 passes" in each for each in evidence.notes)
    assert said is not is_noticed


def test_tests_that_are_the_work_are_graded_by_an_exit_code_too(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    base = {**SHELL, "add.sh": RIGHT}
    fault = make_set(tmp_path / "fault", base=base).diff({"add.sh": BROKEN})
    made = make_set(
        tmp_path,
        base=base,
        solution={},
        draft={"hidden/tests/more.test": CASES, "mutations/minus.patch": fault},
        category=Category.TESTS,
        grading=COMMAND,
        forbidden=("add.sh",),
    )
    bench = bench_of(bubblewrap_sandbox)
    task = validated(made, bench)
    for name, cases, verdict in (
        ("tests/new.test", CASES, Verdict.PASS),
        ("tests/new.test", "0 0 0\n", Verdict.FAIL),
        ("tests/new.test", "2 3 6\n", Verdict.FAIL),
        ("tests/notes.txt", CASES, Verdict.FAIL),
    ):
        assert task.graded(bench, task.diff({name: cases})).verdict is verdict


@pytest.mark.parametrize(
    ("script", "outcome", "said"),
    [
        ("echo fine; exit 0", "passed", ""),
        ("echo 'no sum'; exit 3", "failed", "the command ended in 3: no sum"),
        ("python3 -c 'raise SystemExit(-1)'", "failed", "ended in 255: it printed nothing"),
        ("python3 -c 'raise SystemExit(259)'", "failed", "ended in 3"),
        ("kill -SEGV $$", "failed", "ended in 139 (SIGSEGV)"),
        ("python3 -c 'import os; os.abort()'", "failed", "(SIGABRT)"),
        ("printf '\\033[31m\\000\\377'; exit 1", "failed", "ended in 1: "),
    ],
)
def test_every_code_but_0_is_a_failure(
    sandbox: Sandbox, script: str, outcome: str, said: str
) -> None:
    seen = run(sandbox, script)
    assert seen.outcomes == {ENDS_IN_0: outcome}
    assert said in seen.messages.get(ENDS_IN_0, "")
    assert (seen.trouble, seen.ended) == ("", Ended.EXITED)


@pytest.mark.parametrize(
    ("script", "code"),
    [("no-such-program", 127), (": >x; chmod -x x; ./x", 126), ("exit 127", 127)],
)
def test_a_program_that_is_not_there_is_trouble_and_no_failed_test(
    bubblewrap_sandbox: BubblewrapSandbox, script: str, code: int
) -> None:
    seen = run(bubblewrap_sandbox, script)
    assert seen.outcomes == {}
    assert seen.trouble.startswith(f"a command could not be started (code {code})")


def test_a_command_that_hangs_has_no_outcome(bubblewrap_sandbox: BubblewrapSandbox) -> None:
    seen = run(bubblewrap_sandbox, "sleep 60")
    assert (seen.outcomes, seen.trouble) == ({}, "the tests ran out of time")


@pytest.mark.parametrize(
    ("base", "side"),
    [("sh missing.sh; exit 127\n", "at the base"), (BROKEN, "at the solution")],
)
def test_a_program_that_is_missing_on_either_side_makes_the_task_unsound(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox, base: str, side: str
) -> None:
    right = RIGHT if side == "at the base" else "exit 127\n"
    made = make_set(
        tmp_path,
        base={**SHELL, "add.sh": base},
        solution={"add.sh": right},
        draft={"hidden/tests/add.test.sh": "sum=$(sh add.sh 2 3) || exit; [ $sum = 5 ]\n"},
        grading="sh {tests}",
        prompt=PROMPT,
    )
    problems = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1).problems
    assert any(f"{side}" in each and "could not be started" in each for each in problems)


def test_a_base_that_hangs_counts_as_failing(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(
        tmp_path,
        base={**SHELL, "add.sh": "sleep 60\n"},
        solution={"add.sh": RIGHT},
        draft={"hidden/tests/more.test": CASES},
        grading=COMMAND,
        prompt=PROMPT,
    )
    evidence = validate_task(bench_of(bubblewrap_sandbox, seconds=3), made.case, repeats=1)
    assert (evidence.problems, evidence.expected.fail_to_pass) == ((), (ENDS_IN_0,))
    assert any("ran out of time" in note for note in evidence.notes)


def test_a_python_script_can_be_graded_by_its_code(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    check = "from calc import add\nassert add(2, 3) == 5\n"
    made = make_set(
        tmp_path,
        draft={"hidden/tests/check_calc.py": check},
        grading="env PYTHONPATH=. python {tests}",
    )
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case)
    assert evidence.problems == ()
    assert evidence.cheats["early exit"]
    assert evidence.cheats["empty diff"]
