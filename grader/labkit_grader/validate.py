"""Proves that a task is sound, with the oracle of its category, and keeps what was found."""

from collections.abc import Mapping
from dataclasses import dataclass

from labkit.errors import InputError
from labkit.fields import json_text
from labkit.model import Category
from labkit.suite import content_digest
from labkit_grader.builder import SetupProblemError
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.interface import Case, Proof
from labkit_grader.oracles.registry import oracle_for
from labkit_grader.oracles.sides import solution_tree
from labkit_grader.place import NotApplied, base_tree
from labkit_grader.prompt import PromptLeaks, prompt_leaks

SCHEMA = 1
REPEATS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What validation says of a task."""

    case: Case
    problems: tuple[str, ...]
    """Why the task is not valid; they may name hidden tests, so only its author sees them."""
    notes: tuple[str, ...]
    expected: Expected
    counts: Mapping[str, int]
    repeats: int
    sandbox: str

    @property
    def valid(self) -> bool:
        """Whether the task can be used."""
        return not self.problems

    @property
    def _content(self) -> str:
        return content_digest(self.case.task.facts(), self.case.task.prompt)

    @property
    def draft_text(self) -> str:
        """The draft's evidence.json: the expected tests, and what they were found with.

        It is sealed with the draft. Its digests are not published: short hidden files could be
        guessed from them.
        """
        return json_text(
            {
                "schema": SCHEMA,
                "valid": self.valid,
                "digest": self.case.material.digest,
                "content": self._content,
                "fail_to_pass": list(self.expected.fail_to_pass),
                "pass_to_pass": list(self.expected.pass_to_pass),
            }
        )

    @property
    def public_text(self) -> str:
        """evals/validation/<id>.json: figures, and the digest of what everybody can see."""
        task = self.case.task
        return json_text(
            {
                "schema": SCHEMA,
                "task": str(task.id),
                "category": str(task.category),
                "base": task.base,
                "solution": task.solution,
                "valid": self.valid,
                "problems": len(self.problems),
                "notes": len(self.notes),
                "counts": dict(self.counts),
                "repeats": self.repeats,
                "sandbox": self.sandbox,
                "content": self._content,
            }
        )


def validate_task(bench: Bench, case: Case, *, repeats: int = REPEATS) -> Evidence:
    """Prove one task; raises InfrastructureError only when the sandbox failed."""
    try:
        if bench.builder is not None:
            bench.builder.require_base()
        if case.task.category is not Category.TRAP:
            case.command()
        proof = oracle_for(case.task.category).prove(bench, case, repeats=repeats)
    except (InputError, SetupProblemError) as error:
        proof = Proof(problems=error.problems)
    leaks = _prompt_leaks(case)
    return Evidence(
        case=case,
        problems=proof.problems + leaks.problems,
        notes=proof.notes + leaks.notes,
        expected=proof.expected,
        counts=proof.counts,
        repeats=repeats,
        sandbox=bench.sandbox.name,
    )


def _prompt_leaks(case: Case) -> PromptLeaks:
    base = base_tree(case.base)
    solution = solution_tree(case) if case.task.solution else None
    tree = base if solution is None or isinstance(solution, NotApplied) else solution.tree
    return prompt_leaks(case.task.prompt, base=base, solution=tree, hidden=case.material.hidden)
