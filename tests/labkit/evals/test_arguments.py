"""What the library is handed: texts for paths and words, and everything else refused at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from evalruns import capitals, knows

from labkit.errors import InputError
from labkit.evals import (
    Answer,
    EvalCase,
    EvalHarness,
    EvalRunner,
    EvalSuite,
    Hosted,
    Keep,
    Policy,
    Recorded,
    Split,
    apply_diff,
    apply_replacements,
    bundled_fixtures,
    do_nothing,
    open_candidate,
    read_fixtures,
    read_report,
    read_suite_file,
    watched,
    write_bundled,
)
from labkit.evals.named import Options
from labkit.evals.sample import Replacement


def given(**more: Any) -> EvalCase:
    return EvalCase("a", **more)


def runner(**more: Any) -> EvalRunner:
    return EvalRunner(**({"candidate": knows} | more))


def harness(**more: Any) -> EvalHarness:
    return EvalHarness([], **more)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "candidate": (lambda: runner(candidate=5), "the candidate is 5, and must be called with"),
    "candidate text": (lambda: runner(candidate="a.py:f"), "open_candidate opens one"),
    "policy": (
        lambda: runner(policy="most"),
        "policy is 'most', and must be one of all, any, majority",
    ),
    "keep": (lambda: runner(keep="fialed"), 'keep is .* did you mean "failed"'),
    "n": (lambda: runner(n="3"), "n is '3', and must be a whole number"),
    "no samples": (lambda: runner(n=0), "n is 0, and must be at least 1"),
    "workers": (lambda: runner(workers=0), "workers is 0, and must be at least 1"),
    "seed": (lambda: runner(seed=1.5), "seed is 1.5"),
    "timeout": (lambda: runner(timeout="5"), "timeout is '5', and must be a number of seconds"),
    "no time": (lambda: runner(timeout=float("nan")), "a timeout of nan s leaves no time"),
    "ks": (lambda: runner(ks=2), "ks is 2, and must be a list"),
    "ks text": (lambda: runner(ks=("1",)), "each of ks is '1'"),
    "notes": (lambda: runner(notes="one"), "notes is 'one', and must be a list of texts"),
    "suite": (lambda: runner().run(cast("Any", [given()])), "is given an EvalSuite, and this is"),
    "split asked": (
        lambda: runner().run(capitals(), split="dev"),
        "split is 'dev', and must be one of train, val, test",
    ),
    "ids": (lambda: runner().run(capitals(), ids="japan"), "ids is 'japan', and must be a list"),
    "cases": (lambda: EvalSuite("abc"), "a suite is made of EvalCase"),  # type: ignore[arg-type]
    "tasks": (lambda: EvalHarness("fix"), r"not the path 'fix': read_fixtures reads a folder"),  # type: ignore[arg-type]
    "no tasks": (lambda: EvalHarness([given()]), "a harness is given FixtureTask"),  # type: ignore[list-item]
    "harness policy": (lambda: harness(policy="most"), "policy is 'most'"),
    "harness n": (lambda: harness(n=0), "n is 0"),
    "harness allow": (lambda: harness(allow="out"), "allow is 'out', and must be a list of paths"),
    "harness candidate": (lambda: harness().run(5), "the candidate is 5"),  # type: ignore[arg-type]
    "watched": (lambda: watched("f"), "the candidate is 'f'"),  # type: ignore[arg-type]
    "hosted timeout": (lambda: Hosted("a:b", timeout=0), "leaves no time"),
    "hosted allow": (lambda: Hosted("a:b", allow="out"), "allow is 'out'"),
    "split": (lambda: given(split="dev"), "case a: split is 'dev'"),
    "tags": (lambda: given(tags="safety"), "case a: tags is 'safety', and must be a list of texts"),
    "slices": (lambda: given(slices=[1]), "case a: slices holds 1"),
    "forbidden": (lambda: given(forbidden=None), "case a: forbidden is NoneType"),
    "folder": (lambda: given(folder=5), "case a: "),
    "grader": (lambda: given(grader_spec="exact"), "case a: grader_spec is a value of type str"),
    "id": (lambda: EvalCase(5), "a case cannot be called '5'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_when_it_is_handed_over(name: str) -> None:
    call, says = REFUSED[name]
    with pytest.raises((ValueError, TypeError, InputError), match=says):
        call()


def test_words_may_be_plain_texts() -> None:
    made = runner(policy="any", keep="failed", n=2, ks=[1, 2])
    assert (made.policy, made.keep, made.ks) == (Policy.ANY, Keep.FAILED, (1, 2))
    report = made.run(capitals(), split="val", ids=["japan"])
    assert (report.policy, report.split, report.n_scored) == (Policy.ANY, "val", 1)
    assert harness(policy="any").policy is Policy.ANY


def test_a_case_may_be_given_with_lists() -> None:
    lists = given(slices=["b", "a"], tags=["safety"], forbidden=["*.py"], split="test")
    assert lists == given(
        slices=("b", "a"), tags=("safety",), forbidden=("*.py",), split=Split.TEST
    )
    assert lists.safety
    assert hash(EvalSuite([lists]).version)


def test_texts_stand_for_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_bundled("fix")
    assert len(read_fixtures("fix")) == len(bundled_fixtures("more")) == 5
    report = EvalHarness(read_fixtures("fix")).run(do_nothing, folder="out/fix")
    assert report.run.n_tasks == read_report("out/fix").n_tasks == 5
    assert read_report("out/fix/report.json").reward == report.run.reward
    EvalRunner(candidate=knows).run(capitals(), folder="out/run")
    assert read_report("out/run").reward == 1
    assert given(folder="fix").folder == Path("fix")

    Path("suite.yaml").write_text("name: s\ncases:\n  - id: a\n    grader: {name: exact}\n")
    assert read_suite_file("suite.yaml").name == "s"
    Path("answers.jsonl").write_text('{"id": "a", "output": 1}\n')
    recorded = Recorded.read("answers.jsonl")
    assert EvalRunner(candidate=recorded).run(EvalSuite([given()])).n_tasks == 1

    Path("code").mkdir()
    Path("code/mine.py").write_text("def answer(case, trial):\n    return 4\n")
    with Hosted("mine:answer", folder="code", allow=["out"]):
        pass
    options = Options(folder="code", allow=["out"])  # type: ignore[arg-type]
    with open_candidate("mine.py:answer", options) as candidate:
        answer = EvalRunner(candidate=candidate).run(EvalSuite([given()]))
    assert answer.n_tasks == 1

    assert apply_replacements("code", [Replacement("mine.py", "4", "5")]) is None
    diff = "--- a/mine.py\n+++ b/mine.py\n@@ -2 +2 @@\n-    return 5\n+    return 6\n"
    assert apply_diff("code", diff) is None
    assert "return 6" in Path("code/mine.py").read_text()


def test_a_watched_candidate_may_write_where_a_text_says(tmp_path: Path) -> None:
    def writes(_: object, __: object) -> Answer:
        (tmp_path / "log").write_text("here")
        return Answer(output="?")

    allowed = watched(writes, allow=[str(tmp_path)])
    statuses = EvalRunner(candidate=allowed).run(capitals()).figures.statuses
    assert statuses == {"graded": 4}
