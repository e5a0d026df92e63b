"""Rates and differences, each with its error bar, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.report.figures.canvas import (
    COLUMN,
    FAINT,
    INK,
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

_LINE, _SCALE, _GAP = 0.3, 0.45, 0.1
_MOST_COLUMNS = 26
_MOST_TEXT = 34


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One line: a figure, its interval and its words."""

    label: str
    value: float | None
    interval: Interval | None
    text: str
    side: int = 0
    """The place of its configuration, which sets colour and shape."""


def forest(rates: Sequence[Bar], differences: Sequence[Bar]) -> Picture | None:
    """Draw the rates and, below them, the differences against the line of no difference."""
    if not rates:
        return None
    told = "; ".join(f"{bar.label}: {bar.text}" for bar in (*rates, *differences))
    advice = (
        " Judge by the interval of the difference, and whether it leaves out 0: that the bars of "
        "two rates overlap or not decides nothing."
        if differences
        else ""
    )
    return Picture(
        title="Rates and the difference" if differences else "Rates",
        alt=f"{told}.",
        caption=f"Points with their 95 % intervals.{advice}",
        svg=_draw(rates, differences),
    )


def _draw(rates: Sequence[Bar], differences: Sequence[Bar]) -> bytes:
    everything = (*rates, *differences)
    labels = max(columns(fitted(bar.label, _MOST_COLUMNS)) for bar in everything)
    left = COLUMN * labels + 0.15
    right = COLUMN * max(columns(fitted(bar.text, _MOST_TEXT)) for bar in everything) + 0.2
    lower = _LINE * len(differences) + _SCALE + _GAP if differences else 0.0
    height = _LINE * len(rates) + _SCALE + lower

    def paint(figure: "Figure") -> None:
        width = WIDTH - left - right
        upper = Box(left=left, bottom=lower + _SCALE, width=width, height=_LINE * len(rates))
        plot = axes(figure, upper)
        _bars(plot, rates)
        plot.set_xlim(0, 1)
        plot.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        if not differences:
            return
        below = Box(left=left, bottom=_SCALE, width=width, height=_LINE * len(differences))
        plot = axes(figure, below)
        plot.axvline(0, color=INK, linewidth=1, zorder=1)
        _bars(plot, differences)
        plot.set_xlim(-1, 1)
        plot.set_xticks([-1, -0.5, 0, 0.5, 1], ["-100", "-50", "0", "+50", "+100"])
        plot.set_xlabel("points")

    return draw(height, paint)


def _bars(plot: "Axes", bars: Sequence[Bar]) -> None:
    for place, bar in enumerate(bars):
        plot.axhline(place, color=PALE, linewidth=0.6, zorder=0)
        paint = colour(bar.side)
        if bar.interval is not None:
            plot.plot(
                [bar.interval.low, bar.interval.high],
                [place] * 2,
                color=paint,
                linewidth=1.8,
                marker="|",
                markersize=7,
                clip_on=False,
            )
        if bar.value is not None:
            plot.plot(bar.value, place, shape(bar.side), color=paint, markersize=7, clip_on=False)
        plot.text(
            1.03,
            place,
            fitted(bar.text, _MOST_TEXT),
            transform=plot.get_yaxis_transform(),
            va="center",
            color=INK if bar.value is not None else FAINT,
        )
    plot.set_ylim(len(bars) - 0.5, -0.5)
    plot.set_yticks(range(len(bars)), [fitted(bar.label, _MOST_COLUMNS) for bar in bars])
    plot.spines["left"].set_visible(False)
