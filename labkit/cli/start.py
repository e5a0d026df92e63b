"""Starting and looking after a lab: init, status, doctor, clean, demo."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import SandboxName


def init(
    me: Annotated[
        str, typer.Option("--me", help="Join as this member: a short lower-case name.")
    ] = "",
    team: Annotated[str, typer.Option(help="The team's name [default: the project's].")] = "",
    role: Annotated[str, typer.Option(help="student or holder.")] = "student",
    holder: Annotated[str, typer.Option(help="The holder's public key, age1...")] = "",
    backup: Annotated[str, typer.Option(help="A backup holder's public key, age1...")] = "",
    solo: Annotated[bool, typer.Option("--solo", help="One person does every step.")] = False,
    full_name: Annotated[str, typer.Option(help="[default: git's user.name]")] = "",
    email: Annotated[str, typer.Option(help="[default: git's user.email]")] = "",
) -> None:
    """Make evals/ in your project, and join it with --me."""
    from labkit.cli import setup
    from labkit.scaffold import TeamFacts

    facts = TeamFacts(team=team, holder=holder, backup=backup, solo=solo)
    workspace = setup.workspace(Path.cwd(), facts)
    if me:
        setup.join(workspace, setup.Joining(me=me, role=role, full_name=full_name, email=email))


def status() -> None:
    """Say what phase the lab is in, and whose turn it is."""
    from labkit.cli.console import data
    from labkit.cli.lab import Lab
    from labkit.cli.overview import overview

    data(overview(Lab.open()))


def doctor(
    sandbox: SandboxName = "auto",
    build: Annotated[
        bool, typer.Option("--build", help="Build the default image if it is missing.")
    ] = False,
) -> None:
    """Say which sandbox works here, and prove that it isolates."""
    from labkit.cli.examine import examine

    raise typer.Exit(examine(sandbox, build=build))


def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what is there.")] = False,
) -> None:
    """Remove what killed labkit processes left behind."""
    from labkit.cli.examine import sweep

    sweep(dry_run=dry_run)


def demo(
    folder: Annotated[Path, typer.Argument(help="Where to build it.")] = Path("labkit-demo"),
    sandbox: SandboxName = "auto",
) -> None:
    """Walk through a whole lab on a bundled sample project."""
    from labkit.cli.demo.play import demonstrate

    demonstrate(folder, sandbox)
