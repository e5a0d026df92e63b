"""`labkit config`: what configurations are, what agents make of them, and how they differ."""

from typing import Annotated

import typer

app = typer.Typer(
    help="Show configurations and how they differ, as declared and as seen in runs.",
    no_args_is_help=True,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def show(
    configurations: Annotated[
        list[str] | None,
        typer.Argument(metavar="[A]...", show_default=False, help="Only these [default: all]."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show every field, what the agent makes of it, and what was seen in runs."""
    from labkit.cli import configshow

    raise typer.Exit(configshow.show(configurations or [], as_json=as_json))


@app.command()
def diff(
    configurations: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[A B]",
            show_default=False,
            help="These two [default: the first with every other].",
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Say what two configurations differ in: declared, started, and seen on the wire."""
    from labkit.cli import configdiff

    raise typer.Exit(configdiff.diff(configurations or [], as_json=as_json))
