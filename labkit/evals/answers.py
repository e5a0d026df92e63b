"""What a candidate handed in, made plain: it may be anything, and nothing in it is trusted."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from labkit.errors import InputError
from labkit.evals.digests import plain
from labkit.evals.sample import Answer, Replacement
from labkit.graders.values import raised, shown_type

_LONGEST_OUTPUT = 1_000_000
_LONGEST_TRACE = 100_000
_LARGEST_AMOUNT = 1e100
"""Of a cost or a time: such as can still be added up."""
_UNFINISHED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "a coroutine": (inspect.isawaitable, "call it with asyncio.run in a plain function"),
    "a generator": (inspect.isgenerator, "return the answer instead of yielding it"),
    "an async generator": (inspect.isasyncgen, "return the answer instead of yielding it"),
}
"""What comes of a function that was called and has not begun."""


def read(found: object) -> Answer | str:
    """Return what a candidate returned as an answer, or why it is none. Never raises."""
    try:
        if not isinstance(found, Answer):
            return _unfinished(found) or Answer(output=found)
        return _malformed(found) or _plain_answer(found)
    except Exception as error:  # noqa: BLE001 - a value's own code may do anything
        return f"the answer cannot be read: {raised(error)}"


def _unfinished(found: object) -> str:
    for what, (is_it, hint) in _UNFINISHED.items():
        if is_it(found):
            if inspect.iscoroutine(found):
                found.close()  # or Python warns that nobody awaited it
            return f"the candidate returned {what}: {hint}"
    return ""


def _plain_answer(answer: Answer) -> Answer:
    """Return an answer that was found well formed, with nothing of a subclass left in it."""
    trace = plain(list(answer.trace), "trace")
    return Answer(
        output=answer.output,
        trace=tuple(cast("list[Mapping[str, Any]]", trace)),
        latency_ms=answer.latency_ms,
        cost=answer.cost,
        success_self_reported=answer.success_self_reported,
        diff=None if answer.diff is None else str.__str__(answer.diff),
        replacements=None if answer.replacements is None else tuple(answer.replacements),
    )


def _malformed(answer: Answer) -> str:
    """Return what is wrong with the plain parts of an answer; empty when nothing is."""
    problems = (
        (f"cost is {_shown_amount(answer.cost)}", not is_amount(answer.cost)),
        (f"latency_ms is {_shown_amount(answer.latency_ms)}", not is_amount(answer.latency_ms)),
        (
            "success_self_reported is neither True, False nor None",
            type(answer.success_self_reported) not in (bool, type(None)),
        ),
        ("diff is no text", not isinstance(answer.diff, str | None)),
        ("replacements are no list of Replacement", not _are_replacements(answer.replacements)),
        ("both a diff and replacements", answer.diff is not None and answer.replacements),
        ("trace is no list of mappings", not _is_trace(answer.trace)),
    )
    return next((f"the answer is malformed: {what}" for what, wrong in problems if wrong), "")


def _shown_amount(value: object) -> str:
    """Say what is wrong with what is no amount."""
    if type(value) not in (int, float):
        return f"{shown_type(value)}, and no number"
    return "negative" if value < 0 else "no finite amount"  # type: ignore[operator]


def is_amount(value: object) -> bool:
    """Return whether a value is a number that can be added up, or missing."""
    if value is None:
        return True
    return type(value) in (int, float) and 0 <= value <= _LARGEST_AMOUNT  # type: ignore[operator]


def _are_replacements(value: object) -> bool:
    return value is None or (
        isinstance(value, list | tuple) and all(type(each) is Replacement for each in value)
    )


def _is_trace(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) > _LONGEST_TRACE:
        return False
    return all(isinstance(step, dict) for step in value) and _is_plain(list(value))


def _is_plain(value: object) -> bool:
    try:
        plain(value, "value")
    except InputError:
        return False
    return True


def kept_output(value: object) -> object:
    """Return an output as a file can hold it: plain values, or the `repr` of anything else.

    Longer than a million characters, it is cut.
    """
    if type(value) is str:
        return value if len(value) <= _LONGEST_OUTPUT else f"{value[:_LONGEST_OUTPUT]}..."
    try:
        if value is None or type(value) in (bool, int, float):
            return value if _is_plain(value) else repr(value)
        if _is_plain(value) and len(text := repr(value)) <= _LONGEST_OUTPUT:
            return plain(value, "output")
        text = repr(value)
    except Exception:  # noqa: BLE001 - an object's own `__repr__` may do anything
        return f"<a value of type {type(value).__name__}>"
    return text if len(text) <= _LONGEST_OUTPUT else f"{text[:_LONGEST_OUTPUT]}..."
