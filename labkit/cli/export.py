"""`labkit export`: a run for the viewers of other tools, a study as a report."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    report: Annotated[
        Path | None,
        typer.Argument(
            metavar="[REPORT]", show_default=False, help="A report.json, or a run's folder."
        ),
    ] = None,
    study: Annotated[
        str,
        typer.Option(
            metavar="CONFIGURATION",
            help="Instead of a report: the golden-task runs of this configuration.",
        ),
    ] = "",
    as_report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", show_default=False, help="Write a study's report.json."
        ),
    ] = None,
    inspect: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="Write an Inspect log, FILE.eval."),
    ] = None,
    atif: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", show_default=False, help="Write a trajectory a run, in ATIF."
        ),
    ] = None,
) -> None:
    """Write runs for other tools: Inspect logs, ATIF trajectories, a study's report."""
    from labkit.cli import exporting

    wanted = exporting.Wanted(report=as_report, inspect=inspect, atif=atif)
    if study:
        exporting.export_study(study, report, wanted)
    else:
        exporting.export_report(report, wanted)
