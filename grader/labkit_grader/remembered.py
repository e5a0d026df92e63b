"""Proofs that need not be made again: what was found stays true while nothing it rests on changes.

The record lies in the draft as proof.json, names hidden tests as the draft does, and is never part
of a bundle: what is sealed must be the same each time the same draft is proven.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from labkit.fields import canonical_json, json_text
from labkit.sandbox.interface import Spec, Streams
from labkit_grader.execute import Bench
from labkit_grader.material import DAMAGED, Expected
from labkit_grader.oracles.interface import Case
from labkit_grader.repeats import Repeats
from labkit_grader.validate import Evidence

_SCHEMA = 1


_seen: dict[tuple[str, str], str] = {}


def environment_id(bench: Bench) -> str:
    """Return what the bench's sandbox runs in, as a sandbox itself tells it, once per process."""
    place = (bench.sandbox.name, bench.image)
    if place not in _seen:
        spec = Spec(
            argv=("true",),
            image=bench.image,
            returned="/report",
            limits=bench.limits,
            labels=bench.labels,
        )
        streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO())
        outcome, _ = bench.sandbox.run(spec, streams, lambda stream: stream.read())
        _seen[place] = outcome.image_digest
    return _seen[place]


def proof_key(bench: Bench, case: Case, repeats: Repeats, *, environment: str) -> str:
    """Return the digest of everything that a proof rests on, this kit's own files included."""
    solution = case.task.solution and case.repository.commit(case.task.solution).tree
    rests_on = {
        "task": case.task.facts(),
        "prompt": case.task.prompt,
        "draft": case.material.digest,
        "twin": case.twin and case.twin.facts(),
        "base": case.base.tree,
        "solution": solution,
        "sandbox": bench.sandbox.name,
        "environment": environment,
        "variables": dict(bench.variables),
        "limits": asdict(bench.limits),
        "repeats": asdict(repeats),
        "kit": kit_digest(),
    }
    return hashlib.sha256(canonical_json(rests_on)).hexdigest()


@cache
def kit_digest() -> str:
    """Return the digest of the kit's own code, so that a new kit proves everything again."""
    found = hashlib.sha256()
    for package in ("labkit", "labkit_grader"):
        _add(found, files(package), package)
    return found.hexdigest()


def _add(found: "hashlib._Hash", place: Traversable, name: str) -> None:
    for each in sorted(place.iterdir(), key=lambda one: one.name):
        path = f"{name}/{each.name}"
        if each.is_dir() and each.name != "__pycache__":
            _add(found, each, path)
        elif each.name.endswith(".py"):
            found.update(f"{path}\0{hashlib.sha256(each.read_bytes()).hexdigest()}\n".encode())


def record_text(evidence: Evidence, *, key: str, now: datetime) -> str:
    """Return proof.json for what was found just now."""
    return json_text(
        {
            "schema": _SCHEMA,
            "key": key,
            "at": now.isoformat(timespec="seconds"),
            "problems": list(evidence.problems),
            "notes": list(evidence.notes),
            **evidence.expected.values(),
            "counts": dict(evidence.counts),
            "repeats": evidence.repeats,
            "cheats": dict(evidence.cheats),
            "sandbox": evidence.sandbox,
        }
    )


def recall(text: bytes, case: Case, *, key: str) -> tuple[Evidence, datetime] | None:
    """Return the evidence that a record keeps for this very key, and when it was found.

    A record that is damaged or of another kit is none: the task is proven again.
    """
    try:
        kept: Mapping[str, Any] = json.loads(text)
        if (kept["schema"], kept["key"]) != (_SCHEMA, key):
            return None
        evidence = Evidence(
            case=case,
            problems=tuple(kept["problems"]),
            notes=tuple(kept["notes"]),
            expected=Expected.of(kept),
            counts=dict(kept["counts"]),
            repeats=int(kept["repeats"]),
            cheats=dict(kept["cheats"]),
            sandbox=str(kept["sandbox"]),
        )
        return evidence, datetime.fromisoformat(kept["at"])
    except DAMAGED:
        return None
