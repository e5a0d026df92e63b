"""`labkit task`: golden tasks from a solved commit to their runs."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli import authoroptions, byhandoptions, runoptions
from labkit.cli.options import Me, SandboxName, TaskNames

app = typer.Typer(help="Write, prove, seal, freeze and run golden tasks.", no_args_is_help=True)


@app.command()
def new(
    task: authoroptions.NewTask = None,
    commit: authoroptions.From = "",
    category: authoroptions.Guessed = "",
    base: authoroptions.Base = "",
    parent: authoroptions.Parent = 0,
    blank: authoroptions.Blank = "",
    fixture: authoroptions.Fixture = None,
    title: authoroptions.Title = "",
    yes: authoroptions.Yes = False,
    me: Me = "",
) -> None:
    """Start a golden task from a solved commit, or from a folder of files."""
    if fixture is not None:
        from labkit.cli import fixtures

        asked = fixtures.Asked(
            category=category, title=title, history=bool(commit or base or blank)
        )
        fixtures.new_from_fixture(task or fixture.resolve().name, fixture, asked, me)
        return
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


@app.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Instances as SWE-bench has them: JSON lines.")
    ],
    ids: Annotated[
        list[str] | None,
        typer.Option(
            "--ids",
            metavar="ID",
            show_default=False,
            help="Only these instances; again for more [default: all].",
        ),
    ] = None,
    category: Annotated[
        str, typer.Option(help="bugfix, feature, refactor, tests or other.")
    ] = "bugfix",
    me: Me = "",
) -> None:
    """Start golden tasks from a benchmark's instances of this project."""
    from labkit.cli import importing

    wanted = [name for each in ids or [] for name in each.split(",") if name]
    raise typer.Exit(importing.import_instances(file, wanted, category, me))


@app.command()
def mine(
    limit: Annotated[
        int | None,
        typer.Option(min=1, show_default=False, help="How many [default: 20; to check: 5]."),
    ] = None,
    since: Annotated[
        str, typer.Option(help="Only commits since then, such as 2024-01-01 or '1 year ago'.")
    ] = "",
    path: Annotated[str, typer.Option(help="Only commits that touch this file or folder.")] = "",
    merges: Annotated[
        bool, typer.Option("--merges", help="Merges too, against their first parent.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run their tests before and after, in the sandbox.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    sandbox: SandboxName = "auto",
) -> None:
    """Rank the history's solved commits by how good a task they would make."""
    from labkit.cli import miner

    asked = miner.Asked(limit=limit or 0, since=since, path=path, merges=merges, as_json=as_json)
    raise typer.Exit(miner.mine_history(asked, check=sandbox if check else ""))


@app.command()
def starter(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", show_default=False, help="Only these [default: all]."),
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="Only show what there is.")] = False,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Copy their folders there; make no tasks."),
    ] = None,
    me: Me = "",
) -> None:
    """Begin with tasks that come with labkit."""
    from labkit.cli import starter as kit

    if show:
        kit.tell_starters()
    elif into is not None:
        kit.copy_starters(names or [], into)
    else:
        kit.add_starters(names or [], me)


@app.command("list")
def list_(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Show every task: whose it is, how far it is, how many tests it has."""
    from labkit.cli import team

    team.list_tasks(as_json=as_json)


@app.command()
def check(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Say what is to be done before freezing, and what changed since."""
    from labkit.cli import team

    raise typer.Exit(team.check(as_json=as_json))


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
    correct: Annotated[
        str | None,
        typer.Option(
            metavar="WHY", show_default=False, help="After the freeze: correct hidden tests."
        ),
    ] = None,
    me: Me = "",
) -> None:
    """Seal hidden tests to the holder; no plaintext stays."""
    if correct is not None:
        from labkit.cli import correcting
        from labkit.errors import InputError

        if overwrite:
            raise InputError(
                "--replace and --correct exclude each other",
                hint="--replace before the freeze, --correct after it",
            )

        correcting.correct_task(tasks or [], me, because=correct)
        return
    from labkit.cli import sealing

    sealing.seal_own(tasks or [], me, overwrite=overwrite)


@app.command()
def freeze(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TASK]...", show_default=False, help="With --more-attempts: only these."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Freeze anew; only before the first run.")
    ] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Allow fewer tasks than a course asks for.")
    ] = False,
    more_attempts: Annotated[
        int | None,
        typer.Option(
            "--more-attempts",
            metavar="N",
            min=1,
            max=8,
            show_default=False,
            help="After the first runs: plan so many attempts more.",
        ),
    ] = None,
    me: Me = "",
) -> None:
    """Freeze tasks, configurations and the plan of runs."""
    from labkit.cli import freezing

    if more_attempts is not None or tasks:
        from labkit.cli import moreattempts

        moreattempts.require_alone(more_attempts, again=again, pilot=pilot)
        moreattempts.add_attempts(me, more_attempts or 0, tasks or [])
        return
    freezing.freeze(me, again=again, pilot=pilot)


@app.command()
def run(
    context: typer.Context,
    runs: runoptions.Runs = None,
    mine: runoptions.Mine = False,
    everybody: runoptions.Everybody = False,
    smoke: runoptions.Smoke = False,
    jobs: runoptions.Jobs = 1,
    dry_run: runoptions.DryRun = False,
    budget_cost: runoptions.BudgetCost = None,
    yes: runoptions.Yes = False,
    manual: byhandoptions.Manual = "",
    export: byhandoptions.Export = None,
    finish: byhandoptions.Finish = "",
    folder: byhandoptions.Folder = None,
    transcripts: byhandoptions.Transcripts = None,
    minutes: byhandoptions.Minutes = None,
    interventions: byhandoptions.Interventions = None,
    stepped: byhandoptions.Stepped = None,
    notes: byhandoptions.Notes = "",
    abandon: byhandoptions.Abandon = "",
    because: byhandoptions.Because = "",
    sandbox: SandboxName = "auto",
    me: Me = "",
) -> None:
    """Run what the plan gives you; goes on where it stopped."""
    if byhandoptions.is_asked(context):
        what = (manual, finish, abandon, export, because)
        brought = (folder, transcripts, minutes, interventions, stepped, notes)
        raise typer.Exit(byhandoptions.start(me, runs or [], what, brought, sandbox))
    scope, bounds = (mine, everybody, smoke), (jobs, budget_cost)
    raise typer.Exit(
        runoptions.start(me, runs or [], scope, bounds, sandbox, dry_run=dry_run, yes=yes)
    )


@app.command()
def void(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run that two members have done.")],
    because: Annotated[str, typer.Option(metavar="WHY", help="Why yours is taken back.")] = "",
    me: Me = "",
) -> None:
    """Take back your run, as another member has done it too."""
    from labkit.cli import takingback

    takingback.take_back(me, run, because)
