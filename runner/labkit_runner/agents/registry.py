"""Which class drives which agent name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from labkit.agentfields import AGENTS
from labkit.errors import InputError
from labkit.workspace import Workspace
from labkit_runner.agents.callable import CallableAgent
from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.command import CommandAgent
from labkit_runner.agents.gemini import GeminiCli
from labkit_runner.agents.interface import Agent
from labkit_runner.agents.mini import MiniSweAgent
from labkit_runner.agents.opencode import OpenCode
from labkit_runner.agents.scripted import ScriptedAgent

_MADE: Mapping[str, Callable[[], Agent]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "mini-swe-agent": MiniSweAgent,
    "gemini-cli": GeminiCli,
    "opencode": OpenCode,
    "command": CommandAgent,
}
_OF_FILES: Mapping[str, Callable[[Path], Agent]] = {
    "callable": CallableAgent,
    "scripted": ScriptedAgent,
}
"""These play what lies below configs/."""


def agent_named(name: str, workspace: Workspace) -> Agent:
    """Return the agent of that name; raises InputError when labkit knows none."""
    if name in _OF_FILES:
        return _OF_FILES[name](workspace.evals / "configs")
    if name not in _MADE:
        raise InputError(f"no agent is called {name!r}", hint=f"use {', '.join(AGENTS)}")
    return _MADE[name]()
