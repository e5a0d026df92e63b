"""What `labkit doctor` and `labkit clean` do."""

from contextlib import suppress
from pathlib import Path

from labkit.cli.console import complain, data, say
from labkit.cli.lab import now
from labkit.cli.sandboxes import open_sandbox, ready_image
from labkit.errors import InputError, LabkitError, PhaseError, ToolError
from labkit.lock import only_one
from labkit.sandbox.choose import Choice
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.image import BASE_TAG, image_id
from labkit.sandbox.interface import Sandbox
from labkit.sandbox.probe import probe, probe_way_out
from labkit.settings import Settings, read_settings
from labkit.workspace import Workspace
from labkit_runner.voided import partial_runs, void_partial


def examine(name: str, *, build: bool) -> int:
    """Probe every sandbox asked for; return 1 when none of them works and isolates."""
    if name not in list(Choice):
        raise InputError(f"no sandbox is called {name!r}", hint=f"one of: {', '.join(Choice)}")
    settings = _settings()
    names = ["docker", "bubblewrap"] if name == Choice.AUTO else [name]
    sound = [_examine_one(each, settings, build=build) for each in names]
    if not any(sound):
        say("labkit: no sandbox works here: agents can be neither run nor graded on this machine")
        return 1
    return 0


def _settings() -> Settings | None:
    with suppress(PhaseError):
        return read_settings(Workspace.find(Path.cwd()))
    return None


def _examine_one(name: str, settings: Settings | None, *, build: bool) -> bool:
    image = settings.image if settings else BASE_TAG
    try:
        sandbox = open_sandbox(name, settings)
        if (
            isinstance(sandbox, DockerSandbox)
            and not build
            and image_id(sandbox.api, image) is None
        ):
            raise ToolError(
                f"the engine has no image {image}", hint="labkit doctor --build makes it"
            )
        findings = probe(sandbox, ready_image(sandbox, image))
        way_out = probe_way_out(sandbox, image)
    except LabkitError as error:
        data(f"{name}: does not work here")
        complain(error)
        return False
    data(f"{name}: works")
    for finding in findings:
        mark = "ok" if finding.ok else "not limited here" if finding.is_limit else "NOT ISOLATED"
        data(f"  {mark:<16} {finding.name}: {finding.detail}")
    data(f"  {'ok' if way_out.ok else 'not here':<16} {way_out.name}: {way_out.detail}")
    return all(finding.ok for finding in findings if not finding.is_limit)


def sweep(*, dry_run: bool) -> None:
    """Show or remove what killed labkit processes left on this machine."""
    found = 0
    for name in ("docker", "bubblewrap"):
        try:
            sandbox = open_sandbox(name)
        except LabkitError:
            continue  # what does not work here has left nothing here either
        found += _tell(sandbox, dry_run=dry_run)
    with suppress(PhaseError):
        workspace = Workspace.find(Path.cwd())
        partial = partial_runs(workspace.raw)
        if not dry_run:
            with only_one(workspace, "labkit clean"):
                void_partial(workspace.raw, workspace.voided, now().isoformat(timespec="seconds"))
        for path in partial:
            data(f"half-written run: {path}" if dry_run else f"voided half-written run: {path}")
        found += len(partial)
    if not found:
        say("nothing was left behind")


def _tell(sandbox: Sandbox, *, dry_run: bool) -> int:
    lines = sandbox.leftovers() if dry_run else sandbox.clean()
    done = "" if dry_run else "removed "
    for line in lines:
        data(f"{sandbox.name}: {done}{line}")
    return len(lines)
