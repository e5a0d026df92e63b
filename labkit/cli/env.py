"""`labkit env`: the environments that tasks run in."""

from typing import Annotated

import typer

from labkit.cli.options import SandboxName

app = typer.Typer(
    help="Make, list and remove the environments that tasks run in.", no_args_is_help=True
)


@app.command()
def build(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK]...", show_default=False, help="Only these [default: all]."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            show_default=False,
            help="Also put this agent on top: an agent's name or a configuration's letter. "
            "May be given more than once.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Make them anew, also where nothing has changed.")
    ] = False,
    sandbox: SandboxName = "auto",
) -> None:
    """Make the environments that are missing; setup commands need a network."""
    from labkit.cli import supplying

    raise typer.Exit(supplying.build(tasks or [], sandbox, agents=agent or [], again=again))


@app.command("list")
def show(sandbox: SandboxName = "auto") -> None:
    """Say which environments there are, how large, and what uses them."""
    from labkit.cli import supplying

    supplying.show(sandbox)


@app.command()
def prune(
    everything: Annotated[
        bool, typer.Option("--all", help="Remove also those that tasks use.")
    ] = False,
    sandbox: SandboxName = "auto",
) -> None:
    """Remove the environments that no task or configuration of this lab uses."""
    from labkit.cli import supplying

    supplying.prune(sandbox, everything=everything)
