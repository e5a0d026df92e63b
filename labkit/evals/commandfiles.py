"""What a command is given of a sample, and how its answer is read: the same in every place.

It is given a file of JSON and the sample's folder. Its answer is what it prints, or what it writes
to another file of JSON. In a sandbox the two lie at /labkit/input.json and /labkit/answer.json.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from labkit.errors import InputError
from labkit.evals.answerfile import CandidateError, read_answer
from labkit.evals.case import EvalCase
from labkit.evals.digests import plain
from labkit.evals.sample import Answer, Trial
from labkit.graders.values import MOST_CHARACTERS

INPUT, ANSWER = "input.json", "answer.json"
MOST_OUTPUT = MOST_CHARACTERS
_HINTS = {126: ", not executable", 127: ", command not found"}
_TAIL = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a command that ended by itself has left."""

    stdout: bytes
    cut: bool
    """Whether it printed more than was kept."""
    answer: bytes | None
    """What it wrote to its answer file; None: there is none."""
    seconds: float


def command_words(command: str | Sequence[str]) -> tuple[str, ...]:
    """Return what to start: a text is for the shell. Raises InputError for nothing."""
    words = ("sh", "-c", command) if isinstance(command, str) else tuple(command)
    if not words or not words[-1].strip() or any("\0" in word for word in words):
        raise InputError(
            "the command is empty" if words and "\0" not in "".join(words) else "no command",
            hint="write the command after the colon: cmd:python3 /labkit/scratch/agent.py",
        )
    return words


def input_file(case: EvalCase, trial: Trial) -> bytes:
    """Return the content of the input file: never the reference, and nothing of the grader."""
    try:
        inputs = plain(case.inputs, "the case's inputs")
    except InputError as error:
        raise CandidateError(error.message) from error
    values = {"case": case.id, "inputs": inputs, "seed": trial.seed, "number": trial.number}
    return json.dumps(values, indent=2).encode() + b"\n"


def variables(trial: Trial, *, given: str, answer: str) -> dict[str, str]:
    """Return what a command is told by its environment."""
    return {
        "LABKIT_SEED": str(trial.seed),
        "LABKIT_NUMBER": str(trial.number),
        "LABKIT_INPUT": given,
        "LABKIT_ANSWER": answer,
    }


def answer_of(left: Left) -> Answer:
    """Return the answer; raises CandidateError that says what is wrong with it."""
    answer = Answer() if left.answer is None else _from_file(left.answer)
    if answer.output is None:
        if left.cut:
            raise CandidateError(f"the command printed more than {MOST_OUTPUT:,} bytes")
        answer = replace(answer, output=left.stdout.decode(errors="replace"))
    if answer.latency_ms is None:
        answer = replace(answer, latency_ms=left.seconds * 1000)
    return answer


def _from_file(data: bytes) -> Answer:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        what = str(error) if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise CandidateError(f"{ANSWER} is not JSON: {what}") from error
    if not isinstance(values, Mapping):
        raise CandidateError(f"{ANSWER} must be a mapping with any of: output, trace, cost, ...")
    try:
        return read_answer(values)
    except CandidateError as error:
        raise CandidateError(f"{ANSWER}: {error.message}") from error


def failed(how: str, code: int | None, said: bytes, mend: str = "") -> CandidateError:
    """Return the error of a command that did not end in 0; `mend` says what may help."""
    text = said[-_TAIL:].decode(errors="replace").strip()
    shown = "".join(each if each.isprintable() or each in "\n\t" else "?" for each in text)
    hint = _HINTS.get(code or 0, "")
    mended = f" ({mend})" if mend else ""
    return CandidateError(
        f"the command {how}{hint}{mended}" + (f"; it said last:\n{shown}" if shown else "")
    )
