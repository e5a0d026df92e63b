"""The transcript of the scripted agent: one JSON object a line, from `start` to `finish`.

An event is a whole line. What a command printed stands inside a JSON string, so a forged event in
it stays what it is: output.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from labkit.transcripts.lines import clean, json_object, numbered, shortened
from labkit.transcripts.model import Call, Step, Transcript

NAME = "scripted"
_ENDS = ("finish", "exit")
_FILE_EVENTS = ("edit", "write", "delete")
# How the player marks what it left out of a very long output.
_CUT = re.compile(r"^\[\.\.\. \d+ cut \.\.\.\]$", re.MULTILINE)


class Scripted:
    """Reads what the player of scripted steps writes to its standard output.

    The player of callables writes the same events under its own name.
    """

    def __init__(self, name: str = NAME) -> None:
        self.name = name

    def claims(self, first_lines: bytes) -> bool:
        """Whether the first line is the player's own start event."""
        return _is_start(json_object(first_lines.split(b"\n", 1)[0]), self.name)

    def read(self, data: bytes) -> Transcript:
        """Read every line; what is not an event of this format becomes a gap."""
        reading = _Reading(self.name)
        for number, line in numbered(data):
            reading.take(number, line)
        return reading.result()


def _is_start(event: dict[str, Any] | None, name: str) -> bool:
    return event is not None and event.get("type") == "start" and event.get("agent") == name


@dataclass(slots=True)
class _Reading:
    """What has been read so far."""

    name: str
    steps: list[Step] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    cwd: str | None = None
    started: bool = False
    ended: bool = False
    overrun: bool = False
    """Whether something stands after the end: then it was not the end, or a forged one."""
    last_words: str = ""

    def take(self, number: int, line: bytes) -> None:
        event = json_object(line)
        if self.ended:
            self.overrun = True
            self.gaps.append(f"line {number} stands after the end")
        elif event is None:
            self.gaps.append(f"line {number} is not a whole JSON object")
        elif _is_start(event, self.name) and not self.started:
            self.started = True
            self.cwd = _text(event, "cwd")
        else:
            self._take_step(number, event)

    def _take_step(self, number: int, event: dict[str, Any]) -> None:
        if not self.started:
            self.gaps.append(f"line {number} stands before the start")
        step = _step(number, event, self.cwd)
        if step is None:
            self.gaps.append(f"line {number} is not an event of this format")
            return
        self.steps.append(step)
        self.last_words = step.text or self.last_words
        self.ended = event.get("type") in _ENDS

    def result(self) -> Transcript:
        unanswered = [
            f"line {step.line}: the call has no whole result"
            for step in self.steps
            if not all(call.complete for call in step.calls)
        ]
        gaps = [*self.gaps, *unanswered]
        return Transcript(
            format=self.name,
            steps=tuple(self.steps),
            final_message=self.last_words,
            turns=len(self.steps),
            ended=self.ended and not self.overrun,
            gaps=shortened(gaps),
        )


def _step(number: int, event: dict[str, Any], cwd: str | None) -> Step | None:
    kind = event.get("type")
    if kind in ("say", "finish"):
        text = _text(event, "text")
        return None if text is None else Step(line=number, text=text)
    if kind == "exit":
        return Step(line=number)
    if kind == "run":
        call = _run(event, cwd)
    elif kind in _FILE_EVENTS:
        call = _file_event(event, cwd)
    else:
        return None
    return None if call is None else Step(line=number, calls=(call,))


def _run(event: dict[str, Any], cwd: str | None) -> Call | None:
    command = _text(event, "command")
    if command is None:
        return None
    output = _text(event, "output")
    code = event.get("exit_code")
    complete = output is not None and isinstance(code, int)
    return Call(
        tool="shell",
        command=command,
        cwd=cwd,
        output=output or "",
        failed=code != 0,
        complete=complete and not _CUT.search(output or ""),
    )


def _file_event(event: dict[str, Any], cwd: str | None) -> Call | None:
    path = _text(event, "path")
    if path is None:
        return None
    failed = event.get("ok") is False
    return Call(tool=str(event["type"]), writes=(path,), cwd=cwd, failed=failed)


def _text(event: dict[str, Any], name: str) -> str | None:
    value = event.get(name)
    return clean(value) if isinstance(value, str) else None
