"""A small task that Claude Code and Codex solve in three turns of a scripted model."""

import subprocess
from pathlib import Path

from realagents import Rehearsed, configured, rehearse

from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.codex import Codex
from labkit_runner.rehearsal.script import Script, ToolCall, Turn, Usage

CLAUDE_USAGE = Usage(input=700, output=30, cache_read=200, cache_write=10)
CLAUDE_SOLVES = Script(
    turns=(
        Turn(
            text="I look first.",
            calls=(ToolCall(name="Read", input={"file_path": "/workspace/calc.py"}),),
            usage=CLAUDE_USAGE,
        ),
        Turn(
            calls=(
                ToolCall(
                    name="Edit",
                    input={
                        "file_path": "/workspace/calc.py",
                        "old_string": "a - b",
                        "new_string": "a + b",
                    },
                ),
                ToolCall(
                    name="Bash",
                    input={"command": "python3 calc.py > out.txt", "description": "Run it"},
                ),
            ),
            usage=CLAUDE_USAGE,
        ),
        Turn(text="Mended.", usage=CLAUDE_USAGE),
    )
)
PATCH = """\
*** Begin Patch
*** Update File: calc.py
@@
 def add(a, b):
-    return a - b
+    return a + b
*** End Patch
"""
CODEX_USAGE = Usage(input=700, output=30, cache_read=200, reasoning=7)
CODEX_SOLVES = Script(
    turns=(
        Turn(
            text="I look first.",
            calls=(ToolCall(name="exec_command", input={"cmd": "cat calc.py"}),),
            usage=CODEX_USAGE,
        ),
        Turn(
            calls=(
                ToolCall(name="apply_patch", raw=PATCH),
                ToolCall(name="exec_command", input={"cmd": "python3 calc.py > out.txt"}),
            ),
            usage=CODEX_USAGE,
        ),
        Turn(text="Mended.", usage=CODEX_USAGE),
    )
)


def task(folder: Path) -> Path:
    """Lay the task out in a folder's workspace and return that."""
    work = folder / "workspace"
    work.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", str(work)], check=True)
    (work / "calc.py").write_text("def add(a, b):\n    return a - b\n\nprint(add(1, 2))\n")
    return work


def play_claude(
    folder: Path, version: str, script: Script = CLAUDE_SOLVES, **changes: object
) -> Rehearsed:
    """Play a script to a version of Claude Code."""
    task(folder)
    agent = ClaudeCode()
    usual = {"agent_version": version, "model": "claude-opus-4-8"}
    return rehearse(agent, configured(agent, **{**usual, **changes}), script, folder)


def play_codex(folder: Path, script: Script = CODEX_SOLVES, **changes: object) -> Rehearsed:
    """Play a script to Codex."""
    task(folder)
    agent = Codex()
    return rehearse(agent, configured(agent, **{"model": "gpt-5.5", **changes}), script, folder)
