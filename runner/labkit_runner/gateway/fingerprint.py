"""What the model was really given in a request, as one short name for each part of it.

Ids, dates and the like, which differ between two runs of the same configuration, are left out: what
differs in two fingerprints was differently configured, instructed or asked.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from labkit_runner.gateway.apis.interface import Asked
from labkit_runner.gateway.telling import digest

_IDS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b(?:msg|prt|ses|req|toolu|call|resp)_[0-9A-Za-z]{8,}"
    r"|/tmp/cc-socks/\d+\.sock"
    r"|\bcch=[0-9a-f]+"
    # The one commit of a run: its id depends on every file, whether the agent reads it or not.
    r"|\b[0-9a-f]{7,64}(?= base\b)"
)
_DATES = re.compile(
    r"((?:today's date|current date)(?: is)?:?[ \t]*|<current_date>|<current_time>)[^\n<]{1,60}",
    re.IGNORECASE,
)
_DROPPED = frozenset(
    ("metadata", "client_metadata", "prompt_cache_key", "cache_control", "stream", "id", "user")
)
_LONGEST = 400


def fingerprint(asked: Asked, client: str) -> dict[str, Any]:
    """Return the fingerprint of a request."""
    parts = {
        name: digest(_plain(list(values))) if values else "" for name, values in asked.parts.items()
    }
    params = _plain({name: value for name, value in asked.params.items() if name not in _DROPPED})
    return {"model": asked.model, "client": client, **parts, "params": dict(_flat(params))}


def _plain(value: Any) -> Any:
    match value:
        case str():
            return _DATES.sub(r"\1DATE", _IDS.sub("ID", value))
        case dict():
            return {name: _plain(each) for name, each in value.items() if name not in _DROPPED}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def _flat(params: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield parameters by their dotted names; what is very long, by the name of its content."""
    for name, value in sorted(params.items()):
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            long = len(str(value)) > _LONGEST
            yield f"{above}{name}", digest(value) if long else value
