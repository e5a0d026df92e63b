"""Sidecars in an engine: a container with the host's network, and a volume that it shares.

What the program is told comes over its standard input, so nothing of it stands in what the engine
tells of a container. That it is attached is also its tether: without labkit it reads an end there.
"""

import contextlib
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import docker
import requests
from docker.errors import DockerException
from docker.types import LogConfig

from labkit.sandbox.attach import attached
from labkit.sandbox.beside import GRACE, Beside
from labkit.sandbox.container import MIB, TEMPORARY
from labkit.sandbox.engine import engine_errors
from labkit.sandbox.interface import CHANNEL, SidecarSpec
from labkit.sandbox.owner import Owner
from labkit.sandbox.remains import remove_container, remove_volume
from labkit.sandbox.sidecar_image import SidecarImages

_MEMORY = 512 * MIB
_PROCESSES = 64


@contextlib.contextmanager
def container_beside(
    client: docker.APIClient, images: SidecarImages, spec: SidecarSpec
) -> Iterator[Beside]:
    """Start the program in a container, with a volume; see `SidecarSandbox.sidecar`."""
    image = images.get(spec)
    labels = {**spec.labels, "labkit": "1", "labkit.owner": Owner.current().text()}
    with contextlib.ExitStack() as stack:
        volume = stack.enter_context(_volume(client, labels))
        made = stack.enter_context(_container(client, spec, image, volume, labels))
        beside = Beside(channel=volume, folder=CHANNEL)
        with engine_errors("the program beside the sandbox could not be started"):
            late, over = beside.stdout.give_up, beside.stdout.close
            stdin = stack.enter_context(attached(client, made, beside, late=late, over=over))
            beside.send = stdin.sendall
            stack.callback(_end, client, made, stdin, late)
            client.start(made)
        yield beside


def _end(
    client: docker.APIClient, container: str, stdin: socket.socket, late: Callable[[], None]
) -> None:
    """Close its standard input and wait for its end, which is made where it does not come.

    An engine that is held back by lines that nobody takes would not kill it.
    """
    with contextlib.suppress(OSError):
        stdin.shutdown(socket.SHUT_WR)
    try:
        client.wait(container, timeout=GRACE)
    except (DockerException, requests.RequestException):
        late()
        with contextlib.suppress(DockerException, requests.RequestException):
            client.kill(container)


@contextlib.contextmanager
def _volume(client: docker.APIClient, labels: Mapping[str, str]) -> Iterator[str]:
    name = f"labkit-{secrets.token_hex(8)}"
    with engine_errors("the volume beside the sandbox could not be made"):
        client.create_volume(name, labels=dict(labels))
    try:
        yield name
    finally:
        remove_volume(client, name)


@contextlib.contextmanager
def _container(
    client: docker.APIClient, spec: SidecarSpec, image: str, volume: str, labels: Mapping[str, str]
) -> Iterator[str]:
    with engine_errors("the container beside the sandbox could not be made"):
        settings = _settings(client, spec, volume)
        container = str(client.create_container(image, labels=dict(labels), **settings)["Id"])
    try:
        yield container
    finally:
        remove_container(client, container)


def _settings(client: docker.APIClient, spec: SidecarSpec, volume: str) -> dict[str, Any]:
    """Return the arguments of `create_container`: a network, and nothing else that it could use."""
    return {
        "command": ["python3", "-u", "-m", spec.module],
        "user": "0:0",
        "working_dir": "/",
        "environment": {"HOME": TEMPORARY, "LANG": "C.UTF-8"},
        "stdin_open": True,
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
        "host_config": client.create_host_config(
            network_mode="host",  # works also where the engine has no bridge
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            init=True,
            log_config=LogConfig(type="none"),
            tmpfs={TEMPORARY: "rw,nosuid,nodev,noexec,size=16m"},
            binds=[f"{volume}:{CHANNEL}:nocopy"],
            pids_limit=_PROCESSES,
            mem_limit=_MEMORY,
            memswap_limit=_MEMORY,
        ),
    }
