"""`labkit task`: golden tasks from a solved commit to their runs."""

from typing import Annotated

import typer

from labkit.cli.options import Me, SandboxName, TaskNames

app = typer.Typer(help="Write, prove, seal, freeze and run golden tasks.", no_args_is_help=True)


@app.command()
def new(
    task: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="The new task's id, such as bug-empty-title [default: from the commit's subject].",
        ),
    ] = None,
    commit: Annotated[
        str,
        typer.Option(
            "--from", "--commit", help="The commit that solved it; the agent gets its parent."
        ),
    ] = "",
    category: Annotated[
        str,
        typer.Option(help="bugfix, feature, refactor, tests, trap or other [default: guessed]."),
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help="The commit that the agent gets, where several commits solved it together."
        ),
    ] = "",
    parent: Annotated[int, typer.Option(help="Which parent of a merge commit, from 1.")] = 0,
    blank: Annotated[
        str,
        typer.Option(
            metavar="CATEGORY", help="A task that no commit solved, from --base [default: HEAD]."
        ),
    ] = "",
    title: Annotated[str, typer.Option(help="One line [default: the commit's].")] = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Take every default, ask nothing.")
    ] = False,
    me: Me = "",
) -> None:
    """Start a golden task from a solved commit."""
    from labkit.cli import authoring

    wanted = authoring.Wanted(
        name=task,
        category=category,
        commit=commit,
        base=base,
        parent=parent,
        blank=blank,
        title=title,
        questions=not yes,
    )
    authoring.new_task(wanted, me)


@app.command()
def validate(
    tasks: TaskNames = None,
    repeats: Annotated[int, typer.Option(min=1, max=10, help="How often each side runs.")] = 3,
    sandbox: SandboxName = "auto",
) -> None:
    """Prove in the sandbox that tasks are sound, and write the evidence."""
    from labkit.cli import author

    raise typer.Exit(author.validate_tasks(tasks or [], repeats=repeats, sandbox_name=sandbox))


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
