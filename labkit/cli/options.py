"""Options that several commands share."""

from typing import Annotated

import typer

Me = Annotated[
    str,
    typer.Option(
        "--me", envvar="LABKIT_ME", help="Who you are, where several people share this checkout."
    ),
]
SandboxName = Annotated[
    str,
    typer.Option(
        "--sandbox", envvar="LABKIT_SANDBOX", help="Where to run: auto, docker or bubblewrap."
    ),
]
TaskNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TASK]...", show_default=False, help="Only these [default: all with a draft]."
    ),
]
HolderKey = Annotated[
    str,
    typer.Option(
        "--key", envvar="LABKIT_HOLDER_KEY", help="The holder's private key [default: your own]."
    ),
]
