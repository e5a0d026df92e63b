"""Fingerprints of two configurations part by part, as plain values for programs and people."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from labkit.effects.pairs import name_of, pairs_of, parts_of, values_of
from labkit.model import ConfigurationId, RunId
from labkit.records import RunRecord

_EFFORT = re.compile(r"params\.(?:.*\.)?(?:reasoning_)?effort")


def compared(
    records: Iterable[RunRecord], one: ConfigurationId, other: ConfigurationId
) -> dict[str, Any]:
    """Return which parts of the first main request differ, in how many pairs of runs."""
    pairs = pairs_of(records, one, other)
    known = [pair for pair in pairs if pair.known]
    parts = sorted(
        {
            part
            for pair in known
            for record in (pair.one, pair.other)
            for part in parts_of(record.fingerprint)
        }
    )
    told = []
    for part in parts:
        differing = [pair for pair in known if part in pair.differing()]
        told.append(
            {
                "part": part,
                "name": name_of(part).removeprefix("the "),
                "differs": len(differing),
                "values": values_of(part, differing) if differing else "",
            }
        )
    return {"pairs": len(pairs), "known": len(known), "parts": told}


def first_pair(
    records: Iterable[RunRecord], one: ConfigurationId, other: ConfigurationId
) -> tuple[RunId, RunId] | None:
    """Return the first pair of runs of which the first requests are known."""
    known = (pair for pair in pairs_of(records, one, other) if pair.known)
    return next(((pair.one.run, pair.other.run) for pair in known), None)


def effort_of(fingerprint: Mapping[str, object]) -> str:
    """Return the effort that a request asks for, by the parameter's name; empty: none."""
    found = {name: text for name, text in parts_of(fingerprint).items() if _EFFORT.fullmatch(name)}
    return ", ".join(f"{name.partition('.')[2]}={text}" for name, text in sorted(found.items()))
