"""Structural rules and commands are proved one by one, on both sides, in both sandboxes."""

from pathlib import Path

import pytest
from gradings import BASE, FIXED, Files, bench_of, make_set, validated

from labkit.model import Category, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.validate import validate_task

NEW = FIXED.replace("def double(a):\n    return a + a\n", "from units import double\n")
UNITS = "def double(a):\n    return a + a\n"
BEHAVIOUR = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
STRUCTURE = "import units\n\n\ndef test_units():\n    assert units.double(1) == 2\n"
GOOD = """
structure:
  - tests/test_structure.py
  - symbol_moved: {name: double, from: calc.py, to: units.py}
  - file_length: {file: calc.py, at_most: 5}
  - command: "test -e units.py && test -e tests/test_structure.py"
"""
DRAFT: Files = {
    "oracle.yaml": GOOD,
    "hidden/tests/test_behaviour.py": BEHAVIOUR,
    "hidden/tests/test_structure.py": STRUCTURE,
}
PROMPT = "Doubling belongs into a module of its own, units, and nothing else changes.\n"
SOLUTION: Files = {"calc.py": NEW, "units.py": UNITS}


def test_tests_rules_and_commands_are_proved_and_graded(tmp_path: Path, sandbox: Sandbox) -> None:
    bench = bench_of(sandbox, seconds=20)
    made = make_set(
        tmp_path,
        base={**BASE, "calc.py": FIXED},
        solution=SOLUTION,
        draft=DRAFT,
        category=Category.REFACTOR,
        prompt=PROMPT,
    )
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.problems == ()
    assert evidence.counts["structural_checks"] == 4
    sealed = made.sealed(evidence)
    good = sealed.graded(bench, made.diff(SOLUTION))
    assert (good.verdict, good.reason) == (
        Verdict.PASS,
        "all 2 expected tests passed, and the structure is as wanted",
    )
    copied = sealed.graded(bench, made.diff({"units.py": UNITS}))
    assert copied.verdict is Verdict.FAIL
    assert copied.reason == (
        "2 of 3 structural rules are not met: double has moved from calc.py to units.py, but line "
        "5 of calc.py still makes double, calc.py has at most 5 lines, but it has 6"
    )


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (
            "symbol_gone: {file: calc.py, name: triple}",
            'a structural rule is met at the base already: "triple is gone from calc.py"',
        ),
        (
            "symbol_gone: {file: calc.py, name: add}",
            'a structural rule is not met at the solution: "add is gone from calc.py": line 1 of '
            "calc.py gives the name add to something",
        ),
        (
            "complexity: {file: cal.py, at_most: 1}",
            'a structural rule is not met at the solution: "the complexity of every function in '
            'cal.py is at most 1": there is no file cal.py',
        ),
        (
            'command: "true"',
            'a structural rule is met at the base already: "the command holds: true"',
        ),
        (
            'command: "echo no; no-such-program; exit 3"',
            "a structural rule is not met at the solution: "
            '"the command holds: echo no; no-such-program; exit 3": it ended in 3: ',
        ),
        (
            'command: "sleep 60"',
            "a structural rule is not met at the solution: "
            '"the command holds: sleep 60": it ran out of time',
        ),
        ("test: tests/test_no.py", "oracle.yaml names hidden/tests/test_no.py, which is not there"),
        (
            "test: tests/test_same.py",
            "no test in hidden/tests/test_same.py fails at the base and passes at the solution",
        ),
    ],
    ids=["met", "not met", "no file", "true", "false", "slow", "no test", "same"],
)
def test_each_rule_has_to_prove_something_by_itself(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox, item: str, problem: str
) -> None:
    made = make_set(
        tmp_path,
        base={**BASE, "calc.py": FIXED},
        solution=SOLUTION,
        draft={
            **DRAFT,
            "hidden/tests/test_same.py": "def test_same():\n    pass\n",
            "oracle.yaml": f"{GOOD}  - {item}\n",
        },
        category=Category.REFACTOR,
        prompt=PROMPT,
    )
    bench = bench_of(bubblewrap_sandbox, seconds=3)
    problems = validate_task(bench, made.case, repeats=1).problems
    assert [found for found in problems if found.startswith(problem)], problems
    assert len(problems) == 1


def test_rules_alone_are_enough(tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox) -> None:
    made = make_set(
        tmp_path,
        base={**BASE, "calc.py": FIXED},
        solution=SOLUTION,
        draft={
            "oracle.yaml": "structure:\n  - symbol_there: {file: units.py, name: double}\n",
            "hidden/tests/test_behaviour.py": BEHAVIOUR,
        },
        category=Category.REFACTOR,
        prompt=PROMPT,
    )
    bench = bench_of(bubblewrap_sandbox, seconds=20)
    sealed = validated(made, bench)
    assert sealed.graded(bench, made.diff(SOLUTION)).verdict is Verdict.PASS
    assert sealed.graded(bench, b"").verdict is Verdict.FAIL
