"""Runs of two configurations side by side, and the parts of what their agents asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime

from labkit.model import ConfigurationId
from labkit.records import RunRecord

DATED = frozenset({"system", "messages"})
"""Parts in which agents write the date."""
_NAMES = {
    "client": "the client's name",
    "model": "the model asked for",
    "system": "the system prompt",
    "tools": "the tools",
    "messages": "the first messages",
}
_PARAMS = "params"
_DECLARED = "declared"
_DIGITS = 12
_LONGEST = 60
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One run of each of two configurations: the same task, the same attempt."""

    one: RunRecord
    other: RunRecord

    @property
    def known(self) -> bool:
        """Whether it is known of both what their model was asked."""
        return bool(self.one.fingerprint and self.other.fingerprint)

    @property
    def same_day(self) -> bool:
        """Whether both were begun on one day."""
        return day_of(self.one) == day_of(self.other)

    def differing(self) -> frozenset[str]:
        """Return the parts of the first request that differ."""
        one, other = parts_of(self.one.fingerprint), parts_of(self.other.fingerprint)
        return frozenset(
            part for part in one.keys() | other.keys() if one.get(part) != other.get(part)
        )


def pairs_of(
    records: Iterable[RunRecord], one: ConfigurationId, other: ConfigurationId
) -> tuple[Pair, ...]:
    """Return every pair of runs of two configurations, in the order of tasks and attempts."""
    found = {record.run: record for record in records}
    by_place: dict[tuple[str, int], dict[ConfigurationId, RunRecord]] = {}
    for run, record in sorted(found.items()):
        by_place.setdefault((str(run.task), run.attempt), {})[run.configuration] = record
    return tuple(
        Pair(one=sides[one], other=sides[other])
        for sides in by_place.values()
        if one in sides and other in sides
    )


def begun(record: RunRecord) -> datetime:
    """Return when a run was begun; a time without a zone is taken for UTC."""
    with suppress(ValueError):
        found = datetime.fromisoformat(record.started)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return datetime.min.replace(tzinfo=UTC)


def day_of(record: RunRecord) -> date:
    """Return the day on which a run was begun, as a machine on UTC would write it."""
    return begun(record).astimezone(UTC).date()


def sandbox_of(record: RunRecord) -> str:
    """Return the kind of sandbox; empty where a run by hand elsewhere only declares its own."""
    return "" if record.sandbox == _DECLARED else record.sandbox


def parts_of(fingerprint: Mapping[str, object]) -> dict[str, str]:
    """Return the parts of a fingerprint by name; each parameter is a part: `params.effort`."""
    return {name: text for key, value in fingerprint.items() for name, text in _flat(key, value)}


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and (name == _PARAMS or value):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}", inner)
    else:
        yield name, str(value)


def name_of(part: str) -> str:
    """Return a part in words."""
    if part.startswith(f"{_PARAMS}."):
        return f"the parameter {part.removeprefix(f'{_PARAMS}.')}"
    return _NAMES.get(part, part)


def values_of(part: str, pairs: Sequence[Pair]) -> str:
    """Return what two sides have of a part, as " (low against high)"; empty where it is long."""
    found = {
        (parts_of(pair.one.fingerprint).get(part), parts_of(pair.other.fingerprint).get(part))
        for pair in pairs
    }
    if part in ("system", "tools", "messages") or len(found) != 1:
        return ""
    one, other = found.pop()
    told = f" ({one or 'none'} against {other or 'none'})"
    return told if len(told) <= _LONGEST else ""


def one_line(text: str) -> str:
    """Return a text that agents may have shaped as one line that nothing obeys, not too long."""
    cut = text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}..."
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut)


def digits(value: str) -> str:
    """Return the beginning of a digest, and any other value as it is."""
    digest = value.rpartition(":")[2]
    is_digest = len(digest) > _DIGITS and all(letter in "0123456789abcdef" for letter in digest)
    return digest[:_DIGITS] if is_digest else value


def short(value: str) -> str:
    """Return a value for people: of a digest, its beginning; of bubblewrap's image, what it is.

    That one names the machine's own system, which is long, and the environment last.
    """
    system, *between = value.split("; ")
    return f"{between[-1]} on {system}" if between else digits(value)


def of_pairs(count: int, of: int) -> str:
    """Return "in 3 of 12 pairs of runs", "in the one pair of runs", "in all 12 pairs of runs"."""
    if count == of:
        few = {1: "in the one pair of runs", 2: "in both pairs of runs"}
        return few.get(of, f"in all {of} pairs of runs")
    return f"in {count} of {of} pairs of runs"
