"""`labkit holder`: the keys of whoever keeps the secrets, and sealing on an author's behalf."""

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.options import HolderKey, Me

app = typer.Typer(help="For the holder: keys, and sealing handed-over tests.", no_args_is_help=True)


@app.command()
def keygen(key: HolderKey = "") -> None:
    """Make the holder's key pair; the private half is kept under a passphrase."""
    from labkit.cli import keeping

    keeping.keygen(key)


@app.command()
def seal(
    folder: Annotated[
        Path, typer.Argument(help="A folder of drafts, one per task, as the authors wrote them.")
    ],
    overwrite: Annotated[
        bool, typer.Option("--replace", help="Seal changed content in place of an older seal.")
    ] = False,
    me: Me = "",
) -> None:
    """Seal plaintext drafts that authors handed over."""
    from labkit.cli import keeping

    keeping.seal_handed_over(folder, me, overwrite=overwrite)


@app.command("open")
def open_(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A sealed task.")],
    key: HolderKey = "",
    me: Me = "",
) -> None:
    """Lay sealed hidden tests out as a draft again, to correct them."""
    from labkit.cli import reopening

    reopening.open_draft(task, me, key)
