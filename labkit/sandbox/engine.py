"""Turns what can go wrong between labkit and a container engine into one kind of error."""

import contextlib
import os
import socket
from collections.abc import Iterator

import requests
import urllib3
from docker.errors import APIError, DockerException, ImageNotFound

from labkit.errors import InfrastructureError

_USUAL = "unix:///var/run/docker.sock"
_START = "start the engine, or set DOCKER_HOST to where it listens"
_PERMIT = "become a member of the group that may use the engine: usermod -aG docker <you>"


def knock() -> None:
    """Connect to the engine's Unix socket and hang up; raise OSError when that is not possible.

    The client library would leave its own socket open when it cannot connect.
    """
    address = os.environ.get("DOCKER_HOST") or _USUAL
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as trial:
            trial.settimeout(10)
            trial.connect(address.removeprefix("unix://"))


@contextlib.contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn every failure of the engine or of the way to it into one InfrastructureError."""
    try:
        yield
    except ImageNotFound as error:
        raise InfrastructureError(
            f"{what}: {error.explanation}", hint="build the image: `labkit doctor --build`"
        ) from error
    except APIError as error:
        hint = "free some disk space" if "no space left" in str(error) else None
        raise InfrastructureError(f"{what}: {error.explanation or error}", hint=hint) from error
    except (DockerException, requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise InfrastructureError(
            f"{what}: {_cause(error)}",
            hint=_START,
        ) from error
    except OSError as error:
        hint = _PERMIT if isinstance(error, PermissionError) else _START
        raise InfrastructureError(f"{what}: {error.strerror or error}", hint=hint) from error


def _cause(error: BaseException) -> str:
    """Return what the system said below all the libraries, which is what a person can act on."""
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "it went away in the middle of an answer"
    said = str(error) or type(error).__name__
    inner: BaseException | None = error
    while inner is not None:
        said = getattr(inner, "strerror", None) or said
        inner = inner.__cause__ or inner.__context__
    return said
