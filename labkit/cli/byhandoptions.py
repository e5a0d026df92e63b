"""Options of `labkit task run` for runs that a person does by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from labkit.errors import InputError

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

_STEPS = {
    "manual": {"export", "sandbox"},
    "finish": {"folder", "transcripts", "minutes", "interventions", "stepped", "notes"},
    "abandon": {"because"},
}
"""What each step of a run by hand looks at, beside who does it; nothing else is an option of it."""


def is_asked(context: typer.Context) -> bool:
    """Tell whether a step of a run by hand is asked for; refuses options that it, or none, has."""
    given = {
        str(each.name): each.opts[0]
        for each in context.command.params
        if _is_written(context, str(each.name))
    }
    steps = [given[name] for name in _STEPS if name in given]
    if len(steps) > 1:
        raise InputError(
            f"{' and '.join(steps)} exclude each other: one run is done by hand at a time",
            hint="--manual RUN, --finish RUN or --abandon RUN, and no other run beside it",
        )
    fitting = {name for step in _STEPS if step in given for name in {step, *_STEPS[step]}}
    fitting = (fitting or _plain(context)) | {"me", "runs"}
    if "export" in given:
        fitting -= {"sandbox"}
    _refuse_others([written for name, written in given.items() if name not in fitting], steps)
    return bool(steps)


def _is_written(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _plain(context: typer.Context) -> set[str]:
    """Return what runs that are not done by hand look at."""
    of_hand = {"manual", "finish", "abandon"}.union(*_STEPS.values()) - {"sandbox"}
    return {str(each.name) for each in context.command.params} - of_hand


def _refuse_others(others: Sequence[str], steps: Sequence[str]) -> None:
    if not others:
        return
    names = " and ".join((", ".join(others[:-1]), others[-1]) if others[1:] else others)
    verb = "does" if len(others) == 1 else "do"
    if steps:
        raise InputError(
            f"{names} {verb} not go with {steps[0]}", hint="labkit task run --help says what does"
        )
    raise InputError(
        f"{names} {verb} nothing without a run by hand",
        hint="say which: --manual RUN, --finish RUN or --abandon RUN",
    )


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
