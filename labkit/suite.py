"""The frozen suite: one version number for everything that decides what is measured."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.errors import InputError, IntegrityError
from labkit.fields import canonical_json, json_text, read_json
from labkit.model import TaskId

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenTask:
    """What the suite pins of one task."""

    author: str
    content: str
    """SHA-256 of the task's facts and prompt."""
    commitment: str
    """Of the sealed oracle: the same content gives the same commitment."""
    ciphertext: str
    """SHA-256 of the sealed bundle as handed over."""
    canaries: tuple[str, ...]
    """SHA-256 of each canary token planted in the sealed files."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """A short digest of each field and of the prompt, to say later what has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """suite.json."""

    version: str
    frozen_at: str
    difference: str
    """The one thing that the configurations differ in."""
    configurations: Mapping[str, str]
    """SHA-256 of each configuration's facts, by id."""
    plan: str
    """SHA-256 of plan.csv."""
    tasks: Mapping[TaskId, FrozenTask]
    smoke: tuple[TaskId, ...] = ()
    """The tasks that were chosen before the first run to be run again later."""

    @property
    def canaries(self) -> dict[str, TaskId]:
        """Every published canary digest, with the task it belongs to."""
        return {digest: task for task, frozen in self.tasks.items() for digest in frozen.canaries}


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hex."""
    return hashlib.sha256(data).hexdigest()


def content_digest(facts: Mapping[str, Any], prompt: str) -> str:
    """Return the digest of what people can see of a task: its facts and its prompt."""
    return digest(canonical_json({"task": dict(facts), "prompt": prompt}))


def field_digests(facts: Mapping[str, Any], prompt: str) -> dict[str, str]:
    """Return a short digest of each of a task's fields and of its prompt."""
    values = {**facts, "prompt": prompt}
    return {name: digest(canonical_json(value))[:12] for name, value in values.items()}


def changed_fields(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the fields whose digests differ; none where nothing was noted then."""
    names = [*now, *(name for name in then if name not in now)]
    return tuple(name for name in names if then and then.get(name) != now.get(name))


def version(
    tasks: Mapping[TaskId, FrozenTask], rubric: Mapping[str, Any], environment: Mapping[str, Any]
) -> str:
    """Return the suite version: of any task, prompt, oracle, the rubric and the environment.

    It changes with nothing else. `environment` is what `labkit.environments.pinned` returns. It
    does not depend on the order of the tasks, on when or to whom they were sealed, or on how a
    file is written: line ends, quotes, comments, the order of its fields.
    """
    pinned = {str(task): [frozen.content, frozen.commitment] for task, frozen in tasks.items()}
    whole = {
        "schema": SCHEMA,
        "tasks": pinned,
        "rubric": dict(rubric),
        "environment": dict(environment),
    }
    return digest(canonical_json(whole))[:16]


def suite_text(suite: Suite) -> str:
    """Return suite.json's content."""
    return json_text(
        {
            "schema": SCHEMA,
            "version": suite.version,
            "frozen_at": suite.frozen_at,
            "difference": suite.difference,
            "configurations": dict(suite.configurations),
            "plan": suite.plan,
            "smoke": list(map(str, suite.smoke)),
            "tasks": {
                str(task): {
                    "author": frozen.author,
                    "content": frozen.content,
                    "commitment": frozen.commitment,
                    "ciphertext": frozen.ciphertext,
                    "canaries": list(frozen.canaries),
                    "fields": dict(frozen.fields),
                }
                for task, frozen in sorted(suite.tasks.items())
            },
        }
    )


def read_suite(path: Path) -> Suite:
    """Read suite.json; raises IntegrityError when it is damaged."""
    values = read_json(path, schema=SCHEMA)
    try:
        tasks = {
            TaskId(name): FrozenTask(**(entry | {"canaries": tuple(entry["canaries"])}))
            for name, entry in values["tasks"].items()
        }
        rest = {name: values[name] for name in ("version", "frozen_at", "difference", "plan")}
        smoke = tuple(map(TaskId, values.get("smoke", ())))
        return Suite(tasks=tasks, configurations=values["configurations"], smoke=smoke, **rest)
    except (KeyError, TypeError, AttributeError, InputError) as error:
        raise IntegrityError(f"{path} is damaged: {error}", hint="restore it from git") from error
