"""The first requests of two runs side by side: the lines in which their parts differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from labkit.cli.lab import Lab
from labkit.effects import first_pair
from labkit.model import ConfigurationId
from labkit.records import RunRecord
from labkit_runner.gateway.wire import told

_MOST = 10
_LONGEST = 120
_HEAD = 2
"""Lines with the names of both sides, where anything differs."""


def apart(
    lab: Lab, records: Sequence[RunRecord], names: tuple[ConfigurationId, ConfigurationId]
) -> dict[str, Any] | None:
    """Return the lines that differ, by part, of one pair of runs; None where none is known.

    The first pair whose first requests are both known is taken.
    """
    runs = first_pair(records, *names)
    if runs is None:
        return None
    one, other = (_first(lab.workspace.run(run) / "wire.jsonl") for run in runs)
    parts = {
        part: list(_lines(one.get(part, ""), other.get(part, "")))
        for part in dict.fromkeys((*one, *other))
    }
    found = {part: lines for part, lines in parts.items() if lines}
    return {"runs": list(map(str, runs)), "parts": found} if found else None


def _first(wire: Path) -> Mapping[str, str]:
    """Return the texts of the first main request by part; nothing where the wire is not here."""
    if not wire.is_file():
        return {}
    values: dict[str, Any] = {}
    wanted: Mapping[str, Sequence[str]] = {}
    with wire.open("rb") as lines:
        for event in told(lines):
            if event["kind"] == "part" and "digest" in event:
                values[event["digest"]] = event.get("value", "")
            elif event["kind"] == "request" and event.get("main") and not wanted:
                wanted = event.get("parts") or {}
    return {
        name: "\n".join(_text(values.get(digest, "")) for digest in digests)
        for name, digests in wanted.items()
    }


def _text(value: Any) -> str:
    """Return a part as lines for people: texts as they are, all else as readable JSON."""
    match value:
        case str():
            return value
        case {"text": str(text)}:
            return text
        case {"content": list(blocks)} | list(blocks):
            return "\n".join(map(_text, blocks))
        case {"content": str(text)}:
            return text
        case _:
            return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)


def _lines(one: str, other: str) -> Iterator[str]:
    """Yield the first lines that differ, shortened, and how many more there are."""
    compared = unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
    changed = [line for line in list(compared)[_HEAD:] if not line.startswith("@@")]
    for line in changed[:_MOST]:
        yield line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    if len(changed) > _MOST:
        yield f"and {len(changed) - _MOST} more"
