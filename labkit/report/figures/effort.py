"""What the configurations took: time, tokens and cost, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.report.figures.canvas import (
    COLUMN,
    FAINT,
    INK,
    WIDTH,
    Box,
    Picture,
    axes,
    colour,
    columns,
    draw,
)
from labkit.stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINE, _TOP, _BOTTOM, _GAP = 0.34, 0.35, 0.15, 0.3
_ACROSS = 3
_BAR = 0.6
_MOST_RINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One configuration's value, its interval, its words, and the values of single tasks."""

    value: float | None
    text: str
    interval: Interval | None = None
    tasks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One quantity, for every configuration."""

    title: str
    amounts: tuple[Amount, ...]


def effort(panels: Sequence[Panel], sides: Sequence[str]) -> Picture | None:
    """Draw a panel for every quantity that was recorded for any configuration."""
    known = [each for each in panels if any(one.value is not None for one in each.amounts)]
    if not known:
        return None
    told = "; ".join(
        f"{each.title}: "
        + ", ".join(f"{side} {one.text}" for side, one in zip(sides, each.amounts, strict=True))
        for each in known
    )
    return Picture(
        title="Time and cost",
        alt=f"{told}.",
        caption=(
            "Shorter is cheaper. A line through the end of a bar is its 95 % interval, a small "
            "ring one task. Failed runs count in what a pass took."
        ),
        svg=_draw(known, sides),
    )


def _draw(panels: Sequence[Panel], sides: Sequence[str]) -> bytes:
    left = COLUMN * max(map(columns, sides)) + 0.15
    width = (WIDTH - left - _GAP * (_ACROSS - 1)) / _ACROSS
    inside = _LINE * len(sides)
    row = inside + _TOP
    rows = -(-len(panels) // _ACROSS)

    def paint(figure: "Figure") -> None:
        for index, panel in enumerate(panels):
            down, across = divmod(index, _ACROSS)
            bottom = _BOTTOM + row * (rows - 1 - down)
            place = left + across * (width + _GAP)
            plot = axes(figure, Box(left=place, bottom=bottom, width=width, height=inside))
            _panel(plot, panel)
            plot.set_yticks(range(len(sides)), [""] * len(sides) if across else sides)
            plot.set_ylim(len(sides) - 0.5, -0.5)

    return draw(row * rows + _BOTTOM, paint)


def _panel(plot: "Axes", panel: Panel) -> None:
    # Words stand after all marks of their line, so the scale leaves as much room as they take.
    ends = [
        max(one.value or 0, one.interval.high if one.interval else 0, *one.tasks, 0)
        for one in panel.amounts
    ]
    longest = max(ends) or 1
    for place, one in enumerate(panel.amounts):
        if one.value is not None:
            plot.barh(place, one.value, height=_BAR, color=colour(place), alpha=0.5)
        rings = one.tasks if len(one.tasks) <= _MOST_RINGS else ()
        plot.plot(
            rings,
            [place] * len(rings),
            "o",
            color=colour(place),
            markersize=4,
            markerfacecolor="none",
            markeredgewidth=0.8,
        )
        if one.interval is not None:
            ends_of_bar = [one.interval.low, one.interval.high]
            plot.plot(ends_of_bar, [place] * 2, color=INK, linewidth=1.4)
        shade = INK if one.value is not None else FAINT
        plot.text(ends[place] + longest * 0.08, place, one.text, va="center", color=shade)
    plot.set_xlim(0, longest * 1.8)
    plot.set_xticks([])
    plot.set_title(panel.title, fontsize=9, loc="left")
    plot.spines["bottom"].set_visible(False)
