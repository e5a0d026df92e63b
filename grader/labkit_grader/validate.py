"""Proves that a task is sound, with the oracle of its category, and keeps what was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from labkit.errors import InputError
from labkit.fields import json_text
from labkit.model import Category
from labkit.patch.place import Applied, NotApplied, base_tree
from labkit.suite import content_digest, field_digests
from labkit_grader.builder import SetupProblemError
from labkit_grader.cheatsuite import Tried, try_cheats
from labkit_grader.command import limits_of
from labkit_grader.execute import Bench
from labkit_grader.material import Expected
from labkit_grader.oracles.interface import Case, Proof
from labkit_grader.oracles.registry import oracle_for
from labkit_grader.oracles.sides import solution_tree
from labkit_grader.prompt import Background, check_prompt
from labkit_grader.remarks import PromptCheck
from labkit_grader.repeats import Repeats, chance_of_notice

SCHEMA = 1
USUAL = Repeats()


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
    """How often each side ran; 0 where nothing runs."""
    cheats: Mapping[str, bool] = field(default_factory=dict)
    """Whether each cheat failed, by its name."""
    sandbox: str

    @property
    def valid(self) -> bool:
        """Whether the task can be used."""
        return not self.problems

    @property
    def caught(self) -> int:
        """How many cheats failed."""
        return sum(self.cheats.values())

    @property
    def chance(self) -> float | None:
        """How likely a test that fails one time in three was noticed; None when nothing ran."""
        return chance_of_notice(self.repeats) if self.repeats else None

    @property
    def _content(self) -> str:
        return content_digest(self.case.task.facts(), self.case.task.prompt)

    @property
    def draft_text(self) -> str:
        """The draft's evidence.json: the expected tests, and what they were found with.

        It is sealed with the draft, so nothing is in it that varies from one proof to the next. Its
        digests are not published: short hidden files could be guessed from them.
        """
        return json_text(
            {
                "schema": SCHEMA,
                "valid": self.valid,
                "digest": self.case.material.digest,
                "content": self._content,
                **self.expected.values(),
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
                "chance_of_notice": self.chance if self.chance is None else round(self.chance, 3),
                "cheats": {"tried": len(self.cheats), "failed": self.caught},
                "sandbox": self.sandbox,
                "content": self._content,
                "fields": field_digests(task.facts(), task.prompt),
            }
        )


def validate_task(
    bench: Bench, case: Case, *, repeats: Repeats | int = USUAL, workers: int = 1
) -> Evidence:
    """Prove one task; raises InfrastructureError only when the sandbox failed.

    A number of repeats is a quick look: so many rounds, without cheats. The cheats, `workers` of
    them at once, are tried only on a task that is sound so far.
    """
    if isinstance(repeats, int):
        repeats = Repeats.exactly(repeats, thorough=False)
    try:
        if bench.builder is not None:
            bench.builder.require_base()
        if case.task.category is not Category.TRAP:
            case.command()
        proof = oracle_for(case.task.category).prove(bench, case, repeats=repeats)
    except (InputError, SetupProblemError) as error:
        mend = f"; {error.hint}" if error.hint else ""
        proof = Proof(problems=tuple(f"{problem}{mend}" for problem in error.problems))
    solution = solution_tree(case) if case.task.solution else None
    tried = Tried()
    if repeats.thorough and not proof.problems:
        tried = _tried(bench, case, proof, solution, workers)
    prompt = _checked_prompt(case, solution)
    return Evidence(
        case=case,
        problems=proof.problems + tried.problems + prompt.problems,
        notes=proof.notes + tried.notes + _of_runner(case, proof) + prompt.notes,
        expected=proof.expected,
        counts=proof.counts,
        repeats=proof.runs,
        cheats=tried.failed,
        sandbox=bench.sandbox.name,
    )


def _of_runner(case: Case, proof: Proof) -> tuple[str, ...]:
    """Return what the task's grading command cannot give; a trap has none that is run."""
    if case.task.category is Category.TRAP:
        return ()
    return limits_of(case.task.command, guarded=bool(proof.expected.guards.tests))


def _tried(
    bench: Bench, case: Case, proof: Proof, solution: Applied | NotApplied | None, workers: int
) -> Tried:
    work = solution if isinstance(solution, Applied) else Applied(tree={}, changed=())
    return try_cheats(bench, case, proof, work, workers=workers)


def _checked_prompt(case: Case, solution: Applied | NotApplied | None) -> PromptCheck:
    task = case.task
    base = base_tree(case.base)
    between = case.repository.between(task.base, task.solution) if task.solution else ()
    background = Background(
        base=base,
        solution=solution.tree if isinstance(solution, Applied) else base,
        hidden=case.material.hidden,
        category=task.category,
        commits=(task.base, *between),
    )
    return check_prompt(task.prompt, background)
