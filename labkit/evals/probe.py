"""Whether a candidate is random, and whether it heeds the seed that it is given.

Two samples with one seed and one with another, of a few cases, each in a fresh folder: what they
answered, what they left and what they say they did is compared. It shows what it has seen: a
candidate that is random one time in a hundred looks deterministic here.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import assert_never

from labkit.errors import InputError
from labkit.evals.case import EvalCase
from labkit.evals.digests import files_of, plain
from labkit.evals.sample import Answer, Candidate, Trial
from labkit.fields import canonical_json, counted, first_words
from labkit.graders.folder import Unreadable, entries_of
from labkit.graders.values import raised, type_name
from labkit.suite import digest

_MOST_CASES = 3


class Nature(StrEnum):
    """What samples of a candidate are to each other."""

    DETERMINISTIC = "deterministic"
    """Whatever the seed, the same: more samples tell nothing new."""
    SEEDED = "seeded"
    """Another seed, another sample; the same seed, the same sample again."""
    DEAF = "deaf"
    """The same seed, another sample: it is random, and nothing can be had again."""
    UNKNOWN = "unknown"
    """It did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen of one case. Parts are `output`, `files`, `trace`, `patch`."""

    case: str
    again: tuple[str, ...] = ()
    """The parts that differ between two samples with the same seed."""
    other: tuple[str, ...] = ()
    """The parts that differ between samples with two seeds."""
    failure: str = ""
    """Why there is nothing to compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What was found out."""

    seeds: tuple[int, int]
    evidence: tuple[Evidence, ...]

    @property
    def nature(self) -> Nature:
        """What it is, as far as these samples show."""
        seen = [each for each in self.evidence if not each.failure]
        if not seen:
            return Nature.UNKNOWN
        if any(each.again for each in seen):
            return Nature.DEAF
        return Nature.SEEDED if any(each.other for each in seen) else Nature.DETERMINISTIC

    @property
    def words(self) -> str:
        """The same in sentences, with the cases that show it and those that did not answer."""
        failed = [each.failure for each in self.evidence if each.failure]
        if not failed or self.nature is Nature.UNKNOWN:
            return self._seen
        return f"{self._seen} Without an answer: {'; '.join(failed)}."

    @property
    def _seen(self) -> str:
        first, second = self.seeds
        cases = [each.case for each in self.evidence if not each.failure]
        seen = f"{counted(len(cases), 'case')} ({first_words(cases)})"
        match self.nature:
            case Nature.DETERMINISTIC:
                return (
                    f"Seeds {first} and {second} gave the same on {seen}; "
                    "of other cases this says nothing."
                )
            case Nature.SEEDED:
                shown = _shown((each.case, each.other) for each in self.evidence)
                return (
                    f"Seeds {first} and {second} gave different samples ({shown}), "
                    f"and seed {first} twice gave the same on {seen}."
                )
            case Nature.DEAF:
                shown = _shown((each.case, each.again) for each in self.evidence)
                return (
                    f"Seed {first} twice gave different samples ({shown}): "
                    "it is random there and does not heed its seed."
                )
            case Nature.UNKNOWN:
                why = next((each.failure for each in self.evidence), "there is no case")
                return f"Nothing could be compared: {why}."
            case _:
                assert_never(self.nature)


def _shown(found: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    return first_words([f"{case}: {', '.join(parts)}" for case, parts in found if parts], 3)


def probe(
    candidate: Candidate,
    cases: Iterable[EvalCase],
    *,
    seeds: tuple[int, int] = (1, 2),
    most: int = _MOST_CASES,
) -> Probed:
    """Take three samples of each of the first `most` cases that can be used, and compare them.

    Raises ValueError for two seeds that are one, and InputError for a case's folder that cannot be
    read; a candidate that fails is told in the evidence.
    """
    if seeds[0] == seeds[1]:
        raise ValueError("two seeds are needed")
    usable = islice((case for case in cases if not case.problem), most)
    return Probed(seeds=seeds, evidence=tuple(_evidence(candidate, case, seeds) for case in usable))


def _evidence(candidate: Candidate, case: EvalCase, seeds: tuple[int, int]) -> Evidence:
    found = []
    for number, seed in ((1, seeds[0]), (1, seeds[0]), (2, seeds[1])):
        try:
            found.append(_sampled(candidate, case, number, seed))
        except Exception as error:  # noqa: BLE001 - a candidate may raise anything
            return Evidence(case=case.id, failure=f"{case.id}: {raised(error)}")
    once, again, other = found
    return Evidence(case=case.id, again=_different(once, again), other=_different(once, other))


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(part for part in one if one[part] != other[part])


def _sampled(candidate: Candidate, case: EvalCase, number: int, seed: int) -> dict[str, str]:
    """Return a digest of each part of a fresh sample."""
    asked = replace(case, reference=None, grader_spec={}, folder=None)
    with _folder(case) as scratch:
        found = candidate(asked, Trial(number=number, seed=seed, scratch=scratch))
        answer = found if isinstance(found, Answer) else Answer(output=found)
        patch = [answer.diff, [repr(each) for each in answer.replacements or ()]]
        parts = {
            "output": answer.output,
            "files": _files(scratch),
            "trace": list(answer.trace),
            "patch": patch,
        }
        return {part: _digest(value) for part, value in parts.items()}


@contextlib.contextmanager
def _folder(case: EvalCase) -> Iterator[Path]:
    """Give a fresh folder with the case's files."""
    with tempfile.TemporaryDirectory(prefix="labkit-probe-", ignore_cleanup_errors=True) as made:
        scratch = Path(made, "scratch")
        scratch.mkdir()
        for name, path in files_of(case.folder) if case.folder else ():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, scratch / name)
        yield scratch


def _files(scratch: Path) -> object:
    found = entries_of(scratch)
    if isinstance(found, Unreadable):
        return found.why
    kept = [each for each in found if b"__pycache__" not in each.path.split(b"/")]
    return [[each.path.hex(), str(each.kind), digest(each.data)] for each in kept]


def _digest(value: object) -> str:
    try:
        return digest(canonical_json(plain(value, "value")))
    except (InputError, ValueError):
        return f"a value of type {type_name(value)}"
