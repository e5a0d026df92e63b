"""Which class drives which agent name."""

from labkit.errors import InputError
from labkit.workspace import Workspace
from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.command import CommandAgent
from labkit_runner.agents.interface import Agent
from labkit_runner.agents.scripted import ScriptedAgent


def agent_named(name: str, workspace: Workspace) -> Agent:
    """Return the agent of that name; raises InputError when labkit knows none."""
    match name:
        case "scripted":
            return ScriptedAgent(workspace.evals / "configs")
        case "claude-code":
            return ClaudeCode()
        case "codex":
            return Codex()
        case "command":
            return CommandAgent()
        case _:
            raise InputError(
                f"no agent is called {name!r}", hint="use claude-code, codex, scripted or command"
            )
