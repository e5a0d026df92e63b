from pathlib import Path

import pytest
from runs import A, B, a_configuration

from labkit.configurations import (
    differences,
    read_configuration,
    read_configurations,
    the_difference,
)
from labkit.errors import InputError
from labkit.model import ConfigurationId
from labkit.nodes import dump_yaml
from labkit.workspace import Workspace, replace

C = ConfigurationId("C")
PLAIN = {"id": "A", "agent": "command", "model": "m", "command": ["agent", "{prompt}"]}
MINE = {"agent": "callable", "command": None}
CLAUDE = {"agent": "claude-code", "command": None}
CODEX = {"agent": "codex", "command": None}
GEMINI = {"agent": "gemini-cli", "command": None}
SCRIPTED = {"agent": "scripted", "command": None, "steps": "steps/A"}


def written(folder: Path, **changes: object) -> Workspace:
    workspace = Workspace(folder)
    (workspace.evals / "configs" / "steps" / "A").mkdir(parents=True, exist_ok=True)
    values = {name: value for name, value in (PLAIN | changes).items() if value is not None}
    replace(workspace.configuration(A), dump_yaml(values))
    return workspace


def test_a_configuration_is_read_with_its_defaults(tmp_path: Path) -> None:
    found = read_configuration(written(tmp_path, settings={"KEY": "v"}), A)
    assert (found.agent, found.turn_cap, found.effort) == ("command", 50, "")
    assert (found.settings, found.command) == ({"KEY": "v"}, ("agent", "{prompt}"))
    assert found.describe() == "command m"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": "B"}, "line 1: \"id\" is 'B', but the file is called A"),
        ({"agent": "comand"}, 'line 2: "agent" is \'comand\': did you mean "command"?'),
        ({"agent": False}, 'line 2: "agent" must be a text'),
        ({"model": None}, 'A.yaml: no "model:"'),
        ({"command": []}, 'the command agent needs "command: [...]"'),
        ({"command": [""]}, 'the command agent needs "command: [...]"'),
        ({"command": "agent"}, 'line 4: "command" must be a list'),
        ({"agent_version": 3.1}, 'put it in quotes: "3.1"'),
        ({"turn_cap": 0}, '"turn_cap" must be a number, 1 or more'),
        ({"turn_cap": 1.5}, '"turn_cap" must be a whole number'),
        ({"settings": {"A B": "x"}}, "'A B' is not the name of an environment variable"),
        ({"settings": {"A": 1}}, 'put it in quotes: "1"'),
        ({"agent": "scripted"}, 'the scripted agent needs "steps:", a folder'),
        ({"agent": "scripted", "steps": "steps/B"}, "there is no folder configs/steps/B"),
        ({"agent": "scripted", "steps": "../tasks"}, "is not a folder below configs/"),
        ({"agent": "scripted", "steps": "/etc"}, "is not a folder below configs/"),
        (
            {"agent": "callable", "command": None},
            'the callable agent needs "callable: agents/mine.py:solve"',
        ),
        (MINE | {"callable": "mine.py"}, "'mine.py' names no function: write agents/mine.py:solve"),
        (MINE | {"callable": "mine.py:a b"}, "names no function"),
        (MINE | {"callable": "../mine.py:f"}, "'../mine.py' is not a file below configs/"),
        (MINE | {"callable": "none.py:f"}, "line 4: there is no file configs/none.py"),
        ({"steps": "steps/A"}, "line 7: the command agent does not take steps: take it out"),
        ({"arguments": ["x"]}, "the command agent does not take arguments: it has no command line"),
        (CLAUDE | {"install": ["x"]}, "does not take install: labkit installs it: take it out"),
        ({"login": "subscription"}, "there are subscriptions for claude-code only"),
        (
            CODEX | {"login": "subscription"},
            "line 4: codex cannot be run with a subscription: it has no turn limit of its own",
        ),
        (CLAUDE | {"effort": "hgh"}, "line 4: claude-code knows no effort 'hgh': did you mean"),
        (CLAUDE | {"effort": "none"}, "use one of low, medium, high, xhigh, max"),
        (CODEX | {"effort": "xx"}, "use one of none, minimal, low, medium, high, xhigh"),
        (GEMINI | {"effort": "8k"}, "medium, high, or a number of tokens to think"),
        (
            GEMINI | {"login": "subscription"},
            "line 4: gemini-cli cannot be run with a subscription",
        ),
        ({"provider": "acme"}, "no provider 'acme': labkit.yaml has anthropic, gemini, openai"),
        (
            CLAUDE | {"provider": "openai"},
            "openai speaks openai-responses, and claude-code speaks anthropic-messages: choose",
        ),
        (SCRIPTED | {"provider": "openai"}, "does not take provider: it asks no model"),
        ({"modle": "x"}, 'unknown field "modle", did you mean "model"?'),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_a_bad_field_is_told_with_its_mend(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_configuration(written(tmp_path, **changes), A)
    assert told in "\n".join(caught.value.problems)
    assert len(caught.value.problems) <= 2


def test_all_problems_of_an_agents_fields_are_told_at_once(tmp_path: Path) -> None:
    changes = CLAUDE | {"install": ["x"], "steps": "s", "provider": "gemini", "callable": "x"}
    with pytest.raises(InputError) as caught:
        read_configuration(written(tmp_path, **changes), A)
    told = "\n".join(caught.value.problems)
    assert all(each in told for each in ("install", "steps", "callable", "provider gemini"))


@pytest.mark.parametrize(
    "changes",
    [
        CLAUDE | {"login": "subscription", "effort": "high", "arguments": ["--x"]},
        GEMINI | {"provider": "gemini", "effort": "8192"},
        {"effort": "any word"},
        {"provider": "openai-chat", "install": ["pip install x"]},
        {"provider": "mine"},
        MINE | {"callable": "agents/mine.py:solve", "install": ["pip install x"]},
        SCRIPTED | {"effort": "high"},
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_an_agent_takes_is_taken(tmp_path: Path, changes: dict[str, object]) -> None:
    workspace = written(tmp_path, **changes)
    (workspace.evals / "configs" / "agents").mkdir()
    (workspace.evals / "configs" / "agents" / "mine.py").touch()
    mine = {"mine": {"api": "openai-chat", "url": "http://localhost:8000/v1"}}
    replace(workspace.settings, dump_yaml({"team": "t", "providers": mine}))
    assert read_configuration(workspace, A).agent == changes.get("agent", "command")


def test_an_unknown_configuration_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no configuration B"):
        read_configuration(written(tmp_path), B)


def test_a_comparison_needs_two(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs two configurations"):
        read_configurations(written(tmp_path))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"model": "n"}, "model: m against n"),
        ({"effort": "high"}, "effort: none against high"),
        ({"settings": {"X": "1"}}, "settings.X: none against 1"),
        ({"command": ("a b", "c")}, "command: none against 'a b' c"),
        ({"turn_cap": 9}, "turn_cap: 50 against 9"),
        ({"agent_version": "2"}, "agent_version: 1 against 2"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_one_difference_is_named(changes: dict[str, object], told: str) -> None:
    assert the_difference((a_configuration(), a_configuration(B, **changes))) == told


def test_notes_and_steps_are_no_difference() -> None:
    other = a_configuration(B, notes="other", steps="steps/other")
    assert differences(a_configuration(), other) == ()


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ([{}], "A and B differ in 0 things: nothing"),
        ([{"model": "n", "effort": "x"}], "differ in 2 things: effort: none against x; model: m"),
        ([{"model": "n"}, {"effort": "x"}], "differ in different things: effort, model"),
        ([{"model": "n"}, {"model": "n"}], "configurations B and C are the same"),
    ],
    ids=["none", "two", "different", "same"],
)
def test_other_than_exactly_one_difference_is_refused(
    others: list[dict[str, object]], told: str
) -> None:
    made = [a_configuration(name, **one) for name, one in zip((B, C), others, strict=False)]
    with pytest.raises(InputError) as caught:
        the_difference((a_configuration(), *made))
    assert told in str(caught.value)


def test_three_models_are_one_difference() -> None:
    others = (a_configuration(B, model="n"), a_configuration(C, model="o"))
    assert the_difference((a_configuration(), *others)) == "model: m against n; model: m against o"
