"""Codex: how it is installed, set and started; `codex_account` reads how it ended.

Its own inner sandbox cannot work inside a container, and then every command fails without a word in
the end record: labkit's sandbox is the only one, and `Account.broken_tools` says when it is not.
"""

import json

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.model import Api
from labkit_runner.agents.codex_account import read_account
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
from labkit_runner.agents.words import (
    ENDPOINT,
    LABKITS,
    PROTECTION,
    check_words,
    prompt_word,
    values_of,
)
from labkit_runner.rehearsal.script import ToolCall, Turn

_FOLDER = f"{PROGRAMS}/codex"
_PROGRAM = f"{_FOLDER}/bin/codex"
_KEY = "LABKIT_GATEWAY_KEY"
_FEATURES = ("plugins", "unbounded_connection_retries")
"""Switched off: one asks for hosts that are not there, the other never gives up."""
_SAY_IT = "belongs into the configuration's own field of that name"
_OPTIONS = {
    **dict.fromkeys(("-m", "--model"), _SAY_IT),
    **dict.fromkeys(("--json", "--color", "--skip-git-repo-check", "-C", "--cd"), LABKITS),
    **dict.fromkeys(
        ("--oss", "--local-provider", "-p", "--profile", "--remote", "--ignore-user-config"),
        ENDPOINT,
    ),
    "--remote-auth-token-env": ENDPOINT,
    **dict.fromkeys(
        (
            "--full-auto",
            "--approve-for-me",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            "--trust",
            "--search",
            "--worktree",
        ),
        PROTECTION,
    ),
    "--ephemeral": "would keep no session",
}
_VARIABLES = {
    **dict.fromkeys(("OPENAI_API_KEY", "OPENAI_*_URL", "CODEX_API_KEY", _KEY), ENDPOINT),
    **dict.fromkeys(("CODEX_ACCESS_TOKEN", "CODEX_*_URL"), ENDPOINT),
    "CODEX_HOME": LABKITS,
}
_KEYS = {
    "model": _SAY_IT,
    "model_reasoning_effort": "belongs into the field effort",
    **dict.fromkeys(
        ("model_provider", "model_providers", "openai_base_url", "chatgpt_base_url", "profile"),
        ENDPOINT,
    ),
    **dict.fromkeys(("web_search", "tools.web_search", "projects", "otel", "notify"), PROTECTION),
    **dict.fromkeys(("approval_policy", *(f"features.{each}" for each in _FEATURES)), LABKITS),
}


class Codex:
    """Starts `codex exec` with a settings file of its own in the run's fresh home."""

    name = "codex"
    apis: tuple[Api, ...] = (Api.RESPONSES,)
    provider = "openai"
    usual_version = "0.171.0"
    main = "tools"
    memory: tuple[str, ...] = (
        "**/AGENTS.md",
        "**/AGENTS.override.md",
        "**/.codex/**",
        ".agents/**",
    )

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that puts the program of this platform there; it needs no Node."""
        version = pinned(configuration, self.usual_version)
        package = f"codex@npm:@openai/codex@{version}-linux-$arch"
        return npm_program(package, found="codex/vendor/*-linux-musl", place="codex")

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return the program's path."""
        return _PROGRAM

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return the command that prints the version."""
        return (_PROGRAM, "--version")

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError for words that labkit cannot let through."""
        configuration = request.configuration
        check_words(
            configuration,
            options=_OPTIONS | _given(configuration),
            variables=_VARIABLES,
        )
        arguments = configuration.arguments
        own = ("--sandbox", "danger-full-access")
        effort = json.dumps(configuration.effort)
        return Launch(
            argv=(
                *(_PROGRAM, "exec", "--json", "--skip-git-repo-check"),
                *(() if values_of(arguments, "-s", "--sandbox") else own),
                *(word for each in _FEATURES for word in ("--disable", each)),
                *("--model", configuration.model),
                *(("-c", f"model_reasoning_effort={effort}") if configuration.effort else ()),
                *arguments,
                "--",
                prompt_word(request),
            ),
            home=(Entry(path=b".codex/config.toml", kind=Kind.FILE, data=_SETTINGS.encode()),),
            environment={
                "HOME": HOME,
                "CODEX_HOME": f"{HOME}/.codex",
                _KEY: DUMMY_KEY,
                **configuration.settings,
            },
            version=pinned(configuration, self.usual_version),
            transcript="transcript.jsonl",
            sessions=(".codex/sessions/**/*.jsonl",),
        )

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return the turns in which a model has it run a shell command; for rehearsals."""
        call = ToolCall(name="exec_command", input={"cmd": command})
        return (Turn(calls=(call,)), Turn(text="Done."))

    def account(self, left: Left) -> Account:
        """Read its end record."""
        return read_account(left)


def _given(configuration: Configuration) -> dict[str, str]:
    """Return why single values of -c, --enable and --disable must not be there, by the word."""
    refused: dict[str, str] = {}
    for word, value in values_of(configuration.arguments, "-c", "--config"):
        key = value.partition("=")[0].strip()
        why = next((why for each, why in _KEYS.items() if (key + ".").startswith(each + ".")), "")
        if why:
            refused[word] = why
    for word, value in values_of(configuration.arguments, "--enable", "--disable"):
        if value in _FEATURES:
            refused[word] = LABKITS
    return refused


_SETTINGS = f"""\
model_provider = "labkit"
approval_policy = "never"
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[model_providers.labkit]
name = "labkit"
base_url = "{GATEWAY}/v1"
env_key = "{_KEY}"
wire_api = "responses"
request_max_retries = 3
stream_max_retries = 3
"""
