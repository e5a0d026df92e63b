"""What `labkit suite import` does: tasks of other tools as a suite of one's own."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from labkit.cli.console import say
from labkit.errors import InputError, refuse
from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.harbor import read_harbor, task_folders
from labkit.evals.suitewriting import suite_values
from labkit.evals.swebench import read_swebench
from labkit.evals.sweinstances import read_instances
from labkit.fields import counted, json_text
from labkit.git import Repository

SUITE, GOLD = "suite.json", "gold.jsonl"
_FILES = "files"
"""Where the folders of cases lie."""


def import_suite(source: Path, folder: Path, image: str) -> int:
    """Write a suite into a new folder, whole; return 1 when some tasks cannot be used.

    Raises InputError when none can.
    """
    if folder.exists():
        raise InputError(f"{folder} is already there", hint="name a new folder")
    harbor = _of_harbor(source)
    folder.absolute().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".labkit-", dir=folder.absolute().parent) as made:
        root = Path(made, "suite")
        root.mkdir()
        suite = _read(source, root / _FILES, image, harbor=harbor)
        sound = [case for case in suite.cases if not case.problem]
        broken = [f"{case.id}: {case.problem}" for case in suite.cases if case.problem]
        if not sound:
            refuse(broken, hint="nothing was written")
        _write(root, suite, sound, None if harbor else source)
        root.rename(folder)
    for line in broken:
        say(f"left out: {line}")
    say(f"{folder / SUITE} has {len(sound)} of {counted(len(suite.cases), 'task')}")
    reference = f"solutions:{source}" if harbor else f"patches:{folder / GOLD}"
    say(
        f"see first whether their own solutions pass: labkit evaluate --suite {folder} "
        f"--candidate {reference}"
    )
    return 1 if broken else 0


def _of_harbor(source: Path) -> bool:
    """Return whether a source is Harbor's, and not a file of instances; refuses what is neither."""
    if not source.exists():
        raise InputError(
            f"no file {source}", hint="give a folder of Harbor tasks, or a file of instances"
        )
    if source.is_dir():
        task_folders(source)
    return source.is_dir()


def _read(source: Path, cache: Path, image: str, *, harbor: bool) -> EvalSuite:
    if harbor:
        return read_harbor(source, cache=cache, image=image)
    return read_instances(source, Repository.discover(Path.cwd()), cache=cache)


def _write(root: Path, suite: EvalSuite, sound: list[EvalCase], instances: Path | None) -> None:
    plain = [replace(case, folder=case.folder and root / _FILES / case.folder.name)
             for case in sound]  # fmt: skip
    (root / SUITE).write_text(json_text(suite_values(suite.name, plain, root)), encoding="utf-8")
    if instances is None:
        return
    kept = {case.id for case in sound}
    lines = [
        json.dumps({"instance_id": each.id, "model_patch": each.patch})
        for each in read_swebench(instances).found
        if each.id in kept
    ]
    (root / GOLD).write_text("\n".join(lines) + "\n", encoding="utf-8")
