"""The wire: what the gateway told of a run, line by line; the account that no agent can edit.

Every line is a JSON object with `kind` and `t`, seconds since the gateway was started. Texts are
masked before they are written. The kinds:

- `ready`: it listens. `metered` is false where it makes tunnels, whose content nobody can read.
- `part`: `digest`, `value`. A piece of a request (the system text, the tools, one message), told
  once; requests name it by its digest, or a run's log would grow with the square of its turns.
- `request`: `n` (from 1), `method`, `path`, `api`, `client`, `main` (whether it offers tools and so
  belongs to the agent's main conversation), `model`, `params`, `parts` (name to digests), `web`
  (names of the provider-side tools that it asked for, which were refused), `bytes`.
- `refused`: `method`, `target`, `why`. Nothing was sent on, or back where an answer held the key.
  `n` where a request was read; `method` and `target` are empty for what was no HTTP at all.
- `piece`: `n`, `text`. Some of an answer, as it came.
- `response`: `n`, `status` (of the model's API; null: it gave none), `outcome`, `seconds`,
  `first_byte` (seconds too), `usage` (null: the answer told of none), `cost` (null: not known),
  `model`, `stop`, `error` (`type`, `code`, `message`, `status`, and from its details `quota`, the
  names of the limits, and `retry_delay`), `web` (provider-side tools that were used all the same),
  `bytes`, `cut_bytes` (not recorded), `retry_after` (seconds, as the header says; null: nothing).
- `fingerprint`: of the first main request: `model`, `client`, digests of `system`, `tools`,
  `messages` (empty: there is none), and `params`, each by its dotted name. Ids, dates and cache
  marks, which differ from run to run, are left out.
- `connect`: `host`, `port`, `allowed`; a tunnel of a run that is paid by a subscription. Where it
  was made: `bytes` (`sent`, `received`) and `seconds`, else `why`. Nothing in it was read.
- `cap`: `which` (requests, failures, tokens, cost, idle, silence), `limit`. The run is over.
- `end`: the gateway was closed in good order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""Of tokens. `reasoning` is a part of `output`; the other four add up to all."""

_FIRST_ERROR = 400
_ENVELOPE = ("kind", "t", "n")


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
    ended: bool = False
    """Whether the gateway itself came to its end in good order."""

    @property
    def answered(self) -> int:
        """How many requests of the main conversation were answered: the turns."""
        return sum(each.main and each.outcome is Outcome.ANSWERED for each in self.exchanges)

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of all exchanges by kind."""
        known = [each.usage for each in self.exchanges if each.usage is not None]
        return {kind: sum(usage.get(kind, 0) for usage in known) for kind in KINDS}

    @property
    def tokens(self) -> int:
        """Tokens of all exchanges, in and out."""
        return sum(count for kind, count in self.usage.items() if kind != "reasoning")

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


def read_wire(lines: Iterable[bytes]) -> Wire:
    """Read the gateway's lines; a torn last one, as a killed gateway leaves, counts for nothing."""
    events = list(_events(lines))
    asked = {event["n"]: event for event in events if event["kind"] == "request"}
    closed = {event.get("n") for event in events if event["kind"] in ("response", "refused")}
    caps = [event["which"] for event in events if event["kind"] == "cap"]
    prints = [event for event in events if event["kind"] == "fingerprint"]
    return Wire(
        exchanges=tuple(
            _exchange(asked[event["n"]], event)
            for event in events
            if event["kind"] == "response" and event["n"] in asked
        ),
        pending=sum(bool(asked[number]["model"]) for number in asked.keys() - closed),
        refused=tuple(
            f"{event['method']} {event['target']}: {event['why']}"
            for event in events
            if event["kind"] == "refused"
        ),
        cap=caps[0] if caps else "",
        fingerprint={k: v for k, v in prints[0].items() if k not in _ENVELOPE} if prints else {},
        metered=all(event.get("metered", True) for event in events if event["kind"] == "ready"),
        ended=any(event["kind"] == "end" for event in events),
    )


def told(lines: Iterable[bytes]) -> tuple[dict[str, Any], ...]:
    """Return the gateway's lines as they are, without any that are torn."""
    return tuple(_events(lines))


def _events(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and "kind" in event:
                yield event


def _exchange(request: Mapping[str, Any], response: Mapping[str, Any]) -> Exchange:
    return Exchange(
        number=request["n"],
        main=request["main"],
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
    )


def _wait(header: str | None, error: Mapping[str, Any]) -> float | None:
    """Return the seconds that an answer asks to wait for, by its header or its error's details."""
    for told in (header, str(error.get("retry_delay", "")).removesuffix("s")):
        with suppress(TypeError, ValueError):
            seconds = float(told or "")
            if isfinite(seconds) and seconds >= 0:
                return seconds
    return None
