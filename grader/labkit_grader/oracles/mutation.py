"""Test writing: tests are good when they pass on the real code and catch every fault in it.

Each fault that an author planted must be caught by the reference tests and missed by the base's
own. Of the faults that labkit generates only such are kept: the others may be no faults at all.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from labkit.errors import IntegrityError
from labkit.fields import first_words
from labkit.patch.place import Tree, base_tree
from labkit_grader.execute import Bench
from labkit_grader.made import Made, with_fault, with_files
from labkit_grader.material import Expected
from labkit_grader.mutants import Mutant, mutants
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.suites import (
    Suite,
    failed,
    faulty_sources,
    passed_tests,
    planted_faults,
)
from labkit_grader.oracles.written import grade_written
from labkit_grader.pysource import Source, UnreadableError, read_source
from labkit_grader.repeats import Repeats
from labkit_grader.testrun import BROKEN, PASSED, TestRun
from labkit_grader.variants import NEUTRAL, changed_files, gutted

_TRIES = 3
"""How many generated faults are tried for each one that is wanted."""


class Mutation:
    """The oracle of tests tasks: hidden/ holds reference tests, mutations/ the planted faults."""

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Prove that each fault survives the base's own tests and is caught by the reference."""
        material = case.material
        wanted = material.mutations or material.rules.generated.files
        if not wanted or not case.test_files:
            return Proof(problems=("a tests task needs mutations/ and reference tests in hidden/",))
        try:
            faults = planted_faults(case)
        except IntegrityError as error:
            return Proof(problems=(error.message,))
        reference = Suite(
            bench=bench,
            case=case,
            files=material.hidden_entries,
            removed=material.layout.removed,
            targets=case.test_files,
        )
        runs = tuple(reference.run(base_tree(case.base)) for _ in repeats.rounds())
        problems = _reference_problems(runs)
        if problems:
            return Proof(problems=problems)
        return _proof(reference, faults, runs)

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade the tests that a run added or changed, and nothing else of its diff."""
        return grade_written(bench, case, work)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judges:
    """The two suites that a fault is shown to, with what passes on the real code."""

    own: Suite
    own_passed: tuple[str, ...]
    reference: Suite
    stable: tuple[str, ...]

    def own_catch(self, tree: Tree) -> bool:
        """Return whether the base's own tests notice."""
        return bool(self.own_passed) and self.own.catches(tree, self.own_passed)

    def reference_catch(self, tree: Tree) -> bool:
        """Return whether the reference tests notice."""
        return self.reference.catches(tree, self.stable)


def _proof(reference: Suite, faults: dict[str, Tree], runs: tuple[TestRun, ...]) -> Proof:
    """Prove the faults by reference tests that are good on the real code."""
    case = reference.case
    seen = {test for run in runs for test in run.outcomes}
    stable = tuple(sorted(t for t in seen if all(run.outcome(t) == PASSED for run in runs)))
    own = Suite(bench=reference.bench, case=case)
    first = own.run(base_tree(case.base))
    judges = _Judges(
        own=own.not_longer_than(first),
        own_passed=passed_tests(first),
        reference=reference.not_longer_than(max(runs, key=lambda run: run.seconds)),
        stable=stable,
    )
    notes = _dropped(sorted(seen - set(stable)))
    if not judges.own_passed:
        notes += (f"no test of the base's own passes: {first.trouble or first.last_words}",)
    problems = _planted_problems(judges, faults)
    generation = _generated(judges, case)
    variants, variant_notes = _variants(judges, faulty_sources(case, faults))
    return Proof(
        problems=problems + generation.problems,
        notes=notes + generation.notes + variant_notes,
        expected=Expected(pass_to_pass=stable, made=replace(variants, mutants=generation.kept)),
        counts={"pass_to_pass": len(stable), "mutations": len(faults) + len(generation.kept)},
        runs=len(runs),
    )


