"""What the gateway is told before it starts: one JSON line on its standard input."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The bounds of one run; None: no bound."""

    requests: int | None = None
    """Answered requests of the main conversation: turns."""
    failures: int = 50
    """Requests of the main conversation in a row that were sent on and not answered."""
    tokens: int | None = None
    cost: float | None = None
    idle_seconds: float = 600.0
    silence_seconds: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the gateway knows of a run."""

    socket: str
    """Where it listens."""
    apis: tuple[str, ...]
    url: str
    secret: str = field(default="", repr=False)
    auth: str = ""
    """The header that the secret goes in: x-api-key, x-goog-api-key, or authorization (Bearer)."""
    mask: tuple[str, ...] = field(default=(), repr=False)
    """Further texts that must not stand in what is told."""
    caps: Caps = Caps()
    prices: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """By model: what a million tokens of each kind cost."""
    main: str = "tools"
    """Which requests are the agent's main conversation: those with tools, or any."""
    ca: str = ""
    """The certificates that upstream servers are checked by (PEM); empty: this machine's."""
    proxy: str = field(default="", repr=False)


def read_settings(line: bytes) -> Settings:
    """Read the line; raises ValueError, KeyError or TypeError when it is not what it has to be."""
    told: dict[str, Any] = json.loads(line)
    told["apis"] = tuple(told["apis"])
    told["mask"] = tuple(told.get("mask", ()))
    told["caps"] = Caps(**told.get("caps", {}))
    return Settings(**told)
