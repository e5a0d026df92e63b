"""What this study could have seen, and what larger ones would: chances, by the true difference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from labkit.fields import counted
from labkit.report.figures.canvas import (
    COLOURS,
    COLUMN,
    FAINT,
    INK,
    WIDTH,
    Box,
    Picture,
    axes,
    columns,
    draw,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WANTED = 0.8
_HEIGHT = 3.2


class Plan(NamedTuple):
    """So many tasks and attempts, and the smallest true difference that they mostly detect."""

    tasks: int
    attempts: int
    smallest: float | None

    @property
    def name(self) -> str:
        """The plan in words."""
        return f"{counted(self.tasks, 'task')} x {counted(self.attempts, 'attempt')}"

    @property
    def reach(self) -> str:
        """Its smallest difference in words."""
        if self.smallest is None or self.smallest > 1:
            return "out of reach"
        return f"{100 * self.smallest:.0f} points"


def power(
    here: Plan, chances: Sequence[tuple[float, float]], others: Sequence[Plan]
) -> Picture | None:
    """Draw the (effect, chance) pairs of this study, and where other plans reach 80 %."""
    if not chances:
        return None
    told = (
        f"A true difference is detected {WANTED:.0%} of the time from this size on: "
        f"{here.name} (you are here): {here.reach}"
        + "".join(f"; {plan.name}: {plan.reach}" for plan in others)
        + "."
    ).replace("%", " %")
    return Picture(
        title="What this study could have seen",
        alt=told,
        caption=(
            f"{told} The line is the chance of this study. It speaks of the plan, not of the "
            "result: what was found is above."
        ),
        svg=_draw(here, chances, others),
    )


def _draw(here: Plan, chances: Sequence[tuple[float, float]], others: Sequence[Plan]) -> bytes:
    longest = max(columns(f"{plan.reach}: {plan.name}") for plan in (here, *others))
    right = COLUMN * longest + 0.6

    def paint(figure: "Figure") -> None:
        width = WIDTH - 0.85 - right
        plot = axes(figure, Box(left=0.85, bottom=0.55, width=width, height=_HEIGHT - 0.7))
        plot.axhline(WANTED, color=FAINT, linewidth=0.8, linestyle=":")
        effects, powers = zip(*chances, strict=True)
        plot.plot(effects, powers, color=COLOURS[1], linewidth=2.4)
        _reach(plot, here, "o", COLOURS[1], note="\n(you are here)")
        for plan, look in zip(others, "Dsv^P*X", strict=False):
            _reach(plot, plan, look, COLOURS[0])
        plot.set_xlim(0, max(effects))
        plot.set_ylim(0, 1)
        plot.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], [f"{n} %" for n in range(0, 101, 20)])
        plot.xaxis.set_major_formatter(lambda effect, _: f"{100 * effect:.0f}")
        plot.set_xlabel("true difference, in points")
        plot.set_ylabel("chance to detect it")
        plot.legend(
            loc="upper left",
            bbox_to_anchor=(1.02, 1),
            frameon=False,
            labelcolor=INK,
            labelspacing=0.7,
            title=f"reaches {100 * WANTED:.0f} % at",
            alignment="left",
        )

    return draw(_HEIGHT, paint)


def _reach(plot: "Axes", plan: Plan, look: str, paint: str, note: str = "") -> None:
    """Mark where a plan reaches the wanted chance; one out of reach stands in the legend only."""
    reached = plan.smallest if plan.smallest is not None and plan.smallest <= 1 else None
    plot.plot(
        [reached] if reached is not None else [],
        [WANTED] if reached is not None else [],
        look,
        color=paint,
        markersize=8 if note else 6,
        linestyle="none",
        label=f"{plan.reach}: {plan.name}{note}",
    )
