"""What is let through: nothing but the methods and paths of the configured APIs."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, urlencode

from labkit_runner.gateway.apis import APIS
from labkit_runner.gateway.apis.interface import Api, Route

_HERE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_QUERY = re.compile(r"[A-Za-z0-9._~%&=+,:-]*")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_MOST_PAIRS = 20
_KEYS = frozenset(("key", "api_key", "api-key", "apikey", "access_token", "oauth_token", "token"))
_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_DROPPED = _HOP | {
    "host",
    "content-length",
    "expect",
    "accept-encoding",
    "cookie",
    "cookie2",
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "x-goog-iam-authorization-token",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
}


class RefusedError(Exception):
    """A request is not sent on."""

    def __init__(self, why: str, *, status: int = 403) -> None:
        super().__init__(why)
        self.why = why
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where an allowed request goes."""

    api: Api
    route: Route
    path: str
    """As it was asked for."""
    onward: str
    """Path and query, to stand behind the provider's address."""


class Doors:
    """The ways out of one run."""

    def __init__(self, apis: Iterable[str]) -> None:
        self._apis = tuple(APIS[name] for name in apis)

    def find(self, method: str, target: str, hosts: Iterable[str]) -> Door:
        """Return where a request goes; raises RefusedError for all that is not foreseen."""
        if not target.startswith("/"):
            raise RefusedError("this is no proxy: only the model's API can be reached")
        if any(not _HERE.fullmatch(host) for host in hosts):
            raise RefusedError("no other host than the model's API can be reached")
        path, _, query = target.partition("?")
        for api in self._apis:
            for route in api.routes:
                if method == route.method and route.path.fullmatch(path):
                    onward = path.removeprefix(route.prefix) + _kept(query)
                    return Door(api=api, route=route, path=path, onward=onward)
        raise RefusedError("only the model's own methods and paths are let through")


def _kept(query: str) -> str:
    """Return a query without keys; raises RefusedError when it is none.

    Names with a dollar would override method and headers at some providers.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    plain = all(_NAME.fullmatch(name) and value.isprintable() for name, value in pairs)
    if not (plain and _QUERY.fullmatch(query) and len(pairs) <= _MOST_PAIRS):
        raise RefusedError("the query has what does not belong there")
    kept = [(name, value) for name, value in pairs if name.lower() not in _KEYS]
    if len(kept) == len(pairs):
        return f"?{query}" if query else ""
    return f"?{urlencode(kept)}" if kept else ""


def forwarded(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a client's headers as they are sent on: no keys, nothing of the connection's own."""
    pairs = list(headers)
    named = _named_by_connection(pairs)
    return [(k, v) for k, v in pairs if k.lower() not in _DROPPED and k.lower() not in named]


def returned(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return a server's headers as they are handed back."""
    pairs = list(headers)
    named = _named_by_connection(pairs) | _HOP | {"set-cookie", "alt-svc"}
    return [(k, v) for k, v in pairs if k.lower() not in named]


def wait_of(headers: Mapping[str, str]) -> str | None:
    """Return the seconds that a server's headers ask to wait for, as text; None: they do not.

    A header that names a time is taken against this machine's clock.
    """
    exact = headers.get("retry-after-ms", "")
    if exact.isdecimal():
        return f"{int(exact) / 1000:g}"
    told = headers.get("Retry-After")
    if told is None or told.strip().isdecimal():
        return told and told.strip()
    try:
        until = parsedate_to_datetime(told)
        return f"{max(0.0, until.timestamp() - time.time()):.0f}"
    except (ValueError, OverflowError, OSError):
        return told


def codings(accepted: str, known: Iterable[str]) -> str:
    """Return those of the codings that a client accepts which can be looked into here."""
    names = {each.partition(";")[0].strip().lower() for each in accepted.split(",")}
    return ", ".join(name for name in known if name in names) or "identity"


def _named_by_connection(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    values = [value for name, value in pairs if name.lower() == "connection"]
    return frozenset(each.strip().lower() for value in values for each in value.split(","))
