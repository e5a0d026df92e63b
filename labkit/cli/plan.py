"""`labkit plan`: what a plan is worth before anything is run."""

from typing import Annotated

import typer

app = typer.Typer(help="Tell what a plan could detect, and what it takes.", no_args_is_help=True)

Tasks = Annotated[
    int | None, typer.Option("--tasks", help="So many tasks [default: those that are here].")
]
Attempts = Annotated[
    int | None, typer.Option("--attempts", help="So many attempts at each [default: as planned].")
]
Configurations = Annotated[
    int | None,
    typer.Option("--configurations", help="So many configurations [default: as planned]."),
]
PassRate = Annotated[
    float | None,
    typer.Option(
        "--pass-rate",
        metavar="PERCENT",
        help="What one configuration passes [default: the pilot's after unblinding, else 50].",
    ),
]
Pilot = Annotated[
    str,
    typer.Option(
        "--pilot",
        metavar="FOLDER",
        help="Project whose lab was the pilot [default: this one, once it has runs].",
    ),
]


@app.command()
def power(
    tasks: Tasks = None,
    attempts: Attempts = None,
    configurations: Configurations = None,
    pass_rate: PassRate = None,
    pilot: Pilot = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of Markdown.")
    ] = False,
) -> None:
    """Say which differences the plan could detect, and how long it takes."""
    from labkit.cli import forecasting

    wanted = forecasting.Wanted(
        tasks=tasks,
        attempts=attempts,
        configurations=configurations,
        pass_rate=pass_rate,
        pilot=pilot,
    )
    forecasting.tell(wanted, as_json=as_json)
