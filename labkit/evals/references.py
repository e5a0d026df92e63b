"""The two candidates whose results are known: `known-fixes` and `nothing`."""

from collections.abc import Callable, Mapping

from labkit.errors import InputError
from labkit.evals.bundled import apply_known_fixes
from labkit.evals.case import EvalCase
from labkit.evals.digests import folder_digest
from labkit.evals.fixtures import FixtureTask
from labkit.evals.named import Named
from labkit.evals.sample import Answer, Trial
from labkit.fields import canonical_json
from labkit.suite import digest

KNOWN_FIXES, NOTHING = "known-fixes", "nothing"


def reference(name: str, tasks: Mapping[str, FixtureTask]) -> Named:
    """Return a reference candidate; `tasks` may be filled until its first sample."""
    candidate, description = REFERENCES[name]
    known = {id_: str(folder_digest(task.expected)) for id_, task in sorted(tasks.items())}
    return Named(
        code=digest(canonical_json(known)) if known and name == KNOWN_FIXES else "",
        name=name,
        description=description,
        candidate=lambda case, trial: candidate(tasks, case, trial),
        deterministic=True,
    )


def _fixes(tasks: Mapping[str, FixtureTask], case: EvalCase, trial: Trial) -> Answer:
    if case.id not in tasks:
        raise InputError(f"{case.id} is no fixture task: it has no known fix")
    said = apply_known_fixes(tasks[case.id], str(trial.scratch))
    return Answer(success_self_reported=said.success_self_reported)


def _nothing(tasks: Mapping[str, FixtureTask], case: EvalCase, trial: Trial) -> Answer:
    del tasks, case, trial
    return Answer(success_self_reported=False)


_Reference = Callable[[Mapping[str, FixtureTask], EvalCase, Trial], Answer]
REFERENCES: Mapping[str, tuple[_Reference, str]] = {
    KNOWN_FIXES: (_fixes, "what each task expects"),
    NOTHING: (_nothing, "no answer at all"),
}
