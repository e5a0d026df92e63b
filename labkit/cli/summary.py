"""`labkit summary`: the result, with its error bars."""

from typing import Annotated

import typer


def summary(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON instead of the Markdown.")
    ] = False,
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
        return
    result.summarise_lab(as_json=as_json)
