"""Rubric marks by dimension, with how far the scorers agreed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.report.figures.canvas import (
    COLUMN,
    FAINT,
    PALE,
    WIDTH,
    Box,
    Picture,
    axes,
    colour,
    columns,
    draw,
    fitted,
    shape,
)
from labkit.stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIGHEST = 4
_LINE, _TOP, _BOTTOM = 0.2, 0.4, 0.5
_MOST_COLUMNS = 26
_MOST_TEXT = 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension: each configuration's mean and interval, and the agreement in words."""

    name: str
    means: tuple[tuple[float | None, Interval | None], ...]
    agreement: str


def marks(dimensions: Sequence[Dimension], sides: Sequence[str]) -> Picture | None:
    """Draw the mean mark of every dimension for every configuration, on the scale from 0 to 4."""
    if not any(mean is not None for each in dimensions for mean, _ in each.means):
        return None
    told = "; ".join(
        f"{each.name}: "
        + ", ".join(
            f"{side} {'n/a' if mean is None else f'{mean:.1f}'}"
            for side, (mean, _) in zip(sides, each.means, strict=True)
        )
        for each in dimensions
    )
    return Picture(
        title="Rubric marks and agreement",
        alt=f"{told}.",
        caption=(
            f"Mean marks from 0 to {HIGHEST} over tasks, with 95 % intervals (Student's t). On the "
            "right how far scorers agreed: 1 is full agreement, 0 is what chance alone gives."
        ),
        svg=_draw(dimensions, sides),
    )


def _draw(dimensions: Sequence[Dimension], sides: Sequence[str]) -> bytes:
    names = [fitted(each.name, _MOST_COLUMNS) for each in dimensions]
    texts = [fitted(each.agreement, _MOST_TEXT) for each in dimensions]
    left = COLUMN * max(map(columns, names)) + 0.15
    right = COLUMN * max((*map(columns, texts), 1)) + 0.2
    band = _LINE * (len(sides) + 1)
    inside = band * len(dimensions)

    def paint(figure: "Figure") -> None:
        box = Box(left=left, bottom=_BOTTOM, width=WIDTH - left - right, height=inside)
        plot = axes(figure, box)
        for index, side in enumerate(sides):
            _side(plot, dimensions, index, side, len(sides))
        for place, text in enumerate(texts):
            if place:
                plot.axhline(place - 0.5, color=PALE, linewidth=0.6)
            where = plot.get_yaxis_transform()
            plot.text(1.03, place, text, transform=where, va="center", color=FAINT)
        plot.set_ylim(len(dimensions) - 0.5, -0.5)
        plot.set_yticks(range(len(dimensions)), names)
        plot.set_xlim(0, HIGHEST)
        plot.set_xticks(range(HIGHEST + 1))
        plot.set_xlabel("mean mark")
        plot.spines["left"].set_visible(False)
        plot.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(sides),
            frameon=False,
            borderaxespad=0.1,
        )

    return draw(inside + _TOP + _BOTTOM, paint)


def _side(plot: "Axes", dimensions: Sequence[Dimension], index: int, side: str, among: int) -> None:
    shift = (index - (among - 1) / 2) / (among + 1)
    found = [
        (place + shift, mean, interval)
        for place, (mean, interval) in enumerate(each.means[index] for each in dimensions)
        if mean is not None
    ]
    for place, _, interval in found:
        if interval is not None:
            ends = [interval.low, interval.high]
            plot.plot(ends, [place] * 2, color=colour(index), linewidth=1.6, clip_on=False)
    plot.plot(
        [mean for _, mean, _ in found],
        [place for place, _, _ in found],
        shape(index),
        color=colour(index),
        markersize=6,
        clip_on=False,
        label=side,
    )
