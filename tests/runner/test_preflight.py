from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from runs import A, B, a_configuration, a_task

from labkit import canary
from labkit.corrections import Corrections
from labkit.errors import IntegrityError, PhaseError
from labkit.model import Member, TaskId
from labkit.plan import interleave, plan_text
from labkit.suite import FrozenTask, Suite, content_digest, digest, field_digests
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file
from labkit_runner.preflight import (
    configuration_digest,
    require_nothing_readable,
    require_unchanged,
)

TASK = a_task()
CONFIGURATIONS = (a_configuration(A), a_configuration(B, model="n"))
TOKEN, OTHER_TOKEN = (canary.token(bytes([byte]) * 32) for byte in (1, 2))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "p")
    write_file(made.evals / "configs" / "steps" / "A" / "bug-a.yaml", "steps: [{say: x}]\n")
    write_file(
        made.plan, plan_text(interleave([(TASK.id, Member("ben"))], [A, B], 1, [Member("ana")]))
    )
    return made


def frozen(workspace: Workspace) -> Suite:
    pinned = FrozenTask(
        author="ana",
        content=content_digest(TASK.facts(), TASK.prompt),
        commitment="c",
        ciphertext="x",
        canaries=(canary.digest(TOKEN),),
        fields=field_digests(TASK.facts(), TASK.prompt),
    )
    return Suite(
        version="v",
        frozen_at="2026",
        difference="model: m against n",
        configurations={str(c.id): configuration_digest(workspace, c) for c in CONFIGURATIONS},
        plan=digest(workspace.plan.read_bytes()),
        tasks={TASK.id: pinned},
    )


def test_what_was_frozen_may_run(workspace: Workspace) -> None:
    require_unchanged(workspace, frozen(workspace), {TASK.id: TASK}, CONFIGURATIONS)
    require_nothing_readable(workspace, frozen(workspace))


@pytest.mark.parametrize(
    ("tasks", "configurations", "told"),
    [
        ({}, CONFIGURATIONS, r"task bug-a \(gone\)"),
        ({TASK.id: replace(TASK, prompt="Other")}, CONFIGURATIONS, r"task bug-a \(prompt\)"),
        (
            {TASK.id: replace(TASK, grading="true", title="x")},
            CONFIGURATIONS,
            r"task bug-a \(title, grading\)",
        ),
        (
            {TASK.id: TASK, TaskId("more"): a_task("more")},
            CONFIGURATIONS,
            r"task more \(new\)",
        ),
        ({TASK.id: TASK}, CONFIGURATIONS[:1], r"configuration B \(gone\)"),
        (
            {TASK.id: TASK},
            (CONFIGURATIONS[0], a_configuration(B, model="o")),
            "configuration B",
        ),
    ],
    ids=["task gone", "prompt", "grading", "task new", "configuration gone", "configuration"],
)
def test_what_changed_is_named(
    workspace: Workspace,
    tasks: dict[TaskId, object],
    configurations: tuple[object, ...],
    told: str,
) -> None:
    with pytest.raises(IntegrityError, match=f"changed since the suite was frozen: {told}$"):
        require_unchanged(workspace, frozen(workspace), tasks, configurations)  # type: ignore[arg-type] # the table above


def test_a_corrected_hidden_test_stops_the_run_too(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_file(workspace.project / "copy.py", f"# {OTHER_TOKEN}\n")
    require_nothing_readable(workspace, frozen(workspace))
    both = {canary.digest(TOKEN): TASK.id, canary.digest(OTHER_TOKEN): TASK.id}
    monkeypatch.setattr(Corrections, "canaries", lambda *_: both)
    with pytest.raises(PhaseError, match="holds a canary"):
        require_nothing_readable(workspace, frozen(workspace))


def test_changed_steps_and_plans_are_noticed(workspace: Workspace) -> None:
    suite = frozen(workspace)
    write_file(workspace.evals / "configs" / "steps" / "A" / "bug-a.yaml", "steps: [{say: y}]\n")
    write_file(workspace.plan, workspace.plan.read_text() + "3,bug-a__A__2,ana,1\n")
    with pytest.raises(IntegrityError, match=r"configuration A, plan\.csv$"):
        require_unchanged(workspace, suite, {TASK.id: TASK}, CONFIGURATIONS)


@pytest.mark.parametrize(
    "place",
    [
        lambda workspace: workspace.draft(TASK.id) / "hidden" / "test_x.py",
        lambda workspace: workspace.project / "tests" / "test_copied.py",
        lambda workspace: workspace.project / "tests" / "test_copied.py~",
        lambda workspace: workspace.evals / "notes.md",
        lambda workspace: workspace.handover / "old" / "copy.txt",
    ],
    ids=["draft", "project", "backup", "evals", "handover"],
)
def test_a_readable_hidden_test_stops_the_run(
    workspace: Workspace, place: Callable[[Workspace], Path]
) -> None:
    write_file(place(workspace), f"# {TOKEN}\n")
    with pytest.raises(PhaseError, match="hidden tests may be readable on this machine") as caught:
        require_nothing_readable(workspace, frozen(workspace))
    assert str(place(workspace)) in "\n".join(caught.value.problems) or "drafts" in str(
        caught.value
    )


def test_the_files_of_a_configuration_are_pinned(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    configs = workspace.evals / "configs"
    write_file(configs / "mine.py", "def solve(task, workdir): ...\n")
    write_file(configs / "with" / "AGENTS.md", "Be brief.\n")
    plain = a_configuration(A, steps="")
    seen = {configuration_digest(workspace, plain)}
    for configuration in (
        replace(plain, callable="mine.py:solve"),
        replace(plain, instructions="with"),
    ):
        seen.add(configuration_digest(workspace, configuration))
        name = "mine.py" if configuration.callable else "with/docs/rules.md"
        write_file(configs / name, "# changed\n")
        seen.add(configuration_digest(workspace, configuration))
    assert len(seen) == 5
