"""What of labkit's an engine keeps: removed at the end, and found when labkit was killed."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import docker
import requests
from docker.errors import DockerException, NotFound

from labkit.sandbox.container import RUN_LABEL
from labkit.sandbox.engine import engine_errors
from labkit.sandbox.owner import Owner

_OURS = {"label": "labkit=1"}


def remove_container(client: docker.APIClient, container: str) -> None:
    """Remove a container and its volumes without a name; what cannot be now `clean` finds later."""
    _insist(lambda: client.remove_container(container, v=True, force=True))


def remove_volume(client: docker.APIClient, name: str) -> None:
    """Remove a volume, which no container may have any more; else `clean` finds it later."""
    _insist(lambda: client.remove_volume(name, force=True))


def orphans(client: docker.APIClient) -> list[tuple[Callable[[], None], str]]:
    """Return how each thing is removed whose labkit process is gone, and a line for a person.

    Containers come first: a volume can only go when its containers have.
    """
    found: list[tuple[Callable[[], None], str]] = []
    with engine_errors("the engine could not list what it keeps"):
        containers = client.containers(all=True, filters=_OURS)
        volumes: list[dict[str, Any]] = client.volumes(filters=_OURS)["Volumes"] or []
    for each in containers:
        if _is_orphan(each["Labels"]):
            line = f"container {each['Id'][:12]} ({_whose(each['Labels'])})"
            found.append((_removal(remove_container, client, each["Id"]), line))
    for each in volumes:
        if _is_orphan(each["Labels"]):
            line = f"volume {each['Name']} ({_whose(each['Labels'])})"
            found.append((_removal(remove_volume, client, each["Name"]), line))
    return found


def _removal(
    remove: Callable[[docker.APIClient, str], None], client: docker.APIClient, name: str
) -> Callable[[], None]:
    return lambda: remove(client, name)


def _is_orphan(labels: Mapping[str, str]) -> bool:
    owner = Owner.parse(labels.get("labkit.owner", ""))
    return owner is None or owner.is_gone()


def _whose(labels: Mapping[str, str]) -> str:
    return labels.get(RUN_LABEL) or "no run named"


def _insist(remove: Callable[[], object]) -> None:
    for pause in (0.5, 2.0, 8.0, None):
        try:
            remove()
        except NotFound:
            return
        except (DockerException, requests.RequestException):
            if pause is not None:
                time.sleep(pause)
        else:
            return
