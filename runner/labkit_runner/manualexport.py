"""A run by hand on a machine of the person's own: the folder that goes out, and what comes back.

What comes back was in the hands of an agent: it is read file by file, through no link, and no
program of this machine works in it.
"""

import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from labkit.building import NOTHING_BUILT, Built
from labkit.configurations import Configuration
from labkit.errors import InputError, ToolError, not_written, refuse
from labkit.export import Base, read_base, workspace_tar
from labkit.fields import Document
from labkit.git import Repository
from labkit.graders.folder import Unreadable, entries_of, read_inside
from labkit.instructions import laid, read_instructions
from labkit.model import Ended, Ending
from labkit.plan import PlannedRun
from labkit.records import RunRecord
from labkit.signing import SigningKey
from labkit.tasks import Task
from labkit.treediff import TreeDiff, diff_returned
from labkit.workspace import Workspace
from labkit_runner.attempt import new_folder
from labkit_runner.manual import Begun, Told, forget, write_told

WORK, PROMPT, README, FORM = "workspace", "prompt.txt", "README.txt", "declaration.yaml"
_PROMISES = {
    "no_hidden_tests": "No hidden test and no draft of one could be read there.",
    "no_evals": "No evals/ folder, no other run and no history of the project was there.",
    "fresh_session": "The agent began a new session, without memory of earlier ones.",
    "model_network_only": "The agent reached its model and nothing else of a network.",
    "same_prompt": "The agent was asked what prompt.txt says, and nothing before it.",
}
_ENDS = (Ending.COMPLETED, Ending.TURN_CAP, Ending.REFUSED, Ending.AGENT_ERROR, Ending.DEADLINE)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_MOST_FORM = 100_000


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
            (FORM, _form(begun)),
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


def _form(begun: Begun) -> str:
    promises = "".join(f"# {text}\n{name}: false\n\n" for name, text in _PROMISES.items())
    return f"""\
# What you declare of this run. Your signature is put under it when you finish the run.
run: {begun.run}
by: {begun.runner}

# The machine: "VirtualBox, Debian 12, user agent1".
machine: ""

# What keeps the agent apart from everything else there: "a VM of its own, shared folders off".
isolated_by: ""

# How the network is limited: "firewall: only api.anthropic.com".
network: ""

# The agent and the model as they say it themselves.
agent_version: ""
model: ""

# When the agent was given the prompt, and when it was done: "2026-11-30T14:05+01:00".
began: ""
ended: ""

# How it ended: {", ".join(_ENDS)}.
ending: completed

# Make each true that is true. A run for which one is not cannot count.
{promises.rstrip()}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """declaration.yaml, filled in."""

    facts: Mapping[str, object]
    ending: Ending
    began: datetime
    minutes: float
    """Between the two times."""
    data: bytes


def read_declaration(folder: Path, begun: Begun) -> Declaration:
    """Read the form that came back; raises InputError with everything that it lacks."""
    data = read_inside(folder, FORM)
    if isinstance(data, Unreadable):
        raise InputError(
            f"{folder}: {data.why}", hint=f"the export had a {FORM}: fill it in and bring it back"
        )
    if len(data) > _MOST_FORM:
        raise InputError(f"{folder / FORM} is too large", hint="fill in the form of the export")
    form = Document(data, FORM)
    form.named("run", str(begun.run))
    form.named("by", begun.runner)
    words = ("machine", "isolated_by", "network", "agent_version", "model")
    facts: dict[str, object] = {name: form.filled(name) for name in words}
    began, ended = _time(form, "began"), _time(form, "ended")
    ending = form.word("ending", _ENDS, instead=Ending.COMPLETED)
    for name, text in _PROMISES.items():
        if not form.flag(name):
            form.problem(name, f'"{name}" is not true: {text}')
    if began and ended and ended <= began:
        form.problem("ended", '"ended" is not after "began"')
    form.finish(hint=f"fill in {folder / FORM}; what is not so cannot count as a run")
    assert began is not None and ended is not None  # noqa: S101, PT018 - else there was a problem
    facts |= {"began": began.isoformat(), "ended": ended.isoformat()}
    return Declaration(
        facts=facts | dict.fromkeys(_PROMISES, True),
        ending=Ending(ending),
        began=began,
        minutes=(ended - began).total_seconds() / 60,
        data=data,
    )


def _time(form: Document, name: str) -> datetime | None:
    text = form.text(name)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        form.problem(name, f'"{name}" must be a time with a zone: "2026-11-30T14:05+01:00"')
        return None
    if time.tzinfo is None:
        form.problem(name, f'"{name}" has no zone: "{text}+01:00"')
        return None
    return time


def read_workspace(folder: Path, repository: Repository, start: Start) -> TreeDiff:
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
    return diff_returned(repository, start.base, found, built=start.built)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """All that comes back of an exported run."""

    declaration: Declaration
    base_tree: str
    difference: TreeDiff
    minutes: float
    told: Told

    def problems(self) -> Iterator[str]:
        """Yield what cannot be."""
        if self.minutes > self.declaration.minutes + 1:
            yield (
                f"--minutes {self.minutes:g} is more than lies between the declared times: "
                f"{self.declaration.minutes:.1f}"
            )


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
    refuse(tuple(brought.problems()), hint="mend the declaration, or --minutes")
    record = _record(begun, brought, facts)
    with new_folder(workspace.run(begun.run)) as folder:
        (folder / FORM).write_bytes(brought.declaration.data)
        (folder / "stderr.txt").write_bytes(b"")
        (folder / "diff.patch").write_bytes(brought.difference.patch)
        (folder / "test-diff-stat.txt").write_bytes(brought.difference.stat)
        (folder / "minutes.txt").write_text(f"{brought.minutes:.2f}\n", encoding="utf-8")
        record = write_told(folder, record, brought.told, key)
    forget(workspace, begun.run)
    return record


def _record(begun: Begun, brought: Brought, facts: Facts) -> RunRecord:
    declaration, difference = brought.declaration, brought.difference
    late = brought.minutes * 60 > facts.deadline
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
        remarks=tuple(_remarks(declaration, facts)),
    )
    if late and record.ending is Ending.COMPLETED:
        return replace(
            record, ending=Ending.DEADLINE, why=f"the declared time is over {facts.deadline:g} s"
        )
    return record


def _remarks(declaration: Declaration, facts: Facts) -> Iterator[str]:
    yield "done by hand elsewhere: its isolation is declared, not seen"
    names = {"model": facts.configuration.model, "agent_version": facts.configuration.agent_version}
    for name, wanted in names.items():
        said = declaration.facts[name]
        if wanted and said != wanted:
            yield f"{name} is declared as {said}, the configuration says {wanted}"
