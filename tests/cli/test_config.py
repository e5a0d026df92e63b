"""`labkit config show` and `diff`, and what runs say about what was declared."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from cli.labs import RUNS, Lab, Stages, require_clear
from wires import printed

from labkit.model import RunId
from labkit.nodes import dump_yaml
from labkit.workspace import replace

COMMAND = {
    "agent": "command",
    "agent_version": "3",
    "model": "m",
    "command": ["tool", "--ask", "{prompt}"],
    "settings": {"FLAVOUR": "sour"},
}


def configured(lab: Lab, which: str, **fields: Any) -> None:
    """Write a configuration of the command agent."""
    path = lab.workspace.evals / "configs" / f"{which}.yaml"
    values = {"id": which, **COMMAND, **fields}
    replace(path, dump_yaml({name: each for name, each in values.items() if each is not None}))


def shown(lab: Lab, *words: str, **env: str) -> Any:
    return json.loads(lab.done("config", *words, "--json", **env))


def recorded(lab: Lab, run: str, **fields: Any) -> None:
    """Change what run.json says, as a run with another agent would have written it."""
    path = lab.workspace.run(RunId.parse(run)) / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_every_field_is_shown_with_its_defaults_marked(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    configured(lab, "A")
    (found,) = shown(lab, "show", "A")["configurations"]
    declared = found["declared"]
    assert declared["agent_version"] == {"value": "3", "default": False}
    assert declared["turn_cap"] == {"value": 50, "default": True}
    assert declared["settings"] == {"value": {"FLAVOUR": "sour"}, "default": False}
    started = found["started"]
    assert started["argv"] == ["tool", "--ask", "{prompt}"]
    assert {"FLAVOUR", "LABKIT_SEED", "LABKIT_TURN_CAP"} <= set(started["variables"])
    assert started["seed"] == {"forwarded": True}
    assert started["turn_cap"] == {"turns": 50, "told": True, "enforced": False}
    assert (found["problems"], found["seen"]) == ([], None)
    text = lab.done("config", "show", "A")
    assert "agent_version    3\n" in text
    assert "turn_cap         50 (default)\n" in text
    assert "command line     tool --ask '{prompt}'\n" in text
    assert "sour" in text
    assert "not seen: there are no runs here yet" in text


def test_whether_a_key_is_there_is_told_and_the_key_never(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    real: dict[str, Any] = {
        "agent": "claude-code",
        "command": None,
        "settings": {},
        "provider": "anthropic",
    }
    configured(lab, "A", **real)
    bad = lab.labkit("config", "show")
    assert bad.code == 1
    assert "problem          configuration A: agent_version '3'" in bad.out
    # All that can be known all the same is shown.
    assert "command line     /opt/labkit/env/agent/claude -p" in bad.out
    real["agent_version"] = ""
    configured(lab, "A", **real)
    without = lab.done("config", "show", "A")
    assert "key              the variable ANTHROPIC_API_KEY is not set\n" in without
    _declared, *installs = [
        line for line in without.splitlines() if line.startswith("    install ")
    ]
    commands = shown(lab, "show", "A")["configurations"][0]["started"]["install"]
    assert len(installs) == len(commands) < len("\n".join(commands).splitlines())
    assert "anthropic-messages at https://api.anthropic.com, price unknown" in without
    secret = "sk-0123456789-nobody-may-see"
    for words in (("show", "A"), ("show", "A", "--json"), ("diff", "--json")):
        configured(lab, "B", **real, effort="high")
        answer = lab.labkit("config", *words, ANTHROPIC_API_KEY=secret)
        assert secret not in answer.out + answer.err
    assert shown(lab, "show", "A", ANTHROPIC_API_KEY=secret)["configurations"][0]["started"][
        "model"
    ] == {
        "name": "m",
        "provider": "anthropic",
        "api": "anthropic-messages",
        "url": "https://api.anthropic.com",
        "price": "unknown",
        "login": "key",
        "key_variable": "ANTHROPIC_API_KEY",
        "key": "set",
        "key_problem": "",
    }


def test_a_configuration_that_cannot_be_started_is_shown_with_its_problem(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("joined")
    configured(lab, "A", instructions="rules")
    rules = lab.workspace.evals / "configs" / "rules"
    rules.mkdir()
    (rules / "AGENTS.md").write_text("x")
    assert "instructions     /workspace/AGENTS.md 2d711642b726" in lab.done("config", "show", "A")
    (rules / "CLAUDE.md").symlink_to("AGENTS.md")
    answer = lab.labkit("config", "show", "A")
    assert answer.code == 1
    assert "problem          configs/rules/CLAUDE.md is a link: an agent would" in answer.out
    assert "command line     tool --ask '{prompt}'\n" in answer.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "C"), "no configuration C"),
        (("show", "cc"), "configuration 'cc' is not one capital letter"),
        (("diff", "A"), "two configurations are compared"),
        (("diff", "A", "A"), "two configurations are compared"),
    ],
)
def test_bad_names_are_one_clear_error(stages: Stages, words: tuple[str, ...], says: str) -> None:
    answer = stages.original("joined").labkit("config", *words)
    require_clear(answer, code=2, says=(says,))


def test_what_follows_from_a_difference_is_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    configured(lab, "A")
    configured(lab, "B", command=["tool", "--fast", "{prompt}"])
    (pair,) = shown(lab, "diff")["pairs"]
    assert (pair["first"], pair["second"], pair["one_thing"]) == ("A", "B", True)
    assert pair["declared"] == ["command: tool --ask '{prompt}' against tool --fast '{prompt}'"]
    assert pair["follows"] == [{"what": "argv", "first": "--ask", "second": "--fast"}]
    text = lab.done("config", "diff", "A", "B")
    assert text.startswith("A and B are declared to differ in one thing: command: tool --ask")
    assert "no pair of runs is here yet" in text
    configured(lab, "B", settings={"FLAVOUR": "sweet"})
    (pair,) = shown(lab, "diff", "B", "A")["pairs"]
    assert pair["first"] == "B"
    assert {"what": "variable FLAVOUR", "first": "one value", "second": "another"} in pair[
        "follows"
    ]


@pytest.mark.parametrize(
    ("agent", "told", "files"),
    [
        ("claude-code", True, ["/etc/claude-code/managed-settings.json"]),
        ("codex", False, ["/home/agent/.codex/config.toml"]),
    ],
)
def test_what_real_agents_make_of_a_configuration(
    lab_at: Callable[[str], Lab], agent: str, *, told: bool, files: list[str]
) -> None:
    lab = lab_at("joined")
    for which, effort in (("A", "low"), ("B", "high")):
        fields: dict[str, Any] = {"agent": agent, "effort": effort, "command": None, "settings": {}}
        configured(lab, which, **fields, agent_version="", instructions="")
    started = shown(lab, "show", "A")["configurations"][0]["started"]
    assert started["turn_cap"] == {"turns": 50, "told": told, "enforced": True}
    assert started["seed"] == {"forwarded": False}
    assert list(started["files"]) == files
    assert started["argv"][-1] == "{prompt}"
    assert started["version"]
    (pair,) = shown(lab, "diff")["pairs"]
    assert pair["declared"] == ["effort: low against high"]
    argv = next(each for each in pair["follows"] if each["what"] == "argv")
    assert "low" in argv["first"]
    assert argv["first"].replace("low", "high") == argv["second"]


def test_only_the_words_that_differ_are_shown(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    real: dict[str, Any] = {"agent": "claude-code", "agent_version": None, "command": None}
    configured(lab, "A", **real, settings=None)
    configured(lab, "B", **real, settings=None, effort="low")
    answer = lab.labkit("config", "diff")
    assert "    argv: none against --effort low\n" in answer.out
    (changed,) = [each for each in answer.out.splitlines() if "managed-settings.json" in each]
    assert re.search(r": [0-9a-f]{12} against [0-9a-f]{12}$", changed)


def wire_of(lab: Lab, run: str, name: str) -> None:
    """Write what a gateway told of a run's first request, as far as it is looked at."""
    events: list[dict[str, Any]] = [
        {"kind": "part", "digest": "s", "value": f"You are {name}.\nBe brief.\n-- \n"},
        {"kind": "part", "digest": "m", "value": {"role": "user", "content": [{"text": "Hi"}]}},
        {"kind": "request", "n": 1, "main": False, "parts": {"system": ["m"]}},
        {"kind": "request", "n": 2, "main": True, "parts": {"system": ["s"], "messages": ["m"]}},
    ]
    lines = [json.dumps({"t": 0.1, **event}) + "\n" for event in events]
    (lab.workspace.run(RunId.parse(run)) / "wire.jsonl").write_text("".join(lines))


