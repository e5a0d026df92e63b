"""Task by task, where two configurations stand: one line a task, or counts when there are many."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from labkit.fields import counted
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LINES = 45
"""As many as fit one sheet of paper."""
_MOST_COLUMNS = 34
_LINE, _TOP, _BOTTOM, _RIGHT = 0.2, 0.45, 0.5, 0.35
_CELL = 0.62
_LARGE, _SMALL = 8, 4.5


class Move(NamedTuple):
    """One task's share of attempts passed, of the one configuration and of the other."""

    task: str
    first: float
    second: float


class End(NamedTuple):
    """A configuration, and its place among all, which sets colour and shape."""

    name: str
    place: int


def moves(tasks: Sequence[Move], first: End, second: End) -> Picture | None:
    """Draw what became of each task from the first configuration to the second."""
    if not tasks:
        return None
    up = sum(task.second > task.first for task in tasks)
    down = sum(task.second < task.first for task in tasks)
    told = (
        f"{second.name} passed more attempts than {first.name} on {counted(up, 'task')}, fewer on "
        f"{counted(down, 'task')}, and as many on {counted(len(tasks) - up - down, 'task')}."
    )
    many = len(tasks) > MOST_LINES
    return Picture(
        title=f"{first.name} and {second.name}, task by task",
        alt=told,
        caption=f"{told} {_how_to_read(first.name, second.name, many=many)}",
        svg=_counts(tasks, first, second) if many else _lines(tasks, first, second),
    )


def _how_to_read(first: str, second: str, *, many: bool) -> str:
    if many:
        return (
            f"With more than {MOST_LINES} tasks they are counted: each number is how many tasks "
            f"had this share for {first} and that share for {second}. On the diagonal they were "
            "level."
        )
    return f"One line a task, those in front on which {second} gained most."


def _lines(tasks: Sequence[Move], first: End, second: End) -> bytes:
    ordered = sorted(tasks, key=lambda each: (each.first - each.second, each.task))
    names = [fitted(each.task, _MOST_COLUMNS) for each in ordered]
    left = COLUMN * max(map(columns, names)) + 0.15
    inside = _LINE * len(ordered)

    def paint(figure: "Figure") -> None:
        plot = axes(
            figure, Box(left=left, bottom=_BOTTOM, width=WIDTH - left - _RIGHT, height=inside)
        )
        places = range(len(ordered))
        plot.hlines(places, 0, 1, color=PALE, linewidth=0.6, zorder=1)
        for place, each in enumerate(ordered):
            better = colour((second if each.second > each.first else first).place)
            plot.plot([each.first, each.second], [place] * 2, color=better, linewidth=2, zorder=2)
        _ends(plot, ordered, first, second)
        plot.set_ylim(len(ordered) - 0.5, -0.5)
        plot.set_yticks(places, names)
        _share_axis(plot)
        plot.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderaxespad=0.1
        )

    return draw(inside + _TOP + _BOTTOM, paint)


def _ends(plot: "Axes", ordered: Sequence[Move], first: End, second: End) -> None:
    """Draw both ends of all lines: a ring, and a square that fits into it."""
    places = range(len(ordered))
    plot.plot(
        [each.first for each in ordered],
        places,
        shape(first.place),
        markersize=_LARGE,
        markerfacecolor="white",
        markeredgecolor=colour(first.place),
        markeredgewidth=1.6,
        clip_on=False,
        label=first.name,
    )
    plot.plot(
        [each.second for each in ordered],
        places,
        shape(second.place),
        markersize=_SMALL,
        color=colour(second.place),
        clip_on=False,
        label=second.name,
    )


def _share_axis(plot: "Axes") -> None:
    plot.set_xlim(0, 1)
    plot.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    plot.set_xlabel("attempts passed")
    plot.spines["left"].set_visible(False)


def _counts(tasks: Sequence[Move], first: End, second: End) -> bytes:
    found = Counter((each.first, each.second) for each in tasks)
    levels = sorted({level for pair in found for level in pair})
    place = {level: index for index, level in enumerate(levels)}
    side = _CELL * len(levels)
    most = max(found.values())

    def paint(figure: "Figure") -> None:
        plot = axes(figure, Box(left=(WIDTH - side) / 2, bottom=0.6, width=side, height=side))
        plot.plot([-0.5, len(levels) - 0.5], [-0.5, len(levels) - 0.5], color=PALE, zorder=1)
        for (one, other), number in found.items():
            x, y = place[one], place[other]
            ground = FAINT if one == other else colour((second if other > one else first).place)
            plot.scatter(x, y, s=900 * number / most, color=ground, alpha=0.3, linewidths=0)
            plot.text(x, y, str(number), ha="center", va="center", color=INK)
        texts = [f"{100 * level:.0f} %" for level in levels]
        plot.set_xticks(range(len(levels)), texts)
        plot.set_yticks(range(len(levels)), texts)
        plot.set_xlim(-0.5, len(levels) - 0.5)
        plot.set_ylim(-0.5, len(levels) - 0.5)
        plot.set_xlabel(f"attempts passed by {first.name}")
        plot.set_ylabel(f"attempts passed by {second.name}")

    return draw(side + 0.8, paint)
