"""Which runs are meant: by name, by task, or by configuration."""

from collections.abc import Sequence

from labkit.errors import InputError, did_you_mean, refuse
from labkit.model import RunId
from labkit.phases import Progress


def meant_runs(planned: Sequence[RunId], words: Sequence[str]) -> frozenset[RunId]:
    """Return the planned runs that any of the words names; every one without words.

    Raises InputError with every word that names nothing of the plan.
    """
    named = _named(planned)
    refuse(
        [
            f"no run, task or configuration of the plan is called {word!r}"
            f"{did_you_mean(word, list(named))}"
            for word in words
            if word not in named
        ],
        hint="evals/plan.csv lists the runs",
    )
    return frozenset(run for word in words for run in named[word]) if words else frozenset(planned)


def _named(planned: Sequence[RunId]) -> dict[str, list[RunId]]:
    named: dict[str, list[RunId]] = {}
    for run in planned:
        for name in (str(run), str(run.task), str(run.configuration)):
            named.setdefault(name, []).append(run)
    return named


def chosen_runs(done: Progress, words: Sequence[str]) -> tuple[RunId, ...]:
    """Return the finished runs that any of the words names; every finished run without words.

    Raises InputError with every word that names nothing of the plan, or only runs that are missing.
    """
    planned = [item.run for item in done.planned]
    meant = meant_runs(planned, words)
    missing = [word for word in words if not done.finished.intersection(_named(planned)[word])]
    if missing:
        raise InputError(
            f"{missing[0]} is recorded missing: there is nothing to grade",
            more=[f"{word} is recorded missing" for word in missing[1:]],
            hint="its runner may run it: labkit task run",
        )
    return tuple(sorted(meant & done.finished))
