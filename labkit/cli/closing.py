"""`labkit finalize --close`: a look that ends with what was measured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from labkit.errors import InputError
from labkit.evals.case import EvalCase
from labkit.evals.ledger import Look
from labkit.evals.named import Named
from labkit.evals.runfolder import MADE_OF, SCHEMA
from labkit.evals.sample import Trial
from labkit.fields import read_json

CLOSED_NOTE = (
    "The look was closed with what was measured: samples without a verdict are not taken again."
)
"""What the report says of it."""


@contextmanager
def closing(name: str) -> Iterator[Named]:
    """Give a candidate that answers nothing: its program need not be there any more."""

    def answer(case: EvalCase, trial: Trial) -> object:
        del case, trial
        raise InputError("the look was closed before this sample was taken")

    yield Named(name=name, description="nothing more", candidate=answer)


def as_begun(candidate: Named, look: Look, folder: Path) -> Named:
    """Return a candidate that answers nothing as the one that a look's run was begun with."""
    file = folder / MADE_OF
    made = read_json(file, schema=SCHEMA) if file.is_file() else {}
    return replace(
        candidate,
        code=str(look.settings.get("code", "")),
        sandbox=str(made.get("settings", {}).get("sandbox", "")),
    )
