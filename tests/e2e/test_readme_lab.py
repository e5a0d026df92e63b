"""The README's table of commands, in its order, by three people on three machines.

Each person has a clone of the project, a clone of evals/ and keys of their own. Git carries evals/
between them, merging what two people wrote side by side; sealed files travel by hand.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, EARLY, TARA, Lab, assigned, fill_in
from gitrepo import Project, make_project

from labkit.model import TaskId
from labkit.nodes import dump_yaml
from labkit.sandbox.interface import Sandbox

GREETING, SUM = TaskId("greet-nobody"), TaskId("add-negative")
BEGIN = {
    "words.py": 'def greet(name):\n    return "Hello " + name\n',
    "sums.py": "def add(a, b):\n    return abs(a) + abs(b)\n",
    "tests/test_words.py": (
        'from words import greet\n\n\ndef test_name():\n    assert greet("Bo") == "Hello Bo"\n'
    ),
}
GREETED = {
    "words.py": 'def greet(name):\n    return "Hello " + (name or "you")\n',
    "tests/test_words.py": BEGIN["tests/test_words.py"]
    + '\n\ndef test_nobody():\n    assert greet("") == "Hello you"\n',
}
ADDED = {
    "sums.py": "def add(a, b):\n    return a + b\n",
    "tests/test_sums.py": (
        "from sums import add\n\n\ndef test_negative():\n    assert add(-1, 3) == 2\n"
    ),
}
# One program for both configurations; what it is told of its model decides what it does.
PROGRAM = """\
if [ "$LABKIT_MODEL" = careful ]; then
    sed -i 's/+ name/+ (name or "you")/' words.py
    sed -i 's/abs(.) + abs(.)/a + b/' sums.py
fi
echo "I looked at $(ls | wc -l) files."
echo
echo "Done: $LABKIT_MODEL."
"""


def machines(folder: Path) -> Callable[[str], Lab]:
    """Return a function that gives each person's machine."""

    def machine(name: str) -> Lab:
        (folder / name / "home").mkdir(parents=True, exist_ok=True)
        return Lab(folder / name, folder / "cache")

    return machine


def clone(source: Lab, target: Lab) -> None:
    """Clone a project and its evals/ onto another machine."""
    for inner in ("words", "words/evals"):
        origin = source.folder / inner
        Project(source.folder).git("clone", "--quiet", str(origin), str(target.folder / inner))


def push(lab: Lab, what: str) -> None:
    """Commit everything in evals/, as its owner would."""
    evals = Project(lab.workspace.evals)
    evals.git("add", "--all")
    evals.git("commit", "--quiet", "--message", what)


def pull(lab: Lab, *others: Lab) -> None:
    """Merge what others committed in their evals/."""
    for other in others:
        name = other.folder.name
        branch = Project(other.workspace.evals).git("branch", "--show-current")
        Project(lab.workspace.evals).git(
            "pull", "--quiet", "--no-rebase", "--no-edit", str(other.workspace.evals), branch
        )
        assert "<<<<<<<" not in lab.workspace.settings.read_text(encoding="utf-8"), name


def hand_over(source: Lab, target: Lab) -> None:
    """Carry sealed files to another machine."""
    target.workspace.handover.mkdir(exist_ok=True)
    for path in source.workspace.handover.glob("*.age"):
        shutil.copy(path, target.workspace.handover)


@pytest.mark.slow
def test_the_commands_of_the_readme_on_three_machines(  # noqa: PLR0915 - it reads like the README
    tmp_path: Path, sandbox: Sandbox
) -> None:
    machine = machines(tmp_path)
    ana, ben, tara = machine(ANA), machine(BEN), machine(TARA)
    here = {"LABKIT_SANDBOX": sandbox.name}
    for lab in (ana, ben, tara):
        (lab.home / "passphrase").touch(mode=0o600)
        (lab.home / "passphrase").write_text("four words are enough\n", encoding="ascii")
    project = make_project(ana.project.folder)
    project.commit(BEGIN, "Begin")
    greeted = project.commit(GREETED, "Greet nobody in particular")
    added = project.commit(ADDED, "Add negative numbers")

    # holder: keys; team: workspace; everybody: join
    tara.project.folder.mkdir()
    recipient = tara.done("holder", "keygen").strip()
    tara.project.folder.rmdir()
    ana.done("init", "--team", "blue", "--holder", recipient)
    ana.done("init", "--full-name", "Ana Example", "--email", "ana@example.org", me=ANA)
    for letter, model in (("A", "careful"), ("B", "hasty")):
        values = {"id": letter, "agent": "command", "agent_version": "1", "model": model}
        path = ana.workspace.evals / "configs" / f"{letter}.yaml"
        path.write_text(dump_yaml({**values, "command": ["sh", "-c", PROGRAM]}), encoding="utf-8")
    push(ana, "begin")
    clone(ana, ben)
    clone(ana, tara)
    ben.done("init", "--full-name", "Ben Example", "--email", "", me=BEN)
    tara.done("init", "--role", "holder", "--full-name", "Tara", "--email", "", me=TARA)

    # students: a golden task each, side by side
    for lab, task, commit in ((ana, GREETING, greeted), (ben, SUM, added)):
        lab.done("task", "new", str(task), "--commit", commit, "--category", "bugfix")
        lab.workspace.prompt(task).write_text("It does not do what it should.\n", encoding="utf-8")
        lab.done("task", "validate", "--repeats", "3", **here)
        lab.done("task", "seal")
        assert not lab.workspace.draft(task).exists()
        push(lab, f"task {task}")
        hand_over(lab, tara)
    push(tara, "join")
    pull(ana, ben, tara)
    suite = ana.done("task", "freeze", "--pilot").strip()
    push(ana, "freeze")
    pull(ben, ana)
    pull(tara, ana)

    # students: run and hand in; nobody else sees the runs
    for lab in (ana, ben):
        lab.done("task", "run", **here)
        lab.done("handin")
        push(lab, "runs")
        hand_over(lab, tara)
    pull(tara, ana, ben)
    assert not tara.workspace.raw.exists()

    # team: leaks, on the machine that has every run; holder: grade, blind
    assert tara.labkit("grade", **here).code == 2  # the leak check comes first
    decided = tara.labkit("leaks")
    assert decided.code == 1
    hits = [line.split("\t")[0] for line in decided.out.splitlines()]
    cleared = [word for hit in hits for word in ("--clear", hit)]
    tara.done("leaks", *cleared, "--reason", "read it: it looked at its own files")
    tara.done("grade", **here)
    tara.done("blind")
    push(tara, "blind")
    for lab, name in ((ana, ANA), (ben, BEN)):
        pull(lab, tara)
        assert len(assigned(lab, name)) == 4
        for marks in (EARLY, {"correctness": "2"}):
            lab.done("score", "--from", str(fill_in(lab, name, marks)))
        push(lab, "scores")
    pull(tara, ana, ben)
    tara.done("unblind")
    push(tara, "unblind")
    pull(ana, tara)

    # team: the result, on another machine than the holder's
    assert "# Summary of team blue" in ana.done("summary")
    summary = json.loads(ana.workspace.summary("json").read_text(encoding="utf-8"))
    assert summary["suite_version"] == suite
    assert [one["rate"]["passed"] for one in summary["configurations"]] == [2.0, 0.0]
    assert [one["pass_hat_2"]["value"] for one in summary["configurations"]] == [1.0, 0.0]
    assert "phase: done" in ana.done("status")
    assert ana.project.git("status", "--porcelain") == ""
