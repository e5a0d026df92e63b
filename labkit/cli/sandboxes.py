"""Choosing the sandbox that a command runs in, and making its image."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from labkit.cli.console import complain, say
from labkit.cli.lab import Lab
from labkit.errors import InputError, LabkitError
from labkit.sandbox.choose import Choice, choose, workshop_of
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import ensure_image
from labkit.sandbox.interface import Sandbox, SidecarSandbox
from labkit.settings import Settings
from labkit.supply import Supplied, Supply
from labkit.tasks import Task
from labkit.workspace import cache_folder


def open_sandbox(name: str, settings: Settings | None = None) -> SidecarSandbox:
    """Return the sandbox asked for; raises ToolError with the reason when there is none."""
    if name not in list(Choice):
        raise InputError(f"no sandbox is called {name!r}", hint=f"one of: {', '.join(Choice)}")
    site = Path(settings.site).expanduser() if settings and settings.site else None
    return choose(Choice(name), cache=cache_folder(), site=site)


def supply_of(lab: Lab, sandbox: Sandbox) -> Supply:
    """Return what makes and finds the environments of a lab's tasks."""
    return Supply(
        workshop=workshop_of(sandbox, say),
        repository=lab.repository,
        evals=lab.workspace.evals,
        team=lab.settings.environment,
        lock=cache_folder() / "environments.lock",
        progress=say,
    )


def provide(lab: Lab, sandbox: Sandbox, tasks: Sequence[Task]) -> Supplied:
    """Make the environments that are missing, and say which tasks cannot have theirs.

    Raises the first error when no task has one: then nothing can be done.
    """
    supplied = supply_of(lab, sandbox).provide(tasks)
    if supplied.failed and not supplied.ready:
        raise next(iter(supplied.failed.values()))
    tell_failures(supplied.failed.values())
    return supplied


def tell_failures(errors: Iterable[LabkitError]) -> None:
    """Tell each error once, however many tasks it is about."""
    told = {error.problems: error for error in errors}
    for error in told.values():
        complain(error)


def ready_image(sandbox: Sandbox, image: str) -> str:
    """Return the image to run, built first when it is labkit's own and missing.

    Raises InfrastructureError when the team's own image is not there.
    """
    if isinstance(sandbox, DockerSandbox):
        ensure_image(sandbox.api, image, progress=say)
    return image
