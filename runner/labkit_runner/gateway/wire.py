"""The wire: what the gateway told of a run, line by line; the account that no agent can edit.

Every line is a JSON object with `kind` and `t`, seconds since the gateway was started. Texts are
masked before they are written. The kinds:

- `ready`: it listens. `metered` is false where it makes tunnels, whose content nobody can read.
- `part`: `digest`, `value`. A piece of a request (the system text, the tools, one message), told
  once; requests name it by its digest, or a run's log would grow with the square of its turns.
  What is very large is cut: then `cut` says by how much.
- `request`: `n` (from 1), `method`, `path`, `api`, `use` (generate, count, other), `client`, `main`
  (whether it offers tools and so belongs to the agent's main conversation; of an agent that asks
  for nothing beside it, whether it generates), `model`, `params`, `parts` (name to digests), `web`
  (names of the provider-side tools that it asked for, which were refused), `bytes`. Of one that was
  refused `digest` is told, and neither `params` nor `parts`. A parameter that is very large is told
  as its `digest`, `size` and `beginning`.
- `refused`: `method`, `target`, `why`. Nothing was sent on, or back where an answer held the key.
  `n` where a request was read; `method` and `target` are empty for what was no HTTP at all.
- `piece`: `n`, `text`. Some of an answer, as it came.
- `response`: `n`, `status` (of the model's API; null: it gave none), `outcome`, `seconds`,
  `first_byte` (seconds too), `usage` (null: the answer told of none), `cost` (null: not known),
  `model`, `stop`, `error` (`type`, `code`, `message`, `status`, and from its details `quota`, the
  names of the limits, and `retry_delay`), `web` (provider-side tools that were used all the same),
  `bytes`, `cut_bytes` (not recorded), `retry_after` (seconds, as the header says; null: nothing).
- `fingerprint`: of the first main request, and of the first other one before that; `main` tells
  which. `model`, `client`, digests of `system`, `tools`, `messages` (empty: there is none), and
  `params`, each by its dotted name. Ids, dates and cache marks, which differ from run to run, are
  left out.
- `connect`: `host`, `port`, `allowed`; a tunnel of a run that is paid by a subscription. Where it
  was made: `bytes` (`sent`, `received`) and `seconds`, else `why`. Nothing in it was read.
- `cap`: `which` (requests, failures, tokens, cost, idle, silence), `limit`. The run is over.
- `cut`: more than `limit` bytes were told. Nothing of requests and answers is from there on, only
  their numbers.
- `end`: the gateway was closed in good order; `refused`: how many requests were, told or not.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite
from typing import Any

KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""Of tokens. `reasoning` is a part of `output`; the other four add up to all."""

_FIRST_ERROR = 400
_ENVELOPE = ("kind", "t", "n", "main")
_MOST_REFUSED = 1000


