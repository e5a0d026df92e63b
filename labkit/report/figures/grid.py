"""Every attempt as a cell: passed, failed or not measured."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from labkit.fields import counted
from labkit.report.figures.canvas import (
    COLOURS,
    COLUMN,
    FAINT,
    INK,
    Box,
    Picture,
    axes,
    columns,
    draw,
    fitted,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Attempts = Mapping[str, tuple[bool | None, ...]]

MOST_NAMED = 45
MOST_CELLS = 600
_MOST_COLUMNS = 34
_LINE, _CELL, _GAP = 0.2, 0.3, 0.25
_IN_BAND, _BAND_CELL, _BAND_GAP = 50, 0.125, 0.3
_PASSED, _FAILED = COLOURS[0], COLOURS[1]


class _Slot(NamedTuple):
    """One attempt of one configuration, a column (or, in bands, a line) of the grid."""

    side: str
    attempt: int


def grid(tasks: Sequence[tuple[str, Attempts]]) -> Picture | None:
    """Draw every attempt of every task; None when there is nothing, or too much, to draw."""
    slots = _slots(tasks)
    if not slots or len(tasks) > MOST_CELLS:
        return None
    outcomes = [each for _, attempts in tasks for side in attempts.values() for each in side]
    lost = outcomes.count(None)
    told = (
        f"{counted(outcomes.count(True), 'attempt')} passed, {outcomes.count(False)} failed and "
        f"{lost} {'was' if lost == 1 else 'were'} not measured, on {counted(len(tasks), 'task')}."
    )
    named = len(tasks) <= MOST_NAMED
    order = "" if named else " Tasks stand from the most to the least passed; the table names them."
    return Picture(
        title="Every attempt",
        alt=told,
        caption=f"{told} A full square passed, a cross failed, a dash was not measured.{order}",
        svg=_named(tasks, slots) if named else _bands(tasks, slots),
    )


def _slots(tasks: Sequence[tuple[str, Attempts]]) -> list[_Slot]:
    longest: dict[str, int] = {}
    for _, attempts in tasks:
        for side, found in attempts.items():
            longest[side] = max(longest.get(side, 0), len(found))
    return [_Slot(side, index) for side, most in longest.items() for index in range(most)]


def _outcome(attempts: Attempts, slot: _Slot) -> bool | str | None:
    found = attempts.get(slot.side, ())
    return found[slot.attempt] if slot.attempt < len(found) else "unplanned"


def _mark(
    plot: "Axes", cells: Sequence[tuple[float, float, bool | str | None]], size: float
) -> None:
    """Draw the cells of each kind at once."""
    looks: tuple[tuple[bool | None, dict[str, Any]], ...] = (
        (True, {"marker": "s", "color": _PASSED}),
        (False, {"marker": "x", "color": _FAILED}),
        (None, {"marker": "_", "color": FAINT}),
    )
    for kind, look in looks:
        found = [(x, y) for x, y, outcome in cells if outcome is kind]
        if found:
            x, y = zip(*found, strict=True)
            plot.plot(x, y, linestyle="none", markersize=size, clip_on=False, **look)


def _named(tasks: Sequence[tuple[str, Attempts]], slots: Sequence[_Slot]) -> bytes:
    names = [fitted(name, _MOST_COLUMNS) for name, _ in tasks]
    left = COLUMN * max(map(columns, names)) + 0.15
    sides = list(dict.fromkeys(slot.side for slot in slots))
    across = [_CELL * (i + 0.5) + _GAP * sides.index(slot.side) for i, slot in enumerate(slots)]
    width = _CELL * len(slots) + _GAP * (len(sides) - 1)
    height = _LINE * len(tasks)

    def paint(figure: "Figure") -> None:
        plot = axes(figure, Box(left=left, bottom=0.1, width=width, height=height))
        cells = [
            (x, place, _outcome(attempts, slot))
            for place, (_, attempts) in enumerate(tasks)
            for x, slot in zip(across, slots, strict=True)
        ]
        _mark(plot, cells, 9)
        plot.set_xlim(0, width)
        plot.set_ylim(len(tasks) - 0.5, -0.5)
        plot.set_yticks(range(len(tasks)), names)
        plot.set_xticks(across, [f"{slot.side}{slot.attempt + 1}" for slot in slots])
        plot.xaxis.tick_top()
        plot.tick_params(length=0)
        plot.spines[:].set_visible(False)

    return draw(height + 0.5, paint)


def _bands(tasks: Sequence[tuple[str, Attempts]], slots: Sequence[_Slot]) -> bytes:
    ordered = sorted(tasks, key=lambda each: (-_passes(each[1]), each[0]))
    bands = [ordered[start : start + _IN_BAND] for start in range(0, len(ordered), _IN_BAND)]
    pitch = _BAND_CELL * len(slots) + _BAND_GAP
    height = pitch * len(bands)

    def paint(figure: "Figure") -> None:
        plot = axes(figure, Box(left=0.6, bottom=0.1, width=_BAND_CELL * _IN_BAND, height=height))
        cells = []
        for number, band in enumerate(bands):
            top = number * pitch + _BAND_GAP
            for line, slot in enumerate(slots):
                y = top + _BAND_CELL * (line + 0.5)
                cells += [
                    (_BAND_CELL * (place + 0.5), y, _outcome(attempts, slot))
                    for place, (_, attempts) in enumerate(band)
                ]
                name = f"{slot.side}{slot.attempt + 1}"
                plot.text(-0.08, y, name, ha="right", va="center", fontsize=7, color=INK)
            first = number * _IN_BAND + 1
            heading = f"tasks {first} to {first + len(band) - 1}"
            plot.text(0, top - 0.06, heading, ha="left", va="bottom", fontsize=7, color=FAINT)
        _mark(plot, cells, 5.5)
        plot.set_xlim(0, _BAND_CELL * _IN_BAND)
        plot.set_ylim(height, 0)
        plot.set_axis_off()

    return draw(height + 0.15, paint)


def _passes(attempts: Attempts) -> int:
    return sum(each is True for found in attempts.values() for each in found)
