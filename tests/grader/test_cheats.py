"""The cheats that validation tries: what they change, that they fail, and what it says if not."""

import ast
from pathlib import Path
from typing import Any

import pytest
from gradings import BASE, CALC, DRAFT, FIXED, HIDDEN, Files, Set, bench_of, make_set

from labkit.model import Category
from labkit.patch.place import Applied
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.cheats import Cheat, cheats_of, examples_in
from labkit_grader.execute import Bench
from labkit_grader.oracles.sides import solution_tree
from labkit_grader.repeats import Repeats
from labkit_grader.validate import Evidence, validate_task

THOROUGH = Repeats.exactly(1)
CODE = {
    "empty diff", "deleted tests", "conftest hook", "early exit", "early exit at the end",
    "stdout forger", "skip all", "always equal",
}  # fmt: skip
TYPED = HIDDEN + "\n\ndef test_type():\n    assert type(add(1, 1)) is int\n"


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=30)


def prove(folder: Path, bench: Bench, **made: Any) -> Evidence:
    return validate_task(bench, make_set(folder, **made).case, repeats=THOROUGH, workers=2)


def cheats(made: Set) -> dict[str, Cheat]:
    solution = solution_tree(made.case)
    assert isinstance(solution, Applied)
    return {cheat.name: cheat for cheat in cheats_of(made.case, solution)}


def test_every_cheat_fails_on_a_good_task(tmp_path: Path, sandbox: Sandbox) -> None:
    draft: Files = {"hidden/tests/test_hidden.py": TYPED}
    prompt = "add(2, 3) == 5 is expected, but a wrong sum comes out.\n"
    evidence = prove(tmp_path, bench_of(sandbox, seconds=30), draft=draft, prompt=prompt)
    assert evidence.problems == ()
    assert evidence.cheats == dict.fromkeys((*CODE, "special cases"), True)
    assert '"failed": 9' in evidence.public_text


def test_an_object_equal_to_everything_fails_where_values_are_compared(
    tmp_path: Path, bench: Bench
) -> None:
    evidence = prove(tmp_path, bench)
    assert evidence.valid
    assert all(evidence.cheats.values())


def test_an_object_equal_to_everything_is_noted_where_no_value_is_written(
    tmp_path: Path, bench: Bench
) -> None:
    text = "from calc import add\ndef test_add():\n    assert add(2, 3) > 2\n"
    evidence = prove(tmp_path, bench, draft={"hidden/tests/test_hidden.py": text})
    assert evidence.valid
    assert [name for name, failed in evidence.cheats.items() if not failed] == ["always equal"]
    assert any(note.startswith("an object that is equal to everyth") for note in evidence.notes)


def test_tests_that_only_repeat_the_prompt_are_a_problem(tmp_path: Path, bench: Bench) -> None:
    text = "from calc import add, double\ndef test_add():\n    assert add(2, 3) is 5\n"
    evidence = prove(
        tmp_path,
        bench,
        draft={"hidden/tests/test_hidden.py": text.replace(" is ", " == ")},
        prompt="`add(2, 3)` should return `5`, not -1, as people expect of a sum.\n",
    )
    assert evidence.problems == (
        "hard-coding the examples of the prompt passes: give the hidden tests other inputs",
    )


