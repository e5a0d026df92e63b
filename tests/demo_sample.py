"""The demo's sample in plain Python: its files, its history built with git, its runs played.

It knows nothing of labkit, so that tests can hold the sample and labkit against each other.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

DEMO = Path(str(files("labkit_templates"))) / "demo"
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


def load(*names: str) -> Any:
    """Read one of the demo's YAML files."""
    return yaml.safe_load(DEMO.joinpath(*names).read_text(encoding="utf-8"))


TEAM = load("team.yaml")["members"]
TASKS: dict[str, dict[str, Any]] = {
    folder.name: load("tasks", folder.name, "task.yaml")
    for folder in sorted((DEMO / "tasks").iterdir())
}
EXPECTED: dict[str, dict[str, Any]] = load("expected.yaml")["runs"]
RUNS = [f"{task}__{letter}__{attempt}" for task in TASKS for letter in "AB" for attempt in (1, 2)]


def copy_out(source: Path, target: Path) -> list[str]:
    """Copy a template folder as labkit does and return the paths it filled."""
    paths = []
    for file in sorted(source.rglob("*")):
        if file.is_file():
            name = re.sub(r"(^|/)dot_", r"\1.", file.relative_to(source).as_posix())
            paths.append(name.removesuffix(".tmpl"))
            (target / paths[-1]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target / paths[-1])
    return paths


def git(repository: Path, *arguments: str, **environment: str) -> bytes:
    """Run plain git, without anybody's configuration."""
    nowhere = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", *arguments],
        cwd=repository,
        env=ENVIRONMENT | nowhere | environment,
        check=True,
        capture_output=True,
    ).stdout


def build_history(repository: Path, states: Path) -> None:
    """Commit the history; leave the files of every commit in states/NN."""
    git(repository, "init", "-q")
    for folder in sorted((DEMO / "history").iterdir()):
        commit = load("history", folder.name, "commit.yaml")
        copy_out(folder / "files", repository)
        for path in commit.get("delete", ()):
            (repository / path).unlink()
        who = TEAM[commit["author"]]
        facts = {"NAME": who["full_name"], "EMAIL": who["email"], "DATE": commit["date"]}
        author = {f"GIT_AUTHOR_{name}": value for name, value in facts.items()}
        committer = {f"GIT_COMMITTER_{name}": value for name, value in facts.items()}
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", commit["message"], **author, **committer)
        shutil.copytree(repository, states / folder.name[:2], ignore=shutil.ignore_patterns(".git"))


def task_of(run: str) -> str:
    """Return the task of a run id."""
    return run.partition("__")[0]


def base_of(task: str) -> str:
    """Return the number of the commit that a task starts from."""
    facts = TASKS[task]
    return str(facts["base"]) if "base" in facts else f"{int(facts['commit']) - 1:02}"


def steps_of(run: str) -> list[dict[str, Any]]:
    """Read a run's steps."""
    task, letter, attempt = run.split("__")
    folder = DEMO / "configs" / "steps" / letter
    own = folder / f"{task}__{attempt}.yaml"
    path = own if own.exists() else folder / f"{task}.yaml"
    steps: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["steps"]
    return steps


def play(run: str, tree: Path) -> Iterator[str]:
    """Play a run's steps in `tree`, without its waits and its pytest; yield what goes wrong."""
    for step in steps_of(run):
        ((kind, value),) = step.items()
        match kind:
            case "run" if "pytest" not in value:
                done = subprocess.run(
                    ["sh", "-c", value], cwd=tree, env=ENVIRONMENT, check=False, capture_output=True
                )
                if done.returncode and "../" not in value:
                    yield f"{value}: {done.stderr.decode()}"
            case "edit":
                text = (tree / value["path"]).read_text(encoding="utf-8")
                if (count := text.count(value["find"])) != 1:
                    yield f"{value['path']}: found {count} times: {value['find']}"
                text = text.replace(value["find"], value["replace"])
                (tree / value["path"]).write_text(text, encoding="utf-8")
            case "write":
                (tree / value["path"]).write_text(value["text"], encoding="utf-8")
            case "say" | "run" | "wait" | "finish":
                pass
            case _:
                yield f"unknown step {kind}"


def changed(before: Path, after: Path) -> set[str]:
    """Return the paths that differ between two trees."""

    def contents(tree: Path) -> dict[str, bytes]:
        found = (path for path in tree.rglob("*") if path.is_file())
        return {path.relative_to(tree).as_posix(): path.read_bytes() for path in found}

    return {path for path, _ in contents(before).items() ^ contents(after).items()}
