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
_CODE = (".js", ".ts")
_COMMENTS = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')
_SUBSTITUTED = re.compile(r"\{(?:env|file):")
"""Put into the text before it is read: in a comment it may end that."""
_SEPARATORS = re.compile("[\r\u2028\u2029\x85](?!\n)")
"""What one reader takes for the end of a line, and with it of a comment, and another does not."""


def plugins(workspace: Path) -> "list[str]":
    """Return what OpenCode would import, by its path in the workspace."""
    own = workspace / ".opencode"
    folders = (own / name for name in ("plugin", "plugins"))
    found = [each for folder in folders if folder.is_dir() for each in sorted(folder.iterdir())]
    code = [each for each in found if each.suffix in _CODE]
    settings = [place / name for place in (workspace, own) for name in _SETTINGS]
    named = [each for each in settings if os.path.lexists(each) and _names_plugins(each)]
    return [str(each.relative_to(workspace)) for each in (*code, *named)]


def _names_plugins(path: Path) -> bool:
    """Tell whether settings name plugins, or might to another reader: those that cannot be read."""
    try:
        return _has_plugins(_settings(path.read_bytes().decode()))
    except (OSError, ValueError, TypeError, RecursionError):
        return True


def _settings(text: str) -> object:
    """Read JSON with comments and trailing commas."""
    if _SEPARATORS.search(text):
        raise ValueError("its lines can be read in two ways")
    comments = [each[0] for each in _COMMENTS.finditer(text) if not each[1]]
    if any(map(_SUBSTITUTED.search, comments)):
        raise ValueError("its comments may end elsewhere")
    plain = _COMMAS.sub(r"\1", _COMMENTS.sub(lambda found: found[1] or " ", text))
    return json.loads(plain, object_pairs_hook=list)


def _has_plugins(settings: object) -> bool:
    """Look into the outermost object, whose names may stand twice, or come of substitutions."""
    if not isinstance(settings, list):
        return True
    return any(
        "{" in name or (name in ("plugin", "plugins") and value != []) for name, value in settings
    )


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
