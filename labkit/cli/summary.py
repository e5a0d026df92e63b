"""`labkit summary`: the result, with its error bars, and the check of what is said about it."""

from typing import Annotated

import typer

from labkit.cli.wordless import Wordless

_WRITE = "write"


class WriteUnlessCheck(Wordless):
    """`labkit summary` is `labkit summary write`."""

    usual = _WRITE
    usages = ("[OPTIONS]", "check [OPTIONS] [FILE]...")


app = typer.Typer(
    cls=WriteUnlessCheck,
    help="Compare the configurations, with honest error bars; check what is said of them.",
)


@app.command(_WRITE)
def summary(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON instead of the Markdown.")
    ] = False,
) -> None:
    """Compare the configurations, with honest error bars; the word may be left out."""
    from labkit.cli import result

    result.summarise_lab(as_json=as_json)


@app.command("check")
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            show_default=False,
            help="Markdown in English, - for standard input [default: summary.md, reviews/*.md].",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find sentences that say more than the data, or less."""
    from labkit.cli import claims

    raise typer.Exit(claims.check_claims(tuple(files or ()), as_json=as_json))
