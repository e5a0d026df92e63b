"""Choosing the sandbox that a command runs in, and making its image."""

from pathlib import Path

from labkit.cli.console import say
from labkit.errors import InputError
from labkit.sandbox.choose import Choice, choose
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import ensure_image
from labkit.sandbox.interface import Sandbox
from labkit.settings import Settings
from labkit.workspace import cache_folder


def open_sandbox(name: str, settings: Settings | None = None) -> Sandbox:
    """Return the sandbox asked for; raises ToolError with the reason when there is none."""
    if name not in list(Choice):
        raise InputError(f"no sandbox is called {name!r}", hint=f"one of: {', '.join(Choice)}")
    site = Path(settings.site).expanduser() if settings and settings.site else None
    return choose(Choice(name), cache=cache_folder(), site=site)


def ready_image(sandbox: Sandbox, image: str) -> str:
    """Return the image to run, built first when it is labkit's own and missing.

    Raises InfrastructureError when the team's own image is not there.
    """
    if isinstance(sandbox, DockerSandbox):
        ensure_image(sandbox.api, image, progress=say)
    return image
