"""Images whose working folder belongs to the sandbox's user, made once out of those without it.

A volume takes its owner and files from the image: where the image has no such folder, or gives it
to another user, the command could not write there. The engine offers no other way that needs no
superuser in the sandbox. So it is with the one file that may be written in a folder which may not.
An image is looked up once, so every run of one labkit process has the same.
"""

import contextlib
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import docker
from docker.errors import ImageNotFound, NotFound

from labkit.sandbox.interface import SANDBOX_UID

_REPOSITORY = "labkit-prepared"
_LABEL = "labkit.prepared"
"""Names the image that another was made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An image to run, and the one that was asked for."""

    runs: str
    digest: str
    """The id of the image that was asked for: what the record of a run names."""


class PreparedImages:
    """The images of one engine, each with a folder that it was prepared for."""

    def __init__(self, client: docker.APIClient) -> None:
        self._api = client
        self._known: dict[tuple[str, str, str], Prepared] = {}
        self._lock = threading.Lock()

    def get(self, image: str, folder: str, file: str = "") -> Prepared:
        """Return the image to run where `folder`, or only `file` in it, is the sandbox's user's.

        Raises the engine's own errors: ImageNotFound when it has no such image.
        """
        with self._lock:
            key = (image, folder, file)
            if key not in self._known:
                self._known[key] = self._prepare(image, folder, file)
            return self._known[key]

    def _prepare(self, image: str, folder: str, file: str) -> Prepared:
        digest = _image_id(self._api, image)
        name = prepared_name(digest, folder, file)
        with contextlib.suppress(ImageNotFound):
            return Prepared(runs=_image_id(self._api, name), digest=digest)
        with self._still_container(digest) as container:
            if not file and self._owner(container, folder) == SANDBOX_UID:
                return Prepared(runs=digest, digest=digest)
            self._api.put_archive(container, "/", _owned(folder, file))
            changes = [f'LABEL {_LABEL}="{digest}"']
            repository, _, tag = name.partition(":")
            self._api.commit(container, repository=repository, tag=tag, changes=changes)
        return Prepared(runs=_image_id(self._api, name), digest=digest)

    @contextlib.contextmanager
    def _still_container(self, image: str) -> Iterator[str]:
        """Give a container that is never started."""
        container = str(self._api.create_container(image, ["true"], use_config_proxy=False)["Id"])
        try:
            yield container
        finally:
            self._api.remove_container(container, v=True, force=True)

    def _owner(self, container: str, folder: str) -> int | None:
        """Return who owns a folder of the image, None when there is none."""
        try:
            chunks, _ = self._api.get_archive(container, folder)
        except NotFound:
            return None
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            first = archive.next()
        return first.uid if first is not None and first.isdir() else None


def prepared_name(image: str, folder: str, file: str = "") -> str:
    """Return what the image is called that is made of another for a folder, or a file in it."""
    words = " ".join(filter(None, (image, folder, file)))
    return f"{_REPOSITORY}:{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def remove_prepared(client: docker.APIClient, image: str) -> None:
    """Remove what was made of an image, which could not go itself before."""
    for made in client.images(filters={"label": f"{_LABEL}={image}"}):
        client.remove_image(made["Id"])


def _image_id(client: docker.APIClient, name: str) -> str:
    found: dict[str, object] = client.inspect_image(name)  # type: ignore[no-untyped-call] # its stubs lack it
    return str(found["Id"])


def _owned(folder: str, file: str) -> bytes:
    """Return a tar with a folder of the sandbox's user, or with an empty file of it in root's."""
    place = PurePosixPath(folder).relative_to("/")
    above = tarfile.TarInfo(str(place))
    above.type, above.mode = tarfile.DIRTYPE, 0o755
    last = tarfile.TarInfo(str(place / file)) if file else above
    last.uid = last.gid = SANDBOX_UID
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for entry in dict.fromkeys((above, last)):
            archive.addfile(entry)
    return made.getvalue()
