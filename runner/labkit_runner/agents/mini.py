"""mini-swe-agent: a loop around one tool, the shell; `mini_account` reads how it ended.

It reads no file of the workspace that would set or instruct it. Python would: a module of the
workspace would be imported in place of its own, so it is started with an isolated interpreter.
"""

import json
import re

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api
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
from labkit_runner.agents.mini_account import read_account
from labkit_runner.agents.npm import pinned
from labkit_runner.agents.words import (
    ENDPOINT,
    LABKITS,
    PROTECTION,
    check_words,
    prompt_word,
    values_of,
)
from labkit_runner.rehearsal.script import ToolCall, Turn

_PLACE = f"{PROGRAMS}/mini-swe-agent"
_TRAJECTORY = "trajectory.json"
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from minisweagent.run.mini import app; app(prog_name='mini')"
)
_TELL = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "import minisweagent; print(minisweagent.__version__)"
)
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo Done."
_WITH = ("litellm==1.110.2", "openai==3.57.0")
"""What of its dependencies shapes requests, for the version that labkit was tried with."""
_BENCHMARKS = ("datasets", "pandas", "pyarrow", "numpy", "hf_xet")
"""Half of what pip brings: only its own benchmark scripts need it."""
_PREFIXES = {
    Api.CHAT: ("openai", f"{GATEWAY}/v1"),
    Api.ANTHROPIC: ("anthropic", GATEWAY),
    Api.RESPONSES: ("openai", f"{GATEWAY}/v1"),
    Api.GEMINI: ("gemini", f"{GATEWAY}/v1beta"),
}
"""By API: how its library is told to speak it, and where."""
_SEEDED = (Api.CHAT, Api.GEMINI)
_REASONING = re.compile(r"gpt-[5-9]|o\d")
"""OpenAI's models that its library asks by another API once an effort is named."""
_SAY_IT = "belongs into the configuration's own field of that name"
_OPTIONS = {
    **dict.fromkeys(("-m", "--model"), _SAY_IT),
    **dict.fromkeys(("-t", "--task", "-y", "--yolo", "--exit-immediately"), LABKITS),
    **dict.fromkeys(("-o", "--output", "-l", "--cost-limit"), LABKITS),
    "--model-class": ENDPOINT,
    "--environment-class": PROTECTION,
}
_KEYS = re.compile(r"model_name|model_class|api_base|base_url|api_key|environment_class|headers")
_VARIABLES = {
    **dict.fromkeys(("*_API_KEY", "*_API_BASE", "*_BASE_URL", "LITELLM_*"), ENDPOINT),
    "MSWEA_*": LABKITS,
}


class MiniSweAgent:
    """Starts `mini` with everything said, so that it asks nobody."""

    name = "mini-swe-agent"
    apis: tuple[Api, ...] = (Api.CHAT, Api.ANTHROPIC, Api.RESPONSES, Api.GEMINI)
    provider = "openai-chat"
    usual_version = "2.4.6"
    main = "any"
    memory: tuple[str, ...] = ()

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return the command that puts it there, with the sandbox's own Python."""
        version = pinned(configuration, self.usual_version)
        beside = " ".join(_WITH) if version == self.usual_version else ""
        unneeded = " ".join(f'"$made/{each}"*' for each in _BENCHMARKS)
        return (
            _INSTALL.format(
                programs=PROGRAMS, place=_PLACE, version=version, beside=beside, unneeded=unneeded
            ),
        )

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return its loop: what pip brought around it is pinned as far as it shapes requests."""
        return f"{_PLACE}/minisweagent/agents/default.py"

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return the command that prints the version."""
        return ("env", "MSWEA_SILENT_STARTUP=1", "python3", "-I", "-c", _TELL, _PLACE)

    def launch(self, request: Request) -> Launch:
        """Return how to start it; raises InputError for words that labkit cannot let through."""
        configuration = request.configuration
        api = request.api or self.apis[0]
        _check(configuration, api)
        held = json.dumps(_settings(request, api), indent=2, sort_keys=True) + "\n"
        return Launch(
            argv=(
                *("python3", "-I", "-c", _START, _PLACE),
                *("-c", f"{_PLACE}/minisweagent/config/mini.yaml"),
                *configuration.arguments,
                *("-c", f"{INPUTS}/mini.yaml"),  # the last one wins
                *("--yolo", "--exit-immediately", "--output", f"{HOME}/{_TRAJECTORY}"),
                f"--task={prompt_word(request)}",
            ),
            inputs=(Entry(path=b"mini.yaml", kind=Kind.FILE, data=held.encode()),),
            environment={**_environment(), **configuration.settings},
            version=pinned(configuration, self.usual_version),
            transcript="transcript.json",
            transcript_path=_TRAJECTORY,
        )

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        """Return the turns in which a model has it run a shell command; for rehearsals."""
        call = ToolCall(name="bash", input={"command": command})
        end = ToolCall(name="bash", input={"command": _SUBMIT})
        return (Turn(calls=(call,)), Turn(calls=(end,)))

    def account(self, left: Left) -> Account:
        """Read its end record."""
        return read_account(left)


def _check(configuration: Configuration, api: Api) -> None:
    check_words(configuration, options=_OPTIONS, variables=_VARIABLES)
    place = f"configuration {configuration.id}"
    for word, value in values_of(configuration.arguments, "-c", "--config"):
        if match := _KEYS.search(value):
            raise InputError(
                f"{place}: the argument {word[:80]!r} sets {match[0]}, which labkit sets",
                hint=f"take it out of configs/{configuration.id}.yaml",
            )
    if configuration.effort and api is Api.CHAT and _REASONING.match(configuration.model):
        raise InputError(
            f"{place}: mini-swe-agent asks for {configuration.model} with an effort by the API "
            f"{Api.RESPONSES}, and the provider speaks {Api.CHAT}",
            hint="write provider: openai",
        )


def _settings(request: Request, api: Api) -> dict[str, object]:
    configuration = request.configuration
    prefix, place = _PREFIXES[api]
    words: dict[str, object] = {"api_base": place, "api_key": DUMMY_KEY}
    if configuration.effort:
        words["reasoning_effort"] = configuration.effort
    if api in _SEEDED:
        words["seed"] = request.seed
    return {
        "agent": {"step_limit": configuration.turn_cap, "cost_limit": 0},
        "environment": {"environment_class": "local"},
        "model": {
            "model_name": f"{prefix}/{configuration.model}",
            "model_class": "litellm_response" if api is Api.RESPONSES else "litellm",
            "model_kwargs": words,
        },
    }


def _environment() -> dict[str, str]:
    return {
        "HOME": HOME,
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        # The gateway waits for the model; a bad key must not be tried for minutes.
        "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "3",
        "MSWEA_SILENT_STARTUP": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",  # no .env of the workspace
        # Its output is for people; without this it says nothing until it ends.
        "PYTHONUNBUFFERED": "1",
    }


_INSTALL = """\
# fetch mini-swe-agent with pip
set -eu
mkdir -p {programs}
made={place}
rm -rf "$made"
pip install --quiet --target "$made" mini-swe-agent=={version} {beside} >&2
rm -rf {unneeded}
chmod -R a+rX,go-w "$made"
"""
