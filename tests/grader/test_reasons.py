"""Why a task is not valid, or valid with a word: one small repository for each kind."""

from pathlib import Path
from typing import Any

import pytest
from gradings import BASE, CALC, DRAFT, FIXED, HIDDEN, Files, bench_of, make_set

from labkit.model import Category
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench
from labkit_grader.repeats import Repeats
from labkit_grader.validate import Evidence, validate_task

ONCE = Repeats.exactly(1, thorough=False)
TWICE = Repeats.exactly(2, thorough=False)
WITH_ORDER = Repeats.exactly(1)


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=30)


def check(folder: Path, bench: Bench, repeats: Repeats = ONCE, **made: Any) -> Evidence:
    return validate_task(bench, make_set(folder, **made).case, repeats=repeats)


def hidden(text: str) -> Files:
    return {"hidden/tests/test_hidden.py": text}


NOTHING = "nothing to solve: every hidden test passes at the base too"
SAME = "from calc import double\n\n\ndef test_double():\n    assert double(3) == 6\n"
SKIPS = (
    "import pytest\n"
    "@pytest.mark.parametrize('n', range(69))\n"
    "def test_n(n):\n    pytest.skip('no catalogue')\n"
)
ADDRESS = (
    "import pytest\nfrom calc import double\n"
    "class Fake:\n    pass\n"
    "@pytest.mark.parametrize('fake', [Fake(), Fake()], ids=repr)\n"
    "def test_fake(fake):\n    assert double(1) == 2\n"
)


@pytest.mark.parametrize(
    ("made", "problems"),
    [
        ({"draft": hidden(SAME)}, [NOTHING]),
        (
            {
                "base": {**BASE, "old.py": "x = 1\n" * 30},
                "solution": {"old.py": None},
                "draft": hidden(SAME),
            },
            [f"{NOTHING}; the solution does little but delete"],
        ),
        (
            {"draft": {**hidden(SAME), "hidden/tests/test_skips.py": SKIPS}},
            [
                NOTHING,
                "69 hidden tests are skipped at the solution: a build step or a package is missing",
            ],
        ),
        (
            {"draft": hidden(SKIPS)},
            [
                "no hidden test fails at the base and passes at the solution",
                "69 hidden tests are skipped at the solution: a build step or a package is missing",
            ],
        ),
        ({"draft": hidden(ADDRESS)}, [NOTHING]),
        (
            {"draft": hidden("def helper():\n    pass\n")},
            ["no hidden test can be collected at the solution"],
        ),
        (
            {"draft": hidden("import freezegun_of_labkit\n" + HIDDEN)},
            [
                "the environment lacks the package freezegun_of_labkit: "
                "neither side can import it"
            ],
        ),
        (
            {"solution": {"calc.py": FIXED + "\nprint 'two'\n"}},
            [
                "at the solution tests/test_hidden.py cannot be collected: SyntaxError: Missing "
                "parentheses in call to 'print'. Did you mean print(...)?"
            ],
        ),
        (
            {"draft": hidden(HIDDEN + "\n\ndef test_no():\n    assert add(1, 1) == 3\n")},
            [
                "1 hidden test fails at the solution: tests/test_hidden.py::test_no "
                "(assert 2 == 3)"
            ],
        ),
    ],
    ids=[
        "passes at base", "deletes", "skips beside others", "only skips", "addresses", "no tests",
        "no package", "python 2", "fails at the solution",
    ],
)  # fmt: skip
def test_a_task_is_rejected_with_its_reason(
    tmp_path: Path, bench: Bench, made: dict[str, Any], problems: list[str]
) -> None:
    evidence = check(tmp_path, bench, TWICE, **made)
    assert list(evidence.problems) == problems


def test_tests_whose_names_hold_an_address_are_named_and_never_counted(
    tmp_path: Path, bench: Bench
) -> None:
    draft = {**DRAFT, "hidden/tests/test_fake.py": ADDRESS}
    evidence = check(tmp_path, bench, TWICE, draft=draft)
    assert evidence.valid
    assert not any("Fake" in test for test in evidence.expected.tests)
    assert any(
        "have another id in every run and are never counted: " in note and "Fake object" in note
        for note in evidence.notes
    )


def test_an_unstable_test_that_has_to_begin_to_pass_makes_a_task_invalid(
    tmp_path: Path, bench: Bench
) -> None:
    """The seed of the hash differs in every round, so this coin falls on both sides for sure."""
    text = HIDDEN + (
        "\n\nimport os\ndef test_coin():\n"
        "    assert add(1, 1) == 2 and int(os.environ['PYTHONHASHSEED']) % 2\n"
    )
    evidence = check(tmp_path, bench, Repeats.exactly(3, thorough=False), draft=hidden(text))
    assert evidence.problems == (
        "1 hidden test has to begin to pass but is unstable: it does not always pass at the "
        "solution: tests/test_hidden.py::test_coin (2 of 3)",
    )


