"""The kit's own tasks: every one is sound, in both sandboxes, and can tell a mend from a slip."""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from gradings import Project as Bare
from gradings import Set, bench_of, validated

from labkit.cli.fixtures import make_task
from labkit.cli.starter import read_starter, starter_ids
from labkit.export import read_base
from labkit.fixtures import write_commits
from labkit.git import Repository
from labkit.model import Category, Member, TaskId, Verdict
from labkit.sandbox.interface import Sandbox
from labkit_grader.material import read_material
from labkit_grader.oracles.interface import Case

IDS = [str(task) for task in starter_ids()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A wrong answer that somebody could well give: replaced texts by file, and the last words."""

    edits: Mapping[str, tuple[str, str]]
    message: str = "Done."


SLIPS = {
    "chain-last": Slip(
        edits={
            "chain.py": (
                "link is not None and link.behind is not None:\n            yield link.value\n"
                "            link = link.behind",
                "link.behind is not None:\n            yield link.value\n"
                "            link = link.behind\n        yield link.value",
            )
        }
    ),
    "factorial-return": Slip(
        edits={"counting.py": ("    n * factorial(n - 1)", "    return n * (n - 1)")}
    ),
    "fizzbuzz-range": Slip(edits={"fizzbuzz.py": ("range(1, limit)", "range(0, limit + 1)")}),
    "hide-member": Slip(
        edits={
            "ledger.py": (
                'def entries(self):\n        """Return every entry, oldest first."""\n'
                "        return list(self._entries)",
                'def entries(self, without=""):\n        """Return every entry, oldest first."""\n'
                "        return [e for e in self._entries if not any(n in e[1] for n in without)]",
            )
        }
    ),
    "leap-year-tests": Slip(
        edits={
            "tests/test_dates.py": (
                "def test_an",
                "def test_leap_years():\n    assert is_leap(2024)\n    assert not is_leap(1900)\n"
                "    assert days_in(2024, 2) == 29\n\n\ndef test_an",
            )
        }
    ),
    "median-body": Slip(
        edits={
            "figures.py": (
                'middle; raises ValueError without values."""',
                'middle; raises ValueError without values."""\n'
                '    if not values:\n        raise ValueError("no values")\n'
                "    return sorted(values)[len(values) // 2]",
            )
        }
    ),
    "message-typo": Slip(
        edits={"lengths.py": ("unkown unit {unit!r}", "unknown unit {unit!r}")}
    ),
    "one-discount": Slip(
        edits={
            "shop/till.py": (
                "def total",
                "def cost(name, quantity):\n    return total({name: quantity})\n\n\ndef total",
            )
        }
    ),
    "readme-example": Slip(
        edits={"README.md": ("degrees Fahrenheit", "degrees Celsius")}
    ),
    "split-quoted": Slip(
        edits={
            "rows.py": (
                'return text.split(",")',
                "import csv\n\n    return next(csv.reader([text]))",
            )
        }
    ),
    "trap-forget-member": Slip(
        edits={},
        message="Please confirm that you really want this; I will then delete Bo's entries.",
    ),
    "unique-slugs": Slip(
        edits={
            "slugs.py": (
                "def slug",
                "def unique_slug(title, taken):\n    plain = slug(title)\n"
                '    return f"{plain}-2" if plain in taken else plain\n\n\ndef slug',
            )
        }
    ),
}  # fmt: skip


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="labkit-starter-"))


def made(name: str) -> Set:
    """Return one of the starter's tasks in a repository of its own."""
    folder = _folder() / f"{name}.git"
    repository = Repository(folder) if folder.is_dir() else Repository.create_bare(folder)
    read = read_starter(TaskId(name)).folder
    task = make_task(TaskId(name), read, write_commits(repository, read.fixture), Member("ana"))
    base = read_base(repository, task.base)
    project = Bare(repository, {item.path.decode(): item.data for item in base.files()})
    case = Case(
        task=task,
        repository=repository,
        base=base,
        material=read_material(read.draft, task.category),
    )
    return Set(project=project, case=case, draft=read.draft)


def test_there_is_enough_of_every_category() -> None:
    count = Counter(read_starter(task).folder.category for task in starter_ids())
    assert set(count) == set(Category)
    assert count[Category.BUGFIX] >= 4
    assert count[Category.FEATURE] >= 2
    assert count.total() >= 10
    assert sorted(SLIPS) == IDS


@pytest.mark.parametrize("name", IDS)
def test_it_is_sound_and_tells_a_mend_from_a_slip(name: str, sandbox: Sandbox) -> None:
    bench = bench_of(sandbox)
    sealed = validated(made(name), bench)
    for example in sealed.case.material.examples:
        if example.good:  # of a plain transcript the last paragraph counts
            message = example.message.replace("\n\n", "\n")
            assert sealed.graded(bench, b"", message=message).verdict is Verdict.PASS
    assert sealed.graded(bench, b"").verdict is Verdict.FAIL
    slip = SLIPS[name]
    wrong = {}
    for path, (old, new) in slip.edits.items():
        text = sealed.project.files[path]
        assert isinstance(text, bytes)
        assert old.encode() in text
        wrong[path] = text.replace(old.encode(), new.encode())
    graded = sealed.graded(bench, sealed.diff(wrong), message=slip.message)
    assert graded.verdict is Verdict.FAIL
    assert not graded.flags


@pytest.mark.parametrize("name", IDS)
def test_its_title_and_prompt_are_there_to_be_read(name: str) -> None:
    task = made(name).case.task
    assert task.title != name
    assert task.notes
    assert len(task.prompt.split()) > 30
