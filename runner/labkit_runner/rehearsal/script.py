"""The script that the rehearsal's model plays: its turns, and what goes wrong on the way.

turns:
  - text: "I look first."
    calls: [{name: Bash, input: {command: "ls"}}]
    usage: {input: 1000, output: 50}
  - text: "Done."
faults:
  - {kind: status, turn: 1, times: 2, status: 429, headers: {retry-after: "1"}}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from labkit.fields import Document, Fields


class FaultKind(StrEnum):
    """What can go wrong with an answer."""

    STATUS = "status"
    """An error of the API: `status`, `headers`, `type`, `code`, `message`."""
    HANG = "hang"
    """Nothing at all for `seconds`."""
    DROP = "drop"
    """The connection is reset in the middle of the answer."""
    CUT = "cut"
    """The answer ends in good order before its end, as a proxy may leave it."""
    REFUSE = "refuse"
    """The connection is closed without an answer."""
    STREAM_ERROR = "stream_error"
    """An error in the middle of an answer that began well: `type`, `code`, `message`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an answer says that it used, in tokens. `reasoning` is a part of `output`."""

    input: int = 1000
    output: int = 50
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model asks for."""

    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    raw: str = ""
    """What a tool of free text is given instead, as Codex's `apply_patch` is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop: str = ""
    """Why it stops, in the API's own word; empty: the usual one."""
    seconds: float = 0.0
    """How long it thinks before it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with requests of the main conversation, instead of an answer."""

    kind: FaultKind
    turn: int | None = None
    """Which turn goes wrong, from 0; None: every one."""
    times: int | None = None
    """How many requests go wrong; None: every one."""
    status: int = 500
    type: str = ""
    code: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Everything that the model will say."""

    turns: tuple[Turn, ...]
    loop: bool = False
    """Whether the last turn is said for ever; otherwise the model has nothing more to say."""
    side: Turn = Turn(text="ok")
    """What is said to a request that is not of the main conversation."""
    main_text: str = ""
    """What a request holds beside tools when it is of the main conversation; empty: tools do."""
    faults: tuple[Fault, ...] = ()

    def turn(self, number: int) -> Turn:
        """Return a turn, counted from 0."""
        if number < len(self.turns):
            return self.turns[number]
        return self.turns[-1] if self.loop else Turn(text="Nothing more to do.")


def read_script(path: Path) -> Script:
    """Read a script from YAML or JSON; raises InputError with every problem in it."""
    document = Document.read(path)
    turns = tuple(_turn(each) for each in document.mappings("turns"))
    if not turns:
        document.problem("turns", "there are no turns")
    side = document.mapping("side")
    script = Script(
        turns=turns,
        loop=document.flag("loop"),
        side=_turn(side) if side.names() else Turn(text="ok"),
        main_text=document.text("main_text", default=""),
        faults=tuple(_fault(each) for each in document.mappings("faults")),
    )
    document.finish(hint=f"mend {path}")
    return script


def _turn(fields: Fields) -> Turn:
    turn = Turn(
        text=fields.text("text", default=""),
        calls=tuple(_call(each) for each in fields.mappings("calls")),
        usage=_usage(fields.mapping("usage")),
        stop=fields.text("stop", default=""),
        seconds=fields.number("seconds", default=0.0),
    )
    fields.done()
    return turn


def _call(fields: Fields) -> ToolCall:
    given = fields.value("input")
    if given is not None and not isinstance(given, dict):
        fields.problem("input", '"input" must be a mapping of names to values')
    call = ToolCall(
        name=fields.filled("name"),
        input=given if isinstance(given, dict) else {},
        raw=fields.text("raw", default=""),
    )
    fields.done()
    return call


def _usage(fields: Fields) -> Usage:
    usual = Usage()
    usage = Usage(
        input=fields.whole("input", default=usual.input),
        output=fields.whole("output", default=usual.output),
        cache_read=fields.whole("cache_read", default=usual.cache_read),
        cache_write=fields.whole("cache_write", default=usual.cache_write),
        reasoning=fields.whole("reasoning", default=usual.reasoning),
    )
    fields.done()
    return usage


def _fault(fields: Fields) -> Fault:
    headers = fields.mapping("headers")
    fault = Fault(
        kind=FaultKind(fields.word("kind", list(FaultKind), instead=FaultKind.STATUS)),
        turn=fields.whole("turn", default=0) if "turn" in fields else None,
        times=fields.whole("times", default=1, low=1) if "times" in fields else None,
        status=fields.whole("status", default=500, low=400),
        type=fields.text("type", default=""),
        code=fields.text("code", default=""),
        message=fields.text("message", default=""),
        headers={name: headers.text(name) for name in headers.names()},
        seconds=fields.number("seconds", default=600.0),
    )
    fields.done()
    return fault
