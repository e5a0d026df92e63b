"""Searches of the web that are asked for beside the tools: by a model's name, or by a parameter.

Providers between the APIs and the models take them in whatever API they are asked.
"""

import re
from typing import Any

from labkit_runner.gateway.apis.interface import Json, listed, named, text

_SEARCHING = re.compile(r"-search(?:-|$)|:online(?::|$)|-deep-research|(?:^|/)sonar", re.IGNORECASE)
"""Models that search the web without being offered a tool."""
_BESIDE = ("web_search_options", "plugins", "web_search", "search_parameters", "enable_search")
"""Parameters that let one provider or another search the web."""


def searches(body: Json) -> list[str]:
    """Return what would have the web searched."""
    found = [name for name in _BESIDE if body.get(name)]
    models: list[Any] = [body.get("model"), *listed(body.get("models"))]
    return found + [f"the model {named(each)}" for each in models if _SEARCHING.search(text(each))]
