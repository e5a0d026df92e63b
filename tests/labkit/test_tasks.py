from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import Project
from hypothesis import given
from hypothesis import strategies as st
from runs import a_task

from labkit.errors import InputError
from labkit.fields import Document
from labkit.model import TaskId
from labkit.nodes import dump_yaml
from labkit.tasks import (
    Task,
    forbidden_edits,
    parse_task,
    read_task,
    read_tasks,
    task_text,
    write_table,
)
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file

ID = TaskId("bug-a")


def written(project: Project, **changes: object) -> Workspace:
    """Write a sound task with some fields changed (None: left out) and its prompt."""
    workspace = Workspace(project.folder)
    fields: Mapping[str, object] = {
        "id": "bug-a",
        "title": "Mend it",
        "author": "ana",
        "category": "bugfix",
        "base": project.git("rev-parse", "base"),
        "solution": project.git("rev-parse", "main"),
        **changes,
    }
    kept = {name: value for name, value in fields.items() if value is not None}
    write_file(workspace.task(ID), dump_yaml(kept))
    write_file(workspace.prompt(ID), "Please.\r\nNow.\n")
    return workspace


def problems(project: Project, workspace: Workspace, *, mend: Path | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_task(workspace, ID, project.repository)
    assert caught.value.hint == f"mend {mend or workspace.task(ID)}"
    return "\n".join(caught.value.problems)


def test_a_task_is_read_and_written_back(project: Project) -> None:
    workspace = written(project, forbidden=["tests/"], slices=["x"], grading="python -m pytest -q")
    task = read_task(workspace, ID, project.repository)
    assert (task.prompt, task.command) == ("Please.\nNow.\n", ("python", "-m", "pytest", "-q"))
    write_file(workspace.task(ID), task_text(task))
    assert read_task(workspace, ID, project.repository) == task


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": "bug-b"}, "line 1: \"id\" is 'bug-b', but the file is called bug-a"),
        ({"title": " "}, 'line 2: "title" is empty'),
        ({"author": "Ana B"}, "line 3: member name 'Ana B' is not allowed"),
        ({"category": "bugfx"}, 'line 4: "category" is \'bugfx\': did you mean "bugfix"?'),
        ({"base": ""}, 'line 5: "base" is empty'),
        ({"base": None}, 'bug-a.yaml: no "base:"'),
        ({"base": "0" * 40}, f"line 5: no commit '{'0' * 40}' in this repository"),
        ({"base": "base"}, "line 5: write the commit's whole id: "),
        ({"base": "a\0b"}, "line 5: no commit"),
        ({"base": 2433548}, 'line 5: "base" must be a text: put it in quotes: "2433548"'),
        ({"solution": None}, 'line 4: a bugfix task needs "solution:"'),
        ({"grading": ""}, 'line 7: "grading" is empty'),
        ({"grading": "pytest 'x"}, "line 7: not a command: No closing quotation"),
        ({"forbidden": ["/etc"]}, "line 8: '/etc' is not a path inside the project"),
        ({"forbidden": ["../x"]}, "'../x' is not a path inside the project"),
        ({"forbidden": ["a/../../x"]}, "is not a path inside the project"),
        ({"forbidden": ["./tests/"]}, "'./tests/' is not a path inside the project: write tests/"),
        ({"forbidden": [""]}, "'' is not a path inside the project"),
        ({"forbidden": ["."]}, "'.' is not a path inside the project"),
        ({"allowed": ["!tests/"]}, "'!tests/' begins with !: nothing can be taken out again"),
        ({"allowed": ["tests\\x"]}, "holds a backslash: write / between folders"),
        ({"allowed": ["a/[b.py"]}, "'a/[b.py' is not a pattern: [ needs"),
        ({"forbidden": ["*.{js,ts}"]}, "has a choice in braces: write one line for each"),
        ({"forbidden": ["../*.py"]}, "is not a path inside the project"),
        ({"allowed": "tests/"}, 'line 7: "allowed" must be a list'),
        ({"comand": "x"}, 'line 7: unknown field "comand"'),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_a_bad_field_is_told_with_its_line(
    project: Project, changes: dict[str, object], told: str
) -> None:
    assert told in problems(project, written(project, **changes))


def test_base_and_solution_must_differ(project: Project) -> None:
    workspace = written(project, solution=project.git("rev-parse", "base"))
    assert "base and solution are the same commit" in problems(project, workspace)


