"""Faults that labkit makes itself: which are kept, what is told of them, and how they grade."""

import json
from pathlib import Path
from typing import Any

import pytest
from gradings import BASE, FIXED, Files, bench_of, make_set, validated

from labkit.errors import IntegrityError
from labkit.model import Category, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench
from labkit_grader.material import EVIDENCE, read_material
from labkit_grader.validate import validate_task

CODE = FIXED + "\n\ndef sign(a):\n    if a < 0:\n        return -1\n    return 1\n"
REFERENCE = (
    "from calc import add, sign\n\n\ndef test_add():\n    assert add(2, -3) == -1\n\n\n"
    "def test_sign():\n    assert [sign(-1), sign(1)] == [-1, 1]\n"
)
GOOD = REFERENCE.replace("test_add", "test_sum").replace(
    "[sign(-1), sign(1)]", "[sign(-9), sign(7)]"
)
DRAFT: Files = {
    "hidden/tests/test_reference.py": REFERENCE,
    "oracle.yaml": "mutations: {generate: [calc.py], at_most: 20}\n",
}


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


def writing(**more: Any) -> dict[str, Any]:
    return {
        "base": {**BASE, "calc.py": CODE},
        "solution": {"tests/test_more.py": REFERENCE},
        "draft": DRAFT,
        "category": Category.TESTS,
        "forbidden": ("calc.py",),
        **more,
    }


def test_generated_faults_are_kept_only_where_they_prove_something(
    tmp_path: Path, bench: Bench
) -> None:
    made = make_set(tmp_path, **writing())
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.problems == ()
    kept = [str(fault) for fault in evidence.expected.made.mutants]
    # The base's own tests catch what is in double(); the border of sign() is tested by nobody.
    assert sorted(kept) == [
        "calc.py:11: 1 becomes (1 + 1)",
        "calc.py:11: return -1 becomes return None",
        "calc.py:12: 1 becomes (1 + 1)",
        "calc.py:12: return 1 becomes return None",
        "calc.py:2: + becomes -",
        "calc.py:2: return a + b becomes return None",
    ]
    assert evidence.counts["mutations"] == len(kept)
    note, *told = evidence.notes
    assert note == (
        "10 generated faults were tried and 6 kept; dropped: 2 that the base's own tests catch "
        "already, 2 that the reference tests miss (such often change nothing that matters)"
    )
    assert told == [f"generated fault that every run has to catch: {name}" for name in kept]
    public = json.loads(evidence.public_text)
    assert "calc.py" not in evidence.public_text
    assert public["counts"]["mutations"] == len(kept)
    sealed = made.sealed(evidence)
    assert sealed.case.material.evidence == evidence.expected
    good = sealed.graded(bench, made.diff({"tests/test_mine.py": GOOD}))
    assert (good.verdict, good.reason) == (
        Verdict.PASS,
        f"the tests pass on the real code and catch {len(kept)} faults",
    )
    half = GOOD.partition("\n\n\ndef test_sign")[0] + "\n"
    some = sealed.graded(bench, made.diff({"tests/test_mine.py": half}))
    assert some.verdict is Verdict.FAIL
    assert some.reason.startswith(
        f"the tests catch 2 of {len(kept)} faults; not caught: generated "
    )
    assert some.tests["generated fault calc.py:2: + becomes -"] == "passed"
    assert some.tests["generated fault calc.py:12: return 1 becomes return None"] == "failed"


