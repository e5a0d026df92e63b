"""SWE-bench instances of a repository at hand as cases: the base's files, and tests that decide.

This is for quick comparisons of candidates in development. The tests run beside the code that they
test, as in SWE-bench itself; golden tasks (`labkit task import`) have a grade that such code cannot
forge.
"""

import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.errors import InputError, LabkitError
from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.laid import content_entry, laid_folder
from labkit.evals.scratch import Files
from labkit.evals.swebench import Instance, read_swebench
from labkit.export import read_base
from labkit.git import Repository
from labkit.patch.place import Applied, NotApplied, apply_to_base

_WORKDIR = "/workspace"
_MODES = {Kind.FILE: 0o644, Kind.EXECUTABLE: 0o755}
_SCRIPT = """\
#!/bin/sh
# The instance's tests over whatever the candidate left, then only the tests that it names.
{removed}cp -R /tests/files/. . || exit 1
reward=0
python -m pytest -q -p no:cacheprovider {tests} && reward=1
echo $reward > /logs/verifier/reward.txt
"""


def read_instances(path: Path, repository: Repository, *, cache: Path) -> EvalSuite:
    """Read a file of instances as a suite; one that cannot be used is a case with a `problem`.

    The files of the bases are laid below `cache`. Raises InputError for a file without instances,
    and one that tells of every line that is none.
    """
    read = read_swebench(path)
    if read.problems:
        first, *more = read.problems
        raise InputError(first, more=more, hint=f"mend {path}, or take the lines out")
    return EvalSuite([_case(each, repository, cache) for each in read.found], path.stem)


def _case(instance: Instance, repository: Repository, cache: Path) -> EvalCase:
    try:
        tests = _named(instance)
        base = read_base(repository, instance.base)
        done = apply_to_base(repository, base, instance.test_patch.encode())
        if isinstance(done, NotApplied):
            raise InputError(f"its test_patch does not apply to its base: {done.reason}")
        return EvalCase(
            id=instance.id,
            inputs={"instruction": instance.problem, "workdir": _WORKDIR},
            grader_spec={
                "name": "harbor_tests",
                "workdir": _WORKDIR,
                "files": _files(done, tests),
                "timeout": 600,
            },
            slices=(instance.repo,) if instance.repo else (),
            folder=laid_folder(_laid(base.files()), cache),
        )
    except LabkitError as error:
        return EvalCase(id=instance.id, problem="; ".join(error.problems))


def _named(instance: Instance) -> list[str]:
    """Return the tests that decide; pytest has to be able to find them by their names."""
    named = [*(instance.named.fail_to_pass or ()), *(instance.named.pass_to_pass or ())]
    if not instance.named.fail_to_pass:
        raise InputError("it names no test that begins to pass")
    odd = [name for name in named if "::" not in name or name.startswith("-")]
    if odd:
        raise InputError(f"{odd[0][:80]!r} is no test as pytest names them")
    return named


def _laid(entries: Iterable[Entry]) -> Files:
    """Return a base's files; raises InputError for what cannot lie in a case's folder."""
    files = {}
    for entry in entries:
        path = os.fsdecode(entry.path)
        if entry.kind is Kind.SYMLINK:
            raise InputError(f"its base has a link, {path}, which a case's folder cannot have")
        if entry.kind in _MODES:
            files[path] = (entry.data, _MODES[entry.kind])
    return files


def _files(done: Applied, tests: list[str]) -> list[dict[str, object]]:
    """Return the grader's files: the script, and what the test_patch changes, whole."""
    removed = [os.fsdecode(path) for path in done.changed if path not in done.tree]
    gone = f"rm -f -- {shlex.join(removed)}\n" if removed else ""
    script = _SCRIPT.format(removed=gone, tests=shlex.join(tests))
    found: list[dict[str, object]] = [{"path": "test.sh", "text": script}]
    for path in done.changed:
        entry = done.tree.get(path)
        if entry is None:
            continue
        if entry.kind not in _MODES:
            raise InputError(f"its test_patch makes a link, {os.fsdecode(path)}")
        executable = {"executable": True} if entry.kind is Kind.EXECUTABLE else {}
        name = f"files/{os.fsdecode(path)}"
        found.append({"path": name, **executable, **content_entry(entry.data)})
    return found
