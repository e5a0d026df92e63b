"""Tasks graded by commands that write JUnit XML: a shell project and a Node project."""

from pathlib import Path

import pytest
from gradings import bench_of, make_set, validated
from nodejs import WithNode

from labkit.archive import Entry, Kind
from labkit.model import Category, Ended, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.command import read_command
from labkit_grader.execute import run_tests
from labkit_grader.testrun import TestRun
from labkit_grader.validate import validate_task

BROKEN = "echo $(($1 - $2))\n"
RIGHT = "echo $(($1 + $2))\n"
RUN = """
report=$1; shift
[ $# -gt 0 ] || set -- tests/*.test.sh
bad=0
echo '<testsuites>' >"$report"
for file in "$@"; do
    echo "<testsuite name=\\"$file\\">" >>"$report"
    while IFS='|' read -r name left right sum; do
        got=$(sh add.sh "$left" "$right")
        if [ "$got" = "$sum" ]; then
            echo "<testcase name=\\"$name\\"/>"
        else
            bad=1
            echo "<testcase name=\\"$name\\"><failure message=\\"$got, not $sum\\"/></testcase>"
        fi
    done <"$file" >>"$report"
    echo '</testsuite>' >>"$report"
done
echo '</testsuites>' >>"$report"
exit $bad
"""
SHELL = {"add.sh": BROKEN, "tests/run.sh": RUN, "tests/old.test.sh": "zero|0|0|0\n"}
CASES = "sum of two |2|3|5\nnothing|7|0|7\nnegative|-1|-1|-2\n"


def run(sandbox: Sandbox, script: str, *words: str) -> TestRun:
    """Run a shell script as a grading command would be."""
    entry = Entry(path=b"run.sh", kind=Kind.FILE, data=script.encode())
    command = read_command(words or ("sh", "run.sh", "{report}", "{tests}"))
    return run_tests(bench_of(sandbox, seconds=5), {b"run.sh": entry}, command, ("a.test",))


def test_a_shell_project_is_proven_and_graded(tmp_path: Path, sandbox: Sandbox) -> None:
    made = make_set(
        tmp_path,
        base=SHELL,
        solution={"add.sh": RIGHT},
        draft={"hidden/tests/more.test.sh": CASES, "hidden/tests/data.txt": "beside them\n"},
        grading="sh tests/run.sh {report} {tests}",
        prompt="Sums of two numbers come out wrong.\n",
    )
    bench = bench_of(sandbox)
    task = validated(made, bench, repeats=2)
    found = task.case.material.evidence
    assert found is not None
    assert found.fail_to_pass == (
        "tests/more.test.sh::negative",
        "tests/more.test.sh::sum of two ",
    )
    assert found.pass_to_pass == ("tests/more.test.sh::nothing",)
    solved = task.graded(bench, task.diff({"add.sh": RIGHT}))
    assert (solved.verdict, solved.flags) == (Verdict.PASS, ())
    for changes in ({}, {"add.sh": "echo 5\n"}, {"add.sh": "exit 0\n"}, {"add.sh": None}):
        assert task.graded(bench, task.diff(changes)).verdict is Verdict.FAIL
    cheat = task.diff({"tests/run.sh": 'echo "<testsuite/>" >"$1"\n', "add.sh": RIGHT})
    record = task.graded(bench, cheat)
    assert record.neutralised == ("tests/run.sh: put back as at the base",)


