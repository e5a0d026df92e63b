"""Which rehearsals are played, and which passed here already."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from labkit.cli import rehearsals
from labkit.errors import InputError


@dataclass(frozen=True)
class Item:
    """As much of a planned run as is asked for."""

    configuration: str

    @property
    def run(self) -> "Item":
        """The run, which has a configuration."""
        return self


ITEMS = (Item("A"), Item("B"))


class Playing:
    """A session whose rehearsals are only counted."""

    def __init__(self, *, fails: bool) -> None:
        self.fails = fails
        self.arms = {
            letter: SimpleNamespace(route=letter, configuration=SimpleNamespace(id=letter))
            for letter in "AB"
        }

    def rehearse(self, items: Sequence[Item], tell: Callable[[object], None]) -> None:
        for item in items:
            tell(self.arms[item.run.configuration])
        if self.fails:
            raise InputError("broken")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(rehearsals, "_key", lambda _, item: f"key-{item.run.configuration}")


def played(*, fails: bool = False) -> tuple[str, str]:
    begun: list[str] = []
    remark = rehearsals.rehearse(Playing(fails=fails), ITEMS, begun.append)  # type: ignore[arg-type] # parts
    return "".join(begun), remark


def test_what_passed_is_not_played_again_within_a_day(tmp_path: Path) -> None:
    assert played() == ("AB", "")
    assert played() == ("", "rehearsed already within a day: configuration A, B")
    old = time.time() - 25 * 3600
    os.utime(tmp_path / "labkit" / "rehearsals" / "key-A", (old, old))
    assert played() == ("A", "rehearsed already within a day: configuration B")


def test_what_failed_is_played_again() -> None:
    with pytest.raises(InputError):
        played(fails=True)
    assert played() == ("AB", "")
