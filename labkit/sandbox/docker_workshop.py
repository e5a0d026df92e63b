"""Environments as images: setup runs in a container with a network, which then is committed.

Nothing of the machine's settings is written down: they come over standard input into a folder in
memory, and folders of packages are shown to that one container only.
"""

import contextlib
import io
import tarfile
from collections.abc import Iterator
from typing import Any

import docker
from docker.errors import ImageNotFound
from docker.types import LogConfig

from labkit.archive import write_tar
from labkit.errors import InfrastructureError
from labkit.sandbox.attach import attached
from labkit.sandbox.bootstrap import bootstrap
from labkit.sandbox.container import RUN_LABEL
from labkit.sandbox.engine import engine_errors
from labkit.sandbox.image import ensure_image, image_id
from labkit.sandbox.indexes import Indexes, read_indexes
from labkit.sandbox.kit import setup_command, setup_kit
from labkit.sandbox.making import (
    KIT,
    NAME,
    Made,
    Making,
    Progress,
    SetupError,
    Tail,
    Told,
    not_there,
)
from labkit.sandbox.owner import Owner
from labkit.sandbox.prepared import remove_prepared
from labkit.sandbox.streams import Output

_LABEL = "labkit.environment"
_LEFT_LABEL = "labkit.left"
_KITS = "/opt/labkit/site"
_LIMIT = 1 << 40


class DockerWorkshop:
    """Makes environments as images of one engine."""

    kind = "docker"

    def __init__(self, client: docker.APIClient, progress: Progress) -> None:
        self._api = client
        self._progress = progress

    def foundation(self, making: Making) -> str:
        """Return the id of the image it starts from; nothing where a Dockerfile says it."""
        if making.dockerfile:
            return ""
        if making.image.startswith(f"{NAME}:") and image_id(self._api, making.image) is None:
            raise not_there(making.image)
        return ensure_image(self._api, making.image, progress=self._progress)

    def has(self, key: str) -> bool:
        """Whether the engine has the image."""
        return image_id(self._api, f"{NAME}:{key}") is not None

    def make(self, key: str, making: Making, progress: Progress) -> None:
        """Make the image; see `Workshop.make`."""
        base = making.image
        if making.dockerfile:
            base = f"{NAME}-dockerfile:{key}"
            progress("  building the Dockerfile")
            _build(self._api, base, making)
        with engine_errors("the environment could not be made"):
            inspected: dict[str, Any] = self._api.inspect_image(base)  # type: ignore[no-untyped-call] # its stubs lack it
        indexes = read_indexes()
        command = setup_command(making.setup)
        tree, kit = making.tree, setup_kit(indexes, making, venv="")
        argv = bootstrap(command, returned="/workspace", sizes=(len(tree), len(kit)))
        settings = _settings(self._api, inspected["Id"], argv, indexes, key)
        with self._container(settings) as container:
            told, tail = Told(making.setup, progress), Tail()
            output = Output(told, tail, _LIMIT)
            with (
                engine_errors("the engine failed during setup"),
                attached(self._api, container, output) as stdin,
            ):
                self._api.start(container)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    stdin.sendall(tree)
                    stdin.sendall(kit)
                self._api.wait(container, timeout=None)
            told.check(tail.kept)
            with engine_errors("the environment could not be kept"):
                left = told.left or _left_before(inspected["Config"])
                changes = _changes(inspected["Config"], key, left=left)
                self._api.commit(container, repository=NAME, tag=key, changes=changes)

    def left(self, key: str) -> bool:
        """Whether setup left files, as the image's label says."""
        with engine_errors("the engine could not tell of an environment"):
            about: dict[str, Any] = self._api.inspect_image(f"{NAME}:{key}")  # type: ignore[no-untyped-call] # its stubs lack it
        return _left_before(about["Config"]) > 0

    def made(self) -> tuple[Made, ...]:
        """Return the engine's images that are environments."""
        with engine_errors("the engine could not list its images"):
            images = self._api.images(filters={"label": _LABEL})
            keys = {
                tag.partition(":")[2]: image["Id"]
                for image in images
                for tag in image["RepoTags"] or ()
                if tag.startswith(f"{NAME}:")
            }
            return tuple(self._about(key, identity) for key, identity in sorted(keys.items()))

    def in_use(self, key: str) -> bool:
        """Whether a container of the image, or of one on top of it, is running."""
        name = f"{NAME}:{key}"
        with engine_errors("the engine could not list its containers"):
            if image_id(self._api, name) is None:
                return False
            return bool(self._api.containers(filters={"ancestor": name}))

    def remove(self, key: str) -> None:
        """Remove an image, and what its Dockerfile made."""
        for name in (f"{NAME}:{key}", f"{NAME}-dockerfile:{key}"):
            with contextlib.suppress(ImageNotFound), engine_errors("it could not be removed"):
                if (identity := image_id(self._api, name)) is not None:
                    remove_prepared(self._api, identity)
                    self._api.remove_image(name)

    def _about(self, key: str, identity: str) -> Made:
        about: dict[str, Any] = self._api.inspect_image(identity)  # type: ignore[no-untyped-call] # its stubs lack it
        return Made(key=key, bytes=int(about["Size"]), created=str(about["Created"])[:19])

    @contextlib.contextmanager
    def _container(self, settings: dict[str, Any]) -> Iterator[str]:
        with engine_errors("the container for setup could not be made"):
            container = str(self._api.create_container(**settings)["Id"])
        try:
            yield container
        finally:
            with engine_errors("the container of setup could not be removed"):
                self._api.remove_container(container, v=True, force=True)


