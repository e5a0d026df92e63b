"""What Claude Code and Codex are started with, and what is not let through to them."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from realagents import configured

from labkit.errors import InputError
from labkit.model import RunId, TaskId
from labkit.workspace import Workspace
from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.interface import DUMMY_KEY, PROGRAMS, Agent, Launch, Request
from labkit_runner.agents.registry import agent_named

CLAUDE, CODEX = ClaudeCode(), Codex()
BOTH = pytest.mark.parametrize("agent", [CLAUDE, CODEX], ids=lambda agent: agent.name)


def launched(agent: Agent, prompt: str = "Mend it.", **changes: object) -> Launch:
    configuration = configured(agent, **{"model": "m1", **changes})
    run = RunId(TaskId("bug-a"), configuration.id, 1)
    return agent.launch(Request(run=run, configuration=configuration, prompt=prompt, seed=7))


def after(launch: Launch, option: str) -> str:
    return launch.argv[launch.argv.index(option) + 1]


@BOTH
def test_it_is_found_by_its_name(tmp_path: Path, agent: Agent) -> None:
    assert isinstance(agent_named(agent.name, Workspace(tmp_path)), type(agent))


@BOTH
@pytest.mark.parametrize("prompt", ["--help", "- a\n- b\n", "$(x) 'y'\n", "/src/a.py fails"])
def test_the_prompt_is_the_last_word_and_never_an_option(agent: Agent, prompt: str) -> None:
    assert launched(agent, prompt).argv[-2:] == ("--", prompt)


@BOTH
@pytest.mark.parametrize("prompt", ["é" * 60_001, "a\0b"])
def test_a_prompt_that_no_command_line_takes_is_refused(agent: Agent, prompt: str) -> None:
    with pytest.raises(InputError, match="no command line takes that"):
        launched(agent, prompt)


@pytest.mark.parametrize("prompt", ["/clear", "/init the project", " /my:command\n"])
def test_a_prompt_that_is_a_command_of_claudes_own_is_refused(prompt: str) -> None:
    with pytest.raises(InputError, match="takes for a command of its own"):
        launched(CLAUDE, prompt)


def test_claude_is_told_model_cap_and_effort_and_only_then() -> None:
    launch = launched(CLAUDE, effort="low", turn_cap=9, arguments=("--append-system-prompt", "x"))
    assert (after(launch, "--model"), after(launch, "--max-turns")) == ("m1", "9")
    assert (after(launch, "--effort"), after(launch, "--append-system-prompt")) == ("low", "x")
    assert "--effort" not in launched(CLAUDE).argv
    (managed,) = launched(CLAUDE).fixed["/etc/claude-code"]
    assert "CLAUDE_CODE_EFFORT_LEVEL" not in json.loads(managed.data)["env"]


def test_claudes_managed_settings_hold_what_a_configuration_sets() -> None:
    launch = launched(CLAUDE, effort="low", settings={"MAX_THINKING_TOKENS": "9"})
    assert launch.environment["MAX_THINKING_TOKENS"] == "9"
    (managed,) = launch.fixed["/etc/claude-code"]
    held = json.loads(managed.data)
    assert held["disableAllHooks"] is True
    assert held["env"]["MAX_THINKING_TOKENS"] == "9"
    assert held["env"]["CLAUDE_CODE_EFFORT_LEVEL"] == "low"
    assert held["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8790"


def test_codex_is_told_model_and_effort_and_only_then() -> None:
    launch = launched(CODEX, effort="high")
    assert (after(launch, "--model"), after(launch, "-c")) == (
        "m1",
        'model_reasoning_effort="high"',
    )
    assert "-c" not in launched(CODEX).argv
    settings = tomllib.loads(launch.home[0].data.decode())
    provider = settings["model_providers"][settings["model_provider"]]
    assert provider["base_url"] == "http://127.0.0.1:8790/v1"
    assert settings["web_search"] == "disabled"
    assert launch.environment[provider["env_key"]] == DUMMY_KEY


@pytest.mark.parametrize("word", ["-s", "--sandbox"])
def test_codex_is_told_of_one_sandbox_only(word: str) -> None:
    assert after(launched(CODEX), "--sandbox") == "danger-full-access"
    argv = launched(CODEX, arguments=(word, "workspace-write")).argv
    assert "danger-full-access" not in argv


@pytest.mark.parametrize(
    ("agent", "arguments"),
    [
        (CLAUDE, ("--settings", "{}")),
        (CLAUDE, ("--setting-sources=user",)),
        (CLAUDE, ("--model", "x")),
        (CLAUDE, ("--max-turns=5",)),
        (CLAUDE, ("--permission-mode", "plan")),
        (CLAUDE, ("--disallowedTools", "Bash")),
        (CLAUDE, ("-r", "1")),
        (CLAUDE, ("--",)),
        (CODEX, ("--oss",)),
        (CODEX, ("-mx",)),
        (CODEX, ("--ignore-user-config",)),
        (CODEX, ("--search",)),
        (CODEX, ("-c", "model_provider=x")),
        (CODEX, ("-cmodel_providers.labkit.base_url=x",)),
        (CODEX, ("--config=web_search=live",)),
        (CODEX, ("-c", "features.plugins=true")),
        (CODEX, ("--enable", "plugins")),
        (CODEX, ("--enable=unbounded_connection_retries",)),
        (CODEX, ("-c", "model_reasoning_effort=low")),
    ],
)
def test_an_argument_that_moves_what_labkit_holds_is_refused(
    agent: Agent, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(InputError, match="configuration A: the argument '"):
        launched(agent, arguments=arguments)


@pytest.mark.parametrize(
    ("agent", "arguments"),
    [
        (CLAUDE, ("--append-system-prompt", "x", "--tools", "Bash,Edit", "--mcp-config", "m.json")),
        (CODEX, ("-c", "model_verbosity=high", "--enable", "view_image", "--add-dir", "/a")),
        (CODEX, ("-c", "models_cache=1")),
    ],
)
def test_other_arguments_stand_before_the_prompt(agent: Agent, arguments: tuple[str, ...]) -> None:
    argv = launched(agent, arguments=arguments).argv
    assert argv[-2 - len(arguments) : -2] == arguments


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (CLAUDE, "ANTHROPIC_BASE_URL"),
        (CLAUDE, "ANTHROPIC_API_KEY"),
        (CLAUDE, "CLAUDE_CODE_USE_BEDROCK"),
        (CLAUDE, "CLAUDE_CODE_OAUTH_TOKEN"),
        (CLAUDE, "CLAUDE_CODE_EFFORT_LEVEL"),
        (CLAUDE, "HTTPS_PROXY"),
        (CLAUDE, "https_proxy"),
        (CLAUDE, "NODE_OPTIONS"),
        (CODEX, "OPENAI_BASE_URL"),
        (CODEX, "OPENAI_API_KEY"),
        (CODEX, "CODEX_HOME"),
        (CODEX, "LD_PRELOAD"),
        (CODEX, "HOME"),
    ],
)
def test_a_setting_that_moves_what_labkit_holds_is_refused(agent: Agent, name: str) -> None:
    with pytest.raises(InputError, match=f"configuration A: the setting {name} ") as caught:
        launched(agent, settings={name: "x", "FINE": "1"})
    assert len(caught.value.problems) == 1
    assert "configs/A.yaml" in str(caught.value.hint)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        launched(CLAUDE, settings={"HOME": "x", "PATH": "x"}, arguments=("--model", "--print"))
    assert len(caught.value.problems) == 4


@BOTH
@pytest.mark.parametrize("version", ["latest", "2", "^2.1.0", "1.0.0; rm -rf /", "2.1.x"])
def test_only_an_exact_version_is_installed(agent: Agent, version: str) -> None:
    configuration = configured(agent, agent_version=version)
    for ask in (agent.install, lambda each: launched(agent, agent_version=each.agent_version)):
        with pytest.raises(InputError, match="is not a version"):
            ask(configuration)


@BOTH
def test_the_install_line_is_pinned_and_sound(agent: Agent) -> None:
    (line,) = agent.install(configured(agent, agent_version="9.8.7"))
    assert re.search(r"@9\.8\.7(?:-linux-\$arch)?\"", line)
    assert "--ignore-scripts" in line
    subprocess.run(["/bin/sh", "-n", "-c", line], check=True)
    assert agent.program(configured(agent)).startswith(f"{PROGRAMS}/")
    assert agent.version_command(configured(agent))[0] == agent.program(configured(agent))


def test_a_platform_without_a_program_is_told(tmp_path: Path) -> None:
    (line,) = CLAUDE.install(configured(CLAUDE))
    (tmp_path / "uname").write_text("#!/bin/sh\necho riscv64\n")
    (tmp_path / "uname").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", line], env={"PATH": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == b"there is no claude for riscv64\n"


def test_the_version_is_the_configurations_or_the_one_that_labkit_was_tried_with() -> None:
    assert launched(CLAUDE).version == CLAUDE.usual_version
    assert launched(CLAUDE, agent_version="2.1.197").version == "2.1.197"
