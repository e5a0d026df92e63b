"""A proof is recalled only while nothing that it rests on has changed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gradings import DRAFT, Set, bench_of, make_set

from labkit.bundle import PROOF, read_draft
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader import remembered
from labkit_grader.execute import Bench
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case
from labkit_grader.remembered import environment_id, proof_key, recall, record_text
from labkit_grader.repeats import Repeats
from labkit_grader.validate import validate_task

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox)


@pytest.fixture
def made(tmp_path: Path) -> Set:
    return make_set(tmp_path)


def key(bench: Bench, case: Case, repeats: Repeats | None = None, environment: str = "e") -> str:
    return proof_key(bench, case, repeats or Repeats(), environment=environment)


def test_what_was_found_comes_back_whole(bench: Bench, made: Set) -> None:
    evidence = validate_task(bench, made.case, repeats=Repeats.exactly(2))
    text = record_text(evidence, key="k", now=NOON).encode()
    assert recall(text, made.case, key="k") == (evidence, NOON)
    assert recall(text, made.case, key="another") is None


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[]", b"{", b'{"schema": 1, "key": "k"}', b"[" * 10**5, b"\xff", b"null"]
)
def test_a_damaged_record_is_none(made: Set, text: bytes) -> None:
    assert recall(text, made.case, key="k") is None


def _prompt(case: Case) -> Case:
    return replace(case, task=replace(case.task, prompt="another"))


def _command(case: Case) -> Case:
    return replace(case, task=replace(case.task, grading="python -m pytest -q"))


def _draft(case: Case) -> Case:
    files = {name: str(text).encode() + b"\n" for name, text in DRAFT.items()}
    return replace(case, material=read_material(files, case.task.category))


def _base(case: Case) -> Case:
    return replace(case, base=replace(case.base, tree="0" * 40))


@pytest.mark.parametrize("change", [_prompt, _command, _draft, _base])
def test_a_change_of_the_task_asks_for_a_new_proof(
    bench: Bench, made: Set, change: Callable[[Case], Case]
) -> None:
    assert key(bench, made.case) == key(bench, made.case)
    assert key(bench, change(made.case)) != key(bench, made.case)


def test_a_change_of_where_and_how_asks_for_a_new_proof(
    bench: Bench, made: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {
        key(bench, made.case),
        key(bench, made.case, environment="f"),
        key(bench, made.case, Repeats.exactly(8)),
        key(replace(bench, limits=replace(bench.limits, memory=1)), made.case),
    }
    monkeypatch.setattr(remembered, "kit_digest", lambda: "a newer kit")
    keys.add(key(bench, made.case))
    assert len(keys) == 5


def test_the_environment_is_what_a_run_tells(sandbox: Sandbox, made: Set) -> None:
    bench = bench_of(sandbox)
    found = environment_id(bench)
    assert found
    assert validate_task(bench, made.case, repeats=1).valid
    graded = made.sealed(validate_task(bench, made.case, repeats=1)).graded(bench, b"")
    assert graded.image_digest == found


def test_a_record_is_never_part_of_a_draft(tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "test_a.py").write_bytes(b"")
    (tmp_path / PROOF).write_bytes(b"{}")
    assert list(read_draft(tmp_path)) == ["hidden/test_a.py"]
