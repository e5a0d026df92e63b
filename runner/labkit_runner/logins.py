"""Personal subscriptions: the one file that an agent logs in with, read where its owner keeps it.

A subscription's token has to lie in the sandbox, because no gateway can add it. So it must be
treated as exposed: it is one person's own, for that person's own runs, and never a machine's.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from labkit.archive import Entry, Kind
from labkit.errors import InputError
from labkit.privatefile import read_private
from labkit.sandbox.interface import Halt, SidecarSandbox
from labkit_runner.agents.interface import Agent, Launch, Request
from labkit_runner.gateway.host import Gateway
from labkit_runner.gateway.tunnelhost import TunnelTerms, tunnels
from labkit_runner.job import Route
from labkit_runner.masking import Masker

_MOST_BYTES = 100_000
_SHORTEST = 20
_PART = 32
_OPEN = frozenset({"scopes", "subscriptionType", "rateLimitTier"})
"""Fields of login files that are no secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """What there is to know of an agent's subscriptions."""

    variable: str
    """Names the login file, where it is not at the usual place."""
    usual: str
    """Where the agent itself keeps the file, below the user's own folder."""
    inside: str
    """Where it looks for it, below HOME of a run."""
    tokens: tuple[str, ...]
    """The path of the access token in the file."""
    hosts: tuple[str, ...]
    revoke: str
    """How its owner makes the token worthless."""


VENDORS: Mapping[str, Vendor] = {
    "claude-code": Vendor(
        variable="LABKIT_LOGIN_CLAUDE",
        usual=".claude/.credentials.json",
        inside=".claude/.credentials.json",
        tokens=("claudeAiOauth", "accessToken"),
        hosts=("api.anthropic.com", "claude.ai", "platform.claude.com"),
        revoke="claude.ai, Settings, Claude Code: end the session; then log in again",
    ),
}
_UNBOUNDED = {
    "codex": "it has no turn limit of its own, and in the tunnels of a subscription nobody can "
    "count turns"
}
"""Why agents that have subscriptions cannot be run with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login file as it was read; nothing is ever written back."""

    agent: str
    path: Path
    data: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    expires: datetime | None

    @property
    def vendor(self) -> Vendor:
        """What there is to know of it."""
        return VENDORS[self.agent]

    @property
    def masker(self) -> Masker:
        """What takes its tokens out of everything that is kept."""
        return Masker(self.secrets)


def read_login(
    agent: str, environ: Mapping[str, str] = os.environ, *, home: Path, now: datetime
) -> Login:
    """Read the login file of an agent; raises InputError when it is none that can be used."""
    vendor = VENDORS.get(agent)
    if vendor is None:
        why = _UNBOUNDED.get(agent, "labkit knows no subscription for it")
        raise InputError(
            f"{agent} cannot be run with a subscription: {why}",
            hint=f"login: subscription is for {' and '.join(VENDORS)}; use login: key",
        )
    chosen = environ.get(vendor.variable, "")
    path = Path(chosen).expanduser() if chosen else home / vendor.usual
    _require_file(path, vendor, chosen=bool(chosen))
    data = read_private(path)
    values = _parsed(data, path)
    token = _found(values, vendor.tokens)
    if not isinstance(token, str) or not token:
        raise InputError(
            f"{path} holds no {'.'.join(vendor.tokens)}: it is no login of {agent}",
            hint=f"log in with {agent} itself, then try again; an API key belongs to login: key",
        )
    expires = _expiry(values)
    if expires is not None and expires <= now:
        raise InputError(
            f"the login in {path} ended on {expires:%Y-%m-%d %H:%M} UTC",
            hint=f"start {agent} once by yourself, so that it logs in anew",
        )
    secrets = tuple(dict.fromkeys(_secrets(values)))
    return Login(agent=agent, path=path, data=data, secrets=secrets, expires=expires)


def _require_file(path: Path, vendor: Vendor, *, chosen: bool) -> None:
    hint = f"log in with the agent itself, or name its file: export {vendor.variable}=FILE"
    try:
        found = path.stat()
    except OSError as error:
        where = f"{vendor.variable} names {path}" if chosen else f"there is no {path}"
        what = f", but there is no such file: {error.strerror}" if chosen else ""
        raise InputError(f"no login: {where}{what}", hint=hint) from error
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a file", hint=f"name the one file, no folder; {hint}")
    if found.st_size > _MOST_BYTES:
        raise InputError(f"{path} is too large for a login", hint=hint)


def _parsed(data: bytes, path: Path) -> dict[str, Any]:
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not JSON, so it is no login", hint="log in with the agent itself again"
        ) from error
    return values if isinstance(values, dict) else {}


def _found(values: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _expiry(values: dict[str, Any]) -> datetime | None:
    """Return when a login ends, as the file says in milliseconds; None where it does not say."""
    stated = _found(values, ("claudeAiOauth", "expiresAt"))
    try:
        return datetime.fromtimestamp(stated / 1000, UTC)
    except (TypeError, OverflowError, OSError, ValueError):
        return None


def _secrets(values: Any, name: str = "") -> Iterator[str]:
    """Yield every text of a login that must not be seen, and the parts that tokens are made of."""
    if name in _OPEN:
        return
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _secrets(value, key)
    elif isinstance(values, list):
        for value in values:
            yield from _secrets(value, name)
    elif isinstance(values, str) and len(values) >= _SHORTEST:
        yield values
        # The first part of a web token is the same for everybody's.
        yield from (part for part in values.split(".")[1:] if len(part) >= _PART)


@dataclass(frozen=True, slots=True)
class Subscribed:
    """An agent with its login file in the run's own folder."""

    agent: Agent
    login: Login

    def __getattr__(self, name: str) -> Any:
        """Everything else is the agent's own."""
        return getattr(self.agent, name)

    def launch(self, request: Request) -> Launch:
        """Return how the agent is started, with the one file beside its settings."""
        launch = self.agent.launch(request)
        path = self.login.vendor.inside.encode()
        file = Entry(path=path, kind=Kind.FILE, data=self.login.data)
        return replace(launch, home=(*launch.home, file))


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelRoute:
    """The way of a subscription: tunnels to the vendor's hosts."""

    sandbox: SidecarSandbox
    login: Login
    plain: Route
    """The way for those who need no login: a rehearsal."""

    def opened(self, wire: IO[bytes], halt: Halt) -> AbstractContextManager[Gateway]:
        """Open them for one run; see `Route`."""
        terms = TunnelTerms(hosts=self.login.vendor.hosts, mask=self.login.secrets)
        return tunnels(self.sandbox, terms, wire, halt)

    def to(self, url: str) -> Route:
        """Return the way to a model at another place, for which no login is needed."""
        return self.plain.to(url)


def warning(login: Login) -> str:
    """Return what people are told before a token goes into a sandbox."""
    return (
        f"the login {login.path} goes into the sandbox of every run: treat its token as exposed. "
        f"Revoke it when the runs are done: {login.vendor.revoke}"
    )
