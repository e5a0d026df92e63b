"""Refactorings: the structure becomes as wanted, the behaviour passes on both sides."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from labkit.fields import first_words
from labkit.patch.place import NotApplied, Tree, base_tree
from labkit_grader.command import Command
from labkit_grader.execute import Bench
from labkit_grader.oracles.compared import Compared, compare
from labkit_grader.oracles.confirmed import grade_tests
from labkit_grader.oracles.interface import Case, Finding, Proof, Work
from labkit_grader.oracles.sides import (
    prove_sides,
    run_sides,
    solution_tree,
    stage,
)
from labkit_grader.repeats import Repeats
from labkit_grader.structure.reading import Structure
from labkit_grader.structure.rules import why_not
from labkit_grader.structure.shell import command_fails
from labkit_grader.testrun import PASSED


class Refactor:
    """The oracle of refactor tasks."""

    def prove(self, bench: Bench, case: Case, *, repeats: Repeats) -> Proof:
        """Prove that each structural check fails and then passes, and all other tests pass twice.

        Every check has to do so by itself: one that holds at the base already proves nothing.
        """
        problems = tuple(_missing_files(case))
        if problems:
            return Proof(problems=problems)
        solution = solution_tree(case)
        if isinstance(solution, NotApplied):
            return Proof(problems=(f"the solution cannot be laid out: {solution.reason}",))
        structure = case.material.rules.structure
        held = tuple(_rule_problems(bench, case, solution.tree))
        sides = run_sides(bench, case, repeats=repeats)
        if isinstance(sides, NotApplied):
            return Proof(problems=(f"the solution cannot be laid out: {sides.reason}",))

        command = case.command()

        def more(compared: Compared) -> Iterator[str]:
            yield from _problems(compared, structure, command)
            yield from held

        proof = prove_sides(bench, case, sides, compare(sides), more=more)
        return replace(proof, counts={**proof.counts, "structural_checks": structure.checks})

    def grade(self, bench: Bench, case: Case, work: Work) -> Finding:
        """Grade a run by structure and behaviour together."""
        finding = grade_tests(bench, case, work)
        tree = stage(case, work.applied.tree).tree
        short = _short_of(bench, tree, case.material.rules.structure)
        steps = {name: "failed" if why else PASSED for name, why in short.items()}
        told = [f"{name}, but {why}" for name, why in short.items() if why]
        reason = finding.reason
        if told:
            count = f"{len(told)} of {len(short)} structural rules are not met"
            tests = "" if finding.passed else f"; {finding.reason}"
            reason = f"{count}: {first_words(told, 3)}{tests}"
        elif short and finding.passed:
            reason = f"{finding.reason}, and the structure is as wanted"
        return replace(
            finding,
            passed=finding.passed and not told,
            reason=reason,
            tests={**finding.tests, **steps},
        )


def _short_of(bench: Bench, tree: Tree, structure: Structure) -> Mapping[str, str]:
    """Return why a tree is short of each rule and command, by its name; empty where it is not."""
    rules = {str(rule): why_not(rule, tree) for rule in structure.rules}
    commands = {
        f"the command holds: {command}": command_fails(bench, tree, command)
        for command in structure.commands
    }
    return {**rules, **commands}


def _rule_problems(bench: Bench, case: Case, solution: Tree) -> Iterator[str]:
    """Yield what is wrong with the rules and commands, each by itself."""
    structure = case.material.rules.structure
    before = _short_of(bench, stage(case, base_tree(case.base)).tree, structure)
    after = _short_of(bench, stage(case, solution).tree, structure)
    for name, why in before.items():
        if not why:
            yield f'a structural rule is met at the base already: "{name}"'
        if after[name]:
            yield f'a structural rule is not met at the solution: "{name}": {after[name]}'


def _missing_files(case: Case) -> Iterator[str]:
    structure = case.material.rules.structure
    if not structure.checks:
        yield 'oracle.yaml names no structural check: add "structure:"'
    for path in structure.tests:
        if path not in case.material.hidden:
            yield f"oracle.yaml names hidden/{path}, which is not there"
    if not set(case.test_files) - set(structure.tests):
        yield "hidden/ holds no test of the behaviour beside the structural check"


def _problems(compared: Compared, structure: Structure, command: Command) -> Iterator[str]:
    def structural(test: str) -> bool:
        return command.is_of(test, structure.tests)

    changed = [test for test in compared.fail_to_pass if not structural(test)]
    if changed:
        yield (
            "tests of the behaviour have to pass at the base too, these do not: "
            f"{first_words(changed)}"
        )
    for path in structure.tests:
        if not any(command.is_of(test, (path,)) for test in compared.fail_to_pass):
            yield f"no test in hidden/{path} fails at the base and passes at the solution"
    if all(structural(test) for test in compared.pass_to_pass):
        yield "no test of the behaviour passes on both sides"
