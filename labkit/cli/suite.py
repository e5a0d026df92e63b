"""`labkit suite`: cases in files, and the sealed test split."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import HolderKey, SandboxName

Suite = Annotated[
    Path,
    typer.Argument(metavar="SUITE", help="A .yaml, .json or .jsonl file, or a folder of tasks."),
]
app = typer.Typer(help="Write, check and seal suites of cases.", no_args_is_help=True)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    fixtures: Annotated[
        bool, typer.Option("--fixtures", help="Five fixture tasks: small programs to mend.")
    ] = False,
) -> None:
    """Start a suite: a commented file of cases with a candidate, or fixture tasks."""
    from labkit.cli import suitekeeping

    suitekeeping.begin(folder, fixtures=fixtures)


@app.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="A folder of Harbor tasks, or a file of SWE-bench instances."
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    image: Annotated[
        str, typer.Option(help="An image of yours that has what the tasks' Dockerfiles install.")
    ] = "",
) -> None:
    """Make a suite of the tasks of another tool."""
    from labkit.cli import suiteimport

    raise typer.Exit(suiteimport.import_suite(source, folder, image))


@app.command()
def check(
    suite: Suite,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    sandbox: SandboxName = "auto",
    image: Annotated[
        str, typer.Option(help="The image that evaluate will be given, for Harbor's tasks.")
    ] = "",
) -> None:
    """Tell every problem, the cases by split and slice, and each split's version."""
    from labkit.cli import suitekeeping

    raise typer.Exit(suitekeeping.check(suite, sandbox, image, as_json=as_json))


@app.command("list")
def list_(
    suite: Suite, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """List the cases: id, split, grader, slices and tags."""
    from labkit.cli import suitekeeping

    suitekeeping.list_cases(suite, as_json=as_json)


@app.command()
def seal(
    suite: Suite,
    to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGE1...",
            show_default=False,
            help="Whose key opens it; may be given twice [default: your own].",
        ),
    ] = None,
    key: HolderKey = "",
) -> None:
    """Take the test cases out and seal them: labkit finalize scores them once."""
    from labkit.cli import suitekeeping

    suitekeeping.seal(suite, tuple(to or ()), key)
