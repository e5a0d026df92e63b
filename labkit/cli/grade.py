"""`labkit handin` and `labkit grade`: runs to the holder, and their verdicts."""

from typing import Annotated

import typer

from labkit.cli.options import HolderKey, Me, SandboxName


def handin(
    again: Annotated[
        bool, typer.Option("--again", help="Replace an earlier hand-in of yours.")
    ] = False,
    me: Me = "",
) -> None:
    """Seal your runs for the holder, unread by scorers."""
    from labkit.cli import handing

    handing.hand_in(me, again=again)


def grade(
    regrade: Annotated[
        bool, typer.Option("--regrade", help="Grade ungraded runs once more.")
    ] = False,
    sandbox: SandboxName = "auto",
    key: HolderKey = "",
    me: Me = "",
) -> None:
    """Run the hidden tests on every run's diff (holder)."""
    from labkit.cli import grading

    raise typer.Exit(grading.grade_all(me, key, sandbox, regrade=regrade))
