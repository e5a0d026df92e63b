"""Runs a spec in a container of a Docker engine, or of anything that speaks its API.

Files go in and out through the engine's API, never by a bind mount, and come back only after the
container has stopped: no process of the command is alive then to forge them.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Self

import docker
import requests
from docker.errors import APIError, ImageNotFound

from labkit.model import Ended
from labkit.sandbox.attach import attached
from labkit.sandbox.container import container_settings
from labkit.sandbox.container_beside import container_beside
from labkit.sandbox.engine import engine_errors, knock
from labkit.sandbox.interface import (
    Collect,
    Outcome,
    Sidecar,
    SidecarSpec,
    Spec,
    Streams,
    T,
)
from labkit.sandbox.keyboard import typing
from labkit.sandbox.killing import Killer
from labkit.sandbox.prepared import Furnishing, Prepared, PreparedImages
from labkit.sandbox.remains import orphans, remove_container
from labkit.sandbox.sidecar_image import SidecarImages
from labkit.sandbox.streams import CHUNK, Output, keep_whole, read_whole
from labkit.sandbox.watching import watching

_GRACE = 30
"""Seconds after the deadline at which an engine that has not answered is given up."""
_KILLED = 137
_SIGNALLED = 128
_POOL = 32
_NOTED = 0.3


class DockerSandbox:
    """Containers of one engine; safe to use from several threads at once."""

    name = "docker"

    def __init__(self, client: docker.APIClient, *, cpus: float) -> None:
        self._api = client
        self._cpus = cpus
        self._images = PreparedImages(client)
        self._beside = SidecarImages(client)

    @classmethod
    def connect(cls) -> Self:
        """Return a sandbox on the engine that DOCKER_HOST names, or on the usual socket.

        Raises InfrastructureError when no engine answers there.
        """
        with engine_errors("the container engine did not answer"):
            knock()
            client = docker.from_env(version="auto", max_pool_size=_POOL).api
            return cls(client, cpus=float(client.info()["NCPU"]))

    @property
    def api(self) -> docker.APIClient:
        """The engine's client, for whoever builds images."""
        return self._api

    def close(self) -> None:
        """Close the connections to the engine."""
        self._api.close()

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Run the command in a fresh container; see `Sandbox.run`."""
        container = self._create(spec)
        try:
            outcome = self._execute(container, spec, streams)
            self._read_home(container, spec, streams)
            return outcome, self._read_back(container, spec, collect)
        finally:
            remove_container(self._api, container)

    def sidecar(self, spec: SidecarSpec) -> AbstractContextManager[Sidecar]:
        """Start a container with a network beside commands; see `SidecarSandbox.sidecar`."""
        return container_beside(self._api, self._beside, spec)

    def leftovers(self) -> tuple[str, ...]:
        """Name the containers and volumes whose labkit process is gone."""
        return tuple(line for _, line in orphans(self._api))

    def clean(self) -> tuple[str, ...]:
        """Remove those containers and volumes."""
        lines = []
        for remove, line in orphans(self._api):
            remove()
            lines.append(line)
        return tuple(lines)

    def kill(self, labels: Mapping[str, str]) -> int:
        """Kill, from outside, what runs with all of these labels; return how many that were."""
        wanted = ["labkit=1", *(f"{name}={value}" for name, value in labels.items())]
        with engine_errors("the engine could not be told to kill a container"):
            found = self._api.containers(filters={"label": wanted})
            for each in found:
                self._api.kill(each["Id"])
        return len(found)

    def _create(self, spec: Spec) -> str:
        with engine_errors("the container could not be made"):
            try:
                return self._container(spec)
            except ImageNotFound:  # removed since it was looked up, and perhaps made anew
                self._images.forget(spec.image)
                return self._container(spec)

    def _container(self, spec: Spec) -> str:
        image = self._prepared(spec).runs
        settings = container_settings(self._api, spec, image=image, cpus=self._cpus)
        return str(self._api.create_container(**settings)["Id"])

    def _prepared(self, spec: Spec) -> Prepared:
        return self._images.get(spec.image, Furnishing.of(spec))

    def _execute(self, container: str, spec: Spec, streams: Streams) -> Outcome:
        output = Output(streams.stdout, streams.stderr, spec.limits.output_bytes)
        killer = Killer(api=self._api, container=container)
        with engine_errors("the engine failed during the run"):
            with attached(self._api, container, output) as stdin:
                begun = time.monotonic()
                self._api.start(container)
                with watching(spec.limits.seconds, spec.halt, killer.kill):
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        stdin.sendall(spec.returned_tar)
                        stdin.sendall(spec.streamed_tar)
                    with typing(spec.keyboard, stdin.sendall):
                        self._api.wait(container, timeout=int(spec.limits.seconds + _GRACE))
                seconds = time.monotonic() - begun
            inspected = self._api.inspect_container(container)
            ended = killer.why or self._how_ended(inspected)
        output.check_after(ended)
        return Outcome(
            ended=ended,
            exit_code=int(inspected["State"]["ExitCode"]) if ended is Ended.EXITED else None,
            seconds=seconds,
            cut_bytes=output.cut,
            image_digest=self._prepared(spec).digest,
        )

    def _how_ended(self, inspected: dict[str, Any]) -> Ended:
        """Tell how a container ended that labkit did not end.

        The engine says OOMKilled also when only a child was killed for want of memory and the
        command went on to its own end; that is the command's own end.
        """
        state = inspected["State"]
        code = int(state["ExitCode"])
        if state["OOMKilled"] and code == _KILLED:
            return Ended.OUT_OF_MEMORY
        if code > _SIGNALLED and self._was_killed(inspected):
            return Ended.KILLED
        return Ended.EXITED

    def _was_killed(self, inspected: dict[str, Any]) -> bool:
        """Whether the engine was told to kill this container; all times are the engine's.

        The engine may note the order a moment after the container has died of it.
        """
        events = self._api.events(
            since=_moment(inspected["State"]["StartedAt"]),
            until=_moment(self._api.info()["SystemTime"], later=_NOTED),
            filters={"container": inspected["Id"], "event": "kill"},
        )
        return any(events)

    def _read_back(self, container: str, spec: Spec, collect: Collect[T]) -> T:
        with engine_errors("the returned folder could not be read"):
            response = self._archive(container, spec.returned)
        # A stream that is given up half read must be closed, or the engine blocks on it.
        with contextlib.closing(response):
            return read_whole(_pieces(response), spec.limits.returned_bytes, collect)[0]

    def _read_home(self, container: str, spec: Spec, streams: Streams) -> None:
        if not spec.home or streams.home is None:
            return
        with engine_errors("the home folder could not be read"):
            response = self._archive(container, spec.home)
        with contextlib.closing(response):
            keep_whole(_pieces(response), spec.limits.returned_bytes, streams.home)

    def _archive(self, container: str, path: str) -> requests.Response:
        """Ask for a folder as `get_archive` does, keeping the response, which can be closed."""
        url = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/archive"
        response = self._api.get(url, params={"path": path}, stream=True, timeout=_GRACE)
        if not response.ok:
            with contextlib.closing(response):
                raise APIError(response.reason, response=response, explanation=response.text)
        return response


def _pieces(response: requests.Response) -> Iterator[bytes]:
    with engine_errors("the returned folder could not be read"):
        yield from response.iter_content(CHUNK)


def _moment(time_of_engine: str, *, later: float = 0.0) -> Any:
    """Return a time as the engine's event log takes it: seconds, with a fraction, as text.

    The client's own type would allow whole seconds only.
    """
    return f"{datetime.fromisoformat(time_of_engine).timestamp() + later:.9f}"
