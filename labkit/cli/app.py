"""The table of commands, in the order in which a lab uses them."""

from typing import Annotated

import typer

from labkit.cli import (
    blind,
    config,
    env,
    evaluate,
    export,
    gate,
    grade,
    holder,
    leaks,
    plan,
    start,
    suite,
    summary,
    task,
)

app = typer.Typer(
    name="labkit",
    help="Find out honestly which coding-agent configuration works on your own code.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _tell_version(asked: bool) -> None:
    if asked:
        from labkit import __version__

        typer.echo(f"labkit {__version__}")
        raise typer.Exit


@app.callback()
def labkit(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", is_eager=True, callback=_tell_version
        ),
    ] = False,
) -> None:
    """Find out honestly which coding-agent configuration works on your own code."""
    del version


app.command()(start.init)
app.command()(start.status)
app.add_typer(task.app, name="task")
app.add_typer(config.app, name="config")
app.add_typer(env.app, name="env")
app.add_typer(plan.app, name="plan")
app.command()(leaks.leaks)
app.command()(grade.handin)
app.add_typer(holder.app, name="holder")
app.add_typer(grade.app, name="grade")
app.command()(blind.blind)
app.command()(blind.score)
app.command()(blind.unblind)
app.add_typer(summary.app, name="summary")
app.add_typer(suite.app, name="suite")
app.command()(evaluate.evaluate)
app.command()(gate.gate)
app.command()(evaluate.finalize)
app.command()(export.export)
app.command()(start.doctor)
app.command()(start.clean)
app.command()(start.demo)
