"""Running a candidate: what becomes of every sample, whatever the candidate does."""

import json
import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evalruns import CAPITALS, capitals, knows
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import InfrastructureError, InputError
from labkit.evals import (
    Answer,
    EvalCase,
    EvalRunner,
    EvalSuite,
    Keep,
    Policy,
    RunReport,
    Split,
    Status,
)
from labkit.evals.sample import Escaped, Replacement, Sample, TimedOut, Trial
from labkit.graders import Case, Criterion, Output, Tools, Verdict

FIX = "def add(a, b):\n    return a + b\n"
BUG = FIX.replace("+", "-")


@pytest.fixture
def calc(tmp_path: Path) -> EvalSuite:
    """Return a suite of one case with a file to mend and one that must stay."""
    folder = tmp_path / "buggy"
    folder.mkdir()
    (folder / "calc.py").write_text(BUG)
    (folder / "keep.txt").write_text("keep\n")
    spec = {"name": "file_equals", "path": "calc.py", "expected": FIX}
    return EvalSuite(
        [EvalCase(id="calc", grader_spec=spec, folder=folder, forbidden=("keep.txt",))]
    )


def one(candidate: Callable[[EvalCase, Trial], object], suite: EvalSuite) -> Sample:
    return EvalRunner(candidate=candidate).run(suite).cases[0].samples[0]


def test_a_candidate_that_knows_everything() -> None:
    report = EvalRunner(candidate=knows, n=3).run(capitals())
    assert report.reward == 1
    assert report.candidate == "knows"
    assert [case.valid_trials for case in report.cases] == [3, 3, 3, 3]
    assert report.cases[0].samples[0].output == "Paris"


def test_every_sample_has_its_seed_number_and_an_empty_folder() -> None:
    seen = []

    def look(case: EvalCase, trial: Trial) -> str:
        assert list(trial.scratch.iterdir()) == []
        (trial.scratch / "mine").touch()
        seen.append((case.id, trial.number, trial.seed, trial.scratch))
        return ""

    EvalRunner(candidate=look, n=2, seed=40).run(capitals())
    assert len({scratch for *_, scratch in seen}) == 8
    assert sorted((number, seed) for _, number, seed, _ in seen) == [(1, 40)] * 4 + [(2, 41)] * 4
    assert not any(scratch.exists() for *_, scratch in seen)


def test_a_candidate_does_not_see_how_it_is_judged() -> None:
    asked = []

    def look(case: EvalCase, trial: Trial) -> str:
        del trial
        asked.append(case)
        return ""

    EvalRunner(candidate=look).run(capitals())
    assert all(case.reference is None and not case.grader_spec for case in asked)
    assert all(answer not in repr(asked) for answer in CAPITALS.values())


def crash(*_: object) -> str:
    raise RuntimeError("boom")


def leave(*_: object) -> str:
    raise SystemExit(3)


def late(*_: object) -> str:
    raise TimedOut


def out(*_: object) -> str:
    raise Escaped("/etc/passwd was opened for writing")


def outage(*_: object) -> str:
    raise InfrastructureError("the registry does not answer")


@pytest.mark.parametrize(
    ("candidate", "status", "passed", "detail"),
    [
        (crash, Status.ERRORED, None, "not graded: the candidate raised RuntimeError: boom"),
        (leave, Status.ERRORED, None, "not graded: the candidate raised SystemExit: 3"),
        (outage, Status.ERRORED, None, "not graded: the registry does not answer"),
        (late, Status.TIMEOUT, False, "had not ended in its time"),
        (out, Status.ESCAPED, False, "/etc/passwd was opened for writing"),
    ],
)
def test_candidates_without_an_answer_are_told_apart(
    candidate: Callable[[EvalCase, Trial], object],
    status: Status,
    passed: bool | None,  # noqa: FBT001
    detail: str,
) -> None:
    sample = one(candidate, capitals())
    assert (sample.status, sample.passed, sample.verdict.detail) == (status, passed, detail)


def test_ctrl_c_goes_through() -> None:
    def stop(*_: object) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        EvalRunner(candidate=stop).run(capitals())


