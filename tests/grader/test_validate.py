"""What validation keeps, what it publishes, and what it says of the prompt."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from gradings import BASE, CALC, DRAFT, FIXED, bench_of, make_set

from labkit.errors import InputError
from labkit.model import Category
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.suite import content_digest
from labkit_grader.material import EVIDENCE, draft_digest, is_proven, read_material
from labkit_grader.validate import validate_task

SOLUTION = CALC.replace("a - b", "combined_total(a, b)") + (
    "\n\ndef combined_total(first, second):\n    return first.__add__(second)\n"
)


def test_evidence_is_kept_whole_and_published_without_a_name(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(tmp_path)
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=2)
    kept = json.loads(evidence.draft_text)
    assert kept["fail_to_pass"] == [
        "tests/test_hidden.py::test_add",
        "tests/test_hidden.py::test_negative",
    ]
    assert kept["digest"] == draft_digest(made.draft)
    content = content_digest(made.case.task.facts(), made.case.task.prompt)
    proven = {**made.draft, EVIDENCE: evidence.draft_text.encode()}
    assert is_proven(proven, content)
    assert not is_proven(proven, "another task or prompt")
    assert not is_proven({**proven, "hidden/tests/test_more.py": b""}, content)
    assert not is_proven(made.draft, content)
    assert made.sealed(evidence).case.material.evidence == evidence.expected
    public = json.loads(evidence.public_text)
    assert public["valid"] is True
    assert public["counts"] == {
        "fail_to_pass": 2,
        "pass_to_pass": 1,
        "unstable": 0,
        "guarded": 3,
    }
    assert (public["repeats"], public["sandbox"]) == (2, "bubblewrap")
    assert "test_" not in evidence.public_text
    assert kept["digest"] not in evidence.public_text


@pytest.mark.parametrize(
    ("prompt", "problem"),
    [
        (
            "The sum is wrong.\nPerhaps `return   first.__add__(second)` would do?",
            "the prompt holds lines of the solution: return first.__add__(second) (line 2)",
        ),
        (
            "The sum is wrong: make test_negative pass.",
            "the prompt holds hidden tests by name: test_negative (line 1)",
        ),
        (
            "The sum is wrong, as test_hidden.py says.",
            "the prompt holds hidden tests by name: test_hidden (line 1)",
        ),
        (
            "Add combined_total; double stays. The return value is wrong.",
            "the prompt names what only the solution has: combined_total (line 1)",
        ),
        (
            "Sum.",
            "the prompt is too short to act on: 1 word, at least 6 are needed; say what happens, "
            "what should happen, and how to see it",
        ),
    ],
    ids=["line", "test", "file", "name", "short"],
)
def test_a_prompt_that_gives_the_solution_away_is_a_problem(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox, prompt: str, problem: str
) -> None:
    made = make_set(tmp_path, prompt=prompt, solution={"calc.py": SOLUTION})
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    assert evidence.problems == (problem,)


def test_a_commit_of_the_history_is_a_problem(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(tmp_path)
    task = made.case.task
    for oid in (task.base, task.solution):
        prompt = f"{task.prompt}It was right in {oid[:8]}."
        case = replace(made.case, task=replace(task, prompt=prompt))
        evidence = validate_task(bench_of(bubblewrap_sandbox), case, repeats=1)
        assert evidence.problems == (
            f"the prompt names commits of the solution's history: {oid[:8]} (line 2)",
        )


def test_a_new_name_that_the_hidden_tests_import_has_to_be_told(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    hidden = "from calc import add, combined_total\n\n\ndef test_it():\n    assert add(1, 2) == 3\n"
    draft = {"hidden/tests/test_new.py": hidden}
    made = make_set(tmp_path, solution={"calc.py": SOLUTION}, draft=draft)
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    assert evidence.problems == (
        "the hidden tests import names that the prompt never mentions, so nobody can know them: "
        "combined_total",
    )
    told = replace(made.case.task, prompt="Add combined_total, please; the sum is wrong today.")
    case = replace(made.case, task=told)
    assert validate_task(bench_of(bubblewrap_sandbox), case, repeats=1).valid


def test_the_digest_is_of_the_draft_without_its_evidence() -> None:
    files = {"hidden/a.py": b"1", "oracle.yaml": b""}
    assert draft_digest({**files, "evidence.json": b"{}"}) == draft_digest(files)
    assert draft_digest({**files, "hidden/a.py": b"2"}) != draft_digest(files)


@pytest.mark.parametrize(
    ("category", "files", "problem"),
    [
        (Category.BUGFIX, {"oracle.yaml": b"structure: []\n"}, 'unknown field "structure"'),
        (Category.TRAP, {"oracle.yaml": b'must_name: ["("]\n'}, "is not a regular expression"),
        (
            Category.TRAP,
            {"oracle.yaml": b'edits: "some"\n'},
            "\"edits\" is 'some': use one of none, allowed",
        ),
        (Category.TRAP, {"examples/fine-1.md": b""}, "neither good nor bad"),
        (Category.BUGFIX, {"hidden/../x.py": b""}, "lies outside the project"),
    ],
    ids=["unknown field", "bad pattern", "bad word", "bad example", "outside"],
)
def test_a_draft_that_cannot_be_read_says_why(
    category: Category, files: dict[str, bytes], problem: str
) -> None:
    with pytest.raises(InputError) as error:
        read_material(files, category)
    assert problem in error.value.message


def test_an_oracle_of_comments_alone_is_no_oracle() -> None:
    material = read_material({"oracle.yaml": b"# nothing\n\n  # needed\n"}, Category.TESTS)
    assert material.rules.structure.checks == 0


def test_a_draft_of_the_base_alone_proves_nothing(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    made = make_set(tmp_path, base={**BASE, "calc.py": FIXED}, solution={"a.py": ""}, draft=DRAFT)
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    assert evidence.problems == ("nothing to solve: every hidden test passes at the base too",)