def test_the_lines_that_differ_are_shown(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    for run in RUNS:
        side = run.split("__")[1]
        told = printed(model=f"model-{side}", system=side, messages=run.partition("__")[0])
        recorded(lab, run, fingerprint=told, turns=2, image_digest="Linux-6.1; P; environment e1")
        wire_of(lab, run, f"model-{side}")
    out = lab.done("config", "diff")
    assert "    system:\n      -You are model-A.\n      +You are model-B.\n" in out
    assert "    messages:\n" not in out
    assert "note: The system prompt differs too between A and B" in out
    assert "differs too" not in lab.done("status")
    text = lab.done("config", "show", "A")
    assert "turns            2 a run (2 runs)\n" in text
    assert "image            environment e1 on Linux-6.1 (2)\n" in text


def test_two_differences_and_none_are_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    configured(lab, "A")
    configured(lab, "B")
    answer = lab.labkit("config", "diff")
    assert (answer.code, answer.out.splitlines()[0]) == (
        1,
        "A and B: configurations A and B differ in 0 things: nothing",
    )
    configured(lab, "B", effort="high", model="n")
    answer = lab.labkit("config", "diff")
    assert answer.code == 1
    assert "differ in 2 things: effort: none against high; model: m against n" in answer.out


def test_runs_that_nobody_saw_are_told_as_unknown(stages: Stages) -> None:
    lab = stages.original("run")
    (found, _) = shown(lab, "show")["configurations"]
    assert found["seen"]["runs"] == 2
    assert found["seen"]["requests_known"] == 0
    assert "what the model was asked in 2 runs" in lab.done("config", "show", "A")
    unknown = "unknown: What the model was asked is unknown in both pairs of runs of A and B"
    assert unknown in lab.done("config", "diff")
    assert unknown in lab.done("status")


def test_what_the_wire_says_is_told_part_by_part(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    for run in RUNS:
        high = {"model": "model-A", "params": {"output_config.effort": "high"}}
        tools = "t" if run.startswith("greet") or "__A__" in run else "other"
        told = printed(**high, tools=tools, messages=run.partition("__")[0])
        recorded(lab, run, fingerprint=told, turns=3, tokens=1200, agent_version="1")
    answer = lab.labkit("config", "diff")
    assert answer.code == 1
    assert "first requests of 2 pairs of runs, of 2:" in answer.out
    assert "    system prompt: equal\n" in answer.out
    assert "    tools: differs in 1 of 2\n" in answer.out
    assert "    parameter output_config.effort: equal\n" in answer.out
    assert "breaks: model: model-A against model-B: declared of A and B, and seen in none of 2" in (
        answer.out
    )
    assert "breaks: The tools differ" not in answer.out  # they may, with the model
    assert "caution: Within B, the tools had 2 forms in 2 runs." in answer.out
    assert "caution: Within B" in lab.done("status")
    seen = shown(lab, "show", "A")["configurations"][0]["seen"]
    assert seen["efforts"] == {"output_config.effort=high": 2}
    assert seen["models_asked"] == {"model-A": 2}
    assert (seen["turns"], seen["tokens"]) == (
        {"runs": 2, "least": 3, "most": 3},
        {"runs": 2, "all": 2400},
    )


def test_running_tells_once_both_arms_are_there(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    told = "so far, unknown: What the model was asked"
    first = lab.labkit("task", "run", "shout-loud__A__1", me="ana")
    assert told not in first.err
    second = lab.labkit("task", "run", "shout-loud__B__1", me="ana")
    assert f"{told} is unknown in the one pair of runs of A and B" in second.err
    # What was said already is not said again, with other figures; status still knows it.
    third = lab.labkit("task", "run", me="ben")
    assert "2 runs" in third.err
    assert told not in third.err
    assert "unknown in both pairs of runs" in lab.done("status")


def test_equal_attempts_are_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    other = lab.workspace.raw / "greet-empty__A__2"
    assert "same diff" not in lab.done("status")
    plan = lab.workspace.plan
    plan.write_text(plan.read_text() + "5,greet-empty__A__2,ben,9\n")
    other.mkdir()
    record = json.loads((lab.workspace.raw / "greet-empty__A__1" / "run.json").read_text())
    (other / "run.json").write_text(json.dumps(record | {"run": "greet-empty__A__2"}))
    told = "greet-empty__A__1 and greet-empty__A__2 left the same diff"
    assert told in lab.done("status")


def test_the_summary_says_what_is_not_known(stages: Stages) -> None:
    lab = stages.original("summarised")
    values = json.loads(lab.workspace.summary("json").read_text())
    assert values["attributable"] is None
    assert "not_seen" in {each["topic"] for each in values["limitations"]}
    page = lab.workspace.summary("md").read_text()
    assert "They were declared to differ in one thing: model: model-A against model-B." in page
    assert "What the model was asked is unknown in both pairs of runs of A and B" in page
    assert "were declared to differ" in lab.workspace.summary("html").read_text()


def instructed(lab: Lab, which: str, folder: str, files: dict[str, str]) -> None:
    """Give a configuration a folder of instructions."""
    place = lab.workspace.evals / "configs" / folder
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    configured(lab, which, instructions=folder)


def findings(lab: Lab) -> list[str]:
    answer = lab.labkit("task", "check", "--json")
    return [each["what"] for each in json.loads(answer.out)["findings"]]


def test_freezing_asks_for_instructions_that_can_be_laid(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    configured(lab, "A")
    instructed(lab, "B", "rules", {"words.py/AGENTS.md": "x"})
    room = "words.py/AGENTS.md cannot be laid over the base: words.py is a file there"
    assert [f"task {task}: {room}" for task in ("greet-empty", "shout-loud")] == [
        each for each in findings(lab) if "laid" in each
    ]
    lab.refused("task", "freeze", "--pilot", me="ana", code=2, says=(room,))
    (lab.workspace.evals / "configs" / "rules" / "CLAUDE.md").symlink_to("x")
    link = "configs/rules/CLAUDE.md is a link: an agent would find another file, or none"
    assert link in findings(lab)
    lab.refused("task", "freeze", "--pilot", me="ana", code=2, says=(link,))


def test_folders_that_hold_the_same_are_no_difference(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    instructed(lab, "A", "rules", {"AGENTS.md": "x"})
    instructed(lab, "B", "others", {"AGENTS.md": "x"})
    same = (
        "configurations A and B name other folders of instructions, and the files in both are the "
        "same"
    )
    assert same in findings(lab)
    instructed(lab, "B", "others", {"AGENTS.md": "y"})
    assert same not in findings(lab)
    assert not [each for each in findings(lab) if "differ in" in each]
