"""The grades of one run: the one in force, and those that it superseded, kept beside it.

grade.json names by digest the grade that it replaced, that one the grade before it: whoever
vouches for the newest vouches for all of them.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from labkit.errors import IntegrityError
from labkit.records import GradeRecord, load_grade
from labkit.suite import digest
from labkit.workspace import replace

GRADE = "grade.json"
_BESIDE = ("grade.txt", "result.txt")
_KEPT = re.compile(r"grade-([1-9][0-9]*)\.json")


def keep_earlier(folder: Path, told: Collection[str]) -> str:
    """Keep the grade that a new one is going to replace, and return its digest.

    `told` are the digests of this run's grades in holders' logs, the newest one last. A grade that
    no log tells of is no grade and is not kept; then the newest kept one is what is replaced.
    Empty when there is none. An interrupted call is gone on with.
    """
    known = list(told)
    path = folder / GRADE
    kept = _kept(folder)
    if path.is_file() and known and digest(path.read_bytes()) == known[-1]:
        if known[-1] not in kept.values():
            _copy(folder, max(kept, default=0) + 1)
        return known[-1]
    return next((sha for _, sha in sorted(kept.items(), reverse=True) if sha in known), "")


def _copy(folder: Path, number: int) -> None:
    """Copy a grade's files to their numbered names, grade.json last: only with it they count."""
    for name in (*_BESIDE, GRADE):
        path = folder / name
        if path.is_file():
            replace(path.with_stem(f"{path.stem}-{number}"), path.read_bytes())


def _kept(folder: Path) -> dict[int, str]:
    """Return the digest of each kept grade by its number."""
    return {
        int(match[1]): digest(path.read_bytes())
        for path in folder.glob("grade-*.json")
        if (match := _KEPT.fullmatch(path.name))
    }


def superseded(folder: Path) -> tuple[GradeRecord, ...]:
    """Return the grades that the run's grade superseded, the newest one first.

    Raises IntegrityError when one of them is missing or was changed.
    """
    return tuple(_before(folder, load_grade(folder / GRADE)))


def _before(folder: Path, grade: GradeRecord) -> Iterator[GradeRecord]:
    kept = {sha: number for number, sha in _kept(folder).items()}
    while grade.supersedes:
        if grade.supersedes not in kept:
            raise IntegrityError(
                f"{grade.run}: the earlier grade {grade.supersedes[:16]}... is not kept beside "
                f"{GRADE} as it was",
                hint=f"get the holder's own {folder} again",
            )
        grade = load_grade(folder / f"grade-{kept.pop(grade.supersedes)}.json")
        yield grade
