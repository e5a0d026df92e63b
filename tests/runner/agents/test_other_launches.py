"""What mini-swe-agent, Gemini CLI, OpenCode and commands are started with, and what is refused."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from realagents import configured

from labkit.agentfields import RULES
from labkit.errors import InputError
from labkit.model import Api, RunId, TaskId
from labkit.workspace import Workspace
from labkit_runner.agents import opencode_start
from labkit_runner.agents.command import CommandAgent
from labkit_runner.agents.gemini import GeminiCli
from labkit_runner.agents.interface import DUMMY_KEY, GATEWAY, PROGRAMS, Agent, Launch, Request
from labkit_runner.agents.mini import MiniSweAgent
from labkit_runner.agents.opencode import OpenCode
from labkit_runner.agents.registry import agent_named

MINI, GEMINI, OPENCODE = MiniSweAgent(), GeminiCli(), OpenCode()
ALL = pytest.mark.parametrize("agent", [MINI, GEMINI, OPENCODE], ids=lambda agent: agent.name)


def launched(
    agent: Agent, *, prompt: str = "Mend it.", api: Api | None = None, **changes: object
) -> Launch:
    configuration = configured(agent, **{"model": "m1", **changes})
    run = RunId(TaskId("bug-a"), configuration.id, 1)
    request = Request(run=run, configuration=configuration, prompt=prompt, seed=7, api=api)
    return agent.launch(request)


def settings_of(launch: Launch) -> dict[str, Any]:
    files = [*launch.inputs, *(each for folder in launch.fixed.values() for each in folder)]
    found = next(
        each for each in files if each.path in (b"mini.yaml", b"settings.json", b"opencode.json")
    )
    loaded: dict[str, Any] = json.loads(found.data)
    return loaded


@pytest.mark.parametrize("name", RULES)
def test_what_is_said_of_an_agent_is_what_it_is(tmp_path: Path, name: str) -> None:
    agent = agent_named(name, Workspace(tmp_path))
    assert (agent.name, agent.apis) == (name, RULES[name].speaks)


@ALL
@pytest.mark.parametrize("prompt", ["--help", "- a\n- b\n", "$(x) 'y'\n", "@file /src/a.py"])
def test_the_prompt_is_the_last_word_and_never_an_option(agent: Agent, prompt: str) -> None:
    argv = launched(agent, prompt=prompt).argv
    assert argv[-1] in (prompt, f"--task={prompt}", f"--prompt={prompt}")
    assert argv[-1] != prompt or argv[-2] == "--"


@ALL
@pytest.mark.parametrize("version", ["latest", "^1.2.3", "1", "1.2.3; rm -rf /"])
def test_only_exact_versions_are_installed(agent: Agent, version: str) -> None:
    with pytest.raises(InputError, match="is not a version"):
        agent.install(configured(agent, model="m1", agent_version=version))


@ALL
def test_an_install_line_is_a_shell_command_below_one_folder(agent: Agent) -> None:
    for line in agent.install(configured(agent, model="m1")):
        assert subprocess.run(["sh", "-n", "-c", line], check=False).returncode == 0
        assert agent.usual_version in line
        assert PROGRAMS in line


@pytest.mark.parametrize(
    ("agent", "arguments", "why"),
    [
        (MINI, ["--model", "x"], "own field"),
        (MINI, ["-mx"], "own field"),
        (MINI, ["--model-class=litellm_response"], "would move the model's endpoint"),
        (MINI, ["-c", "model.model_kwargs.api_base=http://x"], "sets api_base"),
        (MINI, ["--config=model.model_name=x"], "sets model_name"),
        (MINI, ["--environment-class", "docker"], "turn a protection"),
        (GEMINI, ["--approval-mode", "plan"], "is set by labkit"),
        (GEMINI, ["--approvalMode=plan"], "is set by labkit"),
        (GEMINI, ["--allowedMcpServerNames", "x"], "turn a protection"),
        (GEMINI, ["-e", "x"], "turn a protection"),
        (GEMINI, ["--resume"], "begin with another session"),
        (OPENCODE, ["--attach", "http://x"], "turn a protection"),
        (OPENCODE, ["--variant=high"], "belongs into the field effort"),
        (OPENCODE, ["--", "x"], "end the options"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words_that_labkit_cannot_let_through_are_named(
    agent: Agent, arguments: list[str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        launched(agent, arguments=tuple(arguments))


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (MINI, "OPENAI_API_BASE"),
        (MINI, "MSWEA_MODEL_NAME"),
        (GEMINI, "GOOGLE_GEMINI_BASE_URL"),
        (GEMINI, "GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
        (GEMINI, "NODE_OPTIONS"),
        (OPENCODE, "OPENCODE_CONFIG"),
        (OPENCODE, "XDG_CONFIG_HOME"),
        (OPENCODE, "HTTPS_PROXY"),
    ],
)
def test_variables_that_would_move_it_are_named(agent: Agent, name: str) -> None:
    with pytest.raises(InputError, match=name):
        launched(agent, settings={name: "x"})


def test_mini_has_its_cap_its_seed_and_no_bound_of_its_own_on_costs() -> None:
    held = settings_of(launched(MINI, turn_cap=9))
    assert held["agent"] == {"step_limit": 9, "cost_limit": 0}
    words = held["model"]["model_kwargs"]
    assert words == {"api_base": f"{GATEWAY}/v1", "api_key": DUMMY_KEY, "seed": 7}


def test_a_seed_is_not_sent_where_the_api_has_none() -> None:
    held = settings_of(launched(MINI, api=Api.ANTHROPIC))
    assert "seed" not in held["model"]["model_kwargs"]


def test_an_effort_that_would_change_minis_api_is_refused() -> None:
    with pytest.raises(InputError, match=r"asks for gpt-5\.5 with an effort by the API") as caught:
        launched(MINI, model="gpt-5.5", effort="low")
    assert caught.value.hint == "write provider: openai"
    held = settings_of(launched(MINI, model="gpt-5.5", effort="low", api=Api.RESPONSES))
    assert held["model"]["model_kwargs"]["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-2.5-pro", "8192", {"thinkingBudget": 8192}),
        ("gemini-3-pro-preview", "low", {"thinkingLevel": "LOW"}),
        ("gemini-2.5-pro", "low", None),
        ("gemini-3-pro-preview", "8192", None),
    ],
)
def test_geminis_effort_is_a_budget_or_a_level(
    model: str, effort: str, thinking: dict[str, object] | None
) -> None:
    if thinking is None:
        with pytest.raises(InputError, match=f"{model} knows no effort '{effort}'"):
            launched(GEMINI, model=model, effort=effort)
        return
    held = settings_of(launched(GEMINI, model=model, effort=effort))
    (override,) = held["modelConfigs"]["customOverrides"]
    assert override["modelConfig"]["generateContentConfig"] == {"thinkingConfig": thinking}


def test_an_effort_that_opencode_cannot_tell_is_refused() -> None:
    with pytest.raises(InputError, match="cannot tell an effort by the API gemini"):
        launched(OPENCODE, api=Api.GEMINI, effort="low")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (".opencode/plugin/a.js", "", True),
        (".opencode/plugins/a.ts", "", True),
        (".opencode/plugins/notes.md", "", False),
        ("opencode.json", '{"plugin": ["x"]}', True),
        (".opencode/opencode.jsonc", "{ // c\n plugins : [ 'x' ] }", True),
        ("opencode.json", '{"plugin": [], "model": "x"}', False),
        ("opencode.json", '{"plugin": /* ours */ ["./p.js"]}', True),
        ("opencode.jsonc", '{"plu\\u0067in": ["./p.js"]}', True),
        ("opencode.json", '{"plu{env:NOTHING}gin": ["./p.js"]}', True),
        ("opencode.json", '{"plugin": ["./p.js"], "plugin": []}', True),
        ("opencode.json", '{/* {file:x} "plugin": ["./p.js"] /* */ "model": "x"}', True),
        ("opencode.json", '{// c\u2028"plugin": ["./p.js"]\n}', True),
        ("opencode.json", '{// c\r"plugin": ["./p.js"]\n}', True),
        ("opencode.json", "no JSON", True),
        ("opencode.json", '["plugin"]', True),
        (
            "opencode.json",
            '{"a": {"plugin": ["x"]}, "b": "// \\" /*", // plugin: ["x"]\r\n}',
            False,
        ),
        ("opencode.jsonc", '{"model": "{env:MODEL}", /* , */ "instructions": ["X.md",], }', False),
        ("src/plugin/a.js", "", False),
    ],
)
def test_plugins_are_found(tmp_path: Path, name: str, text: str, *, found: bool) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert opencode_start.plugins(tmp_path) == ([name] if found else [])


def test_one_file_instructs_opencode(tmp_path: Path) -> None:
    assert opencode_start.instructions(tmp_path) == []
    for name in ("CONTEXT.md", "CLAUDE.md", "AGENTS.md"):
        (tmp_path / name).touch()
        assert opencode_start.instructions(tmp_path) == [str(tmp_path / name)]


@pytest.mark.parametrize(
    ("api", "names"),
    [
        (None, set()),
        (Api.ANTHROPIC, {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"}),
        (Api.CHAT, {"OPENAI_BASE_URL", "OPENAI_API_KEY"}),
        (Api.RESPONSES, {"OPENAI_BASE_URL", "OPENAI_API_KEY"}),
        (Api.GEMINI, {"GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"}),
    ],
)
def test_a_command_finds_the_gateway_under_the_usual_names(
    api: Api | None, names: set[str]
) -> None:
    launch = launched(CommandAgent(), api=api, command=("x",), settings={"X": "1"})
    told = {name for name in launch.environment if not name.startswith("LABKIT_")}
    assert told == names | {"X"}


def test_a_commands_own_settings_do_not_move_the_gateway() -> None:
    moved = {"ANTHROPIC_BASE_URL": "http://x"}
    with pytest.raises(InputError, match="ANTHROPIC_BASE_URL would move the model's endpoint"):
        launched(CommandAgent(), api=Api.ANTHROPIC, command=("x",), settings=moved)
    # Without a gateway there is nothing to move.
    alone = launched(CommandAgent(), command=("x",), settings=moved)
    assert alone.environment["ANTHROPIC_BASE_URL"] == "http://x"
