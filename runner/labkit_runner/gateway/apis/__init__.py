"""The model APIs that the gateway understands, one module each."""

from labkit_runner.gateway.apis.anthropic import Anthropic
from labkit_runner.gateway.apis.chat import Chat
from labkit_runner.gateway.apis.gemini import Gemini
from labkit_runner.gateway.apis.interface import Api
from labkit_runner.gateway.apis.responses import Responses

APIS: dict[str, Api] = {each.name: each for each in (Anthropic(), Responses(), Chat(), Gemini())}
