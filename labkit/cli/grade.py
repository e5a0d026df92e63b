"""`labkit handin` and `labkit grade`: runs to the holder, and their verdicts."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import HolderKey, Me, SandboxName
from labkit.cli.wordless import Wordless

_RUNS = "runs"


class RunsUnlessTry(Wordless):
    """`labkit grade X` is `labkit grade runs X`."""

    usual = _RUNS
    usages = ("[OPTIONS] [RUN]...", "try [OPTIONS] TASK DIFF")


app = typer.Typer(
    cls=RunsUnlessTry,
    help="Run the hidden tests on every run's diff (holder), or try any diff.",
)


def handin(
    again: Annotated[
        bool, typer.Option("--again", help="Replace an earlier hand-in of yours.")
    ] = False,
    me: Me = "",
) -> None:
    """Seal your runs for the holder, unread by scorers."""
    from labkit.cli import handing

    handing.hand_in(me, again=again)


@app.command(_RUNS)
def runs(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            show_default=False,
            help="Only these runs, or those of a task or configuration [default: all].",
        ),
    ] = None,
    regrade: Annotated[
        bool,
        typer.Option(
            "--regrade",
            help="Once more: ungraded runs, those of corrected tests, those that are named.",
        ),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default=False,
            help="So many at once [default: the processors, if memory allows].",
        ),
    ] = None,
    sandbox: SandboxName = "auto",
    key: HolderKey = "",
    me: Me = "",
) -> None:
    """Grade runs; the word may be left out: labkit grade RUN."""
    from labkit.cli import grading, regrading

    asked = regrading.Asked(words=tuple(words or ()), regrade=regrade, jobs=jobs or 0)
    raise typer.Exit(grading.grade_runs(me, key, sandbox, asked))


@app.command("try")
def try_(
    task: Annotated[str, typer.Argument(metavar="TASK", help="The task to grade it for.")],
    diff: Annotated[
        Path, typer.Argument(metavar="DIFF", help="A diff file, or - for standard input.")
    ],
    message: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="The final message, for traps."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    sandbox: SandboxName = "auto",
    key: HolderKey = "",
) -> None:
    """Grade any diff for a task; nothing is recorded."""
    from labkit.cli import trying

    asked = trying.Asked(task=task, diff=diff, message=message, as_json=as_json)
    raise typer.Exit(trying.try_diff(asked, key, sandbox))
