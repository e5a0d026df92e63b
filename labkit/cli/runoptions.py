"""Options of `labkit task run`."""

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
