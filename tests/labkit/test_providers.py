"""`providers:` of labkit.yaml: what is refused, where, and with which mend."""

from typing import Any

import pytest

from labkit.errors import InputError
from labkit.fields import Document
from labkit.model import Api
from labkit.nodes import dump_yaml
from labkit.providers import Provider, read_providers

MINE: dict[str, Any] = {"api": "openai-chat", "url": "http://localhost:1/v1"}


def read(**providers: Any) -> dict[str, Provider]:
    document = Document(dump_yaml({"providers": providers}).encode(), "labkit.yaml")
    found = read_providers(document.mapping("providers"))
    document.finish()
    return found


def test_providers_are_added_to_the_usual_ones() -> None:
    found = read(mine=MINE | {"key": "MY_KEY_2"}, openai={"key": "OTHER_KEY"})
    assert (found["mine"].api, found["mine"].key) == (Api.CHAT, "MY_KEY_2")
    assert (found["openai"].url, found["openai"].key) == ("https://api.openai.com/v1", "OTHER_KEY")
    assert found["gemini"].key == "GEMINI_API_KEY"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"url": "http://localhost:1"},
            'labkit.yaml, providers, line 3: the provider mine has no "api:": one of '
            "anthropic-messages, ",
        ),
        ({"api": "openai-chat"}, 'line 3: the provider mine has no "url:": such as https://host'),
        (
            MINE | {"url": "localhost:9701"},
            "line 4: 'localhost:9701' is not an address: it has to begin with http:// or https://, "
            "such as http://localhost:9701",
        ),
        (MINE | {"url": "api.acme.org/v1"}, "or https://, such as https://api.acme.org/v1"),
        (MINE | {"url": "https://"}, "'https://' is not an address"),
        (MINE | {"url": "http://[::1"}, "is not an address"),
    ],
)
def test_what_lacks_is_told_with_its_line(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        read(mine=given)
    (problem,) = caught.value.problems
    assert told in problem


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-12345",
        "sk_live_abcdef",
        "AIzaSyA1234567890",
        "gsk_abc123",
        "a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4",
        "two words",
        "${ANTHROPIC_API_KEY}",
    ],
)
def test_what_may_be_a_key_is_refused_and_never_said(key: str) -> None:
    with pytest.raises(InputError) as caught:
        read(mine=MINE | {"key": key})
    told = f"{caught.value} {caught.value.problems}"
    assert "line 5: this looks like a key; write the name of the variable that holds it" in told
    assert key not in told


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "MY_KEY_2", "k", "_x", "TEAM7_KEY_FOR_A_1"])
def test_names_of_variables_are_taken(name: str) -> None:
    assert read(mine=MINE | {"key": name})["mine"].key == name
