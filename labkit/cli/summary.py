"""`labkit summary`: the result, with its error bars."""

from typing import Annotated

import typer


def summary(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON instead of the Markdown.")
    ] = False,
) -> None:
    """Compare the configurations, with honest error bars."""
    from labkit.cli import result

    result.summarise_lab(as_json=as_json)
