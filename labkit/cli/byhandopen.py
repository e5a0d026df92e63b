"""Runs that are begun by hand and not finished, as other commands meet them."""

from collections.abc import Sequence

from labkit.cli.console import say
from labkit.cli.lab import Lab, now
from labkit.plan import PlannedRun
from labkit_runner.manual import begun_runs, can_finish
from labkit_runner.voided import void_partial


def void_sessions(lab: Lab) -> None:
    """Void what sessions left half-written whose labkit was killed."""
    when = now().isoformat(timespec="seconds")
    for lost in void_partial(lab.workspace.by_hand, lab.workspace.voided, when):
        say(f"the session of {lost} was interrupted: what it left is in evals/voided/")


def waiting(lab: Lab, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Return those of the runs that wait for who began them by hand, and say how they go on."""
    begun = {each.run: each for each in begun_runs(lab.workspace)}
    found = tuple(item for item in runs if item.run in begun)
    for item in found:
        each = begun[item.run]
        on = "finish" if can_finish(lab.workspace, each) else "manual"
        say(
            f"left out: {item.run} is begun by hand ({each.way}, {each.started}): labkit task run "
            f'--{on} {item.run} goes on, --abandon {item.run} --because "why" gives it up'
        )
    return found
