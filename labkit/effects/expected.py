"""What of the first request a declared difference must change, may change, and must not."""

import re
from dataclasses import dataclass, field

_ANY = re.compile("client|system|tools|messages|params.*", re.DOTALL)
_NONE = re.compile("(?!)")
_EFFORT = re.compile(r"params\..*(?:effort|reasoning|thinking|budget|verbosity).*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Of one declared field: patterns of the parts of the first request."""

    must: re.Pattern[str] = _NONE
    """One of these has to differ, or nothing was compared."""
    may: re.Pattern[str] = _NONE
    """These may differ: they are the difference itself."""
    along: re.Pattern[str] = _NONE
    """These may differ because the agent fits them to it; people should know."""
    missed: str = ""
    """What it means when nothing of `must` differs, in words."""
    shows: bool = False
    """Whether one expects to see something of it on the wire at all."""
    records: frozenset[str] = field(default_factory=frozenset)
    """What else of the records may differ: names of RunRecord's fields."""


_PROGRAM = frozenset({"agent", "agent_version", "binary_digest", "image_digest", "memory"})
_MADE = frozenset({"binary_digest", "image_digest"})
_FIELDS = {
    "model": Expected(
        must=re.compile("model"),
        # Agents tell a model its own name, some in the first message.
        along=re.compile("system|messages|tools|params.*", re.DOTALL),
        missed="the runs ask the same model",
    ),
    "effort": Expected(must=_EFFORT, missed="it did not reach the model"),
    "instructions": Expected(
        must=re.compile("system|messages"),
        missed="the agent does not read these files, or sees the same as before",
        records=frozenset({"memory"}),
    ),
    "agent": Expected(may=_ANY, shows=True, records=_PROGRAM),
    "agent_version": Expected(may=_ANY, shows=True, records=_PROGRAM - {"agent"}),
    "install": Expected(may=_ANY, shows=True, records=_MADE | {"agent_version"}),
    "command": Expected(may=_ANY, shows=True, records=_MADE | {"agent_version"}),
    "callable": Expected(may=_ANY, shows=True),
    "arguments": Expected(may=_ANY, shows=True),
    "settings": Expected(may=_ANY, shows=True),
    "provider": Expected(may=re.compile("model|client|params.*", re.DOTALL)),
    "login": Expected(may=_ANY, records=frozenset({"login"})),
    "turn_cap": Expected(along=re.compile("system|messages")),
}


def expected_of(name: str) -> Expected:
    """Return what a field of a configuration may do, by its name in `compared`."""
    return _FIELDS.get(name.partition(".")[0], Expected(may=_ANY))
