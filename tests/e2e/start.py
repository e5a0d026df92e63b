"""A lab of two students and a holder on real history: its keys, members, agents and drafts."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from cli.labs import ANA, BEN, TARA, Lab

from labkit.model import TaskId
from labkit.nodes import dump_yaml
from labkit.seal import new_identity

PROMPT = "Something is not as it should be here.\n"


def start(lab: Lab, team: str) -> None:
    """Make the workspace of a project that is there, with two scripted configurations."""
    identity = new_identity()
    lab.home.mkdir()
    for name, text in (("holder.agekey", identity.secret), ("passphrase", "four words are enough")):
        (lab.home / name).touch(mode=0o600)
        (lab.home / name).write_text(f"{text}\n", encoding="ascii")
    lab.done("init", "--team", team, "--holder", identity.recipient)
    for name, role in ((ANA, "student"), (BEN, "student"), (TARA, "holder")):
        lab.done("init", "--role", role, "--full-name", name, "--email", "", me=name)
    for letter in "AB":
        values = {"id": letter, "agent": "scripted", "model": f"m{letter}", "steps": f"s/{letter}"}
        path = lab.workspace.evals / "configs" / f"{letter}.yaml"
        path.write_text(dump_yaml(values), encoding="utf-8")


def text_at(lab: Lab, version: str, path: str) -> str:
    """Return a file of a release."""
    return lab.project.git("show", f"v{version}:{path}") + "\n"


def hide(lab: Lab, task: str, files: dict[str, str]) -> None:
    """Put exactly these files into a draft as its hidden tests."""
    hidden = lab.workspace.draft(TaskId(task)) / "hidden"
    shutil.rmtree(hidden)
    for name, text in files.items():
        (hidden / name).parent.mkdir(parents=True, exist_ok=True)
        (hidden / name).write_text(text, encoding="utf-8")


def new_task(lab: Lab, task: str, category: str, fixed: str, author: str = ANA) -> None:
    """Draft a task out of a release."""
    words = ("--category", category, "--commit", f"v{fixed}")
    lab.done("task", "new", task, *words, me=author)
    lab.workspace.prompt(TaskId(task)).write_text(PROMPT, encoding="utf-8")


def plays(lab: Lab, letter: str, task: str, written: Mapping[str, str]) -> None:
    """Let a configuration write these files, whole, whenever it works on a task."""
    writes = [{"write": {"path": path, "text": text}} for path, text in written.items()]
    steps = [{"run": "git status --short"}, *writes, {"finish": f"Did {task}."}]
    target = lab.workspace.evals / "configs" / "s" / letter / f"{task}.yaml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(dump_yaml({"steps": steps}), encoding="utf-8")


def patch_of(lab: Lab, run: str) -> bytes:
    """Return what a run left."""
    return Path(lab.workspace.raw, run, "diff.patch").read_bytes()
