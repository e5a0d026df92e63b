"""A run by hand on a machine of the person's own: the folder that goes out, and what comes back.

What comes back was in the hands of an agent: it is read file by file, through no link, and no
program of this machine works in it.
"""

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.building import NOTHING_BUILT, Built
from labkit.configurations import Configuration
from labkit.errors import InputError, ToolError, not_written, refuse
from labkit.export import Base, read_base, workspace_tar
from labkit.git import Repository
from labkit.graders.folder import Unreadable, entries_of
from labkit.instructions import laid, read_instructions
from labkit.model import Ended, Ending
from labkit.plan import PlannedRun
from labkit.records import RunRecord
from labkit.signing import SigningKey
from labkit.tasks import Task
from labkit.treediff import TreeDiff, diff_returned
from labkit.workspace import Workspace
from labkit_runner.attempt import new_folder
from labkit_runner.manual import Begun, Told, settle, with_tries, write_told
from labkit_runner.manualform import FORM, Declaration, blank_form
from labkit_runner.veil import Veil

WORK, PROMPT, README = "workspace", "prompt.txt", "README.txt"
_ROUNDED = 1.0
"""Minutes by which times that people note may be off."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a run starts from."""

    base: Base
    built: Built
    tar: bytes


def start_of(
    repository: Repository, workspace: Workspace, task: Task, configuration: Configuration
) -> Start:
    """Return what a run by hand starts from: the base and the configuration's instructions."""
    base = read_base(repository, task.base)
    files = read_instructions(workspace, configuration.instructions)
    built = laid(NOTHING_BUILT, files, base.files()) if files else NOTHING_BUILT
    tree = built.over(base.files())
    tar = workspace_tar(repository, base, files=tree.values(), laid=files)
    return Start(base=base, built=built, tar=tar)


def write_export(folder: Path, begun: Begun, start: Start, prompt: str, about: str) -> None:
    """Write the folder that goes to the other machine; it must not be there yet."""
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} is already there", hint="name a new folder for the export")
    try:
        (folder / WORK).mkdir(parents=True)
        _lay(start.tar, folder / WORK)
        for name, text in (
            (PROMPT, prompt),
            (README, _readme(begun, about)),
            (FORM, blank_form(begun)),
        ):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise not_written(folder, error) from error


def _lay(tar: bytes, folder: Path) -> None:
    """Write a tar of labkit's own into a new folder, links last, so that none is gone through."""
    links = []
    with tarfile.open(fileobj=io.BytesIO(tar)) as members:
        for member in members:
            path = folder / member.name
            if not path.resolve().is_relative_to(folder.resolve()):
                raise ToolError(f"the base holds a file outside of itself: {member.name}")
            if member.isdir():
                path.mkdir(exist_ok=True)
            elif member.issym():
                links.append((path, member.linkname))
            else:
                content = members.extractfile(member)
                handle = os.open(path, _NEW, 0o755 if member.mode & 0o100 else 0o644)
                with os.fdopen(handle, "wb") as file:
                    file.write(content.read() if content else b"")
    for path, target in links:
        path.symlink_to(target)


def _readme(begun: Begun, about: str) -> str:
    return f"""\
Run {begun.run}, to be done by hand by {begun.runner}
{about}

1. Copy this folder to a machine (a virtual machine, say) that holds no hidden test, no evals/
   folder, no clone of the project, and that reaches nothing but the agent's model.
2. Begin a new session of the agent in workspace/. Nothing of earlier sessions may be there: use a
   new user, or a new machine.
3. Note the time. Give the agent the text of {PROMPT}, word for word, as its first message.
4. Answer only what it asks. Each answer, correction or command of yours is an intervention: count
   them, and note a line for each.
5. When it is done, or its time is over, note the time again and end the session.
6. Fill in {FORM}. Save the agent's transcript beside it, in whatever form it has.
7. Bring the folder back, and where your evals/ lies:

   labkit task run --finish {begun.run} --workspace FOLDER --transcript FILE \\
       --minutes M --interventions N

It was given up? labkit task run --abandon {begun.run} --because "why"
"""


