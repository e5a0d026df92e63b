"""How blind the blinding was: whether scorers guess the configuration better than by chance."""

from labkit.stats.interval import Interval, upper_level
from labkit.stats.quantiles import normal_quantile
from labkit.stats.score import Moves, score_interval

_FEWEST_CHOICES = 2


def blinding_index(correct: int, wrong: int, unsure: int = 0, choices: int = 2) -> float | None:
    """Return Bang's blinding index: (correct - wrong/(choices-1)) / (all guesses).

    `unsure` are scorers who said that they do not know; `choices` is the number of configurations
    to guess from. 0 is what guessing gives, 1 is unblinded, below 0 guesses are wrong more often
    than by chance. Source: Bang, Ni and Davis 2004, for two choices; wrong guesses weigh less with
    more of them, so that guessing still gives 0. None without guesses.
    Raises ValueError for negative counts, or fewer than two choices.
    """
    moves = _moves(correct, wrong, unsure, choices)
    return moves.mean if moves.n else None


def blinding_interval(
    correct: int,
    wrong: int,
    unsure: int = 0,
    choices: int = 2,
    *,
    confidence: float = 0.95,
) -> Interval | None:
    """Return the score interval of `blinding_index`, from -1/(choices-1) to 1 at most.

    With two choices it is Tango's interval, with correct guesses for gains and wrong ones for
    losses; it never has zero width. None without guesses. Raises ValueError as `blinding_index`
    does.
    """
    z = normal_quantile(upper_level(confidence))
    moves = _moves(correct, wrong, unsure, choices)
    return score_interval(moves, z) if moves.n else None


def _moves(correct: int, wrong: int, unsure: int, choices: int) -> Moves:
    for count in (correct, wrong, unsure):
        if count < 0 or count != int(count):
            raise ValueError(f"{count} is not a number of guesses")
    if choices < _FEWEST_CHOICES:
        raise ValueError(f"with {choices} to choose from there is nothing to guess")
    return Moves(gains=correct, losses=wrong, n=correct + wrong + unsure, loss=1 / (choices - 1))
