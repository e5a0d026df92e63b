"""The sandboxes of this machine as fixtures: `sandbox` (both in turn), and each by its name.

What does not work here (a sandbox, or the package index: `registry`) skips its tests and says why,
unless LABKIT_TEST_REQUIRE names it (`docker,bubblewrap,registry`): then the tests fail.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

from labkit.errors import LabkitError
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, ensure_image
from labkit.sandbox.interface import Sandbox

Made = TypeVar("Made")

IMAGE = BASE_TAG
"""The image for specs of tests; the bubblewrap sandbox ignores it."""

BOTH = [
    pytest.param("docker", marks=pytest.mark.docker, id="docker"),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap, id="bubblewrap"),
]


def missing(name: str, why: str) -> NoReturn:
    """Skip the test for want of something, or fail it where that thing is required."""
    reason = f"{name} does not work here: {why}"
    if name in os.environ.get("LABKIT_TEST_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


def or_skip(name: str, make: Callable[[], Made]) -> Made:
    """Return what is made, or skip the test where it cannot be made here."""
    try:
        return make()
    except LabkitError as error:
        missing(name, error.message)


def bubblewrap_cache() -> Path:
    """Return where the environment of bubblewrap is kept from one test session to the next."""
    return Path(tempfile.gettempdir(), f"labkit-test-cache-{os.getuid()}")


def make_docker() -> DockerSandbox:
    """Return a sandbox on the engine of this machine, with the kit's image in it."""
    made = DockerSandbox.connect()
    ensure_image(made.api, IMAGE, progress=lambda _: None)
    return made


@pytest.fixture(scope="session")
def docker_sandbox() -> Iterator[DockerSandbox]:
    """Give the Docker sandbox, with the kit's image built."""
    made = or_skip("docker", make_docker)
    yield made
    made.close()


@pytest.fixture(scope="session")
def bubblewrap_sandbox(tmp_path_factory: pytest.TempPathFactory) -> BubblewrapSandbox:
    """Return the bubblewrap sandbox with its own scratch folder."""
    scratch = tmp_path_factory.mktemp("scratch")
    return or_skip("bubblewrap", lambda: make_bubblewrap(cache=bubblewrap_cache(), scratch=scratch))


def require_memory_reports(sandbox: Sandbox) -> None:
    """Skip a test on an engine that does not say so when a plain container ran out of memory.

    Some engines lose the kernel's notice (seen where two of them shared a machine's groups).
    """
    if not isinstance(sandbox, DockerSandbox):
        return
    host = sandbox.api.create_host_config(mem_limit="64m", memswap_limit="64m")
    hog = ["python3", "-c", "held = [bytearray(10**6) for _ in range(10**4)]"]
    made = sandbox.api.create_container(IMAGE, hog, host_config=host)["Id"]
    try:
        sandbox.api.start(made)
        sandbox.api.wait(made)
        told = sandbox.api.inspect_container(made)["State"]["OOMKilled"]
    finally:
        sandbox.api.remove_container(made, force=True)
    if not told:
        pytest.skip("this engine does not tell that a container ran out of memory")


@pytest.fixture(params=BOTH)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Return each sandbox in turn."""
    made: Sandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return made
