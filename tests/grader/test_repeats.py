"""How often tests are run, and whether the stated chance of notice is the real one."""

import itertools
import random

import pytest
from gradings import HIDDEN, bench_of, make_set
from hypothesis import given
from hypothesis import strategies as st

from labkit.model import Ended
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Limits
from labkit_grader.oracles.compared import Sides, compare
from labkit_grader.protected import Guarded
from labkit_grader.repeats import LEAST, MOST, USUAL, Repeats, chance_of_notice
from labkit_grader.testrun import TestRun
from labkit_grader.validate import validate_task


def rounds(repeats: Repeats, seconds: float) -> list[int]:
    """Return the rounds of a task each of whose rounds takes so long."""
    clock = itertools.count()
    return list(repeats.rounds(lambda: next(clock) * seconds if seconds else 0.0))


@given(
    least=st.integers(1, MOST),
    more=st.integers(0, MOST),
    budget=st.floats(0, 1000),
    seconds=st.floats(0, 1000),
)
def test_rounds_keep_their_bounds(least: int, more: int, budget: float, seconds: float) -> None:
    repeats = Repeats(least=least, most=least + more, budget=budget)
    done: list[int] = []
    for number in repeats.rounds(lambda: len(done) * seconds):
        done.append(number)  # noqa: PERF402 - the clock reads how many are done
    assert done == list(range(1, len(done) + 1))
    assert least <= len(done) <= least + more
    if len(done) > least:
        assert len(done) * seconds <= budget * (1 + 1e-9)
    elif more:
        assert (least + 1) * seconds >= budget * (1 - 1e-9) or len(done) == least + more


def test_a_fast_task_is_run_eight_times_and_a_slow_one_three() -> None:
    assert len(rounds(Repeats(), 0.0)) == USUAL == 8
    assert len(rounds(Repeats(), 600.0)) == LEAST == 3
    assert len(rounds(Repeats.exactly(5), 600.0)) == 5


def test_eight_runs_notice_a_test_that_fails_one_time_in_three() -> None:
    assert chance_of_notice(8) >= 19 / 20 > chance_of_notice(7)


def seen(outcome: str) -> TestRun:
    return TestRun(
        ended=Ended.EXITED,
        exit_code=0,
        outcomes={"t.py::test": outcome},
        seconds=1.0,
        image_digest="",
    )


@pytest.mark.parametrize("runs", range(1, MOST + 1))
def test_the_stated_chance_is_the_rules_own(runs: int) -> None:
    """Draw the outcomes of a flaky test that fails at the base, and let the rule judge them."""
    dice = random.Random(runs)  # noqa: S311 - a simulation
    trials, noticed = 4000, 0
    for _ in range(trials):
        after = [seen("failed" if dice.random() < 1 / 3 else "passed") for _ in range(runs)]
        base = tuple(seen("failed") for _ in range(runs))
        sides = Sides(base=base, solution=tuple(after), limits=Limits(), laid=Guarded(tree={}))
        noticed += compare(sides).fail_to_pass == ()
    stated = chance_of_notice(runs)
    deviation = (stated * (1 - stated) / trials) ** 0.5
    assert abs(noticed / trials - stated) < 4.5 * deviation


@pytest.mark.slow
def test_a_really_flaky_test_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    """Each test is drawn for itself, so sixty in one file are sixty trials of eight runs."""
    many = HIDDEN.partition("def test_negative")[0] + (
        "import os\nimport pytest\n"
        "@pytest.mark.parametrize('n', range(60))\n"
        "def test_flaky(n):\n"
        "    assert add(2, 3) == 5 and int.from_bytes(os.urandom(8), 'big') % 3\n"
    )
    made = make_set(tmp_path_factory.mktemp("flaky"), draft={"hidden/tests/test_hidden.py": many})
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=8)
    assert not evidence.valid
    missed = [test for test in evidence.expected.fail_to_pass if "flaky" in test]
    # 60 trials at 0.961: more than 8 misses have a chance below one in a thousand.
    assert len(missed) <= 8
    assert "have to begin to pass but are unstable" in evidence.problems[0]


def test_each_round_has_another_hash_seed(
    tmp_path_factory: pytest.TempPathFactory, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    seeds = HIDDEN + (
        "\n\nimport os\nimport pytest\n"
        "@pytest.mark.parametrize('seed', [os.environ['PYTHONHASHSEED']])\n"
        "def test_seed(seed):\n    assert seed in '123'\n"
    )
    made = make_set(tmp_path_factory.mktemp("seed"), draft={"hidden/tests/test_hidden.py": seeds})
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=3)
    assert evidence.valid
    assert evidence.counts["unstable"] == 3
    assert any("test_seed[1]" in note and "test_seed[3]" in note for note in evidence.notes)
