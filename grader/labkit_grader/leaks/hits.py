"""One finding of the leak check, with an id that stays and an excerpt that can be shown."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from labkit.fields import canonical_json
from labkit.model import RunId, TaskId
from labkit_grader.leaks.canary import masked

_LONGEST_EXCERPT = 200
_ID_LENGTH = 10


class Severity(StrEnum):
    """A hard hit counts until a person clears it, a review hit once a person confirms it."""

    HARD = "hard"
    REVIEW = "review"


class Rule(StrEnum):
    """What was found; the letters are those of the design's rule list."""

    CANARY = "H-a"
    PROTECTED_READ = "H-b"
    PROTECTED_SEARCH = "H-c"
    CANARY_IN_PROMPT = "H-d"
    ATTEMPT = "R-a"
    OUTSIDE = "R-b"
    UNDECIDABLE = "R-c"
    HISTORY = "R-d"
    NETWORK = "R-e"
    PROBE = "R-f"
    COVERAGE = "R-g"
    CANARY_IN_WORDS = "R-i"

    @property
    def severity(self) -> Severity:
        """How a hit of this rule counts."""
        return Severity.HARD if self.value.startswith("H") else Severity.REVIEW


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something that a person must see."""

    id: str
    rule: Rule
    runs: tuple[RunId, ...]
    """One run; several where runs of one configuration share what cannot be read."""
    tasks: tuple[TaskId, ...]
    """What is retired when the hit counts: the runs' own tasks, and the task that was leaked."""
    file: str
    line: int | None = None
    path: str = ""
    excerpt: str = ""
    """At most 200 characters, canaries masked."""
    explanation: str

    @property
    def severity(self) -> Severity:
        """How it counts before a person has decided."""
        return self.rule.severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where something was found."""

    file: str
    line: int | None = None
    path: str = ""
    excerpt: str = ""


def make_hit(
    rule: Rule,
    spot: Spot,
    *,
    runs: tuple[RunId, ...],
    explanation: str,
    owners: tuple[TaskId, ...] = (),
) -> Hit:
    """Return a hit whose id follows from what was found and where, and from nothing else.

    So a decision stays with its hit when the check is repeated, and is lost when the evidence is
    another.
    """
    excerpt = shown(spot.excerpt)
    path = shown(spot.path)
    found = [[str(run) for run in runs], rule.value, spot.file, spot.line, path, excerpt]
    return Hit(
        id=hashlib.sha256(canonical_json(found)).hexdigest()[:_ID_LENGTH],
        rule=rule,
        runs=runs,
        tasks=tuple(sorted({*owners, *(run.task for run in runs)})),
        file=spot.file,
        line=spot.line,
        path=path,
        excerpt=excerpt,
        explanation=explanation,
    )


def shown(text: str) -> str:
    """Return a text as one short line without canaries and control characters."""
    # Masked before it is cut: half a canary is one, too.
    line = " ".join("".join(c if c.isprintable() else " " for c in masked(text)).split())
    return line if len(line) <= _LONGEST_EXCERPT else line[: _LONGEST_EXCERPT - 4] + " ..."
