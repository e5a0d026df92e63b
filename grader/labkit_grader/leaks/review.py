"""The leak check of a whole lab: every hit, what people decided about it, and what follows.

Hard hits count until a person clears them with a reason. Review hits count once a person confirms
them; until somebody has decided, they are open. What could not be read is never clear by itself.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from labkit.errors import InputError
from labkit.model import Member, RunId, TaskId
from labkit.transcripts import plain
from labkit_grader.leaks.canary import masked
from labkit_grader.leaks.hits import Hit, Rule, Severity, Spot, make_hit
from labkit_grader.leaks.rules import Checked, RunCheck

_SHOWN_GAPS = 3


class Choice(StrEnum):
    """What a person can decide about a hit."""

    CONFIRMED = "confirmed"
    CLEARED = "cleared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One person's decision about one hit. A later decision about the same hit replaces it."""

    hit: str
    choice: Choice
    by: Member
    at: str
    """ISO time with zone."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What leaks.json holds."""

    suite_version: str
    checked: tuple[Checked, ...]
    hits: tuple[Hit, ...]
    decisions: tuple[Decision, ...] = ()
    vanished: tuple[Decision, ...] = ()
    """Decisions about hits that the last check no longer found."""

    def decision(self, hit: Hit) -> Decision | None:
        """Return the last decision about a hit."""
        about = [decision for decision in self.decisions if decision.hit == hit.id]
        return about[-1] if about else None

    def open_hits(self) -> tuple[Hit, ...]:
        """Return the review hits that nobody has decided about."""
        return tuple(
            hit
            for hit in self.hits
            if hit.severity is Severity.REVIEW and self.decision(hit) is None
        )

    def counts(self, hit: Hit) -> bool:
        """Whether a hit is a leak as things stand."""
        decision = self.decision(hit)
        if decision is None:
            return hit.severity is Severity.HARD
        return decision.choice is Choice.CONFIRMED

    def leaked_runs(self) -> tuple[RunId, ...]:
        """Return the runs that count as hard fails.

        A canary in the prompt is the kit's own leak: it retires the task and blames no run.
        """
        counting = (hit for hit in self.hits if self.counts(hit))
        agents = (hit for hit in counting if hit.rule is not Rule.CANARY_IN_PROMPT)
        return tuple(sorted({run for hit in agents for run in hit.runs}))

    def retired_tasks(self) -> dict[TaskId, str]:
        """Return the leaked tasks, each with the first reason for a reader."""
        reasons: dict[TaskId, str] = {}
        for hit in filter(self.counts, self.hits):
            decision = self.decision(hit)
            said = f" ({decision.by}: {decision.reason})" if decision else ""
            runs = ", ".join(map(str, hit.runs))
            for task in hit.tasks:
                reasons.setdefault(task, f"{hit.explanation}, in {runs}{said}")
        return dict(sorted(reasons.items()))

    def confirm(self, hit: str, *, by: Member, at: str, reason: str) -> "Review":
        """Return the review with a hit confirmed; raises InputError without a reason."""
        return self._decided(Choice.CONFIRMED, hit, by=by, at=at, reason=reason)

    def clear(self, hit: str, *, by: Member, at: str, reason: str) -> "Review":
        """Return the review with a hit cleared; raises InputError without a reason."""
        return self._decided(Choice.CLEARED, hit, by=by, at=at, reason=reason)

    def _decided(self, choice: Choice, hit: str, *, by: Member, at: str, reason: str) -> "Review":
        if hit not in {known.id for known in self.hits}:
            raise InputError(f"no leak hit {hit[:80]!r}", hint="the ids stand in evals/leaks.md")
        if not reason.strip():
            raise InputError(
                f"hit {hit} cannot be {choice} without a reason",
                hint="write one sentence about what you looked at",
            )
        said = masked(" ".join(reason.split()))
        decision = Decision(hit=hit, choice=choice, by=by, at=at, reason=said)
        return replace(self, decisions=(*self.decisions, decision))


def review(
    checks: Iterable[RunCheck], *, suite_version: str, earlier: Review | None = None
) -> Review:
    """Join the checks of every run; decisions of an earlier review stay with hits still found."""
    ordered = sorted(checks, key=lambda check: check.checked.run)
    checked = tuple(check.checked for check in ordered)
    hits = (*(hit for check in ordered for hit in check.hits), *_coverage_hits(checked))
    known = {hit.id for hit in hits}
    decisions = (*earlier.vanished, *earlier.decisions) if earlier else ()
    return Review(
        suite_version=suite_version,
        checked=checked,
        hits=hits,
        decisions=tuple(decision for decision in decisions if decision.hit in known),
        vanished=tuple(decision for decision in decisions if decision.hit not in known),
    )


def _coverage_hits(checked: tuple[Checked, ...]) -> Iterator[Hit]:
    """Return a review hit for each run that was not read to its end and whole.

    Plain output can never be told apart, run after run: that is one question for each
    configuration, not one for each run. A run that joins them later asks it anew.
    """
    plainly: dict[str, list[Checked]] = {}
    for check in checked:
        if check.format == plain.NAME:
            plainly.setdefault(str(check.run.configuration), []).append(check)
        elif check.gaps or not check.ended:
            gaps = [*check.gaps[:_SHOWN_GAPS], *([] if check.ended else ["it has no end mark"])]
            yield _coverage_hit([check], "; ".join(gaps))
    for checks in plainly.values():
        yield _coverage_hit(checks, plain.GAP)


def _coverage_hit(checks: list[Checked], what: str) -> Hit:
    digests = hashlib.sha256("".join(check.digest for check in checks).encode()).hexdigest()
    # The digest ties the decision to what was read, not to the sentence about it.
    return make_hit(
        Rule.COVERAGE,
        Spot(file="transcript", excerpt=f"[{digests[:12]}] {what}"),
        runs=tuple(check.run for check in checks),
        explanation="the transcript could not be understood to its end, so it is not known clean",
    )
