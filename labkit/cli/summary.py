"""`labkit summary`: the result, with its error bars, and the check of what is said about it."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.wordless import Wordless

_WRITE = "write"


class WriteUnlessWord(Wordless):
    """`labkit summary` is `labkit summary write`."""

    usual = _WRITE
    usages = ("[OPTIONS]", "check [OPTIONS] [FILE]...", "pool [OPTIONS] FILE...")


app = typer.Typer(
    cls=WriteUnlessWord,
    help="Compare the configurations, with honest error bars; check what is said of them.",
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(_WRITE)
def summary(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON instead of the Markdown.")
    ] = False,
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
    """Compare the configurations, with honest error bars; the word may be left out."""
    from labkit.cli import result

    if explain is not None:
        result.explain_term(explain)
        return
    beside = result.Beside(against=against, leaderboard=leaderboard)
    result.summarise_lab(beside, as_json=as_json)


@app.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            show_default=False,
            help="Markdown in English, - for standard input [default: summary.md, reviews/*.md].",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Find sentences that say more than the data, or less."""
    from labkit.cli import claims

    raise typer.Exit(claims.check_claims(tuple(files or ()), as_json=as_json))


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
