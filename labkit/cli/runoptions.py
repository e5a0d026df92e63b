"""Options of `labkit task run`."""

from collections.abc import Sequence
from typing import Annotated

import typer

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        show_default=False,
        help="Only these: runs, tasks or configurations [default: all of yours].",
    ),
]
Mine = Annotated[
    bool, typer.Option("--mine", help="What the plan gives to you; this is the default.")
]
Everybody = Annotated[
    bool, typer.Option("--all", help="What the plan gives to others too; you are recorded.")
]
Smoke = Annotated[
    bool, typer.Option("--smoke", help="The smoke subset again, apart from the study.")
]
Jobs = Annotated[int, typer.Option(min=1, max=64, help="So many runs at once.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would be run, and what it takes.")
]
BudgetCost = Annotated[
    float | None,
    typer.Option(
        min=0, show_default=False, help="All runs together, past ones too, may cost so much."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask; go on where a cost is not known.")]


def start(
    me: str,
    runs: Sequence[str],
    scope: tuple[bool, bool, bool],
    bounds: tuple[int, float | None],
    sandbox: str,
    *,
    dry_run: bool,
    yes: bool,
) -> int:
    """Do what the options ask for: `scope` is --mine, --all, --smoke, `bounds` jobs and money."""
    from labkit.cli import runchoice, running

    mine, everybody, smoke = scope
    jobs, budget_cost = bounds
    asked = runchoice.Asked(
        words=tuple(runs),
        scope=runchoice.scope_of(mine=mine, everybody=everybody, smoke=smoke),
        jobs=jobs,
        dry_run=dry_run,
        budget_cost=budget_cost,
        yes=yes,
        sandbox=sandbox,
    )
    return running.run_planned(me, asked)
