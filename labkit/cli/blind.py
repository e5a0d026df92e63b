"""`labkit blind`, `labkit score` and `labkit unblind`: people's marks, given blind."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import HolderKey, Me


def blind(key: HolderKey = "", me: Me = "") -> None:
    """Hide whose run is whose, and assign scorers (holder)."""
    from labkit.cli import blinding

    blinding.blind_runs(me, key)


def score(
    sheet: Annotated[
        Path | None, typer.Option("--from", help="Take marks from this CSV file.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--sheet", help="Write your score sheet here, to fill in.")
    ] = None,
    show: Annotated[str, typer.Option(help="Show the material of one run, such as B0042.")] = "",
    me: Me = "",
) -> None:
    """Score the runs assigned to you, here or in a CSV sheet."""
    from labkit.cli import scoring

    if sheet:
        scoring.take_sheet(me, sheet)
    elif export:
        scoring.write_sheet_for(me, export)
    elif show:
        scoring.show_run(me, show)
    else:
        scoring.score_in_terminal(me)


def unblind(key: HolderKey = "", me: Me = "") -> None:
    """Join marks and runs, once every assigned mark is in (holder)."""
    from labkit.cli import blinding

    blinding.unblind_runs(me, key)
