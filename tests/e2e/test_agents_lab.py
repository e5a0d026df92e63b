"""A lab whose two sides are a real agent with two models: frozen, run, graded, summarised."""

import os
from collections.abc import Callable

from cli.labs import ANA, RUNS, STUDENTS, Lab

from labkit.model import Ending
from labkit.records import load_run
from labkit.sandbox.indexes import read_indexes
from labkit_runner.rehearsal.play import playing
from labkit_runner.rehearsal.script import Script, ToolCall, Turn

KEY = "sk-e2e-0123456789-abcdefghijkl"
CONFIGURATION = """\
id: {id}
agent: claude-code
agent_version: "2.1.332"
model: "claude-model-{id}"
provider: here
turn_cap: 10
"""
INDEXES = {name: os.environ[name] for name in read_indexes().variables if name in os.environ}
"""How this machine reaches the package index: a lab's commands have no variables of the user's."""
EDIT = (
    """sed -i 's/"Hello " + name/"Hello " + (name or "stranger")/' words.py; """
    "sed -i 's/return text$/return text.upper()/' words.py"
)


def test_a_whole_lab_of_a_real_agent(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    turns = (
        Turn(calls=(ToolCall(name="Bash", input={"command": EDIT, "description": "Mend"}),)),
        Turn(text="Mended."),
    )
    with playing(Script(turns=turns)) as played:
        for which in "AB":
            path = lab.workspace.evals / "configs" / f"{which}.yaml"
            path.write_text(CONFIGURATION.format(id=which), encoding="utf-8")
        settings = lab.workspace.settings.read_text(encoding="utf-8")
        prices = "".join(
            f"      claude-model-{which}: {{input: 3, output: 15}}\n" for which in "AB"
        )
        settings += (
            "providers:\n  here:\n    api: anthropic-messages\n"
            f"    url: {played.url}\n    key: E2E_KEY\n    prices:\n{prices}"
        )
        lab.workspace.settings.write_text(settings, encoding="utf-8")
        lab.done("task", "freeze", "--pilot", me=ANA)
        refused = lab.labkit("task", "run", me=ANA)
        assert refused.code == 2
        assert "E2E_KEY" in refused.err
        for name in STUDENTS:
            done = lab.labkit("task", "run", me=name, E2E_KEY=KEY, **INDEXES)
            assert done.code == 0, done.err
            assert "rehearsing configuration A" in done.err
            assert "completed after" in done.err
    for run in RUNS:
        record = load_run(lab.workspace.evals / "raw" / run / "run.json")
        assert (record.ending, record.turns, record.cost) == (Ending.COMPLETED, 2, 0.0075)
    for path in lab.workspace.evals.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    shown = lab.labkit("config", "diff")
    assert shown.code == 0, shown.out
    assert "claude-model-A against claude-model-B" in shown.out
    for name in STUDENTS:
        lab.done("handin", me=name)
    # What no reader understands yet is for people to look at, never known clean.
    assert lab.labkit("leaks").code == 1
    assert "R-g, for review" in lab.workspace.leak_notes.read_text(encoding="utf-8")
