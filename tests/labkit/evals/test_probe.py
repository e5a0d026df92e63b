import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from candidates import hosted

from labkit.errors import InputError
from labkit.evals import Answer, EvalCase, Nature, TimedOut, Trial, probe
from labkit.evals.probe import Evidence

CASES = [EvalCase(id=name, inputs=name, reference="right") for name in "abcde"]
COUNT = itertools.count()
Body = Callable[[EvalCase, Trial], Any]


def files(_: EvalCase, trial: Trial) -> None:
    (trial.scratch / "x").write_text(str(trial.seed))


def compiled(_: EvalCase, trial: Trial) -> None:
    (trial.scratch / "__pycache__").mkdir()
    (trial.scratch / "__pycache__" / "x").write_text(str(next(COUNT)))


def only_c(case: EvalCase, trial: Trial) -> object:
    return trial.seed if case.id == "c" else 4


NATURES: dict[str, tuple[Body, Nature, str]] = {
    "constant": (lambda _, __: 4, Nature.DETERMINISTIC, "gave the same on 3 cases"),
    "seed": (lambda _, trial: trial.seed, Nature.SEEDED, "a: output, b: output, c: output"),
    "seeded": (
        lambda _, trial: random.Random(trial.seed).random(),  # noqa: S311 - no secret
        Nature.SEEDED,
        "Seeds 1 and 2 gave different samples",
    ),
    "deaf": (lambda _, __: next(COUNT), Nature.DEAF, "Seed 1 twice gave different samples (a: out"),
    "one case": (only_c, Nature.SEEDED, "(c: output)"),
    "files": (files, Nature.SEEDED, "a: files"),
    "compiled files": (compiled, Nature.DETERMINISTIC, "gave the same on 3 cases (a, b, c)"),
    "trace": (
        lambda _, trial: Answer(trace=[{"seed": trial.seed}]),
        Nature.SEEDED,
        "a: trace",
    ),
    "diff": (lambda _, trial: Answer(diff=f"{trial.seed}"), Nature.SEEDED, "a: patch"),
    "time": (lambda _, __: Answer(cost=next(COUNT)), Nature.DETERMINISTIC, "the same on 3 cases"),
    "objects": (lambda _, __: object(), Nature.DETERMINISTIC, "the same"),
}


@pytest.mark.parametrize("name", NATURES)
def test_its_nature_is_found_with_the_cases_that_show_it(name: str) -> None:
    candidate, nature, words = NATURES[name]
    found = probe(candidate, CASES)
    assert found.nature is nature
    assert words in found.words


def test_a_random_one_that_differs_on_one_case_is_deaf_for_that_case() -> None:
    found = probe(lambda case, trial: next(COUNT) if case.id == "b" else trial.seed, CASES)
    assert found.nature is Nature.DEAF
    assert found.evidence[0] == Evidence(case="a", other=("output",))
    assert found.evidence[1] == Evidence(case="b", again=("output",), other=("output",))
    assert "(b: output)" in found.words


def test_the_samples_are_those_that_a_run_takes() -> None:
    seen: list[tuple[str, int, int, object, object]] = []

    def candidate(case: EvalCase, trial: Trial) -> None:
        seen.append((case.id, trial.number, trial.seed, case.reference, dict(case.grader_spec)))
        assert not list(trial.scratch.iterdir())
        (trial.scratch / "left").touch()

    probe(candidate, CASES, seeds=(5, 6), most=1)
    assert seen == [("a", 1, 5, None, {}), ("a", 1, 5, None, {}), ("a", 2, 6, None, {})]


def test_each_sample_has_the_files_of_its_case(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("x")

    def candidate(_: EvalCase, trial: Trial) -> str:
        file = trial.scratch / "sub" / "a.txt"
        text = file.read_text()
        file.write_text("changed")
        return text

    found = probe(candidate, [EvalCase(id="a", folder=tmp_path)])
    assert (found.nature, found.evidence[0].failure) == (Nature.DETERMINISTIC, "")
    assert (tmp_path / "sub" / "a.txt").read_text() == "x"


def test_failures_are_told_and_do_not_count() -> None:
    def fails(case: EvalCase, trial: Trial) -> int:
        if case.id == "a":
            raise TimedOut("had not ended")
        return trial.seed

    found = probe(fails, CASES)
    assert found.nature is Nature.SEEDED
    assert found.evidence[0].failure == "a: TimedOut: had not ended"
    assert "the same on 2 cases (b, c)" in found.words
    assert found.words.endswith("Without an answer: a: TimedOut: had not ended.")
    found = probe(fails, CASES[:1])
    assert found.nature is Nature.UNKNOWN
    assert found.words == "Nothing could be compared: a: TimedOut: had not ended."
    assert probe(fails, []).words == "Nothing could be compared: there is no case."


def test_it_draws_no_conclusion_on_cases_that_it_has_not_seen() -> None:
    found = probe(lambda case, trial: trial.seed if case.id == "e" else 4, CASES)
    assert found.words == (
        "Seeds 1 and 2 gave the same on 3 cases (a, b, c); of other cases this says nothing."
    )


def test_cases_that_cannot_be_used_are_passed_over() -> None:
    broken = EvalCase(id="0", problem="no grader")
    assert [each.case for each in probe(lambda *_: 1, [broken, *CASES]).evidence] == ["a", "b", "c"]


def test_one_seed_is_not_enough_and_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two seeds are needed"):
        probe(lambda *_: 1, CASES, seeds=(1, 1))
    found = probe(lambda *_: 1, [EvalCase(id="a", folder=tmp_path / "no")])
    assert found.evidence[0].failure.startswith(f"a: {InputError.__name__}: no folder")


def test_a_function_in_its_own_process_is_probed_like_any_other(tmp_path: Path) -> None:
    with hosted(tmp_path, "return os.urandom(4)") as candidate:
        assert probe(candidate, CASES, most=1).nature is Nature.DEAF
    with hosted(tmp_path, "import random; return random.Random(trial.seed).random()") as candidate:
        assert probe(candidate, CASES, most=1).nature is Nature.SEEDED
