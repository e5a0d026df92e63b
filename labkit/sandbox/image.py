"""Makes the images that containers run: from this machine's packages, or from a Dockerfile."""

import io
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import IO

import docker
from docker.errors import ImageNotFound

from labkit import process
from labkit.errors import InfrastructureError
from labkit.sandbox import debian
from labkit.sandbox.engine import engine_errors
from labkit.sandbox.environment import copy_packages
from labkit.sandbox.streams import CHUNK

BASE_TAG = "labkit-base:local"
Progress = Callable[[str], None]

_LABEL = "labkit.image"
_VERSION = "2"
"""Changes when images out of Debian's packages hold something more."""
_REGISTRY_BASE = "python:3.12-slim"
_SITE = "/opt/labkit/site"
_SETTINGS = [
    f"ENV PYTHONPATH={_SITE}",
    "ENV PYTHONDONTWRITEBYTECODE=1",
    f"LABEL {_LABEL}={_VERSION}",
    "WORKDIR /workspace",
    'CMD ["/bin/sh"]',
]
_DERIVED = """\
FROM {base}
COPY site /opt/labkit/packages
ENV PYTHONPATH=/opt/labkit/packages:/opt/labkit/site
RUN python3 -m compileall -q -j 1 /opt/labkit/packages || true
"""


def image_id(client: docker.APIClient, tag: str) -> str | None:
    """Return the id of an image of the engine, None when there is none of that name."""
    with engine_errors("the engine could not be asked for its images"):
        try:
            found: dict[str, object] = client.inspect_image(tag)  # type: ignore[no-untyped-call] # its stubs lack it
            return str(found["Id"])
        except ImageNotFound:
            return None


def ensure_image(client: docker.APIClient, tag: str, *, progress: Progress) -> str:
    """Return the id of `tag`; build the kit's base image under that name when it is missing.

    Only BASE_TAG is built: any other name is the team's own image, and missing is an error.
    """
    found = image_id(client, tag)
    if found is not None and not (tag == BASE_TAG and _is_old(client, found)):
        return found
    if tag.startswith("labkit-env:"):  # removed since it was made, say by labkit env prune
        raise InfrastructureError(
            f"the environment {tag.partition(':')[2]} is not there (any more)",
            hint="make it again: labkit env build, with --agent for a configuration's",
        )
    if tag != BASE_TAG:
        raise InfrastructureError(
            f"the engine has no image {tag}", hint=f"pull or build it, or use {BASE_TAG}"
        )
    return build_base(client, tag, progress=progress)


def _is_old(client: docker.APIClient, image: str) -> bool:
    """Whether a base image lacks something that one made here and now would have."""
    with engine_errors("the engine could not tell of its images"):
        about: dict[str, dict[str, dict[str, str]]] = client.inspect_image(image)  # type: ignore[no-untyped-call] # its stubs lack it
    labels = about["Config"]["Labels"] or {}
    return labels.get(_LABEL) != _VERSION and debian.available()


def build_base(
    client: docker.APIClient, tag: str, *, progress: Progress, base: str | None = None
) -> str:
    """Build the base image: out of Debian's packages where they are, else with the Dockerfile.

    With `base`, always with the Dockerfile, on top of that image instead of the registry's.
    """
    with tempfile.TemporaryDirectory(prefix="labkit-image-") as made:
        site = Path(made, "site")
        copy_packages(site)
        if base is None and debian.available():
            progress(f"making {tag} out of the packages of this machine")
            _import_root(client, tag, site)
        else:
            progress(f"building {tag} with the Dockerfile on {base or 'an image of the registry'}")
            _build(client, tag, _recipe(base), site=site, network="default")
    built = image_id(client, tag)
    if built is None:
        raise InfrastructureError(f"the engine has no image {tag} after building it")
    progress(f"made {tag}")
    return built


def derive_image(client: docker.APIClient, tag: str, *, base: str, site: Path) -> str:
    """Build `tag` from `base` with the Python packages of the folder `site` added; return its id.

    `site` is what `pip install --target` makes: its packages are found before those of the base.
    """
    _build(client, tag, _DERIVED.format(base=base).encode(), site=site, network="none")
    built = image_id(client, tag)
    if built is None:
        raise InfrastructureError(f"the engine has no image {tag} after building it")
    return built


def _recipe(base: str | None) -> bytes:
    text = files("labkit.sandbox").joinpath("image/Dockerfile").read_text(encoding="utf-8")
    return text.replace(f"ARG BASE={_REGISTRY_BASE}", f"ARG BASE={base or _REGISTRY_BASE}").encode()


def _import_root(client: docker.APIClient, tag: str, site: Path) -> None:
    # The image's own interpreter compiles, with one job: more need a shared memory folder.
    process.run(
        ["/usr/bin/python3", "-m", "compileall", "-q", "-j", "1", "-s", site, "-p", _SITE, site]
    )
    name, _, version = tag.rpartition(":")
    with tempfile.TemporaryFile() as root:
        with tarfile.open(fileobj=root, mode="w", dereference=False) as archive:
            debian.write_root(archive, site=site)
        root.seek(0)
        with engine_errors(f"{tag} could not be imported"):
            # A file would be sent with its length; the client's headers promise pieces.
            pieces = iter(partial(root.read, CHUNK), b"")
            client.import_image_from_stream(pieces, repository=name, tag=version, changes=_SETTINGS)


def _build(client: docker.APIClient, tag: str, recipe: bytes, *, site: Path, network: str) -> None:
    with tempfile.TemporaryFile() as context:
        _write_context(context, recipe, site)
        with engine_errors(f"{tag} could not be built"):
            lines = client.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                rm=True,
                forcerm=True,
                network_mode=network,
                decode=True,
            )
            for line in lines:
                if "error" in line:
                    raise InfrastructureError(
                        f"{tag} could not be built: {str(line['error']).strip()}",
                        hint="is the base image there, and a registry within reach",
                    )


def _write_context(context: IO[bytes], recipe: bytes, site: Path) -> None:
    with tarfile.open(fileobj=context, mode="w") as archive:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(recipe)
        archive.addfile(entry, io.BytesIO(recipe))
        archive.add(site, arcname="site")
    context.seek(0)
