"""How the model's words look in one API: what `anthropic`, `responses`, `chat` and `gemini` fill.

Those modules know nothing of connections: they read a request's body and make JSON values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from labkit_runner.rehearsal.script import Fault, Turn

Body = Mapping[str, Any]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a streamed answer."""

    data: Json | str
    name: str = ""

    def encode(self) -> bytes:
        """Return it as it goes over the wire."""
        head = f"event: {self.name}\n" if self.name else ""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return f"{head}data: {data}\n\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One turn as it is said in answer to a request."""

    turn: Turn
    body: Body
    number: int
    """Of the request, from 1: the ids of the answer are made from it."""
    model: str

    def name(self, prefix: str, part: int = 0) -> str:
        """Return an id: the same in every play of the script."""
        return f"{prefix}{self.number:06d}{part:04d}"


class Speech(Protocol):
    """One API."""

    def history(self, body: Body) -> int:
        """Return how many turns of the model a request already holds."""
        ...

    def streamed(self, path: str, body: Body) -> bool:
        """Whether the answer is asked for as a stream."""
        ...

    def whole(self, reply: Reply) -> Json:
        """Return the answer in one piece."""
        ...

    def events(self, reply: Reply) -> tuple[Event, ...]:
        """Return the answer as a stream."""
        ...

    def error(self, fault: Fault) -> Json:
        """Return the body of an error."""
        ...

    def stream_error(self, fault: Fault) -> Event:
        """Return an error in the middle of a stream."""
        ...


def roles(messages: object, role: str) -> int:
    """Return how many messages of a list are of a role."""
    return sum(isinstance(each, dict) and each.get("role") == role for each in listed(messages))


def listed(value: object) -> list[Any]:
    """Return a value that should be a list as one."""
    return value if isinstance(value, list) else []
