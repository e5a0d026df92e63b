"""Where models are asked and what that costs: `providers:` in labkit.yaml.

    providers:
      anthropic:
        api: anthropic-messages
        url: https://api.anthropic.com
        key: ANTHROPIC_API_KEY
        prices:
          claude-sonnet-4-5: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}

A key is never written here, only the name of the variable that holds it on the machine that runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from labkit.fields import Fields
from labkit.model import Api

_PRICES = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of a model cost, in the currency of the team's choice.

    None where it is not known: then the cost of what used such tokens is not known either.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One place where models are asked."""

    name: str
    api: Api
    url: str
    """What the API's own paths stand below: for OpenAI's including `/v1`, for others without."""
    key: str
    """Name of the variable that holds the key; empty: none is needed."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By the model's name as it stands in requests."""


USUAL = {
    found.name: found
    for found in (
        Provider(
            name="anthropic",
            api=Api.ANTHROPIC,
            url="https://api.anthropic.com",
            key="ANTHROPIC_API_KEY",
        ),
        Provider(
            name="openai",
            api=Api.RESPONSES,
            url="https://api.openai.com/v1",
            key="OPENAI_API_KEY",
        ),
        Provider(
            name="openai-chat",
            api=Api.CHAT,
            url="https://api.openai.com/v1",
            key="OPENAI_API_KEY",
        ),
        Provider(
            name="gemini",
            api=Api.GEMINI,
            url="https://generativelanguage.googleapis.com",
            key="GEMINI_API_KEY",
        ),
    )
}
"""What is there without a word in labkit.yaml; a provider of the same name there adds to it."""


def read_providers(fields: Fields) -> dict[str, Provider]:
    """Take `providers:` of labkit.yaml, noting every problem in it, and add the usual ones."""
    found = dict(USUAL)
    for name in fields.names():
        each = fields.mapping(name)
        usual = USUAL.get(name)
        api = each.word("api", list(Api), instead=Api.CHAT) if "api" in each or not usual else ""
        url = each.text("url", default=usual.url if usual else None)
        if url and urlsplit(url).scheme not in ("http", "https"):
            each.problem("url", f"{url!r} is not an address: it begins with https://")
        found[name] = Provider(
            name=name,
            api=Api(api) if api else USUAL[name].api,
            url=url.rstrip("/"),
            key=each.text("key", default=usual.key if usual else ""),
            prices=_prices(each.mapping("prices")),
        )
        each.done()
    return found


def _prices(fields: Fields) -> dict[str, Price]:
    found = {}
    for model in fields.names():
        each = fields.mapping(model)
        values = {name: each.number(name, default=0.0) for name in _PRICES if name in each}
        each.done()
        found[model] = Price(**values)
    return found
