"""Answers that were recorded beforehand: a line of JSON for each sample, as benchmarks have it.

{"instance_id": "fix-1", "model_patch": "--- a/x.py..."}
{"id": "add", "number": 2, "output": 4, "cost": 0.01}
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from labkit.errors import InputError, did_you_mean, refuse
from labkit.evals.answerfile import FIELDS, CandidateError, read_answer
from labkit.evals.case import EvalCase
from labkit.evals.sample import Answer, Trial
from labkit.fields import counted, first_words, read_bytes

_NAMES = {"model_patch": "diff", "edits": "replacements"}
"""What others call a field of an answer."""
_ANSWERS = ("model_patch", "diff", "edits", "replacements", "output")
"""A line has one of these at least; it may have other fields of an answer, and any others."""
Key = tuple[str, int]


class Recorded:
    """Answers with what was recorded for a case and a number; a sample without is missing."""

    def __init__(self, answers: Mapping[Key, Answer], *, code: str = "") -> None:
        self._answers = dict(answers)
        self.code = code
        """The digest of the file they were read from."""

    @classmethod
    def read(cls, path: Path | str) -> "Recorded":
        """Read a file; raises InputError that tells every line that cannot be used."""
        path = Path(path)
        answers: dict[Key, Answer] = {}
        lines: dict[Key, int] = {}
        problems: list[str] = []
        data = read_bytes(path)
        for line, text in _lines(data):
            try:
                key, answer = _entry(text)
            except (CandidateError, InputError) as error:
                problems.append(f"{path}, line {line}: {error.message}")
                continue
            if key in lines:
                problems.append(
                    f"{path}, line {line}: sample {key[1]} of {key[0]} is also on line {lines[key]}"
                )
            lines[key] = line
            answers[key] = answer
        if not answers and not problems:
            problems.append(f"{path} holds no answer")
        refuse(
            problems,
            hint='a line is {"id": ..., "diff": ...}; several samples of a case are told apart by '
            '"number": 1, 2, ...',
        )
        return cls(answers, code=hashlib.sha256(data).hexdigest())

    def __call__(self, case: EvalCase, trial: Trial) -> Answer:
        """Return the recorded answer; raises CandidateError when there is none."""
        answer = self._answers.get((case.id, trial.number))
        if answer is None:
            raise CandidateError(f"no answer is recorded for sample {trial.number}")
        return answer

    @property
    def most(self) -> int:
        """The highest number of a sample."""
        return max((number for _, number in self._answers), default=0)

    def notes(self, ids: Collection[str]) -> tuple[str, ...]:
        """Say which cases have no answer, and which answers belong to none of these cases.

        Raises InputError when none does: then it is another suite's file.
        """
        here = {case for case, _ in self._answers}
        unknown, missing = sorted(here - {*ids}), sorted({*ids} - here)
        if unknown and not here & {*ids}:
            raise InputError(
                f"no recorded answer belongs to a case of this suite: {first_words(unknown)}",
                hint=f"its cases are {first_words(sorted(ids))}",
            )
        found = []
        if unknown:
            found.append(
                f"{counted(len(unknown), 'recorded case')} not asked for: {first_words(unknown)}"
                f"{did_you_mean(unknown[0], missing)}."
            )
        if missing:
            found.append(
                f"{counted(len(missing), 'case')} without a recorded answer, which count as "
                f"missing: {first_words(missing)}."
            )
        return tuple(found)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line


def _entry(text: bytes) -> tuple[Key, Answer]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({type(error).__name__})") from error
    if not isinstance(values, dict):
        raise InputError("is no mapping")
    key = (_id(values), _number(values))
    if not any(name in values for name in _ANSWERS):
        raise InputError(f"has no answer: one of {', '.join(_ANSWERS)}")
    answer: dict[str, Any] = {}
    for name in (*FIELDS, *_NAMES):
        field = _NAMES.get(name, name)
        if values.get(name) is not None:
            if field in answer:
                raise InputError(f'has "{name}" and "{field}", which mean the same')
            answer[field] = values[name]
    return key, read_answer(answer)


def _id(values: Mapping[str, Any]) -> str:
    names = [values[name] for name in ("id", "instance_id") if name in values]
    if not names or not isinstance(names[0], str) or not names[0]:
        raise InputError('has no "id" (or "instance_id"), a text')
    if names[0] != names[-1]:
        raise InputError('has an "id" and another "instance_id"')
    return names[0]


def _number(values: Mapping[str, Any]) -> int:
    number = values.get("number", 1)
    if type(number) is not int or number < 1:
        raise InputError('"number" must be a whole number from 1')
    return number
