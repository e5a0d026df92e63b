"""Images with the folders that a command needs, made once out of those without them.

A volume takes its owner and files from the image: where the image has no such folder, or gives it
to another user, the command could not write there. The engine offers no other way that needs no
superuser in the sandbox. So it is with the one file that may be written in a folder which may not.
Folders that a command may only read are files of the superuser in an image that is never writable:
they cost nothing when a container starts, and a volume for them would.
An image is looked up once, so every run of one labkit process has the same, as long as it is there.
"""

import contextlib
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

import docker
from docker.errors import ImageNotFound, NotFound

from labkit.archive import Entry, Kind, write_tar
from labkit.sandbox.interface import SANDBOX_UID, Spec

_REPOSITORY = "labkit-prepared"
_LABEL = "labkit.prepared"
"""Names the image that another was made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An image to run, and the one that was asked for."""

    runs: str
    digest: str
    """The id of the image that was asked for: what the record of a run names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnishing:
    """What an image has to have for a command."""

    own: tuple[str, ...] = ()
    """Folders of the sandbox's user."""
    file: str = ""
    """The one file of that user, in the first of them, which then is the superuser's."""
    fixed: bytes = b""
    """A tar of files of the superuser, whose names are relative to `/`."""

    @classmethod
    def of(cls, spec: Spec) -> Self:
        """Return what a spec asks for."""
        own = (spec.returned, spec.home) if spec.home else (spec.returned,)
        return cls(own=own, file=spec.returned_file, fixed=_fixed(spec.fixed))

    def words(self) -> str:
        """Return what tells this from every other."""
        digest = hashlib.sha256(self.fixed).hexdigest() if self.fixed else ""
        return " ".join(filter(None, (*self.own, self.file, digest)))


class PreparedImages:
    """The images of one engine, each furnished for commands."""

    def __init__(self, client: docker.APIClient) -> None:
        self._api = client
        self._known: dict[tuple[str, str], Prepared] = {}
        self._lock = threading.Lock()

    def get(self, image: str, wanted: Furnishing) -> Prepared:
        """Return the image to run where `wanted` is there.

        Raises the engine's own errors: ImageNotFound when it has no such image.
        """
        with self._lock:
            key = (image, wanted.words())
            if key not in self._known:
                self._known[key] = self._prepare(image, wanted)
            return self._known[key]

    def forget(self, image: str) -> None:
        """Look an image up anew when it is wanted next."""
        with self._lock:
            for key in [key for key in self._known if key[0] == image]:
                del self._known[key]

    def _prepare(self, image: str, wanted: Furnishing) -> Prepared:
        digest = _image_id(self._api, image)
        name = prepared_name(digest, wanted)
        with contextlib.suppress(ImageNotFound):
            return Prepared(runs=_image_id(self._api, name), digest=digest)
        with self._still_container(digest) as container:
            if self._has(container, wanted):
                return Prepared(runs=digest, digest=digest)
            self._api.put_archive(container, "/", _owned(wanted))
            if wanted.fixed:
                self._api.put_archive(container, "/", wanted.fixed)
            changes = [f'LABEL {_LABEL}="{digest}"']
            repository, _, tag = name.partition(":")
            self._api.commit(container, repository=repository, tag=tag, changes=changes)
        return Prepared(runs=_image_id(self._api, name), digest=digest)

    def _has(self, container: str, wanted: Furnishing) -> bool:
        if wanted.file or wanted.fixed:
            return False
        return all(self._owner(container, folder) == SANDBOX_UID for folder in wanted.own)

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


def prepared_name(image: str, wanted: Furnishing) -> str:
    """Return what the image is called that is made of another for what is wanted of it."""
    digest = hashlib.sha256(f"{image} {wanted.words()}".encode()).hexdigest()
    return f"{_REPOSITORY}:{digest[:16]}"


def remove_prepared(client: docker.APIClient, image: str) -> None:
    """Remove what was made of an image, which could not go itself before."""
    for made in client.images(filters={"label": f"{_LABEL}={image}"}):
        client.remove_image(made["Id"])


def _image_id(client: docker.APIClient, name: str) -> str:
    found: dict[str, object] = client.inspect_image(name)  # type: ignore[no-untyped-call] # its stubs lack it
    return str(found["Id"])


def _fixed(folders: Mapping[str, tuple[Entry, ...]]) -> bytes:
    entries: list[Entry] = []
    for folder, files in sorted(folders.items()):
        place = folder.strip("/").encode()
        entries.append(Entry(path=place, kind=Kind.FOLDER))
        entries += [replace(entry, path=place + b"/" + entry.path) for entry in files]
    return write_tar(entries, uid=0) if entries else b""


def _owned(wanted: Furnishing) -> bytes:
    """Return a tar with the folders of the sandbox's user, or an empty file of it in root's."""
    entries = [_owned_entry(folder, tarfile.DIRTYPE, 0o755) for folder in wanted.own]
    if wanted.file:
        entries[0].uid = entries[0].gid = 0
        entries.append(_owned_entry(f"{wanted.own[0]}/{wanted.file}", tarfile.REGTYPE, 0o644))
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for entry in entries:
            archive.addfile(entry)
    return made.getvalue()


def _owned_entry(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.strip("/"))
    entry.type, entry.mode = kind, mode
    entry.uid = entry.gid = SANDBOX_UID
    return entry
