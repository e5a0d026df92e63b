"""A lab whose two sides are a real agent with two models: frozen, run, graded, summarised."""

import json
import os
from collections.abc import Callable

from cli.labs import ANA, RUNS, STUDENTS, TARA, Lab

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
EDIT = """\
sed -i 's/"Hello " + name/"Hello " + (name or "stranger")/; s/return text$/return text.upper()/' words.py
"""


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
            print(done.err)
    for run in RUNS:
        record = load_run(lab.workspace.evals / "raw" / run / "run.json")
        print(json.dumps({k: str(v)[:300] for k, v in vars_of(record).items()}, indent=1))
        assert record.turns == 2
        assert record.cost is not None
    for path in lab.workspace.evals.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    for name in STUDENTS:
        lab.done("handin", me=name)
    print(lab.labkit("leaks").err)
    print(lab.labkit("grade", me=TARA).err)
    print(lab.done("config", "show"))
    print(lab.labkit("config", "diff"))
    print(lab.done("status"))
    assert 0


def vars_of(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__slots__}  # type: ignore[attr-defined]
