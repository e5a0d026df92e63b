"""Paper to draw on: one look for all pictures, the same bytes for the same figures everywhere.

Text stays text, so the reader's own fonts draw every script; nothing is measured with a font, so
margins are set by counting columns. Matplotlib is imported when the first picture is drawn.
"""

import io
import logging
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.0
"""Inches: what fits a sheet of A4 or Letter between its margins."""
INK, FAINT, PALE = "#1a1a1a", "#6b6b6b", "#d9d9d9"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's: told apart by people with any colour vision. Shapes tell them apart as well."""
SHAPES = "os^Dv*"
COLUMN = 0.078
"""Inches that one column of text takes, generously."""
_STYLE: Mapping[str, Any] = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "labkit",
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "ytick.left": False,
}
_NOT_WRITTEN = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A drawing, and what it shows in words for those who cannot see it."""

    title: str
    alt: str
    caption: str
    svg: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where axes stand on the paper, in inches from its lower left corner."""

    left: float
    bottom: float
    width: float
    height: float


def draw(height: float, paint: Callable[["Figure"], None]) -> bytes:
    """Return what `paint` draws on paper of this height as SVG."""
    # That a letter is not in the font of the drawing is no matter: the reader's font has it.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib as mpl  # noqa: PLC0415 - takes half a second, and most commands draw nothing
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    out = io.BytesIO()
    style: dict[Any, Any] = {**mpl.rcParamsDefault, **_STYLE}  # whatever the user has set up
    with warnings.catch_warnings(), mpl.rc_context(style):
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=(WIDTH, height))
        FigureCanvasSVG(figure)
        paint(figure)
        figure.savefig(out, format="svg", metadata=_NOT_WRITTEN)
    drawn = out.getvalue()
    return drawn[drawn.index(b"<svg") :]  # a page needs no declaration, and no address of a DTD


def axes(figure: "Figure", box: Box) -> "Axes":
    """Lay axes into a box."""
    width, height = figure.get_size_inches()
    return figure.add_axes(
        (box.left / width, box.bottom / height, box.width / width, box.height / height)
    )


def columns(text: str) -> int:
    """Count the columns that a text takes; letters of Chinese and its like take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def fitted(text: str, most: int) -> str:
    """Cut the middle out of a text that takes more than `most` columns: both ends tell."""
    if columns(text) <= most:
        return text
    tail = _starting(text[::-1], most // 3)[::-1]
    return f"{_starting(text, most - 1 - columns(tail))}…{tail}"


def _starting(text: str, most: int) -> str:
    taken = 0
    for index, letter in enumerate(text):
        taken += columns(letter)
        if taken > most:
            return text[:index]
    return text


def colour(index: int) -> str:
    """Return the colour of the configuration in this place."""
    return COLOURS[index % len(COLOURS)]


def shape(index: int) -> str:
    """Return the marker of the configuration in this place."""
    return SHAPES[index % len(SHAPES)]
