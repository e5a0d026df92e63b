"""What must hold before the first run: the frozen suite unchanged, no hidden test readable here."""

import os

from labkit.configurations import Configuration
from labkit.corrections import read_corrections
from labkit.errors import IntegrityError, PhaseError
from labkit.evidence import unvouched_plans
from labkit.fields import canonical_json, first_words, read_bytes
from labkit.instructions import read_instructions
from labkit.model import TaskId
from labkit.readable import Known, still_readable
from labkit.suite import (
    FrozenTask,
    Suite,
    changed_fields,
    content_digest,
    digest,
    field_digests,
)
from labkit.tasks import Task
from labkit.workspace import Workspace


def require_unchanged(
    workspace: Workspace,
    suite: Suite,
    tasks: dict[TaskId, Task],
    configurations: tuple[Configuration, ...] | None,
) -> None:
    """Refuse to go on when anything that the suite pins is not what was frozen."""
    if changed := changed_since(workspace, suite, tasks, configurations):
        raise IntegrityError(
            f"changed since the suite was frozen: {first_words(changed)}",
            hint="undo the change; before the first run you can also freeze again: "
            "labkit task freeze --again",
        )


def changed_since(
    workspace: Workspace,
    suite: Suite,
    tasks: dict[TaskId, Task],
    configurations: tuple[Configuration, ...] | None,
) -> list[str]:
    """Return what is not as it was frozen: tasks with their fields, configurations, the plan.

    Configurations are not looked at where they are None.
    """
    changed = [
        f"task {task}{what}"
        for task, frozen in suite.tasks.items()
        if (what := task_change(frozen, tasks.get(task))) is not None
    ]
    changed += [f"task {task} (new)" for task in tasks if task not in suite.tasks]
    if configurations is not None:
        changed += _changed_configurations(workspace, suite, configurations)
    if digest(read_bytes(workspace.plan)) != suite.plan:
        changed.append("plan.csv")
    changed += [f"{name} (no log tells of it)" for name in unvouched_plans(workspace)]
    return changed


def _changed_configurations(
    workspace: Workspace, suite: Suite, configurations: tuple[Configuration, ...]
) -> list[str]:
    changed = [
        f"configuration {found.id}"
        for found in configurations
        if suite.configurations.get(str(found.id)) != configuration_digest(workspace, found)
    ]
    here = {str(found.id) for found in configurations}
    gone = [name for name in suite.configurations if name not in here]
    return changed + [f"configuration {name} (gone)" for name in gone]


def task_change(frozen: FrozenTask, task: Task | None) -> str | None:
    """Return what changed of a frozen task, in brackets where it is known; None: nothing did."""
    if task is None:
        return " (gone)"
    if content_digest(task.facts(), task.prompt) == frozen.content:
        return None
    names = changed_fields(frozen.fields, field_digests(task.facts(), task.prompt))
    return f" ({', '.join(names)})" if names else ""


def configuration_digest(workspace: Workspace, configuration: Configuration) -> str:
    """Return the digest of everything that shapes a configuration's runs, its files included.

    These are its step files, its instructions and the file of its callable.
    """
    configs = workspace.evals / "configs"
    steps: dict[str, str] = {}
    if configuration.steps:
        folder = configs / configuration.steps
        steps = {path.name: digest(path.read_bytes()) for path in sorted(folder.glob("*.yaml"))}
    pinned: dict[str, object] = {"facts": configuration.facts(), "steps": steps}
    files: dict[str, str] = {}
    if configuration.callable:
        name = configuration.callable.rpartition(":")[0]
        files = {name: digest(read_bytes(configs / name))}
    files |= {
        os.fsdecode(entry.path): f"{entry.kind} {digest(entry.data)}"
        for entry in read_instructions(workspace, configuration.instructions)
    }
    return digest(canonical_json(pinned | ({"files": files} if files else {})))


def require_nothing_readable(workspace: Workspace, suite: Suite) -> None:
    """Refuse to start agents while a hidden test can be read on this machine."""
    search = still_readable(
        (workspace.project, workspace.handover),
        Known(canaries=frozenset(read_corrections(workspace, suite).canaries(suite))),
        drafts=[workspace.draft(task) for task in suite.tasks],
    )
    found = [f"{item.path} {item.why}" for item in search.remnants]
    found += [f"{path} cannot be searched" for path in search.unread]
    if found:
        raise PhaseError(
            f"hidden tests may be readable on this machine: {found[0]}",
            more=found[1:],
            hint="delete them; sealed bundles (.age) may stay",
        )
