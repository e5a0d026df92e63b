"""How programs that follow the usual names of variables find the gateway."""

from collections.abc import Mapping
from typing import assert_never

from labkit.configurations import Configuration
from labkit.model import Api
from labkit_runner.agents.interface import DUMMY_KEY, GATEWAY
from labkit_runner.agents.words import ENDPOINT, check_words

_NAMES = ("ANTHROPIC", "OPENAI", "GOOGLE_GEMINI", "GEMINI")
_VARIABLES = {
    f"{name}_{what}": ENDPOINT
    for name in _NAMES
    for what in ("BASE_URL", "API_BASE", "API_KEY", "AUTH_TOKEN")
}


def endpoint(api: Api | None) -> Mapping[str, str]:
    """Return the variables by which programs find a model's endpoint and key; none: no model."""
    match api:
        case None:
            return {}
        case Api.ANTHROPIC:
            return {"ANTHROPIC_BASE_URL": GATEWAY, "ANTHROPIC_API_KEY": DUMMY_KEY}
        case Api.RESPONSES | Api.CHAT:
            return {"OPENAI_BASE_URL": f"{GATEWAY}/v1", "OPENAI_API_KEY": DUMMY_KEY}
        case Api.GEMINI:
            return {"GOOGLE_GEMINI_BASE_URL": GATEWAY, "GEMINI_API_KEY": DUMMY_KEY}
        case _:
            assert_never(api)


def check_settings(configuration: Configuration, api: Api | None) -> None:
    """Raise InputError where `settings:` would move the endpoint of a run that has a gateway."""
    if api is not None:
        check_words(configuration, options={}, variables=_VARIABLES)
