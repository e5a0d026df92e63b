"""What `labkit holder open` does: sealed hidden tests become a draft again, to be corrected."""

import shutil
import tempfile
from pathlib import Path

from labkit.bundle import Files
from labkit.canary import lift
from labkit.cli.bundles import Oracles, open_bundle
from labkit.cli.console import say
from labkit.cli.identity import open_identity
from labkit.cli.lab import Lab
from labkit.errors import InputError, PhaseError, did_you_mean, not_written
from labkit.model import TaskId
from labkit.phases import require_runs_done
from labkit.settings import Role
from labkit.suite import read_suite


def open_draft(name: str, me: str, key: str) -> None:
    """Write the files of the bundle in force below drafts/, all of them or none."""
    lab = Lab.open()
    person = lab.person(me, role=Role.HOLDER)
    require_runs_done(lab.workspace)  # no agent may find it
    suite = read_suite(lab.workspace.suite)
    task = TaskId(name)
    if task not in suite.tasks:
        raise InputError(
            f"the frozen suite has no task {task}{did_you_mean(name, list(map(str, suite.tasks)))}",
            hint="labkit task list shows the tasks",
        )
    draft = lab.workspace.draft(task)
    if draft.exists():
        raise PhaseError(f"{draft} is already there", hint="correct it, or move it away")
    lab.require_log(person)
    identity = open_identity(lab, key)
    bundle = open_bundle(lab, Oracles.of(lab, suite), task, identity)
    lab.log(person, "open", subject=str(task))
    _write(draft, bundle.files)
    say(f"{draft}: readable on this machine until it is sealed again")
    say(f"mend it, then: labkit task validate {task}")
    say(f'and: labkit task seal {task} --correct "why"')


def _write(draft: Path, files: Files) -> None:
    try:
        draft.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".labkit-", dir=draft.parent))
        try:
            for path, content in files.items():
                target = made / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(lift(content))
            made.rename(draft)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise not_written(draft, error) from error
