"""The summary as one HTML file: no scripts, nothing from elsewhere, made for paper too."""

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files

from labkit.report.figures import Picture
from labkit.report.sections import sections
from labkit.report.sheet import Sheet
from labkit.report.terms import term

_TERMS = (
    "task",
    "pass rate",
    "pass^2",
    "interval",
    "paired difference",
    "mid-p",
    "detectable",
    "no detectable difference",
    "indecisive",
    "MDE",
    "coverage",
    "flip",
)
Facts = Mapping[str, Sequence[tuple[str, str]]]
"""A heading for each comparison -> its questions and answers."""


def to_html(sheet: Sheet, facts: Facts) -> str:
    """Return the page. Every text is escaped; pictures are images, in which nothing can run."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - only this page needs it

    template = (files("labkit.report") / "page.html.j2").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.from_string(template).render(
        sheet=sheet,
        facts=facts,
        sections=tuple(sections(sheet)),
        terms=tuple(map(term, _TERMS)),
        source=_source,
    )
    return page.rstrip("\n") + "\n"


def _source(picture: Picture) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.svg).decode()}"