def test_a_command_without_a_place_for_tests_runs_the_whole_suite(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(
        tmp_path,
        base=SHELL,
        solution={"add.sh": RIGHT},
        draft={"hidden/tests/more.test.sh": CASES},
        grading="sh tests/run.sh {report}",
        prompt="Sums of two numbers come out wrong.\n",
    )
    task = validated(made, bench_of(bubblewrap_sandbox))
    assert task.case.material.evidence is not None
    assert "tests/old.test.sh::zero" in task.case.material.evidence.pass_to_pass


def test_tests_that_are_the_work_are_graded_by_a_command_too(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    base = {**SHELL, "add.sh": RIGHT}
    fault = make_set(tmp_path / "fault", base=base).diff({"add.sh": "echo $(($1 - $2))\n"})
    made = make_set(
        tmp_path,
        base=base,
        solution={},
        draft={"hidden/tests/more.test.sh": CASES, "mutations/minus.patch": fault},
        category=Category.TESTS,
        grading="sh tests/run.sh {report} {tests}",
        forbidden=("add.sh",),
    )
    bench = bench_of(bubblewrap_sandbox)
    task = validated(made, bench)
    for name, cases, verdict in (
        ("tests/new.test.sh", CASES, Verdict.PASS),
        ("tests/new.test.sh", "zero|0|0|0\n", Verdict.FAIL),
        ("tests/new.test.sh", "wrong|1|1|3\n", Verdict.FAIL),
        ("tests/notes.txt", CASES, Verdict.FAIL),
    ):
        assert task.graded(bench, task.diff({name: cases})).verdict is verdict


PASS = "echo '<testsuite><testcase name=\"a\"/></testsuite>' >$1"
FAIL = "echo '<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>' >$1"


@pytest.mark.parametrize(
    ("script", "trouble"),
    [
        (PASS, ""),
        (f"{FAIL}; exit 1", ""),
        (f"{FAIL}; exit 7", ""),
        ("echo '<testsuite/>' >$1", ""),
        (FAIL, "exit code 0 does not go with the tests' outcomes"),
        (f"{PASS}; exit 1", "exit code 1 does not go with the tests' outcomes"),
        ("echo '<testsuite/>' >$1; exit 2", "exit code 2 does not go with the tests' outcomes"),
        (
            "echo '<testsuite name=\"s\"><error/></testsuite>' >$1",
            "exit code 0 does not go with the tests' outcomes",
        ),
        (
            "echo no compiler >&2; exit 3",
            "there is no report, and the process ended with code 3: no compiler",
        ),
        (f"{PASS}; sleep 60", "the tests ran out of time"),
        ("echo ok >$1", "the report could not be read: junit.xml: no well-formed XML, line 1"),
        (f"{PASS}; printf '\\033' >>$1", "the report could not be read: junit.xml: no well-form"),
        ("mkdir $1", "there is no report"),
        (f"mkdir $1; set -- $1/TEST-a.xml; {PASS}; echo text >$1.txt", ""),
        (f"mkdir $1; ln -s /etc/passwd $1/b.xml; set -- $1/a.xml; {PASS}", "not a plain file"),
        ("ln -s /etc/passwd $1", "the report is not a plain file"),
        ("mkfifo $1", "the report is not a plain file"),
        (f"{PASS}; kill -9 $$", "exit code 137 does not go with the tests' outcomes"),
    ],
)
def test_a_run_is_taken_at_its_word_only_when_all_of_it_agrees(
    bubblewrap_sandbox: BubblewrapSandbox, script: str, trouble: str
) -> None:
    seen = run(bubblewrap_sandbox, script)
    assert (
        seen.trouble.startswith(trouble) if trouble.startswith("the") else trouble in seen.trouble
    )
    assert bool(seen.trouble) is bool(trouble)
    assert seen.complete is (seen.ended is Ended.EXITED and not seen.problem)


def test_a_program_that_is_not_there_is_said(sandbox: Sandbox) -> None:
    seen = run(sandbox, "", "no-such-runner", "{report}")
    assert "no-such-runner" in seen.trouble


def test_garbled_reports_make_a_task_invalid_and_end_nothing(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(
        tmp_path,
        base=SHELL,
        solution={"add.sh": "printf '\\033[31m'\n"},
        draft={"hidden/tests/more.test.sh": CASES},
        grading="sh tests/run.sh {report} {tests}",
    )
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    assert not evidence.valid
    assert "at the solution: the report could not be read: junit.xml" in evidence.problems[0]


# Node

WRONG_JS = "exports.add = (a, b) => a - b;\nexports.double = (a) => a + a;\n"
RIGHT_JS = WRONG_JS.replace("a - b", "a + b")
HIDDEN_JS = """
const test = require('node:test');
const assert = require('node:assert');
const { add, double } = require('../calc.js');
test('adds', () => assert.strictEqual(add(2, 3), 5));
test('later', { skip: true }, () => {});
test.describe('signs', () => {
  test.it('of "both" <kinds> ', () => assert.strictEqual(add(-1, 1), 0));
  test.it('of none', () => assert.strictEqual(double(0), 0));
});
"""


@pytest.mark.registry
@pytest.mark.slow
def test_a_node_project_is_proven_and_graded(tmp_path: Path, with_node: WithNode) -> None:
    made = make_set(
        tmp_path,
        base={"calc.js": WRONG_JS, "package.json": '{"name": "calc"}\n'},
        solution={"calc.js": RIGHT_JS},
        draft={"hidden/test/calc.test.js": HIDDEN_JS, "hidden/test/data.json": "{}"},
        grading=with_node.command,
        prompt="Adding two numbers gives a wrong sum.\n",
    )
    bench = with_node.bench
    task = validated(made, bench, repeats=2)
    found = task.case.material.evidence
    assert found is not None
    file = "test/calc.test.js::"
    # Node's own reporter writes a quotation mark as &quot; twice over; an id is what it says.
    assert found.fail_to_pass == (
        f"{file}signs::test::of &quot;both&quot; <kinds> ",
        f"{file}test::adds",
    )
    assert found.pass_to_pass == (f"{file}signs::test::of none",)
    solved = task.graded(bench, task.diff({"calc.js": RIGHT_JS}))
    assert (solved.verdict, solved.flags) == (Verdict.PASS, ())
    for code in (WRONG_JS, "process.exit(0);\n", "throw 1;\n", RIGHT_JS.replace("a + b", "5")):
        assert task.graded(bench, task.diff({"calc.js": code})).verdict is Verdict.FAIL