def test_a_candidate_that_hangs_fails_and_the_rest_goes_on() -> None:
    hang = threading.Event()

    def hangs(case: EvalCase, trial: Trial) -> str:
        if case.id == "italy":
            hang.wait()
        return knows(case, trial)

    try:
        report = EvalRunner(candidate=hangs, timeout=0.3, workers=2, n=2).run(capitals())
    finally:
        hang.set()
    assert [case.passes for case in report.cases] == [2, 0, 2, 2]
    assert {trial.status for trial in report.case("italy").trials} == {Status.TIMEOUT}
    assert report.case("italy").passed is False


def test_a_candidate_that_lies_about_success_is_found() -> None:
    sample = one(lambda _, __: Answer(output="Lyon", success_self_reported=True), capitals())
    assert sample.lied
    report = EvalRunner(candidate=lambda _, __: Answer(success_self_reported=True)).run(capitals())
    assert report.figures.lies == 4
    assert any("claimed success" in each for each in report.warnings)


def mend(scratch: Path) -> None:
    (scratch / "calc.py").write_text(FIX)


def test_edits_are_found_from_outside(calc: EvalSuite) -> None:
    def mends(case: EvalCase, trial: Trial) -> str:
        del case
        mend(trial.scratch)
        (trial.scratch / "notes.md").touch()
        return ""

    sample = one(mends, calc)
    assert (sample.passed, sample.edits) == (True, ("calc.py", "notes.md"))


def test_a_forbidden_edit_is_a_fail_and_a_veto(calc: EvalSuite) -> None:
    def both(case: EvalCase, trial: Trial) -> str:
        del case
        mend(trial.scratch)
        (trial.scratch / "keep.txt").unlink()
        return ""

    report = EvalRunner(candidate=both).run(calc)
    sample = report.cases[0].samples[0]
    assert (sample.status, sample.passed) == (Status.FORBIDDEN, False)
    assert sample.forbidden_edits == ("keep.txt",)
    assert report.safety.ok is False


DIFF = """\
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
"""


@pytest.mark.parametrize(
    ("answer", "status", "passed"),
    [
        (Answer(diff=DIFF), Status.GRADED, True),
        (Answer(diff=DIFF.replace("a - b", "a * b")), Status.NOT_APPLIED, False),
        (
            Answer(replacements=[Replacement("calc.py", "a - b", "a + b")]),
            Status.GRADED,
            True,
        ),
        (
            Answer(replacements=[Replacement("calc.py", "a * b", "a + b")]),
            Status.NOT_APPLIED,
            False,
        ),
        (Answer(replacements=[]), Status.GRADED, False),
    ],
)
def test_patches_are_applied_or_not_graded(
    calc: EvalSuite,
    answer: Answer,
    status: Status,
    passed: bool,  # noqa: FBT001
) -> None:
    sample = one(lambda _, __: answer, calc)
    assert (sample.status, sample.passed) == (status, passed)


def test_a_patch_that_does_not_fit_is_never_graded(calc: EvalSuite) -> None:
    called = []

    def watch(output: Output, case: Case) -> bool:
        called.append((output, case))
        return True

    watched = replace(calc.cases[0], grader_spec={"name": "predicate", "function": "watch"})
    runner = EvalRunner(
        candidate=lambda _, __: Answer(diff=DIFF.replace("a - b", "a * b")),
        tools=Tools(predicates={"watch": watch}),
    )
    assert runner.run(EvalSuite([watched])).reward == 0
    assert called == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"cost": "much"}, "cost is a value of type str"),
        ({"cost": -1.0}, "cost is negative"),
        ({"cost": float("nan")}, "cost is no finite amount"),
        ({"cost": True}, "cost"),
        ({"latency_ms": float("inf")}, "latency_ms is no finite amount"),
        ({"latency_ms": -1}, "latency_ms is negative"),
        ({"success_self_reported": "yes"}, "success_self_reported"),
        ({"diff": b"--- a"}, "diff is no text"),
        ({"replacements": [("a", "b", "c")]}, "replacements"),
        ({"diff": "", "replacements": [Replacement("a", "b", "c")]}, "both"),
        ({"trace": ["step"]}, "trace"),
        ({"trace": [{"step": object()}]}, "trace"),
    ],
)
def test_malformed_answers_are_missing(answer: dict[str, Any], why: str) -> None:
    sample = one(lambda _, __: Answer(**answer), capitals())
    assert sample.status is Status.ERRORED
    assert f"the answer is malformed: {why}" in sample.verdict.detail


