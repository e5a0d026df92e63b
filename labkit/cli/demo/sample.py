"""The demo's sample project: its history as a real git repository, its people, its tasks."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from labkit.fields import Document, Fields
from labkit.process import plain_environment, run
from labkit.scaffold import template

TEMPLATE_ENDING = ".tmpl"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTask:
    """One of the demo's tasks, as its author will hand it to labkit."""

    id: str
    author: str
    category: str
    title: str
    commit: str
    """Number of the commit that solved it; empty for a trap."""
    base: str
    """Number of the commit that the agent gets, where nothing solved it."""
    folder: Traversable


def document(*names: str) -> Document:
    """Read one of the demo's YAML files."""
    return Document(template("demo", *names).read_bytes(), names[-1])


def people() -> dict[str, tuple[str, str]]:
    """Return full name and mail of each of the demo's people, by short name."""
    members = document("team.yaml").mapping("members")
    facts = {name: members.mapping(name) for name in members.names()}
    return {name: (one.text("full_name"), one.text("email")) for name, one in facts.items()}


def build_history(project: Path) -> dict[str, str]:
    """Make the sample project's repository and return the commit ids by their numbers."""
    project.mkdir(parents=True)
    _git(project, {}, "init", "-q", "-b", "main")
    who = people()
    commits: dict[str, str] = {}
    folders = template("demo", "history").iterdir()
    for folder in sorted(folders, key=lambda item: item.name):
        facts = document("history", folder.name, "commit.yaml")
        for gone in facts.texts("delete"):
            (project / gone).unlink()
        write_files(folder.joinpath("files"), project)
        name, mail = who[facts.text("author")]
        _git(project, {}, "add", "-A")
        env = _authorship(name, mail, facts.text("date"))
        _git(project, env, "commit", "-q", "-m", facts.text("message").strip())
        head = _git(project, {}, "rev-parse", "HEAD")
        commits[folder.name.split("-")[0]] = head
    return commits


def write_files(folder: Traversable, target: Path) -> None:
    """Write a template folder's files over those of `target`."""
    for item in folder.iterdir():
        name = item.name.removesuffix(TEMPLATE_ENDING)
        if name.startswith("dot_"):
            name = name.replace("dot_", ".", 1)
        if item.is_dir():
            write_files(item, target / name)
        elif name != "__init__.py" or item.name.endswith(TEMPLATE_ENDING):
            target.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(item.read_bytes())


def _authorship(name: str, mail: str, date: str) -> dict[str, str]:
    return {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", date))
    }


def _git(project: Path, env: Mapping[str, str], *words: str) -> str:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = run(["git", "-C", project, *words], env=plain_environment() | quiet | dict(env))
    return done.stdout.decode().strip()


def tasks() -> tuple[SampleTask, ...]:
    """Return the demo's tasks, sorted by id."""
    found = []
    for folder in sorted(template("demo", "tasks").iterdir(), key=lambda item: item.name):
        facts = document("tasks", folder.name, "task.yaml")
        found.append(
            SampleTask(
                id=facts.text("id"),
                author=facts.text("author"),
                category=facts.text("category"),
                title=facts.text("title"),
                commit=facts.text("commit", default=""),
                base=facts.text("base", default=""),
                folder=folder,
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The marks that the demo's people give, as its file tells them."""

    runs: Fields
    leniency: Fields
    disagreements: Mapping[tuple[str, str, str], float]

    def given(self, scorer: str, run_name: str, dimension: str) -> float:
        """Return one scorer's mark of one dimension of a run, between 0 and 4."""
        disputed = self.disagreements.get((run_name, scorer, dimension))
        if disputed is not None:
            return disputed
        mark = self.runs.mapping(run_name).number(dimension, default=0)
        return min(4.0, max(0.0, mark + self.leniency.number(scorer, default=0, low=-4)))


def marks() -> Marks:
    """Return what the demo's scorers think."""
    facts = document("scores.yaml")
    return Marks(
        runs=facts.mapping("runs"),
        leniency=facts.mapping("leniency"),
        disagreements={
            (one.text("run"), one.text("scorer"), one.text("dimension")): one.number(
                "mark", default=0
            )
            for one in facts.mappings("disagreements")
        },
    )
