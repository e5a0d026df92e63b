"""A summary.json of another study, read back as far as two studies can be put together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.errors import InputError, LabkitError
from labkit.fields import read_json
from labkit.model import ConfigurationId, TaskId
from labkit.summary.evidence import Attempts

SCHEMA = 2
"""Of summary.json: a new name does not raise it, a name that goes or means something else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What a summary.json says of its tasks."""

    place: str
    """The file, for messages."""
    team: str
    suite_version: str
    difference: str
    configurations: Mapping[ConfigurationId, str]
    """Each with its description."""
    digests: Mapping[TaskId, str]
    """Every task that counts, and what tells whether it is the same elsewhere."""
    attempts: Mapping[ConfigurationId, Attempts]


def read_earlier(path: Path) -> Earlier:
    """Read a summary.json; raises a LabkitError that names the file when it is not one."""
    if not path.is_file():
        raise InputError(f"no file {path}", hint="give the path of a summary.json")
    values = read_json(path, schema=SCHEMA)
    try:
        return _earlier(path, values)
    except (KeyError, TypeError, AttributeError, ValueError, LabkitError) as error:
        what = error.message if isinstance(error, LabkitError) else _what(error)
        raise InputError(
            f"{path} is not a whole summary: {what}",
            hint="take the summary.json that labkit summary wrote, as it is",
        ) from error


def _what(error: Exception) -> str:
    return f'there is no "{error.args[0]}"' if isinstance(error, KeyError) else str(error)


def _earlier(path: Path, values: dict[str, Any]) -> Earlier:
    rows = values["tasks"]
    configurations = {
        ConfigurationId(_text(side["id"])): _text(side["description"])
        for side in values["configurations"]
    }
    return Earlier(
        place=str(path),
        team=_text(values["team"]),
        suite_version=_text(values["suite_version"]),
        difference=_text(values["difference"]),
        configurations=configurations,
        digests={TaskId(_text(row["task"])): _text(row["digest"]) for row in rows},
        attempts={which: dict(_attempts(rows, which)) for which in configurations},
    )


def _attempts(
    rows: list[dict[str, Any]], which: ConfigurationId
) -> Iterator[tuple[TaskId, tuple[bool | None, ...]]]:
    for row in rows:
        found = row["attempts"].get(str(which), [])
        if not isinstance(found, list) or not all(_is_outcome(passed) for passed in found):
            raise ValueError(f"the attempts at {row['task']} are no list of true, false and null")
        if found:
            yield TaskId(row["task"]), tuple(found)


def _is_outcome(value: object) -> bool:
    return value is None or isinstance(value, bool)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:40]!r} is no text")
    return value
