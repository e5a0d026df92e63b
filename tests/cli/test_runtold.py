"""What is said of each try, and at the end."""

import pytest

from labkit.cli.console import Pace
from labkit.cli.runtold import Told
from labkit.model import ConfigurationId, RunId
from labkit_runner.causes import Broken
from labkit_runner.tries import Progress

RUN = RunId.parse("bug-a__A__1")


def said(told: Told, kind: Broken, failure: str, *, is_lost: bool = False) -> list[str]:
    event = Progress(
        place=1, of=4, run=RUN, record=None, failure=failure, kind=kind, is_lost=is_lost
    )
    return list(told.lines(event))


def test_a_person_who_stops_a_run_is_no_fault_of_the_infrastructure() -> None:
    stopped = "stopped by a person (Ctrl-C)"
    assert said(Told(Pace(4)), Broken.INTERRUPTED, stopped) == [
        f"[1/4] {RUN}: {stopped}, it starts anew next time"
    ]


@pytest.mark.parametrize(
    ("keys", "told"), [({"A": "MY_KEY"}, "it is the value of MY_KEY"), ({}, "log in")]
)
def test_a_key_that_is_not_taken_is_named_with_its_variable(
    keys: dict[str, str], told: str
) -> None:
    teller = Told(Pace(4), keys={ConfigurationId(name): key for name, key in keys.items()})
    first, mend = said(teller, Broken.AUTH, "the key was refused (401)", is_lost=True)
    assert first.endswith("recorded missing: the key was refused (401)")
    assert told in mend


def test_nothing_is_told_of_no_finished_run() -> None:
    assert Told(Pace(2)).totals() == ""
