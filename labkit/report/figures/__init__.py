"""The pictures of a summary, each a function of plain values."""

from labkit.report.figures.canvas import Picture
from labkit.report.figures.effort import Amount, Panel, effort
from labkit.report.figures.forest import Bar, forest
from labkit.report.figures.grid import grid
from labkit.report.figures.marks import Dimension, marks
from labkit.report.figures.moves import End, Move, moves
from labkit.report.figures.power import Plan, power

__all__ = [
    "Amount",
    "Bar",
    "Dimension",
    "End",
    "Move",
    "Panel",
    "Picture",
    "Plan",
    "effort",
    "forest",
    "grid",
    "marks",
    "moves",
    "power",
]