def _planted_problems(judges: _Judges, faults: dict[str, Tree]) -> tuple[str, ...]:
    problems: list[str] = []
    for name, tree in faults.items():
        if judges.own_catch(tree):
            problems.append(f"the fault {name} is caught by the base's own tests already")
        if not judges.reference_catch(tree):
            problems.append(f"the fault {name} is not caught by the reference tests")
    return tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Generation:
    """What came of making faults."""

    kept: tuple[Mutant, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _generated(judges: _Judges, case: Case) -> _Generation:
    """Make faults and keep those that the reference tests catch and the base's own do not."""
    wanted = case.material.rules.generated
    if not wanted.files:
        return _Generation()
    base = base_tree(case.base)
    sources, problems = _sources(base, wanted.files)
    kept: list[Mutant] = []
    caught = missed = 0
    for mutant in itertools.islice(mutants(sources), _TRIES * wanted.at_most):
        tree = with_fault(base, mutant)
        if judges.own_catch(tree):
            caught += 1
        elif not judges.reference_catch(tree):
            missed += 1
        else:
            kept.append(mutant)
        if len(kept) == wanted.at_most:
            break
    notes = (
        f"{len(kept) + caught + missed} generated faults were tried and {len(kept)} kept; dropped: "
        f"{caught} that the base's own tests catch already, {missed} that the reference tests miss "
        "(such often change nothing that matters)",
        *(f"generated fault that every run has to catch: {mutant}" for mutant in kept),
    )
    if not kept and not problems and not case.material.mutations:
        problems = ("none of the generated faults is of use: plant some in mutations/",)
    return _Generation(kept=tuple(kept), notes=notes, problems=problems)


def _sources(base: Tree, paths: tuple[str, ...]) -> tuple[list[Source], tuple[str, ...]]:
    """Return the files to make faults in, and what is wrong with those that cannot be read."""
    found: list[Source] = []
    problems: list[str] = []
    for path in paths:
        try:
            source = read_source(base, path)
        except UnreadableError as error:
            problems.append(f"no fault can be generated: {error}")
            continue
        if source is None:
            problems.append(f"oracle.yaml generates faults in {path}, which the base does not have")
        else:
            found.append(source)
    return found, tuple(problems)


def _variants(judges: _Judges, sources: Mapping[str, Source]) -> tuple[Made, tuple[str, ...]]:
    """Return the code laid out differently, on which the reference tests pass, and gutted."""
    base = base_tree(judges.reference.case.base)
    notes: list[str] = []
    neutral: dict[str, str] = {}
    for change in NEUTRAL:
        files = changed_files(sources, change)
        if files and not judges.reference_catch(with_files(base, files)):
            neutral = files
            break
    else:
        notes.append(
            "whether tests look at the source text cannot be checked: the reference tests fail "
            "on every other way to write the same code"
            if sources
            else "the faults are in no Python file: only the faults themselves will be checked"
        )
    empty = changed_files(sources, gutted)
    if empty and not failed(judges.reference.run(with_files(base, empty)), judges.stable):
        notes.append(
            "the reference tests pass although every function of the faulty files raises, so "
            "nobody's tests are asked to notice that"
        )
        empty = {}
    return Made(neutral=neutral, gutted=empty), tuple(notes)


def _reference_problems(runs: tuple[TestRun, ...]) -> tuple[str, ...]:
    """Return what is wrong with the reference tests on the real code."""
    problems = sorted({run.trouble for run in runs if run.trouble})
    problems += sorted(
        {f"{name} cannot be collected" for run in runs for name in run.collect_errors}
    )
    always = [t for t in runs[0].outcomes if all(run.outcome(t) in BROKEN for run in runs)]
    if always:
        problems.append(f"reference tests fail on the real code: {first_words(always)}")
    if not any(PASSED in run.outcomes.values() for run in runs):
        problems.append("no reference test passes on the real code")
    return tuple(problems)


def _dropped(tests: list[str]) -> tuple[str, ...]:
    if not tests:
        return ()
    count = "1 reference test does" if len(tests) == 1 else f"{len(tests)} reference tests do"
    return (f"{count} not always pass and may not count: {first_words(tests)}",)
