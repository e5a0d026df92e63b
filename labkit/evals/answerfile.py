"""An answer as a mapping: what a command writes to answer.json, what is recorded, what is sent."""

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.errors import LabkitError, did_you_mean
from labkit.evals.answers import is_amount
from labkit.evals.edits import read_replacements
from labkit.evals.sample import Answer, Replacement
from labkit.fields import first_words
from labkit.graders.values import shown_type

FIELDS = (
    *("output", "trace", "latency_ms", "cost", "success_self_reported", "diff"),
    "replacements",
)
_EDIT = ("path", "search", "replace")
_UNREADABLE = "problem"
"""Of an edit that could not even be read: it is passed on, and never applies."""


class CandidateError(LabkitError):
    """A candidate gave no answer: it crashed, raised, or wrote nonsense. Its sample is missing."""

    exit_code = 3


def answer_values(answer: Answer) -> dict[str, Any]:
    """Return the fields of an answer that say something, as `read_answer` takes them."""
    values = {name: getattr(answer, name) for name in FIELDS}
    if answer.replacements is not None:
        values["replacements"] = [
            {name: getattr(each, name) for name in (*_EDIT, _UNREADABLE)}
            for each in answer.replacements
        ]
    values["trace"] = list(answer.trace)
    return {name: each for name, each in values.items() if each is not None and each != []}


def read_answer(values: Mapping[Any, Any]) -> Answer:
    """Return the answer of a mapping; raises CandidateError that tells every problem of it."""
    problems = [
        f"{str(name)[:80]!r} is no field of an answer{did_you_mean(str(name), FIELDS)}"
        for name in values
        if name not in FIELDS
    ]
    problems += filter(
        None,
        (
            _number_problem("latency_ms", values.get("latency_ms")),
            _number_problem("cost", values.get("cost")),
            _type_problem("success_self_reported", values, bool, "true or false"),
            _type_problem("diff", values, str, "a text"),
            _trace_problem(values.get("trace")),
            _edits_problem(values.get("replacements")),
        ),
    )
    if problems:
        raise CandidateError("; ".join(problems[:8]))
    return Answer(
        output=values.get("output"),
        trace=tuple(values.get("trace") or ()),
        latency_ms=values.get("latency_ms"),
        cost=values.get("cost"),
        success_self_reported=values.get("success_self_reported"),
        diff=values.get("diff"),
        replacements=_edits(values.get("replacements")),
    )


def _edits(value: Any) -> tuple[Replacement, ...] | None:
    if isinstance(value, str):
        return read_replacements(value)
    return None if value is None else tuple(Replacement(**edit) for edit in value)


def _number_problem(name: str, value: object) -> str | None:
    return None if is_amount(value) else f'"{name}" must be a number from 0'


def _type_problem(name: str, values: Mapping[Any, Any], kind: type, expected: str) -> str | None:
    value = values.get(name)
    if value is None or type(value) is kind:
        return None
    return f'"{name}" must be {expected}, not {shown_type(value)}'


def _trace_problem(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or not all(isinstance(step, Mapping) for step in value):
        return '"trace" must be a list of mappings, one a step'
    return None


def _edits_problem(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None
    if not isinstance(value, Sequence):
        return '"replacements" must be a list, or a text of search/replace blocks'
    for count, edit in enumerate(value, 1):
        if not isinstance(edit, Mapping) or {*edit} - {_UNREADABLE} != {*_EDIT}:
            return f'replacement {count} must have "path", "search" and "replace", and no more'
        wrong = [name for name in edit if type(edit[name]) is not str]
        if wrong:
            return f"replacement {count}: {first_words(wrong)} must be a text"
    return None