def test_all_problems_of_a_file_are_told_at_once(project: Project) -> None:
    workspace = written(project, id="x", category="y", base="z", more="w")
    assert len(problems(project, workspace).splitlines()) == 4


@pytest.mark.parametrize(
    ("prompt", "told"),
    [(None, "is missing"), (b" \n", "is empty"), (b"\xff", "is not UTF-8")],
    ids=["missing", "empty", "latin"],
)
def test_a_bad_prompt_is_told(project: Project, prompt: bytes | None, told: str) -> None:
    workspace = written(project)
    workspace.prompt(ID).unlink()
    if prompt is not None:
        workspace.prompt(ID).write_bytes(prompt)
    said = problems(project, workspace, mend=workspace.prompt(ID))
    assert f"evals/prompts/bug-a.txt {told}" in said


def test_an_unknown_task_is_an_error(project: Project) -> None:
    with pytest.raises(InputError, match="no task nosuch"):
        read_task(Workspace(project.folder), TaskId("nosuch"), project.repository)


def test_the_problems_of_all_files_are_told_together(project: Project) -> None:
    workspace = written(project, title="")
    for name in ("bug-b", "bug-c"):
        write_file(workspace.task(TaskId(name)), "id: [")
    with pytest.raises(InputError) as caught:
        read_tasks(workspace, project.repository)
    told = [problem.split(",")[0].split(":")[0] for problem in caught.value.problems]
    assert told == ["bug-a.yaml", "bug-b.yaml", "bug-c.yaml"]


def test_a_file_that_is_named_wrongly_is_no_silent_absence(project: Project) -> None:
    workspace = written(project)
    folder = workspace.task(ID).parent
    for name in ("BUG 1.yaml", "bug-2.yml", "con.yaml", "a__b.yaml", "._bug-a.yaml", "notes.md"):
        (folder / name).write_text("")
    with pytest.raises(InputError) as caught:
        workspace.task_ids()
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "tasks/BUG 1.yaml", "tasks/a__b.yaml", "tasks/bug-2.yml", "tasks/con.yaml"
    ]  # fmt: skip


def test_the_table_for_scripts(project: Project) -> None:
    workspace = Workspace(project.folder)
    path = write_table(workspace, (a_task("bug-a"), a_task("bug-b")))
    assert path.read_text() == ("bug-a\tbase\tpython -m pytest\nbug-b\tbase\tpython -m pytest\n")


def test_forbidden_edits_are_those_outside_what_is_allowed() -> None:
    def edits(task: Task) -> tuple[str, ...]:
        return forbidden_edits(task, ("src/a.py", "tests/t.py", "setup.py"))

    task = a_task()
    assert edits(task) == ()
    assert edits(replace(task, forbidden=("tests/",))) == ("tests/t.py",)
    assert edits(replace(task, allowed=("src/", "tests/"))) == ("setup.py",)
    assert edits(replace(task, allowed=("src/",), forbidden=("src/a.py",))) == (
        "src/a.py", "tests/t.py", "setup.py"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base", "2433548"), ("solution", "0155306"), ("base", "9509425349e4"), ("id", "1_000"),
        ("id", "2024-01-01"), ("title", "no"), ("title", "1:30"), ("author", "on"),
        ("notes", "~"), ("grading", "3.10"),
    ],
)  # fmt: skip
def test_what_yaml_turns_into_other_things_is_refused_with_its_line(
    project: Project, field: str, value: str
) -> None:
    workspace = written(project, notes="x", grading="python -m pytest")
    path = workspace.task(ID)
    lines = path.read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.startswith(f"{field}:")]
    lines[number - 1] = f"{field}: {value}"
    write_file(path, "\n".join([*lines, ""]))
    told = problems(project, workspace)
    assert (
        f'bug-a.yaml, line {number}: "{field}" must be a text: put it in quotes: "{value}"' in told
    )


@given(st.from_regex(r"[0-9]{1,11}e[0-9]{1,3}|0[0-7]{6}|[0-9a-f]{7,40}", fullmatch=True))
def test_any_commit_that_labkit_writes_is_read_back_as_it_was(oid: str) -> None:
    task = replace(a_task(), base=oid, solution=oid, title=oid, notes=oid)
    document = Document(task_text(task).encode(), "x.yaml")
    assert parse_task(document, task.id, task.prompt, Path("evals")) == task
    document.finish()
