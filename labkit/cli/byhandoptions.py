"""Options of `labkit task run` for runs that a person does by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

_PANEL = "By hand"

Manual = Annotated[
    str,
    typer.Option(
        "--manual",
        metavar="RUN",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Do this run yourself: a terminal in its sandbox.",
    ),
]
Export = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --manual: write the run out for a machine of your own, which you vouch for.",
    ),
]
Finish = Annotated[
    str,
    typer.Option(
        metavar="RUN",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Take in a run that was begun by hand.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="FOLDER",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: the exported folder as it came back [default: where it was written].",
    ),
]
Transcripts = Annotated[
    list[Path] | None,
    typer.Option(
        "--transcript",
        metavar="FILE",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: the agent's transcript, in any form; again for more.",
    ),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: how long an exported run took.",
    ),
]
Interventions = Annotated[
    int | None,
    typer.Option(
        min=0,
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: how often you stepped in.",
    ),
]
Stepped = Annotated[
    list[str] | None,
    typer.Option(
        "--intervention",
        metavar="LINE",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: what you did, one for each time.",
    ),
]
Notes = Annotated[
    str,
    typer.Option(
        metavar="TEXT",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --finish: what people should know.",
    ),
]
Abandon = Annotated[
    str,
    typer.Option(
        metavar="RUN",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Give up a run that was begun by hand; the records keep it, with --because.",
    ),
]
Because = Annotated[
    str,
    typer.Option(
        metavar="WHY",
        show_default=False,
        rich_help_panel=_PANEL,
        help="With --abandon: the reason.",
    ),
]

_What = tuple[str, str, str, Path | None, str]
"""--manual, --finish, --abandon, --export, --because."""
_Brought = tuple[Path | None, list[Path] | None, float | None, int | None, list[str] | None, str]
"""The other options, as they stand above."""


def start(me: str, runs: Sequence[str], what: _What, brought: _Brought, sandbox: str) -> int:
    """Do what the options ask for."""
    from labkit.cli import byhand, byhandend

    manual, finish, abandon, export, because = what
    folder, transcripts, minutes, interventions, stepped, notes = brought
    answers = byhandend.Answers(
        folder=folder,
        transcripts=tuple(transcripts or ()),
        minutes=minutes,
        count=interventions,
        lines=tuple(stepped or ()),
        notes=notes,
    )
    asked = byhand.Asked(
        manual=manual, finish=finish, abandon=abandon, export=export, because=because
    )
    return byhand.by_hand(me, runs, asked, answers, sandbox)
