"""Cases and suites: what a candidate is asked, what is right, and how that is judged."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from labkit.errors import InputError, refuse
from labkit.evals.arguments import texts_of, word_of
from labkit.evals.digests import folder_digest, plain
from labkit.evals.tags import SAFETY, tag_problems
from labkit.fields import canonical_json
from labkit.graders.values import shown_type
from labkit.suite import digest

_LONGEST_ID = 200


class Split(StrEnum):
    """What a case is used for. Nobody looks at TEST before a candidate is final."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One case. Its author is trusted; whoever answers it is not."""

    id: str
    inputs: object = None
    """What the candidate is given: texts, numbers, truth values, None, lists and mappings."""
    reference: object = None
    """The right answer, for graders that have none of their own."""
    grader_spec: Mapping[str, object] = field(default_factory=dict)
    """Which grader judges it, as `docs/graders.md` has it: `{"name": "exact"}`."""
    slices: tuple[str, ...] = ()
    """Groups that are reported by themselves."""
    tags: tuple[str, ...] = ()
    """`safety`: a failure vetoes the candidate, whatever its figures. One that is nearly that word
    is the case's problem."""
    folder: Path | None = None
    """What lies in the scratch folder of each sample before the candidate starts."""
    forbidden: tuple[str, ...] = ()
    """Globs of files in `folder` that may not change: a sample that changes one fails."""
    split: Split = Split.VAL
    problem: str = ""
    """Why the case cannot be used; it stays in the suite, and is never run."""

    def __post_init__(self) -> None:
        """Take lists for tuples and texts for a path and a split; refuse what is none at once."""
        if not _is_id(self.id):
            raise InputError(
                f"a case cannot be called {str(self.id)[:80]!r}",
                hint=f"an id is one printable line of at most {_LONGEST_ID} characters",
            )
        if not isinstance(self.grader_spec, Mapping):
            raise InputError(
                f"case {self.id}: grader_spec is {shown_type(self.grader_spec)}, and must be a "
                "mapping",
                hint='write {"name": "exact"}; docs/graders.md lists the graders',
            )
        try:
            for name in ("slices", "tags", "forbidden"):
                object.__setattr__(self, name, texts_of(getattr(self, name), name))
            object.__setattr__(self, "split", word_of(self.split, Split, "split"))
            if self.folder is not None:
                object.__setattr__(self, "folder", Path(self.folder))
        except (TypeError, ValueError) as error:
            raise InputError(f"case {self.id}: {error}") from error
        if not self.problem:
            object.__setattr__(self, "problem", "; ".join(tag_problems(self.tags)))

    @property
    def safety(self) -> bool:
        """Whether a failure is a veto."""
        return SAFETY in self.tags

    def content(self) -> dict[str, object]:
        """Return everything that decides what is measured, as plain values.

        Raises InputError for values that no file could hold, and for a folder that cannot be read.
        """
        return {
            "id": self.id,
            "inputs": plain(self.inputs, f"case {self.id}: inputs"),
            "reference": plain(self.reference, f"case {self.id}: reference"),
            "grader": plain(self.grader_spec, f"case {self.id}: grader_spec"),
            "slices": plain(sorted(self.slices), f"case {self.id}: slices"),
            "tags": plain(sorted(self.tags), f"case {self.id}: tags"),
            "folder": folder_digest(self.folder) if self.folder else None,
            "forbidden": plain(sorted(self.forbidden), f"case {self.id}: forbidden"),
            "problem": self.problem.encode(errors="backslashreplace").decode(),
        }


@dataclass(frozen=True)
class EvalSuite:
    """Cases with different ids, in the order of their ids.

    Raises InputError when ids repeat, and TypeError for what is no case.
    """

    cases: tuple[EvalCase, ...]
    name: str = "suite"

    def __init__(self, cases: Iterable[EvalCase], name: str = "suite") -> None:
        found = tuple(cases)
        for case in found:
            if not isinstance(case, EvalCase):
                raise TypeError(f"a suite is made of EvalCase, and this is {shown_type(case)}")
        ordered = tuple(sorted(found, key=lambda case: case.id))
        refuse(_repeated(ordered), hint="give each case an id of its own")
        object.__setattr__(self, "cases", ordered)
        object.__setattr__(self, "name", name)

    @cached_property
    def _pinned(self) -> tuple[str, dict[str, str]]:
        """The version, and a digest of each case; every file is read once for both."""
        contents = [case.content() for case in self.cases]
        version = _short(contents)
        return version, {str(each["id"]): _short(each) for each in contents}

    @property
    def digests(self) -> Mapping[str, str]:
        """The first 16 hex digits of a SHA-256 over each case's content, by id."""
        return self._pinned[1]

    @property
    def version(self) -> str:
        """The first 16 hex digits of a SHA-256 over every case's content.

        It changes with any input, reference, grader, slice, tag or file of any case, and with
        nothing else: not with the order of cases, slices, tags or keys, nor with splits.
        Raises InputError as `EvalCase.content` does.
        """
        return self._pinned[0]

    def only(self, split: Split | str | None = None, ids: Sequence[str] = ()) -> "EvalSuite":
        """Return the suite of one split, or of some ids; both narrow it.

        Raises InputError for ids that are not there, ValueError for a split that is none, and
        TypeError for ids that are no list.
        """
        split = word_of(split, Split, "split") if split is not None else None
        ids = texts_of(ids, "ids")
        cases = [case for case in self.cases if split is None or case.split is split]
        known = {case.id for case in cases}
        where = f" in the {split} split" if split else ""
        refuse(
            [f"no case is called {name[:80]!r}{where}" for name in ids if name not in known],
            hint="labkit suite list lists the cases",
        )
        return EvalSuite([case for case in cases if not ids or case.id in ids], self.name)


def _short(values: object) -> str:
    return digest(canonical_json(values))[:16]


def _is_id(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_ID and name.isprintable()


def _repeated(cases: Sequence[EvalCase]) -> list[str]:
    return [
        f"two cases are called {case.id}"
        for case, after in itertools.pairwise(cases)
        if case.id == after.id
    ]
