"""Development up while held-out down: the mark of a candidate that learned its own examples."""

from dataclasses import dataclass
from fractions import Fraction

from labkit.errors import InputError
from labkit.evals.compare import Comparison, compare_runs
from labkit.evals.gatechecks import Check, CheckName
from labkit.evals.gatewords import errors, points
from labkit.evals.report import RunReport
from labkit.fields import counted
from labkit.stats import Bar, Interval, Outcome, standard_errors_bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """How far the reward moved on one set of tasks."""

    tasks: int
    mean: Fraction | None
    """Above 0: better. None without a task scored in both."""
    interval: Interval | None
    bar: Bar | None
    """On which side of its bar the move lies; None for fewer than two tasks."""

    @property
    def told(self) -> str:
        """The move in words, and whether it may be noise."""
        if self.mean is None:
            return "not measured on both sides"
        if not self.mean:
            return f"no difference over {counted(self.tasks, 'task')}"
        moved = f"{'up' if self.mean > 0 else 'down'} {points(abs(self.mean))}"
        match self.bar:
            case Bar.ABOVE:
                noise = "beyond its bar"
            case Bar.AT:
                noise = "exactly at its bar: may be noise"
            case _:
                noise = "may be noise"
        return f"{moved} over {counted(self.tasks, 'task')} ({noise})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overfitting:
    """What two pairs of reports say together."""

    development: Move
    held_out: Move
    bar: Fraction
    measured: bool
    """Whether all four reports have enough samples with a verdict."""

    @property
    def flagged(self) -> bool:
        """Whether development went up while held-out went down."""
        up, down = self.development.mean, self.held_out.mean
        return self.measured and up is not None and down is not None and up > 0 > down

    @property
    def beyond_noise(self) -> bool:
        """Whether it is flagged, and both moves are beyond their bars."""
        return self.flagged and self.development.bar is self.held_out.bar is Bar.ABOVE

    @property
    def told(self) -> str:
        """The finding in a sentence, without its full stop."""
        both = f"development {self.development.told}, held-out {self.held_out.told}"
        if not self.measured:
            return f"{both}; with too little measured to say anything of overfitting"
        if not self.flagged:
            return f"{both}: no sign of overfitting"
        sure = (
            f"both are beyond {errors(self.bar)}"
            if self.beyond_noise
            else "a warning, which more tasks or samples would settle"
        )
        return f"overfitting? {both}; {sure}"

    def check(self) -> Check:
        """Return the finding as something that a gate blocks on."""
        blocks = Outcome.BLOCK if self.flagged else Outcome.PASS
        return Check(
            name=CheckName.OVERFITTING,
            outcome=blocks if self.measured else Outcome.INDECISIVE,
            detail=self.told,
        )


def overfitting(
    train_before: RunReport,
    train_after: RunReport,
    val_before: RunReport,
    val_after: RunReport,
    *,
    bar: Fraction = Fraction(1),
) -> Overfitting:
    """Compare what two versions do on development tasks with what they do on held-out ones.

    `bar` is the number of standard errors beyond which a move is more than noise. Raises InputError
    as `compare_runs` does, and when both pairs are of the same tasks.
    """
    development = compare_runs(train_before, train_after)
    held_out = compare_runs(val_before, val_after)
    of_one_suite = development.suite_version == held_out.suite_version
    if of_one_suite and development.split == held_out.split:
        raise InputError(
            f"the development reports are of the {held_out.split} split, as the held-out ones",
            hint="give reports of the train split: labkit evaluate --split train",
        )
    return Overfitting(
        development=_move(development, bar),
        held_out=_move(held_out, bar),
        bar=bar,
        measured=all(
            report.decisive for report in (train_before, train_after, val_before, val_after)
        ),
    )


def _move(found: Comparison, bar: Fraction) -> Move:
    differences = found.differences
    gains = [-each for each in differences] if (found.mean or 0) < 0 else list(differences)
    return Move(
        tasks=len(differences),
        mean=found.mean,
        interval=found.interval,
        bar=standard_errors_bar(gains, bar),
    )
