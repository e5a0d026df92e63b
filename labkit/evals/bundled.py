"""The five fixture tasks that ship with labkit, and two candidates whose results are known."""

import shutil
from pathlib import Path

from labkit.evals.digests import files_of
from labkit.evals.fixtures import FixtureTask, read_fixtures
from labkit.evals.harness import SampleResult
from labkit.globs import within
from labkit.scaffold import copy_out, template


def write_bundled(folder: Path | str) -> tuple[Path, ...]:
    """Write the five tasks into a folder, and return the files; raises InputError over others."""
    return copy_out(template("fixtures"), Path(folder))


def bundled_fixtures(folder: Path | str) -> tuple[FixtureTask, ...]:
    """Write the five tasks into a folder that has none of them yet, and return them."""
    write_bundled(folder)
    return read_fixtures(folder)


def apply_known_fixes(task: FixtureTask, scratch: str) -> SampleResult:
    """Make a scratch folder what the task expects: the candidate that passes everything.

    What the task's setup made stays, and so does all that is forbidden.
    """
    target = Path(scratch)
    wanted = dict(files_of(task.expected))
    for name, _ in files_of(task.buggy) if task.buggy.is_dir() else ():
        if name not in wanted and not within(name, task.forbidden):
            (target / name).unlink(missing_ok=True)
    for name, source in wanted.items():
        if not within(name, task.forbidden):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    return SampleResult(success_self_reported=True)


def do_nothing(task: FixtureTask, scratch: str) -> SampleResult:
    """Leave everything as it is: the candidate that passes nothing."""
    del task, scratch
    return SampleResult(success_self_reported=False)
