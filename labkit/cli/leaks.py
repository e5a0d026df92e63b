"""`labkit leaks`: the leak check and people's decisions about it."""

from typing import Annotated

import typer

from labkit.cli.options import Me


def leaks(
    confirm: Annotated[
        list[str] | None, typer.Option(help="Confirm this hit: the run leaked.")
    ] = None,
    clear: Annotated[list[str] | None, typer.Option(help="Clear this hit: nothing leaked.")] = None,
    reason: Annotated[str, typer.Option(help="Why, in a sentence; needed for a decision.")] = "",
    me: Me = "",
) -> None:
    """Check runs for leaks; decide about the hits."""
    from labkit.cli import leakcheck

    decision = leakcheck.Decision(
        confirm=tuple(confirm or ()), clear=tuple(clear or ()), reason=reason
    )
    raise typer.Exit(leakcheck.check(me, decision))
