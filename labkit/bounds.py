"""What runs may use of a model: each one, and all of a lab together."""

from dataclasses import dataclass

from labkit.fields import Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What one run may use of the model, enforced from outside; None: no bound but the others.

    The turn cap is the configuration's own.
    """

    tokens: int | None = None
    cost: float | None = None
    idle_seconds: float = 600.0
    """A run that asks the model for nothing for so long is ended."""
    silence_seconds: float = 300.0
    """A model that sends nothing for so long has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What all runs of a lab together may use; None: no bound, and 0: nothing may be spent."""

    tokens: int | None = None
    cost: float | None = None


def read_caps(limits: Fields) -> Caps:
    """Take what `limits:` of labkit.yaml says of the model."""
    cost = limits.number("cost", default=1) if "cost" in limits else None
    if cost == 0:
        limits.problem(
            "cost",
            '"cost" must be above 0, as a run with it could ask nothing: leave it out for no bound',
        )
    return Caps(
        tokens=limits.whole("tokens", default=0, low=1) or None,
        cost=cost,
        idle_seconds=60 * limits.number("idle_minutes", default=10, low=0.01),
        silence_seconds=60 * limits.number("silence_minutes", default=5, low=0.01),
    )


def read_budget(fields: Fields) -> Budget:
    """Take `budget:` of labkit.yaml."""
    budget = Budget(
        tokens=fields.whole("tokens", default=0) if "tokens" in fields else None,
        cost=fields.number("cost", default=0) if "cost" in fields else None,
    )
    fields.done()
    return budget