def test_tests_that_pass_with_more_time_at_the_base_are_a_problem(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    """The base is cut off early, but an empty diff gets all the time that a run has."""
    slow = CALC.replace("    return a - b", "    import time\n    time.sleep(13)\n    return a + b")
    text = "from calc import add\ndef test_add():\n    assert add(2, 3) == 5\n"
    evidence = prove(
        tmp_path,
        bench_of(bubblewrap_sandbox, seconds=60),
        base={**BASE, "calc.py": slow},
        draft={"hidden/tests/test_hidden.py": text},
    )
    assert "an empty diff passes: the hidden tests prove nothing" in evidence.problems


def test_cheats_are_tried_only_on_what_is_sound_so_far(tmp_path: Path, bench: Bench) -> None:
    evidence = prove(tmp_path, bench, solution={"README.md": "x"})
    assert not evidence.valid
    assert evidence.cheats == {}


def test_without_python_in_the_solution_the_cheats_are_fewer(tmp_path: Path, bench: Bench) -> None:
    text = "def test_it():\n    assert open('data.txt').read() == 'new'\n"
    evidence = prove(
        tmp_path,
        bench,
        base={**BASE, "data.txt": "old"},
        solution={"data.txt": "new"},
        draft={"hidden/tests/test_data.py": text},
    )
    assert evidence.cheats == dict.fromkeys(("empty diff", "deleted tests", "conftest hook"), True)


def test_cheats_on_written_tests(tmp_path: Path, bench: Bench) -> None:
    fault = (
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n"
        "@@ -1,5 +1,5 @@\n def add(a, b):\n-    return a + b\n+    return a + abs(b)\n"
        " \n \n def double(a):\n"
    )
    reference = "from calc import add\ndef test_add():\n    assert add(2, -3) == -1\n"
    evidence = prove(
        tmp_path,
        bench,
        base={**BASE, "calc.py": FIXED},
        solution={"tests/test_more.py": reference},
        draft={"hidden/tests/test_reference.py": reference, "mutations/1.patch": fault},
        category=Category.TESTS,
        forbidden=("calc.py",),
    )
    assert evidence.problems == ()
    honest = {name: failed for name, failed in evidence.cheats.items() if name != "pinned source"}
    assert honest == dict.fromkeys(
        ("empty diff", "empty test file", "tautology", "skip all", "early exit", "conftest hook"),
        True,
    )


def test_code_goes_behind_what_stands_there_with_its_line_ends(tmp_path: Path) -> None:
    base = {**BASE, "calc.py": CALC.replace("\n", "\r\n").encode()}
    made = make_set(tmp_path, base=base, solution={"calc.py": FIXED, "new.py": "x = 1\n"})
    tree = cheats(made)["early exit"].work.tree
    data = tree[b"calc.py"].data
    assert data.startswith(base["calc.py"])  # type: ignore[arg-type]  # bytes, as set above
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert b"os._exit(0)" in tree[b"new.py"].data


def test_always_equal_replaces_what_the_solution_changes_and_nothing_else(tmp_path: Path) -> None:
    old = "class C:\n    def f(self): return 1\n    def g(self): return 1\ndef h(): return 1\n"
    new = old.replace("g(self): return 1", "g(self): return 2")
    made = make_set(tmp_path, base={**BASE, "calc.py": old}, solution={"calc.py": new})
    code = cheats(made)["always equal"].work.tree[b"calc.py"].data.decode()
    ast.parse(code)
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - the cheat itself
    thing = scope["C"]()
    assert (thing.f(), scope["h"]()) == (1, 1)
    assert thing.g() == 5 == thing.g()
    assert not thing.g() != 5  # noqa: SIM202 - what an assertion may ask


@pytest.mark.parametrize(
    ("prompt", "table"),
    [
        ("add(2, 3) == 5", {("add", "(2, 3)"): (5,)}),
        ("`slug('a b')` should return `'a-b'`.", {("slug", "('a b',)"): ("a-b",)}),
        (
            ">>> add(2, 3)\n5\n>>> add(1, 1)\n2\n",
            {("add", "(2, 3)"): (5,), ("add", "(1, 1)"): (2,)},
        ),
        ("f() gives None, g([1]) -> [1, 2]", {("f", "()"): (None,), ("g", "([1],)"): ([1, 2],)}),
        ("It is wrong (see above) and add(x, y) returns z.", {}),
        ("f(__import__('os')) == 1", {}),
        ("f(a=1) == 2", {}),
        ("f(1) should return 3, but today f(1) returns 2.", {("f", "(1,)"): (3, 2)}),
    ],
    ids=[
        *("equal", "words", "session", "two in a line", "prose", "no plain value", "keyword"),
        "today too",
    ],
)
def test_examples_are_found_in_prompts(prompt: str, table: dict[Any, Any]) -> None:
    assert examples_in(prompt) == table


def test_traps_have_their_cheats_elsewhere(tmp_path: Path) -> None:
    made = make_set(tmp_path, category=Category.TRAP, draft=DRAFT)
    assert cheats(made) == {}
