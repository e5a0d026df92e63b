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

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from labkit.fields import Fields
from labkit.model import Api

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_A_KEY = re.compile(
    r"sk_|AIza|ya29|gh[pousr]_|github_pat_|xai_|gsk_|hf_|AKIA|(?=[^_]*\d)(?=.*[a-z])[A-Za-z0-9]{24,}"
)
"""How keys of vendors begin, and long words of mixed letters and digits."""
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
        found[name] = Provider(
            name=name,
            api=_api(fields, name, each),
            url=_url(fields, name, each),
            key=_key(each, default=usual.key if usual else ""),
            prices=_prices(each.mapping("prices")),
        )
        each.done()
    return found


def _api(fields: Fields, name: str, each: Fields) -> Api:
    if "api" in each:
        return Api(each.word("api", list(Api), instead=Api.CHAT))
    if name in USUAL:
        return USUAL[name].api
    each.text("api", default="")
    fields.problem(name, f'the provider {name} has no "api:": one of {", ".join(Api)}')
    return Api.CHAT


def _url(fields: Fields, name: str, each: Fields) -> str:
    if "url" not in each:
        if name not in USUAL:
            each.text("url", default="")
            fields.problem(name, f'the provider {name} has no "url:": such as https://host/v1')
        return USUAL[name].url if name in USUAL else ""
    url = each.text("url")
    if url and not _is_address(url):
        each.problem(
            "url",
            f"{url!r} is not an address: it has to begin with http:// or https://, such as "
            f"{_mended(url)}",
        )
    return url.rstrip("/")


def _is_address(url: str) -> bool:
    try:
        found = urlsplit(url)
        return found.scheme in ("http", "https") and bool(found.hostname)
    except ValueError:
        return False


def _mended(url: str) -> str:
    """Return an address that may have been meant: of this machine, http will do."""
    rest = url.rpartition("://")[2]
    local = rest.startswith(("localhost", "127.0.0.1", "[::1]"))
    return f"{'http' if local else 'https'}://{rest or 'host'}"


def _key(each: Fields, *, default: str) -> str:
    """Take the name of the variable with the key. What may be the key itself is never said."""
    name = each.text("key", default=default) if "key" in each else default
    if name and (not _VARIABLE.fullmatch(name) or _LIKE_A_KEY.match(name)):
        each.problem("key", "this looks like a key; write the name of the variable that holds it")
        return default
    return name


def _prices(fields: Fields) -> dict[str, Price]:
    found = {}
    for model in fields.names():
        each = fields.mapping(model)
        values = {name: each.number(name, default=0.0) for name in _PRICES if name in each}
        each.done()
        found[model] = Price(**values)
    return found
