"""Options of `labkit task new`."""

from pathlib import Path
from typing import Annotated

import typer

NewTask = Annotated[
    str | None,
    typer.Argument(
        show_default=False,
        help="The new task's id, such as bug-empty-title [default: from the commit's subject].",
    ),
]
From = Annotated[
    str,
    typer.Option(
        "--from", "--commit", help="The commit that solved it; the agent gets its parent."
    ),
]
Guessed = Annotated[
    str, typer.Option(help="bugfix, feature, refactor, tests, trap or other [default: guessed].")
]
Base = Annotated[
    str,
    typer.Option(help="The commit that the agent gets, where several commits solved it together."),
]
Parent = Annotated[int, typer.Option(help="Which parent of a merge commit, from 1.")]
Blank = Annotated[
    str,
    typer.Option(
        metavar="CATEGORY", help="A task that no commit solved, from --base [default: HEAD]."
    ),
]
Fixture = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        show_default=False,
        help="Instead of a commit: a folder with start/ and solution/.",
    ),
]
Title = Annotated[str, typer.Option(help="One line [default: the commit's].")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Take every default, ask nothing.")]
