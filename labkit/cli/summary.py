"""`labkit summary`: the result, with its error bars."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    invoke_without_command=True,
    help="Compare the configurations, with honest error bars.",
)
AsJson = Annotated[bool, typer.Option("--json", help="Print the JSON instead of the Markdown.")]


@app.callback()
def summary(
    context: typer.Context,
    *,
    as_json: AsJson = False,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Compare each configuration with itself in an earlier summary.json.",
        ),
    ] = None,
    leaderboard: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Compare the order with that of a leaderboard: a CSV of configuration,score.",
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="TERM",
            show_default=False,
            help="Explain a word of the reports, such as MDE, and do nothing else.",
        ),
    ] = None,
) -> None:
    """Compare the configurations, with honest error bars."""
    from labkit.cli import result

    if explain is not None:
        result.explain_term(explain)
    elif context.invoked_subcommand is None:
        beside = result.Beside(against=against, leaderboard=leaderboard)
        result.summarise_lab(beside, as_json=as_json)
    elif as_json or against or leaderboard:
        raise typer.BadParameter(f"options come after the word {context.invoked_subcommand}")


@app.command()
def pool(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="One summary.json a team.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Put the summaries of several teams on the same configurations together."""
    from labkit.cli import result

    result.pool_files(files, as_json=as_json)
