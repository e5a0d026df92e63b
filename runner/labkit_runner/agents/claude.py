"""Claude Code: how it is installed, set and started; `claude_account` reads how it ended.

A workspace's own .claude/settings.json takes part in a run, with no trust asked. Managed settings
stand above it: they lie in a folder that nothing in the sandbox can write.
"""

import json
import re

from labkit.archive import Entry, Kind
from labkit.configurations import SUBSCRIPTION, Configuration
from labkit.errors import InputError
from labkit.model import Api
from labkit_runner.agents.claude_account import read_account
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
from labkit_runner.agents.npm import npm_program, pinned
from labkit_runner.agents.words import ENDPOINT, LABKITS, PROTECTION, check_words, prompt_word
from labkit_runner.rehearsal.script import ToolCall, Turn

MANAGED = "/etc/claude-code"
_TOOLS = ("Agent", "Bash", "Edit", "NotebookEdit", "Read", "Skill", "Task", "Write")
WEB_TOOLS = ("WebFetch", "WebSearch")
_PROGRAM = f"{PROGRAMS}/claude"
_COMMAND = re.compile(r"\s*/[\w:.-]+(?:\s|$)")
_VENDOR = "https://api.anthropic.com"
_SAY_IT = "belongs into the configuration's own field of that name"
_PLATFORMS = tuple(
    f"CLAUDE_CODE_USE_{each}"
    for each in (
        "ANTHROPIC_AWS",
        "ANTHROPIC_GOOGLE_CLOUD",
        "BEDROCK",
        "FOUNDRY",
        "GATEWAY",
        "MANTLE",
        "VERTEX",
    )
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_NOTHING = (
    "ANTHROPIC_UNIX_SOCKET",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_SHELL_PREFIX",
)
_OPTIONS = {
    **dict.fromkeys(("--model", "--effort"), _SAY_IT),
    "--max-turns": "belongs into the field turn_cap",
    **dict.fromkeys(
        ("-p", "--print", "--verbose", "--output-format", "--input-format"),
        LABKITS,
    ),
    **dict.fromkeys(
        ("--permission-mode", "--dangerously-skip-permissions", "--disallowedTools"),
        LABKITS,
    ),
    **dict.fromkeys(("--disallowed-tools", "--strict-mcp-config"), LABKITS),
    **dict.fromkeys(("--settings", "--setting-sources", "--cloud", "--environment"), ENDPOINT),
    **dict.fromkeys(
        ("-c", "--continue", "-r", "--resume", "--from-pr", "--teleport", "--session-id"),
        "would begin with another session",
    ),
    "--no-session-persistence": "would keep no session",
    **dict.fromkeys(("--bg", "--background", "-w", "--worktree", "--tmux"), PROTECTION),
}
_VARIABLES = {
    **dict.fromkeys(
        ("ANTHROPIC_*_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        ENDPOINT,
    ),
    **dict.fromkeys(("CLAUDE_CODE_OAUTH_*", *_PLATFORMS, *_NOTHING), ENDPOINT),
    **dict.fromkeys(("CLAUDE_CONFIG_DIR", "IS_SANDBOX", "CLAUDE_CODE_MAX_RETRIES"), LABKITS),
    "ANTHROPIC_MODEL": _SAY_IT,
    "CLAUDE_CODE_EFFORT_LEVEL": "belongs into the field effort",
    "DISABLE_AUTOUPDATER": LABKITS,
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": LABKITS,
}


class ClaudeCode:
    """Starts `claude -p` with everything that it may obey said."""

    name = "claude-code"
    apis: tuple[Api, ...] = (Api.ANTHROPIC,)
    provider = "anthropic"
    usual_version = "2.1.332"
    main = "tools"
    memory: tuple[str, ...] = (
        "**/CLAUDE.md",
        "**/CLAUDE.local.md",
        "**/AGENTS.md",
        "**/.claude/**",
        ".mcp.json",
    )

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that puts the program of this platform there; it needs no Node."""
        version = pinned(configuration, self.usual_version)
        package = "@anthropic-ai/claude-code-linux-$arch"
        return npm_program(f"{package}@{version}", found=f'"{package}/claude"', place="claude")

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return the program's path."""
        return _PROGRAM

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return the command that prints the version."""
        return (_PROGRAM, "--version")

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError for words that labkit cannot let through."""
        configuration = request.configuration
        check_words(configuration, options=_OPTIONS, variables=_VARIABLES)
        _check_prompt(request)
        effort = ("--effort", configuration.effort) if configuration.effort else ()
        return Launch(
            argv=(
                _PROGRAM,
                "-p",
                *("--verbose", "--output-format", "stream-json"),
                *("--model", configuration.model),
                *("--max-turns", str(configuration.turn_cap)),
                *("--permission-mode", "bypassPermissions"),
                *("--disallowedTools", ",".join(WEB_TOOLS)),
                "--strict-mcp-config",
                *effort,
                *configuration.arguments,
                "--",
                prompt_word(request),
            ),
            fixed={MANAGED: (_managed(configuration),)},
            environment={**_environment(configuration), **configuration.settings},
            version=pinned(configuration, self.usual_version),
            transcript="transcript.jsonl",
            sessions=(".claude/projects/**/*.jsonl",),
        )

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return the turns in which a model has it run a shell command; for rehearsals."""
        call = ToolCall(name="Bash", input={"command": command, "description": "Rehearse"})
        return (Turn(calls=(call,)), Turn(text="Done."))

    def account(self, left: Left) -> Account:
        """Read its end record."""
        return read_account(left)


def _check_prompt(request: Request) -> None:
    """Raise InputError for a prompt that the program would obey itself, the model unasked."""
    command = _COMMAND.match(request.prompt)
    if command:
        raise InputError(
            f"task {request.run.task}: the prompt begins with {command[0].strip()[:80]!r}, "
            "which Claude Code takes for a command of its own",
            hint="begin with another word",
        )


def _environment(configuration: Configuration) -> dict[str, str]:
    return {
        "HOME": HOME,
        **_endpoint(configuration),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # The gateway waits for the model; a bad key must not be tried for minutes.
        "CLAUDE_CODE_MAX_RETRIES": "3",
        "API_TIMEOUT_MS": "600000",
        # The sandbox is the wall, whoever the user inside it is.
        "IS_SANDBOX": "1",
    }


def _endpoint(configuration: Configuration) -> dict[str, str]:
    """Return where the model is; with a subscription the way there is a tunnel."""
    if configuration.login == SUBSCRIPTION:
        return {"ANTHROPIC_BASE_URL": _VENDOR, "HTTPS_PROXY": GATEWAY, **dict.fromkeys(_KEYS, "")}
    return {"ANTHROPIC_BASE_URL": GATEWAY, "ANTHROPIC_API_KEY": DUMMY_KEY}


def _managed(configuration: Configuration) -> Entry:
    """Return the settings that stand above everything that the workspace says."""
    held = {
        **dict.fromkeys(_PLATFORMS, "0"),
        **dict.fromkeys((*_PROXIES, *_NOTHING), ""),
        **_environment(configuration),
        "ANTHROPIC_MODEL": configuration.model,
        **configuration.settings,
    }
    if configuration.effort:
        held["CLAUDE_CODE_EFFORT_LEVEL"] = configuration.effort
    settings = {
        "disableAllHooks": True,
        # Programs that a workspace may name to be asked for keys: these are asked instead.
        "apiKeyHelper": f"echo {DUMMY_KEY}",
        "awsAuthRefresh": "true",
        "awsCredentialExport": "true",
        "gcpAuthRefresh": "true",
        "otelHeadersHelper": "true",
        # Another model, or another agent's prompt and model, by whatever name a workspace gives it.
        "model": configuration.model,
        "modelOverrides": {configuration.model: configuration.model},
        "availableModels": [configuration.model],
        "fallbackModel": [configuration.model],
        "agent": "",
        # Allowed by name as well: a workspace can forbid the mode in which all is allowed, and its
        # own inner sandbox cannot work in a container.
        "permissions": {
            "defaultMode": "dontAsk",
            "allow": list(_TOOLS),
            "deny": list(WEB_TOOLS),
        },
        "sandbox": {"enabled": False},
        "env": held,
    }
    if configuration.login == SUBSCRIPTION:
        # Empty is as good as none, and stands above what the workspace says.
        settings["apiKeyHelper"] = ""
    text = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    return Entry(path=b"managed-settings.json", kind=Kind.FILE, data=text.encode())
