"""Samples on the disk: whole lines, read back as they were, and taken up after a crash."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.errors import IntegrityError, PhaseError, ToolError
from labkit.evals.sample import Sample, Status
from labkit.evals.store import Memory, Store
from labkit.graders import Verdict

SAMPLE = Sample(
    case="a",
    number=1,
    seed=7,
    status=Status.GRADED,
    verdict=Verdict.passing("is as expected"),
    output={"answer": ["Paris", 1, None]},
    trace=({"tool": "shell"},),
    latency_ms=1.5,
    cost=0.25,
    edits=("a.py",),
    forbidden_edits=("b.py",),
    success_self_reported=True,
    rollout="rollouts/a/1",
)


def sample(case: str, number: int, verdict: Verdict | None = None) -> Sample:
    found = verdict or Verdict.passing("yes")
    status = Status.GRADED if found.graded else Status.ERRORED
    return Sample(case=case, number=number, seed=0, status=status, verdict=found)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run/samples.jsonl"


def filled(path: Path, *samples: Sample) -> Store:
    store = Store(path)
    for each in samples:
        store.add(each)
    store.close()
    return Store(path)


def test_a_sample_is_read_back_as_it_was(path: Path) -> None:
    trials, samples = filled(path, SAMPLE).of("a", 3)
    assert list(samples) == [SAMPLE]
    assert [(trial.number, trial.passed, trial.forbidden) for trial in trials] == [(1, True, True)]


def test_samples_stand_by_number_whatever_order_they_ended_in(path: Path) -> None:
    store = filled(path, sample("a", 3), sample("b", 1), sample("a", 1))
    trials, samples = store.of("a", 3)
    assert [trial.number for trial in trials] == [1, 3]
    assert [each.number for each in samples] == [1, 3]
    assert [each.number for each in samples[1:]] == [3]
    assert [each.case for each in store.samples()] == ["a", "b", "a"]


def test_a_line_cut_short_is_no_line(path: Path) -> None:
    filled(path, sample("a", 1), sample("a", 2))
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    store = Store(path)
    assert ("a", 1) in store
    assert ("a", 2) not in store
    assert path.read_bytes() == whole[:-10], "reading changes nothing"
    store.add(sample("a", 2))
    store.close()
    assert path.read_bytes() == whole


def test_a_damaged_line_is_named(path: Path) -> None:
    filled(path, sample("a", 1), sample("a", 2))
    path.write_bytes(path.read_bytes().replace(b'"number":2', b'"number",2'))
    with pytest.raises(IntegrityError, match=r"samples.jsonl, line 2 is damaged"):
        Store(path)


def test_a_later_line_counts(path: Path) -> None:
    missing = sample("a", 1, Verdict.ungraded("no network"))
    store = filled(path, missing)
    store.forget_missing()
    assert ("a", 1) not in store
    store.add(sample("a", 1))
    store.close()
    trials, samples = Store(path).of("a", 1)
    assert [trial.passed for trial in trials] == [True]
    assert len(samples) == 1


def test_what_has_a_verdict_is_not_taken_again(path: Path) -> None:
    store = filled(path, sample("a", 1), sample("a", 2, Verdict.failing("no")))
    store.forget_missing()
    assert ("a", 1) in store
    assert ("a", 2) in store


def test_a_disk_that_takes_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(ToolError, match=r"samples.jsonl"):
        Store(tmp_path / "run/samples.jsonl").add(SAMPLE)


def test_memory_keeps_the_same(path: Path) -> None:
    memory = Memory()
    memory.add(SAMPLE)
    trials, samples = memory.of("a", 2)
    stored = filled(path, SAMPLE).of("a", 2)
    assert (trials, list(samples)) == (stored[0], list(stored[1]))


@given(
    st.text(min_size=1).filter(str.isprintable),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.text(),
)
def test_any_sample_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, case: str, output: object, detail: str
) -> None:
    path = tmp_path_factory.mktemp("any") / "samples.jsonl"
    kept = Sample(
        case=case, number=1, seed=0, status=Status.GRADED, verdict=Verdict.failing(detail),
        output=output, trace=({"said": output},),
    )  # fmt: skip
    assert filled(path, kept).samples()[0] == kept


def test_two_runs_never_write_the_same_file(path: Path) -> None:
    filled(path, SAMPLE).close()
    first, second = Store(path), Store(path)
    first.add(sample("b", 1))
    with pytest.raises(PhaseError, match="somebody else writes"):
        second.add(sample("c", 1))
    first.close()
    with pytest.raises(PhaseError, match="somebody else writes"):
        second.add(sample("c", 1))
    again = Store(path)
    again.add(sample("c", 1))
    again.close()
    assert [each.case for each in again.samples()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"status":"graded"', '"status":"errored"'),
        ('"status":"graded"', '"status":"timeout"'),
        ('"number":1', '"number":"1"'),
        ('"number":1', '"number":0'),
        ('"cost":0.25', '"cost":-5'),
        ('"output":', '"output":' + "[" * 100_000),
    ],
)
def test_a_line_changed_by_hand_is_damage(path: Path, old: str, new: str) -> None:
    filled(path, SAMPLE).close()
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(IntegrityError, match=r"line 1 is damaged"):
        Store(path)
