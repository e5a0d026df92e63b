"""Guards of a verdict: found at validation on the right code, used on every run that seems to pass.

A pass is believed when the tests that must fail did fail, and when the same tests with wrong
expectations, in another sandbox, are not passed too.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from labkit.fields import counted, first_words
from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case
from labkit_grader.oracles.rounds import run_hidden
from labkit_grader.protected import Guarded
from labkit_grader.sentinel import kinds_that_fail
from labkit_grader.testrun import OURS, PASSED, TestRun
from labkit_grader.twins.guards import (
    Guards,
    Twin,
    aligned,
    function_of,
    python_twin,
    text_twin,
    trial_files,
)

_FIRST, _SECOND = "labkit first", "labkit second"
"""Seeds of validation: what it finds must not vary."""
_LOUD_ONE_IN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """What validation found about guards, and what the author should know of it."""

    guards: Guards
    notes: tuple[str, ...] = ()


def find_guards(
    bench: Bench, case: Case, solution: Guarded, real: TestRun, tests: tuple[str, ...]
) -> Guarding:
    """Try wrong expectations of `tests` on the solution, which `real` shows to pass them."""
    sentinel = kinds_that_fail(real.sentinel)
    hidden = case.tests
    if case.command().runner in OURS:
        guards = _tried(bench, case, solution, real, tests)
        twin = python_twin(hidden, guards.noticed, tests, _FIRST)
        run = run_twin(bench, case, solution, twin)
        blunt = passed_wrongly(real, run, twin) if run.complete else twin.tests
        kept = {test: sites for test, sites in guards.noticed.items() if test not in blunt}
        guards = Guards(noticed=kept, sentinel=sentinel)
    else:
        twins = [text_twin(hidden, tests, seed) for seed in (_FIRST, _SECOND)]
        runs = [run_twin(bench, case, solution, twin) for twin in twins if twin.tests]
        whole = [test for test in tests if runs and _never_passes(test, runs)]
        guards = Guards(whole=tuple(whole))
    return Guarding(guards=guards, notes=tuple(_notes(case, guards, tests, sentinel)))


def run_twin(bench: Bench, case: Case, staged: Guarded, twin: Twin) -> TestRun:
    """Run the hidden tests with the twin's wrong expectations, in a sandbox of their own."""
    return run_hidden(bench, case, with_files(staged, twin.files))


def with_files(staged: Guarded, files: Mapping[str, bytes]) -> Guarded:
    """Return a staged tree in which some hidden files have another content."""
    tree = dict(staged.tree)
    for path, data in files.items():
        tree[path.encode()] = replace(tree[path.encode()], data=data)
    return replace(staged, tree=tree)


def passed_wrongly(real: TestRun, run: TestRun, twin: Twin) -> tuple[str, ...]:
    """Return the tests of a twin that passed although they ask for something wrong.

    Where the names do not tell, because other values stand in them and the order is another one,
    the number does: no more tests of a function can pass than it has without a wrong expectation.
    """
    names = aligned(real, run)
    passed = {names.get(test, test) for test, said in run.outcomes.items() if said == PASSED}
    named = tuple(test for test in twin.tests if test in passed)
    return named or tuple(_too_many(real, run, twin))


def _too_many(real: TestRun, run: TestRun, twin: Twin) -> Iterator[str]:
    """Yield the tests of a twin of whose functions more have passed than can have."""
    passed = Counter(function_of(t) for t, said in run.outcomes.items() if said == PASSED)
    others = Counter(function_of(test) for test in real.collected if test not in twin.tests)
    for test in twin.tests:
        if passed[function_of(test)] > others[function_of(test)]:
            yield test


def new_twin(case: Case, tests: tuple[str, ...]) -> Twin | None:
    """Return a twin that nobody has seen, with values drawn for this grade; None without guards."""
    evidence = case.material.evidence
    if evidence is None:
        return None
    guards, seed = evidence.guards, secrets.token_hex(16)
    files = case.tests
    guarded = [test for test in tests if test in guards.tests]
    if not guards.noticed:
        twin = text_twin(files, guarded, seed)
    else:
        # What is loud in a file would tell of the whole file, so it is asked for now and then only.
        quiet = secrets.randbelow(_LOUD_ONE_IN) > 0
        twin = python_twin(files, guards.noticed, guarded, seed, quiet=quiet)
        if set(evidence.fail_to_pass).isdisjoint(twin.tests):
            twin = python_twin(files, guards.noticed, guarded, seed)
    return twin if twin.tests else None


def _tried(
    bench: Bench, case: Case, solution: Guarded, real: TestRun, tests: Iterable[str]
) -> Guards:
    files = trial_files(case.tests, _FIRST)
    if not files:
        return Guards()
    run = run_hidden(bench, case, with_files(solution, files), {"LABKIT_TRIAL": "1"})
    names = aligned(real, run)
    wanted = frozenset(tests)
    noticed: dict[str, dict[str, tuple[int, ...]]] = {}
    for (test, file), sites in run.sites.items():
        sharp = tuple(sorted(place for place, was in sites.items() if was))
        if sharp and names.get(test) in wanted:
            noticed.setdefault(names[test], {})[file] = sharp
    return Guards(noticed=dict(sorted(noticed.items())))


def _never_passes(test: str, runs: Iterable[TestRun]) -> bool:
    return all(run.complete and run.outcome(test) != PASSED for run in runs)


def _notes(
    case: Case, guards: Guards, tests: tuple[str, ...], sentinel: tuple[str, ...]
) -> Iterable[str]:
    without = sorted(set(tests) - guards.tests)
    if len(without) == len(tests):
        yield (
            "no expectation of the hidden tests could be made wrong: code that acts on its tests, "
            "instead of being right, may pass unnoticed; compare results with == and written values"
        )
    elif without:
        yield (
            f"{counted(len(without), 'test')} of {len(tests)} without an expectation that could "
            f"be made wrong: {first_words(without)}"
        )
    if not sentinel and case.command().runner in OURS:
        yield (
            "a test of labkit's own that has to fail was not run beside the hidden ones, because "
            "of the options of the grading command or the project's settings: forged passes are "
            "harder to notice"
        )
