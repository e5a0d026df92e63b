"""The image that a sidecar runs in: the kit's own, with what the program needs laid into it."""

import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path

import docker
from docker.types import LogConfig

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import InfrastructureError, ToolError
from labkit.sandbox.container import RUN_LABEL
from labkit.sandbox.distributions import closure, files_of
from labkit.sandbox.engine import engine_errors
from labkit.sandbox.image import BASE_TAG, ensure_image, image_id
from labkit.sandbox.interface import SidecarSpec
from labkit.sandbox.owner import Owner

REPOSITORY = "labkit-sidecar"
SITE = "/opt/labkit/sidecar"
_COMPILE = ["python3", "-m", "compileall", "-q", "-j", "1", SITE]


class SidecarImages:
    """The images of one engine for sidecars: named once, and made by one run at a time."""

    def __init__(self, client: docker.APIClient) -> None:
        self._api = client
        self._known: dict[tuple[object, ...], str] = {}
        self._lock = threading.Lock()

    def get(self, spec: SidecarSpec) -> str:
        """Return the name of the image for a sidecar, made when it is not there."""
        key = (spec.packages, tuple(sorted(spec.folders.items())))
        with self._lock:
            name = self._known.get(key)
            if name is None or image_id(self._api, name) is None:
                name = self._known[key] = self._find(spec)
            return name

    def _find(self, spec: SidecarSpec) -> str:
        base = ensure_image(self._api, BASE_TAG, progress=lambda _: None)
        tar = _site(spec)
        name = f"{REPOSITORY}:{hashlib.sha256(base.encode() + tar).hexdigest()[:16]}"
        if image_id(self._api, name) is None:
            _make(self._api, base, name, tar)
        return name


def _site(spec: SidecarSpec) -> bytes:
    """Return everything that the program imports, below `/`."""
    try:
        files = {place: source for one in closure(spec.packages) for place, source in files_of(one)}
    except ToolError as error:
        raise InfrastructureError(error.message, hint=error.hint) from error
    files |= {
        place: source
        for name, folder in spec.folders.items()
        for place, source in _of(name, folder)
    }
    return write_tar(
        (
            Entry(path=f"{SITE[1:]}/{place}".encode(), kind=Kind.FILE, data=source.read_bytes())
            for place, source in sorted(files.items())
            if source.is_file()
        ),
        uid=0,
    )


def _of(name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    place = name.replace(".", "/")
    for path in sorted(folder.rglob("*")):
        if "__pycache__" not in path.parts:
            yield f"{place}/{path.relative_to(folder).as_posix()}", path


def _make(client: docker.APIClient, base: str, name: str, tar: bytes) -> None:
    """Lay the files into a container, compile them with its own Python, and keep it."""
    with engine_errors("the image of the program beside the sandbox could not be made"):
        labels = {"labkit": "1", "labkit.owner": Owner.current().text()}
        container = client.create_container(
            base,
            _COMPILE,
            user="0:0",
            labels={**labels, RUN_LABEL: f"making {name}"},
            use_config_proxy=False,
            host_config=client.create_host_config(
                network_mode="none", init=True, log_config=LogConfig(type="none")
            ),
        )["Id"]
        try:
            client.put_archive(container, "/", tar)
            client.start(container)
            client.wait(container)  # what is not compiled, such as for a newer Python, still runs
            repository, _, tag = name.partition(":")
            client.commit(container, repository=repository, tag=tag, changes=_changes(base))
        finally:
            client.remove_container(container, v=True, force=True)


def _changes(base: str) -> list[str]:
    """Return what the image says; the labels of the container that made it are not its own."""
    return [
        f"ENV PYTHONPATH={SITE}",
        'CMD ["/bin/sh"]',
        f'LABEL labkit="0" labkit.owner="" {RUN_LABEL}="" labkit.sidecar="{base}"',
    ]