def test_at_most_so_many_are_kept_and_always_the_same(tmp_path: Path, bench: Bench) -> None:
    draft = {**DRAFT, "oracle.yaml": "mutations: {generate: [calc.py], at_most: 1}\n"}
    first, second = (
        validated(make_set(tmp_path / name, **writing(draft=draft)), bench) for name in "ab"
    )
    assert first.case.material.evidence == second.case.material.evidence
    assert first.case.material.evidence is not None
    assert len(first.case.material.evidence.made.mutants) == 1


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        (
            {"oracle.yaml": "mutations: {generate: [no.py]}\n"},
            "oracle.yaml generates faults in no.py, which the base does not have",
        ),
        (
            {"oracle.yaml": "mutations: {generate: [bad.py]}\n"},
            "no fault can be generated: bad.py, line 1 cannot be parsed: ",
        ),
        (
            {"oracle.yaml": "mutations: {generate: [empty.py]}\n"},
            "none of the generated faults is of use: plant some in mutations/",
        ),
        ({"oracle.yaml": "{}\n"}, "a tests task needs mutations/ and reference tests in hidden/"),
    ],
    ids=["no file", "no Python", "nothing to change", "nothing asked for"],
)
def test_faults_that_cannot_be_generated_are_a_problem(
    tmp_path: Path, bench: Bench, draft: Files, problem: str
) -> None:
    base = {**BASE, "calc.py": CODE, "bad.py": "def (\n", "empty.py": ""}
    made = make_set(tmp_path, **writing(base=base, draft={**DRAFT, **draft}))
    problems = validate_task(bench, made.case, repeats=1).problems
    assert [found for found in problems if found.startswith(problem)], problems


TABLE = "SIZES = {'cup': 240, 'ml': 1}\n\n\ndef size(unit):\n    return SIZES[unit]\n"
SPILT = (
    "diff --git a/table.py b/table.py\n--- a/table.py\n+++ b/table.py\n@@ -1,2 +1,2 @@\n"
    "-SIZES = {'cup': 240, 'ml': 1}\n+SIZES = {'cup': 250, 'ml': 1}\n \n"
)
READS = "from table import SIZES\n\n\ndef test_cup():\n    assert SIZES['cup'] == 240\n"


def test_variants_are_used_only_where_the_reference_tests_allow_it(
    tmp_path: Path, bench: Bench
) -> None:
    pins = READS + "\n\ndef test_text():\n    assert '250' not in open('table.py').read()\n"
    made = make_set(
        tmp_path,
        **writing(
            base={**BASE, "table.py": TABLE},
            draft={"hidden/tests/test_reference.py": pins, "mutations/01-cup.patch": SPILT},
        ),
    )
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.problems == ()
    assert evidence.notes == (
        "the reference tests pass although every function of the faulty files raises, so nobody's "
        "tests are asked to notice that",
    )
    assert evidence.expected.made.gutted == {}
    assert list(evidence.expected.made.neutral) == ["table.py"]
    graded = made.sealed(evidence).graded(bench, made.diff({"tests/test_mine.py": READS}))
    assert graded.verdict is Verdict.PASS
    assert "code whose functions all raise" not in graded.tests


def test_a_reference_that_pins_every_way_to_write_the_code_is_noted(
    tmp_path: Path, bench: Bench
) -> None:
    pins = READS + f"\n\ndef test_text():\n    assert open('table.py').read() == {TABLE!r}\n"
    made = make_set(
        tmp_path,
        **writing(
            base={**BASE, "table.py": TABLE},
            draft={"hidden/tests/test_reference.py": pins, "mutations/01-cup.patch": SPILT},
        ),
    )
    evidence = validate_task(bench, made.case, repeats=1)
    assert evidence.expected.made.neutral == {}
    assert evidence.notes[0].startswith("whether tests look at the source text cannot be checked")


def test_evidence_of_generated_faults_that_is_damaged_is_an_integrity_error() -> None:
    for made in ("1", '{"mutants": [{}]}', '{"mutants": 3, "neutral": {}, "gutted": {}}',
                 '{"mutants": [], "neutral": [], "gutted": {}}'):  # fmt: skip
        text = f'{{"fail_to_pass": [], "pass_to_pass": [], "made": {made}}}'
        with pytest.raises(IntegrityError, match="is damaged"):
            read_material({EVIDENCE: text.encode()}, Category.TESTS)
