"""`labkit task`: golden tasks from a solved commit to their runs."""

from typing import Annotated

import typer

from labkit.cli.options import Me, SandboxName, TaskNames

app = typer.Typer(help="Write, prove, seal, freeze and run golden tasks.", no_args_is_help=True)


@app.command()
def new(
    task: Annotated[str, typer.Argument(help="The new task's id, such as bug-empty-title.")],
    category: Annotated[str, typer.Option(help="bugfix, feature, refactor, tests, trap or other.")],
    commit: Annotated[
        str, typer.Option(help="The commit that solved it; the task starts from its parent.")
    ] = "",
    base: Annotated[
        str, typer.Option(help="Without --commit: the commit that the agent gets.")
    ] = "",
    parent: Annotated[int, typer.Option(help="Which parent of a merge commit, from 1.")] = 0,
    title: Annotated[str, typer.Option(help="One line [default: the commit's].")] = "",
    me: Me = "",
) -> None:
    """Start a golden task from a solved commit."""
    from labkit.cli import author

    source = author.Source(commit=commit, base=base, parent=parent, title=title)
    author.new_task(task, category, source, me)


@app.command()
def validate(
    tasks: TaskNames = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1, max=10, show_default="3 to 8", help="Exactly so many runs of each side."
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(min=0, help="Seconds a task: above 3 runs, go on while they last.")
    ] = 20,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only look: 3 runs, no cheats, nothing written.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Prove unchanged tasks anew as well.")
    ] = False,
    sandbox: SandboxName = "auto",
) -> None:
    """Prove in the sandbox that tasks are sound, and write the evidence."""
    from labkit.cli import validating

    wanted = validating.Wanted(repeats=repeats or 0, budget=budget, quick=quick, again=again)
    raise typer.Exit(validating.validate_tasks(tasks or [], wanted, sandbox_name=sandbox))


@app.command()
def seal(
    tasks: TaskNames = None,
    overwrite: Annotated[
        bool, typer.Option("--replace", help="Seal changed content in place of an older seal.")
    ] = False,
    me: Me = "",
) -> None:
    """Seal hidden tests to the holder; no plaintext stays."""
    from labkit.cli import sealing

    sealing.seal_own(tasks or [], me, overwrite=overwrite)


@app.command()
def freeze(
    again: Annotated[
        bool, typer.Option("--again", help="Freeze anew; only before the first run.")
    ] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Allow fewer tasks than a course asks for.")
    ] = False,
    me: Me = "",
) -> None:
    """Freeze tasks, configurations and the plan of runs."""
    from labkit.cli import freezing

    freezing.freeze(me, again=again, pilot=pilot)


@app.command()
def run(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...", show_default=False, help="Only these [default: all of yours]."
        ),
    ] = None,
    sandbox: SandboxName = "auto",
    me: Me = "",
) -> None:
    """Run what the plan gives you; goes on where it stopped."""
    from labkit.cli import running

    raise typer.Exit(running.run_mine(me, runs or [], sandbox))
