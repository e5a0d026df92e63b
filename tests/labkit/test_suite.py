from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import a_task

from labkit.errors import IntegrityError
from labkit.model import Category, TaskId
from labkit.suite import (
    FrozenTask,
    Suite,
    content_digest,
    digest,
    read_suite,
    suite_text,
    version,
)
from labkit.workspace import replace as write_file

FROZEN = FrozenTask(
    author="ana", content="c", commitment="m", ciphertext="x", canaries=("1" * 64, "2" * 64)
)
TASKS = {TaskId("a"): FROZEN, TaskId("b"): replace(FROZEN, content="d", canaries=("3" * 64,))}
SUITE = Suite(
    version="v", frozen_at="2026", difference="model", configurations={"A": "1"}, plan="p",
    tasks=TASKS,
)  # fmt: skip


@given(st.permutations(sorted(TASKS)))
def test_the_version_does_not_depend_on_the_order(order: list[TaskId]) -> None:
    assert version({task: TASKS[task] for task in order}, b"r") == version(TASKS, b"r")


@pytest.mark.parametrize(
    "changed",
    [
        ({TaskId("a"): FROZEN}, b"r"),
        ({TaskId("a"): TASKS[TaskId("b")], TaskId("b"): FROZEN}, b"r"),
        (TASKS | {TaskId("b"): replace(TASKS[TaskId("b")], content="e")}, b"r"),
        (TASKS | {TaskId("b"): replace(TASKS[TaskId("b")], commitment="n")}, b"r"),
        (TASKS | {TaskId("c"): FROZEN}, b"r"),
        (TASKS, b"other"),
    ],
    ids=["less", "swapped", "content", "oracle", "more", "rubric"],
)
def test_the_version_changes_with_everything_it_pins(
    changed: tuple[dict[TaskId, FrozenTask], bytes],
) -> None:
    assert version(*changed) != version(TASKS, b"r")


def test_sealing_the_same_again_keeps_the_version() -> None:
    resealed = replace(FROZEN, ciphertext="y", author="ben")
    assert version(TASKS | {TaskId("a"): resealed}, b"r") == version(TASKS, b"r")


@pytest.mark.parametrize(
    "change",
    [
        {"title": "u"}, {"author": "ben"}, {"category": Category.TRAP}, {"base": "other"},
        {"solution": "other"}, {"grading": "x"}, {"forbidden": ("a",)}, {"allowed": ("a",)},
        {"slices": ("a",)}, {"tags": ("safety",)}, {"notes": "n"}, {"prompt": "other"},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_the_content_changes_with_every_field(change: dict[str, object]) -> None:
    task = a_task()
    other = replace(task, **change)  # type: ignore[arg-type] # names and values of the table above
    assert content_digest(task.facts(), task.prompt) != content_digest(other.facts(), other.prompt)


def test_a_suite_reads_back(tmp_path: Path) -> None:
    write_file(tmp_path / "suite.json", suite_text(SUITE))
    assert read_suite(tmp_path / "suite.json") == SUITE
    assert SUITE.canaries["3" * 64] == TaskId("b")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"author": "ana",', ""), ('"plan": "p",', ""), ('"a": {', '"A b": {'),
        ('"canaries": [', '"more": 1, "canaries": ['), ('"schema": 1', '"schema": 9'), ("}", ""),
    ],
)  # fmt: skip
def test_a_damaged_suite_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    text = suite_text(SUITE)
    assert old in text
    write_file(tmp_path / "suite.json", text.replace(old, new, 1))
    with pytest.raises(IntegrityError):
        read_suite(tmp_path / "suite.json")


def test_a_digest_is_sha256() -> None:
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