def test_a_solution_that_runs_out_of_time_is_a_problem_of_the_limit(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    text = HIDDEN + "\n\ndef test_slow():\n    import time\n    time.sleep(30)\n"
    evidence = check(tmp_path, bench_of(bubblewrap_sandbox, seconds=3), draft=hidden(text))
    assert evidence.problems[0] == (
        "the hidden tests run out of time at the solution (limit 3 s: grade_minutes), "
        "under limits: in labkit.yaml"
    )
    assert evidence.repeats == 1


def test_a_base_that_eats_memory_counts_as_failing_with_the_word(
    tmp_path: Path, bench: Bench
) -> None:
    eats = CALC.replace("return a - b", "return [bytearray(10**6) for _ in iter(int, 1)]")
    evidence = check(tmp_path, bench, base={**BASE, "calc.py": eats})
    assert evidence.valid
    assert evidence.counts == {
        "fail_to_pass": 2,
        "pass_to_pass": 1,
        "unstable": 0,
        "guarded": 3,
    }
    assert evidence.notes == (
        "at the base 2 hidden tests run out of memory: tests/test_hidden.py::test_add, "
        "tests/test_hidden.py::test_negative; that counts as failing",
    )


@pytest.mark.parametrize(
    ("category", "word"),
    [
        (Category.FEATURE, "(right for a feature, whose names are not there yet)"),
        (Category.BUGFIX, "it fails for the wrong reason"),
    ],
)
def test_a_name_that_is_not_there_yet_is_right_only_for_a_feature(
    tmp_path: Path, bench: Bench, category: Category, word: str
) -> None:
    text = "from calc import triple\ndef test_triple():\n    assert triple(2) == 6\n"
    late = "import calc\ndef test_late():\n    from calc import triple\n    assert triple(1) == 3\n"
    evidence = check(
        tmp_path,
        bench,
        solution={"calc.py": CALC + "def triple(a):\n    return 3 * a\n"},
        draft={**hidden(text), "hidden/tests/test_late.py": late},
        category=category,
        prompt="A number can be added and doubled, but we need calc.triple too.\n",
    )
    assert evidence.valid
    told = [note for note in evidence.notes if "cannot import name 'triple'" in note]
    assert word in told[0]
    assert len(told) == (1 if category is Category.FEATURE else 2)


NEEDS_NETWORK = HIDDEN + (
    "\n\ndef test_fetch():\n    import urllib.request\n"
    "    assert urllib.request.urlopen('http://example.org', timeout=5)\n"
)
WRITES_OUTSIDE = HIDDEN + (
    "\n\ndef test_write():\n    with open('/usr/share/left-behind', 'w') as file:\n"
    "        file.write('x')\n"
)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (NEEDS_NETWORK, "1 hidden test needs a network, which the sandbox does not have"),
        (WRITES_OUTSIDE, "1 hidden test needs to write outside of the project"),
    ],
    ids=["network", "outside"],
)
def test_what_the_sandbox_does_not_give_is_said_with_the_mend(
    tmp_path: Path, sandbox: Sandbox, text: str, note: str
) -> None:
    evidence = check(tmp_path, bench_of(sandbox, seconds=30), draft=hidden(text))
    assert evidence.problems[0].startswith("1 hidden test fails at the solution")
    assert any(found.startswith(note) for found in evidence.notes), evidence.notes


def test_tests_that_lean_on_their_order_are_noted(tmp_path: Path, bench: Bench) -> None:
    text = HIDDEN + (
        "\n\nseen = []\ndef test_first():\n    seen.append(1)\n"
        "def test_second():\n    assert seen and add(1, 1) == 2\n"
    )
    evidence = check(tmp_path, bench, WITH_ORDER, draft=hidden(text))
    assert evidence.valid
    assert (
        "1 hidden test does not pass when the order is reversed: it depends on the order, or is "
        "unstable: tests/test_hidden.py::test_second"
    ) in evidence.notes


def test_a_thin_task_and_tests_of_the_commit_are_noted(tmp_path: Path, bench: Bench) -> None:
    text = "from calc import add\ndef test_add():\n    assert add(2, 3) == 5\n"
    solution: Files = {"calc.py": FIXED, "tests/test_hidden.py": text}
    evidence = check(tmp_path, bench, solution=solution, draft=hidden(text))
    assert evidence.valid
    assert [note.partition(":")[0] for note in evidence.notes] == [
        "the task is thin",
        "the hidden tests are the commit's own, unchanged",
    ]


def test_a_runner_that_does_not_start_says_why_and_the_mend_helps(
    tmp_path: Path, bench: Bench
) -> None:
    base: Files = {**BASE, "pytest.ini": "[pytest]\naddopts = --benchmark-only\n"}
    mend = "python -m pytest -o addopts="
    assert check(tmp_path / "a", bench, base=base).problems == (
        "at the solution: pytest could not start: it does not know --benchmark-only; where a "
        "plugin of the environment has such options, add -p benchmark to the grading command, "
        'else take them away with -o "addopts="',
    )
    assert check(tmp_path / "b", bench, base=base, grading=mend).valid


def test_time_zone_and_language_are_fixed_unless_the_command_sets_them(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    text = HIDDEN + (
        "\n\nimport os, time\ndef test_zone():\n"
        "    assert (os.environ['TZ'], time.timezone, os.environ['LANG']) == {zone!r}\n"
    )
    utc = hidden(text.replace("{zone!r}", "('UTC', 0, 'C.UTF-8')"))
    assert check(tmp_path / "a", bench_of(sandbox), draft=utc).valid
    other = hidden(text.replace("{zone!r}", "('EST5', 18000, 'C')"))
    command = "TZ=EST5 LANG=C python -m pytest"
    assert check(tmp_path / "b", bench_of(sandbox), draft=other, grading=command).valid
