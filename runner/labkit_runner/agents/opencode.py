"""OpenCode: how it is installed, set and started; `opencode_account` reads how it ended.

A workspace's own opencode.json and .opencode/ would move the endpoint and start programs. They are
switched off, and with them AGENTS.md, which `opencode_start` names again; managed settings lie in
a folder that nothing in the sandbox can write. For plugins it has no switch that holds: a
workspace with plugins is not run.
"""

import json
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api
from labkit_runner.agents import opencode_start
from labkit_runner.agents.interface import (
    DUMMY_KEY,
    GATEWAY,
    HOME,
    INPUTS,
    PROGRAMS,
    Account,
    Launch,
    Left,
    Request,
)
from labkit_runner.agents.npm import npm_program, pinned
from labkit_runner.agents.opencode_account import read_account
from labkit_runner.agents.words import (
    ENDPOINT,
    LABKITS,
    PROTECTION,
    check_words,
    prompt_word,
    with_camels,
)
from labkit_runner.rehearsal.script import ToolCall, Turn

_PROGRAM = f"{PROGRAMS}/opencode"
_MANAGED = "/etc/opencode"
WEB_TOOLS = ("webfetch", "websearch", "codesearch")
_PROVIDERS = {
    Api.CHAT: ("labkit", f"{GATEWAY}/v1"),
    Api.ANTHROPIC: ("anthropic", f"{GATEWAY}/v1"),
    Api.RESPONSES: ("openai", f"{GATEWAY}/v1"),
    Api.GEMINI: ("google", f"{GATEWAY}/v1beta"),
}
"""By API: the provider of its own that speaks it, and where; `labkit` is made up."""
_EFFORTS = {
    Api.CHAT: "reasoningEffort",
    Api.RESPONSES: "reasoningEffort",
    Api.ANTHROPIC: "effort",
}
_SAY_IT = "belongs into the configuration's own field of that name"
_OPTIONS = {
    **dict.fromkeys(("-m", "--model"), _SAY_IT),
    "--variant": "belongs into the field effort",
    **dict.fromkeys(("--format", "--auto", "--pure", "-i", "--interactive"), LABKITS),
    **dict.fromkeys(("-c", "--continue", "-s", "--session", "--fork"), "would begin elsewhere"),
    **dict.fromkeys(("--attach", "--port", "--share", "--dir"), PROTECTION),
    **dict.fromkeys(("-p", "--password", "-u", "--username"), PROTECTION),
}
_VARIABLES = {
    **dict.fromkeys(("*_API_KEY", "*_BASE_URL", "OPENCODE_AUTH_CONTENT"), ENDPOINT),
    **dict.fromkeys(("OPENCODE_*", "XDG_*"), LABKITS),
}


class OpenCode:
    """Starts `opencode run` behind a look at the workspace."""

    name = "opencode"
    apis: tuple[Api, ...] = (Api.CHAT, Api.ANTHROPIC, Api.RESPONSES, Api.GEMINI)
    provider = "openai-chat"
    usual_version = "1.18.33"
    main = "tools"
    memory: tuple[str, ...] = (
        *("**/AGENTS.md", "**/CLAUDE.md", "CONTEXT.md"),
        *("opencode.json", "opencode.jsonc", ".opencode/**", ".claude/skills/**"),
    )

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that puts the program of this platform there; it needs no Node."""
        version = pinned(configuration, self.usual_version)
        package = "opencode-linux-$arch"
        found = f'"{package}/bin/opencode"'
        return npm_program(f"{package}@{version}", found=found, place="opencode")

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return the program's path."""
        return _PROGRAM

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return the command that prints the version."""
        return (_PROGRAM, "--version")

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError for words that labkit cannot let through."""
        configuration = request.configuration
        api = request.api or self.apis[0]
        check_words(configuration, options=with_camels(_OPTIONS), variables=_VARIABLES)
        settings = json.dumps(_settings(configuration, api), indent=2, sort_keys=True) + "\n"
        start = Path(opencode_start.__file__).read_bytes()
        return Launch(
            argv=(
                *("python3", "-I", f"{INPUTS}/opencode_start.py"),
                *(_PROGRAM, "run", "--format", "json"),
                *("--model", f"{_PROVIDERS[api][0]}/{configuration.model}"),
                *configuration.arguments,
                "--",
                prompt_word(request),
            ),
            inputs=(Entry(path=b"opencode_start.py", kind=Kind.FILE, data=start),),
            fixed={
                _MANAGED: (Entry(path=b"opencode.json", kind=Kind.FILE, data=settings.encode()),)
            },
            environment={**_environment(), **configuration.settings},
            version=pinned(configuration, self.usual_version),
            transcript="transcript.jsonl",
            sessions=(".local/share/opencode/opencode.db*", ".local/share/opencode/log/**"),
        )

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return the turns in which a model has it run a shell command; for rehearsals."""
        call = ToolCall(name="bash", input={"command": command, "description": "Rehearse"})
        return (Turn(calls=(call,)), Turn(text="Done."))

    def account(self, left: Left) -> Account:
        """Read its end record."""
        return read_account(left)


def _environment() -> dict[str, str]:
    switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    return {
        "HOME": HOME,
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_PURE": "1",
        **{f"OPENCODE_DISABLE_{each}": "1" for each in switches},
    }


def _settings(configuration: Configuration, api: Api) -> dict[str, object]:
    provider, place = _PROVIDERS[api]
    model = f"{provider}/{configuration.model}"
    entry: dict[str, object] = {"options": {"baseURL": place, "apiKey": DUMMY_KEY}}
    if api is Api.CHAT:
        entry["npm"] = "@ai-sdk/openai-compatible"
    entry["models"] = {configuration.model: _model(configuration, api)}
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "model": model,
        "small_model": model,
        "enabled_providers": [provider],
        "provider": {provider: entry},
        "permission": {
            **dict.fromkeys(("bash", "doom_loop", "edit", "external_directory"), "allow"),
            **dict.fromkeys(WEB_TOOLS, "deny"),
        },
        "tools": dict.fromkeys(WEB_TOOLS, False),
        "mcp": {},
        "plugin": [],
        "formatter": False,
        "lsp": False,
    }


def _model(configuration: Configuration, api: Api) -> dict[str, object]:
    if not configuration.effort:
        return {}
    if api not in _EFFORTS:
        raise InputError(
            f"configuration {configuration.id}: OpenCode cannot tell an effort by the API {api}",
            hint="take effort: out, or write the provider's own options into another agent",
        )
    return {"reasoning": True, "options": {_EFFORTS[api]: configuration.effort}}
