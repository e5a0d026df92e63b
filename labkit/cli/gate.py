"""`labkit gate`: whether a candidate may take the place of a baseline."""

from pathlib import Path
from typing import Annotated

import typer

Report = typer.Argument(help="A report.json, or the folder of an evaluation that holds one.")
MetricName = Annotated[str, typer.Option(help="What may not drop: reward, pass@K or pass^K.")]
Tolerance = Annotated[str, typer.Option(help="How far it may drop and be fine: 0.05 or 5%.")]
Cases = Annotated[str, typer.Option(help="When one case blocks: off, strict or all-to-none.")]
ModeName = Annotated[
    str, typer.Option(help="Errors of paired tasks, or of each side: paired, significant.")
]
BarHeight = Annotated[
    str, typer.Option(help="Standard errors that a change has to exceed to decide.")
]
Wanted = Annotated[str, typer.Option(help="What the candidate has to be: no-worse or better.")]
Development = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        metavar="BASELINE CANDIDATE",
        show_default=False,
        help="Both reports on the development split, to look for overfitting.",
    ),
]
OnOverfitting = Annotated[
    str, typer.Option(help="What a sign of overfitting does: warn or block; needs --dev.")
]
MarkdownFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", show_default=False, help="Write Markdown; - prints it."),
]
JUnitFile = Annotated[
    Path | None, typer.Option(metavar="FILE", show_default=False, help="Write JUnit XML.")
]


def gate(
    baseline: Annotated[Path, Report],
    candidate: Annotated[Path, Report],
    metric: MetricName = "reward",
    tolerance: Tolerance = "0",
    cases: Cases = "all-to-none",
    mode: ModeName = "paired",
    bar: BarHeight = "1",
    want: Wanted = "no-worse",
    dev: Development = None,
    overfitting: OnOverfitting = "warn",
    markdown: MarkdownFile = None,
    junit: JUnitFile = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let a candidate through or stop it: 0 pass, 1 block, 3 indecisive, 2 bad input."""
    from labkit.cli import gating

    asked = gating.Asked(
        settings={
            "metric": metric,
            "tolerance": tolerance,
            "cases": cases,
            "mode": mode,
            "bar": bar,
            "want": want,
        },
        dev=dev,
        overfitting=overfitting,
        written=gating.Written(markdown=markdown, junit=junit, as_json=as_json),
    )
    raise typer.Exit(gating.decide(baseline, candidate, asked))
