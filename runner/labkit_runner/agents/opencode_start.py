"""Starts OpenCode inside the sandbox, after a look at the workspace.

A plain file that knows nothing of labkit: standard library only, Python 3.8 or newer.
Usage: opencode_start.py PROGRAM [ARGUMENT...]. OpenCode imports plugins of the workspace although
its project settings are switched off: where there are any, it is not started. That switch also
hides the project's instructions, so they are named again, by OpenCode's own rule.
"""

import json
import os
import re
import sys
from pathlib import Path

REFUSED = "labkit_refused"
EXIT = 78
_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
_SETTINGS = ("opencode.json", "opencode.jsonc")
_NAMES_PLUGINS = re.compile(r"[\"']?\bplugins?[\"']?\s*:\s*\[\s*[^\]\s]")
_CODE = (".js", ".ts")


def plugins(workspace: Path) -> "list[str]":
    """Return what OpenCode would import, by its path in the workspace."""
    own = workspace / ".opencode"
    folders = (own / name for name in ("plugin", "plugins"))
    found = [each for folder in folders if folder.is_dir() for each in sorted(folder.iterdir())]
    code = [each for each in found if each.suffix in _CODE]
    settings = [place / name for place in (workspace, own) for name in _SETTINGS]
    named = [each for each in settings if each.is_file() and _NAMES_PLUGINS.search(_text(each))]
    return [str(each.relative_to(workspace)) for each in (*code, *named)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def instructions(workspace: Path) -> "list[str]":
    """Return the file that OpenCode would take its instructions from."""
    found = (workspace / name for name in _INSTRUCTIONS)
    return [str(each) for each in found if each.is_file()][:1]


def main(argv: "list[str]") -> None:
    """Become OpenCode, or say why not."""
    workspace = Path.cwd()
    if refused := plugins(workspace):
        sys.stdout.write(json.dumps({"type": REFUSED, "plugins": refused}) + "\n")
        sys.exit(EXIT)
    told = json.dumps({"instructions": instructions(workspace)})
    os.environ["OPENCODE_CONFIG_CONTENT"] = told
    os.execv(argv[0], argv)  # noqa: S606 - starting the agent is what it is for


if __name__ == "__main__":
    main(sys.argv[1:])
