"""Runs under configurations of which one lays a folder of instructions over the project."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from gitrepo import make_project
from runs import A, B, Lab, a_configuration, arms

from labkit.errors import InputError
from labkit.model import RunId
from labkit.sandbox.interface import Sandbox
from labkit_runner.agents.scripted import ScriptedAgent
from labkit_runner.session import Session

ONE, TWO = RunId.parse("bug-a__A__1"), RunId.parse("bug-a__B__1")
CLEAN = 'test -z "$(git status --short)" && git log --format=%ct:%s:%an'


def lab_of(folder: Path, sandbox: Sandbox) -> Lab:
    project = make_project(folder / "project")
    project.commit({"AGENTS.md": "project's\n", "a.py": "x = 1\n"})
    project.git("tag", "base")
    rules = project.folder / "evals" / "configs" / "rules"
    (rules / ".claude").mkdir(parents=True)
    (rules / "AGENTS.md").write_text("ours\n")
    (rules / ".claude" / "one.md").write_text("one\n")
    return Lab(project, sandbox)


def session_of(lab: Lab) -> Session:
    sides = {A: a_configuration(A), B: a_configuration(B, instructions="rules")}
    return replace(lab.session("bug-a"), arms=arms(lab.workspace, *sides.values()))


def test_only_one_side_finds_them_and_neither_hands_them_in(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    lab = lab_of(tmp_path, sandbox)
    lab.steps(ONE, [{"run": f"{CLEAN} && cat AGENTS.md && test ! -e .claude"}])
    lab.steps(TWO, [{"run": f"{CLEAN} && cat AGENTS.md .claude/one.md"}])
    records = session_of(lab).run_all(lab.plan("bug-a"))
    for record in records:
        folder = lab.workspace.run(record.run)
        assert (folder / "diff.patch").read_bytes() == b""
        assert record.result_tree == record.base_tree
        assert record.left_out == ()
    said = [(lab.workspace.run(run) / "transcript.jsonl").read_text() for run in (ONE, TWO)]
    assert "project's" in said[0]
    assert "ours\\none" in said[1]
    assert all("946684800:base:labkit" in each for each in said)


def test_a_folder_that_cannot_be_laid_is_told_before_the_first_run(
    bubblewrap_sandbox: Sandbox, tmp_path: Path
) -> None:
    lab = lab_of(tmp_path, bubblewrap_sandbox)
    (lab.workspace.evals / "configs" / "rules" / "CLAUDE.md").symlink_to("AGENTS.md")
    lab.steps(ONE, [{"say": "x"}])
    lab.steps(TWO, [{"say": "x"}])
    with pytest.raises(InputError, match=r"configs/rules/CLAUDE\.md is a link"):
        session_of(lab).run_all(lab.plan("bug-a"))
    assert not lab.workspace.raw.exists()


def test_what_instructs_the_agent_is_recorded_by_its_digest(
    bubblewrap_sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScriptedAgent, "memory", ("AGENTS.md", ".claude/**"))
    lab = lab_of(tmp_path, bubblewrap_sandbox)
    for run in (ONE, TWO):
        lab.steps(run, [{"run": "echo mine > AGENTS.md"}])
    records = session_of(lab).run_all(lab.plan("bug-a"))
    assert [dict(record.memory) for record in records] == [
        {"/workspace/AGENTS.md": sha256(b"project's\n").hexdigest()},
        {
            "/workspace/.claude/one.md": sha256(b"one\n").hexdigest(),
            "/workspace/AGENTS.md": sha256(b"ours\n").hexdigest(),
        },
    ]