class Outcome(StrEnum):
    """How one exchange ended."""

    ANSWERED = "answered"
    ERROR = "error"
    """The model's API answered with an error."""
    CUT = "cut"
    """The answer ended in good order before its end."""
    DROPPED = "dropped"
    """The connection broke in the middle of the answer."""
    SILENT = "silent"
    UNREACHABLE = "unreachable"
    ABANDONED = "abandoned"
    """The agent did not wait for the end of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came of it."""

    number: int
    main: bool
    generates: bool = True
    """Whether the model was asked for an answer, and not for its name or a count."""
    model: str
    outcome: Outcome
    status: int | None = None
    seconds: float = 0.0
    first_byte: float | None = None
    """After how many seconds the answer began; None: it did not."""
    usage: Mapping[str, int] | None = None
    """Tokens by kind; None when the answer told of none."""
    cost: float | None = None
    stop: str = ""
    """Why the model stopped, in the API's own word."""
    error: Mapping[str, str] = field(default_factory=dict)
    """`type`, `code` and `message` of an error, as far as the API told them."""
    web: tuple[str, ...] = ()
    client: str = ""
    """Who asked, by its own word: the user agent."""
    called: bool | None = None
    """Whether the answer asked for a tool; None is not known: see `answers.with_calls`."""
    retry_after: float | None = None
    """Seconds that the model's API asks to wait for; None: it asks for nothing."""

    @property
    def is_free(self) -> bool:
        """Whether it used nothing, though no answer told so: it was refused, or never arrived."""
        refused = self.outcome is Outcome.ERROR and (self.status or 0) >= _FIRST_ERROR
        return refused or self.outcome is Outcome.UNREACHABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Everything that the gateway told of one run."""

    exchanges: tuple[Exchange, ...] = ()
    pending: int = 0
    """How many requests were sent on, and the gateway was gone before it told what came of it."""
    refused: tuple[str, ...] = ()
    """What was not let through, one sentence each."""
    cap: str = ""
    """Which bound ended the run: requests, failures, tokens, cost, idle, silence; empty: none."""
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    metered: bool = True
    """Whether requests could be read and counted: not in the tunnels of a subscription."""
    is_cut: bool = False
    """Whether it told too much: from some point on only numbers are told."""
    ended: bool = False
    """Whether the gateway itself came to its end in good order."""

    @property
    def answered(self) -> int:
        """How many requests of the main conversation were answered: the turns."""
        return sum(each.main and each.outcome is Outcome.ANSWERED for each in self.exchanges)

    @property
    def usage(self) -> dict[str, int] | None:
        """Tokens of all exchanges by kind; None when that of one is not known."""
        if self.pending or any(each.usage is None and not each.is_free for each in self.exchanges):
            return None
        known = [each.usage for each in self.exchanges if each.usage is not None]
        return {kind: sum(usage.get(kind, 0) for usage in known) for kind in KINDS}

    @property
    def tokens(self) -> int | None:
        """Tokens of all exchanges, in and out; None when those of one are not known."""
        usage = self.usage
        if usage is None:
            return None
        return sum(count for kind, count in usage.items() if kind != "reasoning")

    @property
    def cost(self) -> float | None:
        """What all exchanges cost; None when that of one is not known: unknown is not 0.

        What reached the model and does not tell what it used has cost something: an answer that
        broke off, too. A refusal has not.
        """
        costs = [each.cost for each in self.exchanges if each.usage is not None or not each.is_free]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) and not self.pending else None

    @property
    def last(self) -> Exchange | None:
        """The last exchange of the main conversation."""
        return next((each for each in reversed(self.exchanges) if each.main), None)

    @property
    def final(self) -> Exchange | None:
        """The one that shows how the run ended: the last of the main conversation if there is one.

        An agent that labkit does not know to have a main conversation has only others.
        """
        return self.last or next(reversed(self.exchanges), None)


class Reader:
    """Reads the gateway's lines as they come, and keeps no more of them than a Wire has."""

    def __init__(self) -> None:
        self._asked: dict[int, dict[str, Any]] = {}
        """Requests that nothing is told of yet."""
        self._exchanges: list[Exchange] = []
        self._refused: dict[str, None] = {}
        self._caps: list[str] = []
        self._prints: dict[bool, dict[str, Any]] = {}
        self._flags: set[str] = set()
        self._is_metered = True

    def take(self, event: Mapping[str, Any]) -> None:
        """Take the next one."""
        match event["kind"]:
            case "request" | "response" | "refused":
                self._take_exchange(event)
            case "cap":
                self._caps.append(event["which"])
            case "fingerprint":
                told = {name: value for name, value in event.items() if name not in _ENVELOPE}
                self._prints.setdefault(event.get("main", True), told)
            case "ready":
                self._is_metered = self._is_metered and event.get("metered", True)
            case "end" | "cut":
                self._flags.add(event["kind"])
            case _:
                pass

    def _take_exchange(self, event: Mapping[str, Any]) -> None:
        asked = self._asked.pop(event.get("n", 0), None)
        if event["kind"] == "request":
            names = ("n", "main", "use", "model", "client")
            self._asked[event["n"]] = {name: event.get(name) for name in names}
        elif event["kind"] == "response" and asked is not None:
            self._exchanges.append(_exchange(asked, event))
        elif event["kind"] == "refused" and len(self._refused) < _MOST_REFUSED:
            self._refused.setdefault(f"{event['method']} {event['target']}: {event['why']}")

    @property
    def wire(self) -> Wire:
        """Everything so far."""
        exchanges = self._exchanges
        if not any(each.main for each in exchanges):
            # An agent that offers no tools: all that it asked is its conversation.
            exchanges = [replace(each, main=each.generates) for each in exchanges]
        return Wire(
            exchanges=tuple(exchanges),
            pending=sum(bool(each["model"]) for each in self._asked.values()),
            refused=tuple(self._refused),
            cap=self._caps[0] if self._caps else "",
            fingerprint=self._prints.get(True) or self._prints.get(False) or {},
            metered=self._is_metered,
            is_cut="cut" in self._flags,
            ended="end" in self._flags,
        )


def read_wire(lines: Iterable[bytes]) -> Wire:
    """Read the gateway's lines; a torn last one, as a killed gateway leaves, counts for nothing."""
    reader = Reader()
    for event in told(lines):
        reader.take(event)
    return reader.wire


def told(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield what the lines tell, without any that are torn."""
    for line in lines:
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and "kind" in event:
                yield event


def _exchange(request: Mapping[str, Any], response: Mapping[str, Any]) -> Exchange:
    return Exchange(
        number=request["n"],
        main=request["main"],
        generates=(request["use"] or "generate") == "generate",
        model=request["model"] or "",
        outcome=Outcome(response["outcome"]),
        status=response["status"],
        seconds=response["seconds"],
        first_byte=response.get("first_byte"),
        usage=response["usage"],
        cost=response["cost"],
        stop=response["stop"] or "",
        error={name: str(text) for name, text in (response["error"] or {}).items() if text},
        web=tuple(response["web"]),
        retry_after=_wait(response.get("retry_after"), response["error"] or {}),
        client=request.get("client") or "",
    )


def _wait(header: str | None, error: Mapping[str, Any]) -> float | None:
    """Return the seconds that an answer asks to wait for, by its header or its error's details."""
    for told in (header, str(error.get("retry_delay", "")).removesuffix("s")):
        with suppress(TypeError, ValueError):
            seconds = float(told or "")
            if isfinite(seconds) and seconds >= 0:
                return seconds
    return None
