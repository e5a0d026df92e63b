"""npm's own settings of the user: how it reaches its registry, and nothing else."""

import re
from collections.abc import Mapping
from pathlib import Path

NEVER = re.compile(r"npm_config_(?:userconfig|globalconfig|cache|prefix|tmp|dir)", re.IGNORECASE)
"""Variables that name places of this machine."""
_KEPT = re.compile(
    r"(?:@[^:\s]+:)?registry|//\S*|_auth\w*|ca|cafile|strict-ssl|proxy|https-proxy|noproxy"
)
_LINE = re.compile(r"\s*([^\s=;#]+?)(\[\])?\s*=\s*(.*?)\s*")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def npm_settings(environment: Mapping[str, str]) -> str:
    """Return the lines of npm's settings file that setup needs.

    Variables that they name are filled in: setup has few of them.
    """
    names = ("NPM_CONFIG_USERCONFIG", "npm_config_userconfig")
    named = next((environment[name] for name in names if environment.get(name)), "")
    path = Path(named) if named else Path.home() / ".npmrc"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    kept = []
    for line in lines:
        match = _LINE.fullmatch(line)
        if match and _KEPT.fullmatch(match[1]):
            value = _VARIABLE.sub(lambda name: environment.get(name[1], name[0]), match[3])
            kept.append(f"{match[1]}{match[2] or ''}={value}\n")
    return "".join(kept)