def _settings(
    client: docker.APIClient, image: str, argv: list[str], indexes: Indexes, key: str
) -> dict[str, Any]:
    """Return the arguments of `create_container` for setup: root, a network, nothing read-only."""
    labels = {"labkit": "1", "labkit.owner": Owner.current().text()}
    return {
        "image": image,
        "entrypoint": argv[:1],
        "command": argv[1:],
        "user": "0:0",
        "working_dir": "/workspace",
        "labels": {**labels, RUN_LABEL: f"setup of environment {key}"},
        "stdin_open": True,
        "healthcheck": {"test": ["NONE"]},
        "use_config_proxy": False,
        "host_config": client.create_host_config(
            network_mode="host",  # works also where the engine has no bridge
            init=True,
            log_config=LogConfig(type="none"),
            tmpfs={KIT: "rw,exec,mode=0755"},
            binds={str(path): {"bind": str(path), "mode": "ro"} for path in indexes.folders},
        ),
    }


def _left_before(config: dict[str, Any]) -> int:
    """Return how many files setup left in an image, or in one that it was made on."""
    return int((config["Labels"] or {}).get(_LEFT_LABEL) or 0)


def _changes(config: dict[str, Any], key: str, *, left: int) -> list[str]:
    """Return what the image says beside its files.

    The kit's packages leave PYTHONPATH: what setup installed has to be found before them. The
    labels of the container that made it would make every later one look like a leftover.
    """
    variables = dict(line.partition("=")[::2] for line in config["Env"] or ())
    known = variables.get("PYTHONPATH", "").split(":")
    kept = ":".join(part for part in known if part and part != _KITS)
    return [
        f"ENV PYTHONPATH={kept}",
        "ENTRYPOINT []",
        'CMD ["/bin/sh"]',
        f'LABEL labkit="0" labkit.owner="" {RUN_LABEL}="" {_LABEL}="{key}" {_LEFT_LABEL}="{left}"',
    ]


def _build(client: docker.APIClient, tag: str, making: Making) -> None:
    """Build the Dockerfile, with the chosen files of the base beside it."""
    context = io.BytesIO(write_tar(making.files, uid=0))
    with tarfile.open(fileobj=context, mode="a") as archive:
        entry = tarfile.TarInfo(".labkit.Dockerfile")
        entry.size = len(making.dockerfile)
        archive.addfile(entry, io.BytesIO(making.dockerfile))
    context.seek(0)
    said: list[str] = []
    with engine_errors("the Dockerfile could not be built"):
        for line in client.build(
            fileobj=context,
            custom_context=True,
            dockerfile=".labkit.Dockerfile",
            tag=tag,
            rm=True,
            forcerm=True,
            network_mode="host",
            decode=True,
        ):
            said += str(line.get("stream", "")).splitlines()
            if "error" in line:
                last = [f"\n    {text}" for text in said if text.strip()][-12:]
                raise SetupError(
                    f"the Dockerfile could not be built: {str(line['error']).strip()}",
                    hint="mend the Dockerfile; it sees only the files that environment: names",
                    more=[f"the last it said:{''.join(last)}"],
                )
    if image_id(client, tag) is None:
        raise InfrastructureError(f"the engine has no image {tag} after building it")
