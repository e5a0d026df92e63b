"""How far each task has come, told from its files: what `task list`, `status` and `check` share."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labkit.bundle import read_draft
from labkit.errors import InputError
from labkit.fields import read_json
from labkit.model import TaskId
from labkit.suite import Suite, changed_fields, content_digest, field_digests
from labkit.tasks import Task
from labkit.workspace import Workspace
from labkit_grader.material import is_proven


class State(StrEnum):
    """A task's place on its way from a draft to the frozen suite."""

    BROKEN = "broken"
    """Its file cannot be read."""
    DRAFT = "draft"
    UNSOUND = "not sound"
    STALE = "stale"
    """It was proven, and the task, its prompt or its draft changed afterwards."""
    PROVEN = "proven"
    SEALED = "sealed"
    FROZEN = "frozen"
    EDITED = "edited"
    """It changed after it was sealed or frozen."""


NEXT: Mapping[State, str] = {
    State.BROKEN: "labkit task check",
    State.DRAFT: "labkit task validate",
    State.UNSOUND: "mend it, then labkit task validate",
    State.STALE: "labkit task validate",
    State.PROVEN: "labkit task seal",
    State.SEALED: "",
    State.FROZEN: "",
    State.EDITED: "labkit task check",
}
"""What brings a task on from each state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A task's state, and what is known of its tests and of its latest change."""

    state: State
    counts: Mapping[str, int]
    """What validation found: figures by name."""
    changed: tuple[str, ...] = ()
    """The fields that changed since it was proven, or frozen."""


def standing(workspace: Workspace, task: Task, suite: Suite | None) -> Standing:
    """Return how far a task has come."""
    path = workspace.validation(task.id)
    proof: dict[str, Any] = read_json(path, schema=1) if path.is_file() else {}
    content = content_digest(task.facts(), task.prompt)
    now = field_digests(task.facts(), task.prompt)
    frozen = suite.tasks.get(task.id) if suite else None
    if frozen is not None:
        state = State.FROZEN if frozen.content == content else State.EDITED
        then: Mapping[str, str] = frozen.fields
    else:
        state = _before_freezing(workspace, task.id, proof, content)
        then = proof.get("fields", {})
    changed = changed_fields(then, now) if state in (State.STALE, State.EDITED) else ()
    return Standing(state=state, counts=proof.get("counts", {}), changed=changed)


def _before_freezing(
    workspace: Workspace, task: TaskId, proof: Mapping[str, Any], content: str
) -> State:
    same = proof.get("content") == content
    if workspace.seal(task).is_file():
        return State.SEALED if same else State.EDITED
    if not proof:
        return State.DRAFT
    if not same:
        return State.STALE
    if not proof.get("valid"):
        return State.UNSOUND
    return State.PROVEN if _draft_is_proven(workspace, task, content) else State.STALE


def _draft_is_proven(workspace: Workspace, task: TaskId, content: str) -> bool:
    """Return whether the draft is the one that was proven; on another machine there is none."""
    folder = workspace.draft(task)
    try:
        return not folder.is_dir() or is_proven(read_draft(folder), content)
    except InputError:
        return False
