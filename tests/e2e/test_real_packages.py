"""A lab on real history: releases of a published package, its own fixes, its own tests.

Everything is fetched by name from the package index and nothing of it is kept. What labkit says of
each run is compared with plain pytest on the same files, outside labkit.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, TARA, Lab, fill_in
from e2e.releases import as_history, download

from labkit.fields import dump_yaml
from labkit.model import TaskId
from labkit.sandbox.docker import DockerSandbox
from labkit.seal import new_identity

pytestmark = [pytest.mark.docker, pytest.mark.registry, pytest.mark.slow]

VERSIONS = ("0.13.0", "0.14.0", "0.14.1", "0.14.2", "0.15.0")
TESTS = ("tests/test_xmltodict.py", "tests/test_dicttoxml.py")
TASKS = {
    "pretty-indent": ("feature", "0.13.0", "0.14.0", ANA),
    "white-space": ("bugfix", "0.14.1", "0.14.2", ANA),
    "bad-names": ("bugfix", "0.14.2", "0.15.0", BEN),
}
PROMPTS = {
    "pretty-indent": "Please let people give the indentation of pretty output as a number.\n",
    "white-space": "Text that is nothing but blanks comes out wrongly when blanks are stripped.\n",
    "bad-names": "Any text is taken as the name of an element. Refuse what breaks out of it.\n",
}
EARLY = {"scope": "3", "quality": "3", "tests": "1", "communication": "3"}


def plain_pytest(folder: Path) -> set[str]:
    """Return the ids of the package's tests that pass in a folder, asked of pytest itself."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *TESTS],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    return {line.removeprefix("PASSED ") for line in lines if line.startswith("PASSED ")}


def steps(task: str, old: str, new: str) -> str:
    """Return a step file that turns one text of the module into another."""
    write = {"path": "xmltodict.py", "text": new}
    done = [{"run": "git status --short"}, {"write": write}, {"finish": f"Did {task}."}]
    return dump_yaml({"steps": done if old != new else [done[0], done[2]]})


@pytest.fixture
def lab(tmp_path: Path, docker_sandbox: DockerSandbox) -> Lab:
    """Return a lab on the package's history: A applies each real fix, B leaves out the last one."""
    assert docker_sandbox.name == "docker"
    releases = download("xmltodict", VERSIONS, tmp_path / "index")
    lab = Lab(tmp_path / "lab", tmp_path / "cache")
    lab.folder.mkdir()
    as_history(lab.project, releases, keep=("xmltodict.py", "tests", "README.md", "LICENSE"))
    identity = new_identity()
    lab.home.mkdir()
    for name, text in (("holder.agekey", identity.secret), ("passphrase", "four words are enough")):
        (lab.home / name).touch(mode=0o600)
        (lab.home / name).write_text(f"{text}\n", encoding="ascii")
    lab.done("init", "--team", "xml", "--holder", identity.recipient)
    for name, role in ((ANA, "student"), (BEN, "student"), (TARA, "holder")):
        lab.done("init", "--role", role, "--full-name", name, "--email", "", me=name)
    for letter in "AB":
        path = lab.workspace.evals / "configs" / f"{letter}.yaml"
        values = {"id": letter, "agent": "scripted", "model": f"m{letter}", "steps": f"s/{letter}"}
        path.write_text(dump_yaml(values), encoding="utf-8")
        for task, (_, base, fixed, _) in TASKS.items():
            lazy = letter == "B" and task == "bad-names"
            old = (releases[base] / "xmltodict.py").read_text(encoding="utf-8")
            new = (releases[base if lazy else fixed] / "xmltodict.py").read_text(encoding="utf-8")
            target = lab.workspace.evals / "configs" / "s" / letter / f"{task}.yaml"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(steps(task, old, new), encoding="utf-8")
    return lab


def write_tasks(lab: Lab) -> None:
    """Make, prove and seal the tasks out of the releases."""
    for task, (category, _, fixed, author) in TASKS.items():
        words = ("--category", category, "--commit", f"v{fixed}")
        lab.done("task", "new", task, *words, me=author)
        lab.workspace.prompt(TaskId(task)).write_text(PROMPTS[task], encoding="utf-8")
        hidden = lab.workspace.draft(TaskId(task)) / "hidden"
        for name in TESTS:  # the whole suite of the release, whichever files it changed
            (hidden / name).parent.mkdir(parents=True, exist_ok=True)
            (hidden / name).write_text(lab.project.git("show", f"v{fixed}:{name}") + "\n")
    lab.done("task", "validate", "--repeats", "2", "--sandbox", "docker")
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    lab.done("task", "freeze", "--pilot", me=ANA)


def test_a_lab_on_the_history_of_a_published_package(lab: Lab, tmp_path: Path) -> None:
    write_tasks(lab)
    for name in (ANA, BEN):
        lab.done("task", "run", "--sandbox", "docker", me=name)
        lab.done("handin", me=name)
    lab.done("leaks")
    shutil.rmtree(lab.workspace.raw)  # the holder has what was handed in, and nothing else
    lab.done("grade", "--sandbox", "docker", me=TARA)
    lab.done("blind", me=TARA)
    for name in (ANA, BEN):
        for marks in (EARLY, {"correctness": "2"}):
            lab.done("score", "--from", str(fill_in(lab, name, marks)), me=name)
    lab.done("unblind", me=TARA)
    lab.done("summary")
    for task, (_, base, fixed, _) in TASKS.items():
        for letter in "AB":
            for attempt in "12":
                run = lab.workspace.raw / f"{task}__{letter}__{attempt}"
                expected = verdict_outside(lab, run, base=base, fixed=fixed, scratch=tmp_path / "o")
                assert (run / "result.txt").read_text() == f"{expected}\n", run.name
    summary = json.loads(lab.workspace.summary("json").read_text(encoding="utf-8"))
    rates = [one["rate"]["passed"] for one in summary["configurations"]]
    assert rates == [3.0, 2.0]
    with lab.workspace.all_scores.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 12


def verdict_outside(lab: Lab, run: Path, *, base: str, fixed: str, scratch: Path) -> str:
    """Return what plain git and plain pytest say of a run's diff: all tests of the fix pass?"""
    shutil.rmtree(scratch, ignore_errors=True)
    lab.project.git("worktree", "add", "--force", "--quiet", "--detach", str(scratch), f"v{base}")
    patch = (run / "diff.patch").read_bytes()
    if patch:
        subprocess.run(["git", "apply"], cwd=scratch, input=patch, check=True)
    lab.project.git("--work-tree", str(scratch), "checkout", "--quiet", f"v{fixed}", "--", *TESTS)
    passed = plain_pytest(scratch)
    subprocess.run(["git", "checkout", "-q", f"v{fixed}"], cwd=scratch, check=False)
    shutil.rmtree(scratch)
    lab.project.git("worktree", "prune")
    lab.project.git("reset", "--hard", "--quiet")
    everything = solved(lab, fixed, scratch)
    return "PASS" if passed >= everything else "FAIL"


def solved(lab: Lab, fixed: str, scratch: Path) -> set[str]:
    """Return the tests that pass at the release which has the fix."""
    lab.project.git("worktree", "add", "--force", "--quiet", "--detach", str(scratch), f"v{fixed}")
    passed = plain_pytest(scratch)
    shutil.rmtree(scratch)
    lab.project.git("worktree", "prune")
    return passed