def read_workspace(folder: Path, repository: Repository, start: Start, veil: Veil) -> TreeDiff:
    """Return what was changed in the folder that came back; git does not run in it."""
    place = folder / WORK
    found = entries_of(place)
    if isinstance(found, Unreadable):
        raise InputError(
            f"{place}: {found.why}", hint=f"--workspace is the export with its {WORK}/ in it"
        )
    paths = {entry.path for entry in found}
    known = {entry.path for entry in start.base.entries}
    if known and paths.isdisjoint(known):
        raise InputError(
            f"{place} holds no file of the run's base",
            hint=f"--workspace is the export with its {WORK}/ in it",
        )
    before = (entry.data for entry in start.base.files())
    hits: list[str] = []
    masked = tuple(veil.over((each.data for each in found), before).entries(found, hits))
    difference = diff_returned(repository, start.base, masked, built=start.built)
    told = (f"{path}: it held a secret of the login, which was masked" for path in hits)
    return replace(difference, left_out=(*told, *difference.left_out))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """All that comes back of an exported run."""

    declaration: Declaration
    base_tree: str
    difference: TreeDiff
    minutes: float
    told: Told

    def problems(self, deadline: float) -> Iterator[str]:
        """Yield what cannot be; `deadline` is in seconds."""
        if not self.minutes <= self.declaration.minutes + _ROUNDED:
            yield (
                f"--minutes {self.minutes:g} is more than lies between the declared times: "
                f"{self.declaration.minutes:.1f}"
            )
        if self.declaration.ending is Ending.DEADLINE and not self.is_late(deadline):
            yield (
                f'{FORM}: "ending" is deadline, but --minutes {self.minutes:g} is less than '
                f"the {deadline / 60:g} min that a run has"
            )

    def is_late(self, deadline: float) -> bool:
        """Tell whether it took longer than a run may, by what is said or by the declared times."""
        took = max(self.minutes, self.declaration.minutes - _ROUNDED)
        return took * 60 > deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a record needs to know beside what came back."""

    planned: PlannedRun
    configuration: Configuration
    suite_version: str
    deadline: float
    """In seconds."""


def finish_export(
    workspace: Workspace, begun: Begun, brought: Brought, facts: Facts, key: SigningKey
) -> RunRecord:
    """Make a run of what came back."""
    refuse(tuple(brought.problems(facts.deadline)), hint="mend the declaration, or --minutes")
    record = with_tries(workspace, facts.planned, _record(begun, brought, facts))
    with new_folder(workspace.run(begun.run)) as folder:
        (folder / FORM).write_bytes(brought.declaration.data)
        (folder / "stderr.txt").write_bytes(b"")
        (folder / "diff.patch").write_bytes(brought.difference.patch)
        (folder / "test-diff-stat.txt").write_bytes(brought.difference.stat)
        (folder / "minutes.txt").write_text(f"{brought.minutes:.2f}\n", encoding="utf-8")
        record = write_told(folder, record, brought.told, key)
    settle(workspace, record)
    return record


def _record(begun: Begun, brought: Brought, facts: Facts) -> RunRecord:
    declaration, difference = brought.declaration, brought.difference
    record = RunRecord(
        run=begun.run,
        runner=begun.runner,
        suite_version=facts.suite_version,
        seed=facts.planned.seed,
        ended=Ended.EXITED,
        exit_code=None,
        ending=declaration.ending,
        started=declaration.began.isoformat(timespec="seconds"),
        seconds=round(brought.minutes * 60, 3),
        sandbox="declared",
        image_digest="",
        agent=facts.configuration.agent,
        agent_version=str(declaration.facts["agent_version"]),
        model=facts.configuration.model,
        turns=None,
        login=facts.configuration.login,
        manual={
            "way": str(begun.way),
            "by": begun.runner,
            "declared": dict(declaration.facts),
            **brought.told.facts(),
        },
        base_tree=brought.base_tree,
        result_tree=difference.result_tree,
        left_out=difference.left_out,
        remarks=tuple(_remarks(brought, facts)),
    )
    if brought.is_late(facts.deadline):
        return replace(
            record, ending=Ending.DEADLINE, why=f"the declared time is over {facts.deadline:g} s"
        )
    return record


def _remarks(brought: Brought, facts: Facts) -> Iterator[str]:
    declaration = brought.declaration
    yield "done by hand elsewhere: its isolation is declared, not seen"
    if brought.minutes < declaration.minutes - _ROUNDED:
        yield (
            f"it is said to have taken {brought.minutes:g} min, of the {declaration.minutes:.1f} "
            "between its declared times"
        )
    names = {"model": facts.configuration.model, "agent_version": facts.configuration.agent_version}
    for name, wanted in names.items():
        said = declaration.facts[name]
        if wanted and said != wanted:
            yield f"{name} is declared as {said}, the configuration says {wanted}"
