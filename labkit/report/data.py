"""The summary as data for machines: a stable schema, pinned by a test.

The names are those of `labkit.summary`; `docs/summary-json.md` says what each means.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from labkit.model import ConfigurationId, RunId, TaskId
from labkit.summary import Summary
from labkit.summary.earlier import SCHEMA
from labkit.summary.pool import Pool

POOL_SCHEMA = 1
_DIGITS = 9


def to_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as JSON's own types; what could not be estimated is None, never 0.

    Rates and differences are shares (0.5, not 50), sets of tasks and runs are lists of ids, floats
    carry nine significant digits, the same on every machine.
    """
    return {"schema": SCHEMA, **_plain(summary)}


def pool_json(pool: Pool) -> dict[str, Any]:
    """Return a pool of summaries as JSON's own types."""
    return {"schema": POOL_SCHEMA, **_plain(pool)}


def _plain(value: object) -> Any:
    match value:
        case TaskId() | ConfigurationId() | RunId() | Enum():
            return str(value)
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value