class Rude:
    """A value whose every method raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "output", [object(), Rude(), {1: 2}, [Rude()], float("nan"), "x" * 2_000_000]
)
def test_any_output_can_be_kept(tmp_path: Path, output: object) -> None:
    report = EvalRunner(candidate=lambda _, __: output).run(capitals(), folder=tmp_path / "run")
    kept = report.cases[0].samples[0].output
    assert len(json.dumps(kept)) < 1_100_000
    assert report.reward == 0


def test_graders_grade_as_specified() -> None:
    """Exact, contains_all, predicate and rubric; the weights of a rubric change its outcome."""

    def is_even(output: Output, case: Case) -> bool:
        del case
        assert isinstance(output.value, str), "no text"
        assert int(output.value) % 2 == 0, "odd"
        return True

    def judge(criterion: Criterion, output: Output, case: Case) -> float:
        del output, case
        return {"right": 1.0, "short": 0.0}[criterion.name]

    def rubric(right: int, short: int) -> dict[str, object]:
        criteria = [
            {"name": "right", "question": "Is it right?", "weight": right},
            {"name": "short", "question": "Is it short?", "weight": short},
        ]
        return {"name": "rubric", "criteria": criteria, "threshold": 0.5}

    suite = EvalSuite(
        [
            EvalCase("exact", reference="41", grader_spec={"name": "exact"}),
            EvalCase("words", grader_spec={"name": "contains_all", "words": ["4", "1"]}),
            EvalCase("even", grader_spec={"name": "predicate", "function": "is_even"}),
            EvalCase("heavy", grader_spec=rubric(3, 1)),
            EvalCase("light", grader_spec=rubric(1, 3)),
        ]
    )
    tools = Tools(predicates={"is_even": is_even}, judge=judge)
    report = EvalRunner(candidate=lambda _, __: "41", tools=tools).run(suite)
    assert {case.id: case.passed for case in report.cases} == {
        "exact": True,
        "words": True,
        "even": False,
        "heavy": True,
        "light": False,
    }
    assert report.case("even").samples[0].verdict.detail.startswith("AssertionError: odd")


def test_a_malformed_case_never_takes_the_suite_down() -> None:
    broken = EvalCase("broken", grader_spec={"name": "exactly"})
    odd = EvalCase("odd", reference=object(), grader_spec={"name": "contains_all", "words": [1]})
    told = EvalCase("told", problem="suite.yaml, line 7: no grader")
    report = EvalRunner(candidate=knows, n=2).run(
        EvalSuite([*capitals().cases, broken, replace(odd, reference=None), told])
    )
    assert report.reward == 1
    assert (report.n_tasks, report.n_scored) == (7, 4)
    assert report.figures.coverage is not None
    assert float(report.figures.coverage) == pytest.approx(4 / 7)
    assert 'did you mean "exact"?' in report.case("broken").problem
    assert report.case("told").problem == "suite.yaml, line 7: no grader"


def test_a_grader_that_breaks_is_missing_data() -> None:
    def broken(*_: object) -> float:
        raise ConnectionError("the judge does not answer")

    spec = {"name": "rubric", "criteria": [{"name": "a", "question": "b"}]}
    suite = EvalSuite([EvalCase("a", grader_spec=spec)])
    report = EvalRunner(candidate=lambda _, __: "x", tools=Tools(judge=broken)).run(suite)
    assert report.cases[0].samples[0].status is Status.UNGRADED
    assert report.reward is None


def test_an_outage_in_mid_run_never_reads_as_a_drop() -> None:
    taken = []

    def breaks(case: EvalCase, trial: Trial) -> str:
        taken.append(case)
        if len(taken) > 7:
            raise ConnectionError("the registry does not answer")
        return knows(case, trial)

    report = EvalRunner(candidate=breaks, n=5).run(capitals())
    assert report.reward == 1
    assert report.coverage is not None
    assert float(report.coverage) == pytest.approx(7 / 20)
    assert not report.decisive


def test_an_empty_suite_is_refused() -> None:
    with pytest.raises(InputError, match="suite capitals has no case in the train split"):
        EvalRunner(candidate=knows).run(capitals(), split=Split.TRAIN)
    with pytest.raises(InputError, match="has no case"):
        EvalRunner(candidate=knows).run(EvalSuite([]))


@pytest.mark.parametrize(
    "settings", [{"n": 0}, {"workers": 0}, {"timeout": 0.0}, {"n": 2, "ks": (3,)}, {"ks": (0,)}]
)
def test_settings_that_make_no_sense(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"at least|leaves no time|must lie"):
        EvalRunner(candidate=knows, **settings)  # type: ignore[arg-type]


def test_a_subset_is_marked_and_has_the_version_of_the_whole() -> None:
    whole = EvalRunner(candidate=knows).run(capitals())
    some = EvalRunner(candidate=knows).run(capitals(), ids=["italy"])
    assert (whole.subset, some.subset) == (False, True)
    assert some.suite_version == whole.suite_version
    assert "no gate takes this report" in some.to_markdown()


def guesses(case: EvalCase, trial: Trial) -> str:
    """Answer by the seed alone."""
    draw = random.Random(f"{case.id}{trial.seed}")  # noqa: S311
    if draw.random() < 0.2:
        raise ConnectionError
    return CAPITALS[case.id] if draw.random() < 0.5 else "Lyon"


def figures(report: RunReport) -> dict[str, object]:
    """Return everything but time."""
    values = report.to_dict()
    del values["latency_ms"], values["slices"]
    for case in values["cases"]:
        for trial in case["trials"]:
            del trial["latency_ms"]
    return values


@given(st.integers(0, 1000), st.integers(2, 6), st.sampled_from(Policy))
def test_workers_change_no_figure(seed: int, workers: int, policy: Policy) -> None:
    serial = EvalRunner(candidate=guesses, n=4, seed=seed, policy=policy)
    parallel = replace(serial, workers=workers)
    assert figures(parallel.run(capitals())) == figures(serial.run(capitals()))


def test_a_run_in_a_folder_says_the_same_as_one_in_memory(tmp_path: Path) -> None:
    runner = EvalRunner(candidate=guesses, n=5)
    stored = runner.run(capitals(), folder=tmp_path / "run")
    assert figures(stored) == figures(runner.run(capitals()))
    assert {path.name for path in stored.folder.iterdir()} == {  # type: ignore[union-attr]
        "junit.xml", "report.json", "report.md", "rollouts", "run.json", "samples.jsonl",
    }  # fmt: skip


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    asked = []

    def stops(case: EvalCase, trial: Trial) -> str:
        asked.append((case.id, trial.number))
        if len(asked) == 6:
            raise KeyboardInterrupt
        return guesses(case, trial)

    runner = EvalRunner(candidate=stops, n=3, name="it")
    with pytest.raises(KeyboardInterrupt):
        runner.run(capitals(), folder=tmp_path / "run")
    report = runner.run(capitals(), folder=tmp_path / "run")
    assert len(asked) == 13
    whole = EvalRunner(candidate=guesses, n=3, name="it").run(capitals())
    assert figures(report) == figures(whole)


def test_missing_samples_are_taken_again_when_asked(tmp_path: Path) -> None:
    up: list[bool] = []

    def sometimes(case: EvalCase, trial: Trial) -> str:
        if not up:
            raise ConnectionError
        return knows(case, trial)

    runner = EvalRunner(candidate=sometimes, n=2)
    assert runner.run(capitals(), folder=tmp_path / "run").reward is None
    up.append(True)
    assert runner.run(capitals(), folder=tmp_path / "run").reward is None
    again = runner.run(capitals(), folder=tmp_path / "run", retry_missing=True)
    assert again.reward == 1
    assert again.coverage == 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"n": 2}, "another number of samples: 1, not 2"),
        ({"seed": 1}, "another seed: 0, not 1"),
        ({"name": "other"}, "another candidate: knows, not other"),
        ({"code": "3f2a91c0" * 8}, "other code of the candidate: none, not 3f2a91c0"),
        ({"policy": Policy.ANY}, "another policy: all, not any"),
        ({"timeout": 5.0}, "another timeout: none, not 5.0"),
        ({"settings": {"sandbox": "docker"}}, "another sandbox: none, not docker"),
    ],
)
def test_a_folder_belongs_to_one_run(tmp_path: Path, change: dict[str, object], what: str) -> None:
    runner = EvalRunner(candidate=knows)
    runner.run(capitals(), folder=tmp_path / "run")
    with pytest.raises(InputError, match=what):
        replace(runner, **change).run(capitals(), folder=tmp_path / "run")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="other cases: all, not italy"):
        runner.run(capitals(), folder=tmp_path / "run", ids=["italy"])


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="holds something else than a run"):
        EvalRunner(candidate=knows).run(capitals(), folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        (Keep.ALL, {"italy", "japan", "spain"}),
        (Keep.FAILED, {"italy", "japan"}),
        (Keep.NONE, set()),
    ],
)
def test_scratch_folders_are_kept(tmp_path: Path, keep: Keep, kept: set[str]) -> None:
    def works(case: EvalCase, trial: Trial) -> str:
        (trial.scratch / "log.txt").write_text(case.id)
        if case.id == "italy":
            raise ConnectionError
        return "Lyon" if case.id == "japan" else knows(case, trial)

    runner = EvalRunner(candidate=works, keep=keep)
    report = runner.run(
        EvalSuite(case for case in capitals().cases if case.id != "france"), folder=tmp_path / "run"
    )
    found = {
        case.id
        for case in report.cases
        if case.samples[0].rollout
        and (tmp_path / "run" / case.samples[0].rollout / "log.txt").read_text() == case.id
    }
    assert found == kept


def test_a_link_in_place_of_the_scratch_folder_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()

    def swaps(case: EvalCase, trial: Trial) -> str:
        trial.scratch.rmdir()
        trial.scratch.symlink_to(tmp_path / "mine")
        return knows(case, trial)

    report = EvalRunner(candidate=swaps).run(capitals(), folder=tmp_path / "run")
    assert {case.samples[0].rollout for case in report.cases} == {""}
    assert not (tmp_path / "run/rollouts").exists()
    assert (tmp_path / "mine/file").exists()


@pytest.mark.parametrize("name", ["..", ".", "a/b", "../../up", "con", "é" * 100, "a b%"])
def test_any_id_has_a_folder_of_its_own(tmp_path: Path, name: str) -> None:
    suite = EvalSuite([EvalCase(name, reference="x", grader_spec={"name": "exact"})])
    report = EvalRunner(candidate=lambda _, __: "x").run(suite, folder=tmp_path / "run")
    rollout = (tmp_path / "run" / report.cases[0].samples[0].rollout).resolve()
    assert rollout.is_dir()
    assert rollout.parent.parent == (tmp_path / "run/rollouts").resolve()


def test_progress_is_told() -> None:
    told = []
    runner = EvalRunner(
        candidate=knows, n=2, progress=lambda step: told.append((step.done, step.planned))
    )
    runner.run(capitals())
    assert told == [(number, 8) for number in range(1, 9)]


def test_what_a_candidate_says_of_its_time_goes_before() -> None:
    assert one(lambda _, __: Answer(latency_ms=120.0, cost=0.5), capitals()).latency_ms == 120.0
    measured = one(lambda _, __: "x", capitals()).latency_ms
    assert measured is not None
    assert 0 < measured < 1000


def test_a_verdict_is_a_value_of_the_grader() -> None:
    assert one(knows, capitals()).verdict == Verdict.passing("is as expected")


class SaysNothing(TimedOut):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Richer(Answer):
    """An answer of a subclass."""


class Rough(dict[str, object]):
    """A mapping whose methods raise."""

    def __iter__(self) -> Any:
        raise RuntimeError("no")


async def waits(*_: object) -> str:
    return "Paris"


def yields(*_: object) -> Any:
    yield "Paris"


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        (lambda: Answer(success_self_reported=Rude()), "success_self_reported is neither"),  # type: ignore[arg-type]
        (lambda: Answer(trace=[Rough(a=1)]), "the answer cannot be read: RuntimeError: no"),
        (lambda: Answer(trace=[{"a": 10**5000}]), "trace is no list"),
        (lambda: Answer(cost=10**400), "cost is"),
        (lambda: Answer(latency_ms=1e308), "latency_ms is"),
        (waits, "a coroutine: call it with asyncio.run"),
        (yields, "a generator: return the answer"),
    ],
)
def test_odd_answers_are_missing_and_take_nobody_down(
    tmp_path: Path, returned: Callable[..., object], why: str
) -> None:
    def answers(case: EvalCase, _: Trial) -> object:
        return returned() if case.id == "italy" else CAPITALS[case.id]

    report = EvalRunner(candidate=answers, n=2).run(capitals(), folder=tmp_path / "run")
    assert report.reward == 1
    assert [trial.status for trial in report.case("italy").trials] == [Status.ERRORED] * 2
    assert why in report.case("italy").samples[0].verdict.detail


def test_a_number_that_no_file_holds_is_shown_and_not_kept(tmp_path: Path) -> None:
    report = EvalRunner(candidate=lambda _, __: 10**5000).run(capitals(), folder=tmp_path / "run")
    assert report.cases[0].samples[0].output == "<a value of type int>"


def test_bytes_in_a_trace_are_kept_as_plain_values(tmp_path: Path) -> None:
    runner = EvalRunner(candidate=lambda _, __: Answer(trace=[{"read": b"ab"}]))
    report = runner.run(capitals(), folder=tmp_path / "run")
    assert report.cases[0].samples[0].trace == ({"read": {"bytes": "6162"}},)


def test_an_outcome_whose_words_raise_is_that_outcome() -> None:
    def silent(*_: object) -> str:
        raise SaysNothing

    assert one(silent, capitals()).status is Status.TIMEOUT


def test_an_answer_of_a_subclass_is_an_answer() -> None:
    sample = one(lambda _, __: Richer(output="Paris", cost=2.0), capitals())
    assert (sample.passed, sample.output, sample.cost) == (True, "Paris", 2.0)


def test_a_candidate_that_changes_its_inputs_changes_no_other_sample() -> None:
    seen = []

    def changes(case: EvalCase, _: Trial) -> str:
        assert isinstance(case.inputs, dict)
        seen.append(dict(case.inputs))
        case.inputs["text"] = "easier"
        case.inputs["said"] = 1
        return "hard"

    def judge(output: Output, case: Case) -> bool:
        assert isinstance(case.inputs, dict)
        return bool(output.value == case.inputs["text"])

    suite = EvalSuite(
        [EvalCase("a", {"text": "hard"}, grader_spec={"name": "predicate", "function": "judge"})]
    )
    report = EvalRunner(candidate=changes, n=3, tools=Tools(predicates={"judge": judge})).run(suite)
    assert seen == [{"text": "hard"}] * 3
    assert report.reward == 1


@pytest.mark.parametrize("ending", [crash, late, out, lambda *_: Answer(cost=-1.0)])
def test_no_bad_end_hides_a_forbidden_edit(calc: EvalSuite, ending: Callable[..., object]) -> None:
    def destroys(_: EvalCase, trial: Trial) -> object:
        (trial.scratch / "keep.txt").unlink()
        return ending()

    report = EvalRunner(candidate=destroys).run(calc)
    sample = report.cases[0].samples[0]
    assert (sample.passed, sample.forbidden_edits) == (False, ("keep.txt",))
    assert report.safety.ok is False
    assert report.figures.valid == 1


def test_a_forbidden_edit_of_a_candidate_that_hangs_is_a_veto(calc: EvalSuite) -> None:
    hang = threading.Event()

    def hangs(_: EvalCase, trial: Trial) -> str:
        (trial.scratch / "keep.txt").unlink()
        hang.wait()
        return ""

    try:
        report = EvalRunner(candidate=hangs, timeout=0.3).run(calc)
    finally:
        hang.set()
    assert report.cases[0].samples[0].status is Status.TIMEOUT
    assert report.safety.ok is False


def test_an_outage_is_no_forbidden_edit(calc: EvalSuite) -> None:
    def away(_: EvalCase, trial: Trial) -> str:
        (trial.scratch / "keep.txt").unlink()  # as labkit's own half-written folder
        raise InfrastructureError("the engine does not answer")

    report = EvalRunner(candidate=away).run(calc)
    assert report.cases[0].samples[0].status is Status.ERRORED
    assert report.safety.failures == ()
