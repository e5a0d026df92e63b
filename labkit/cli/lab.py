"""What most commands start from: the workspace, its settings, the project, and who is asking."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from labkit.configurations import read_configurations
from labkit.environments import pinned
from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.git import Repository
from labkit.journal import Event, append
from labkit.journal import read as read_log
from labkit.model import Member, TaskId
from labkit.rubric import load_rubric
from labkit.settings import Person, Role, Settings, read_person, read_settings
from labkit.signing import SigningKey
from labkit.suite import Suite, read_suite, version
from labkit.tasks import Task, read_tasks
from labkit.workspace import Workspace, user_folder
from labkit_runner.preflight import require_unchanged

SHARED = "rubric.yaml, environment: in labkit.yaml, a Dockerfile, or suite.json itself"
"""What a suite's version pins beside its tasks."""


def now() -> datetime:
    """Return the current time with the machine's own zone."""
    return datetime.now(UTC).astimezone()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """An open workspace."""

    workspace: Workspace
    settings: Settings
    repository: Repository

    @classmethod
    def open(cls, start: Path | None = None) -> Self:
        """Open the workspace that a folder, usually the current one, lies in."""
        workspace = Workspace.find(start or Path.cwd())
        return cls(
            workspace=workspace,
            settings=read_settings(workspace),
            repository=Repository.discover(workspace.project),
        )

    def tasks(self) -> dict[TaskId, Task]:
        """Read every task, by id."""
        return {task.id: task for task in read_tasks(self.workspace, self.repository)}

    def person(self, me: str, *, role: Role | None = None) -> Person:
        """Return who is asking, with the role that the step needs."""
        name = Member(me) if me else self._me()
        person = read_person(self.workspace, name)
        if role is not None and person.role is not role:
            raise PhaseError(
                f"{name} is a {person.role}: this step is the {role}'s",
                hint="choose another member with --me",
            )
        return person

    def _me(self) -> Member:
        kept = Repository(self.workspace.evals / ".git").git(
            "config", "--local", "labkit.me", check=False
        )
        if kept.code != 0:
            raise InputError(
                "labkit does not know who you are", hint="join once: labkit init --me NAME"
            )
        here = sorted((user_folder() / "keys").glob(f"{self.settings.team}-*.pem"))
        if len(here) > 1:
            names = ", ".join(path.stem.removeprefix(f"{self.settings.team}-") for path in here)
            raise InputError(
                f"several members share this machine: {names}",
                hint="say who you are with --me NAME",
            )
        return Member(kept.stdout.decode().strip())

    def key(self, person: Person) -> SigningKey:
        """Return a person's private signing key; raises InputError when it is another's."""
        path = key_path(self.settings.team, person.name)
        if not path.is_file():
            raise InputError(
                f"no signing key of {person.name} on this machine: {path}",
                hint="use the machine that you joined from, or copy its key file",
            )
        key = SigningKey.load(path)
        if key.public != person.signing_key:
            raise InputError(
                f"the signing key on this machine is not the one in members/{person.name}.yaml",
                hint="use the machine that you joined from, or copy its key file",
            )
        return key

    def require_log(self, person: Person) -> None:
        """Refuse to begin what could not be recorded: no key, or a log that is damaged."""
        self.key(person)
        read_log(self.workspace.log(person.name), public=person.signing_key)

    def frozen_suite(self, tasks: dict[TaskId, Task], *, configurations_too: bool = True) -> Suite:
        """Return the suite; raises IntegrityError when what it pins is not what was frozen.

        `tasks` are the lab's, as `tasks()` has read them: reading them asks git a good deal.
        Configurations may have changed where a subset is run again on a new version of an agent.
        """
        suite = read_suite(self.workspace.suite)
        configurations = read_configurations(self.workspace) if configurations_too else None
        require_unchanged(self.workspace, suite, tasks, configurations)
        rubric = load_rubric(self.workspace.rubric).facts()
        if version(suite.tasks, rubric, self.pinned_environment(tasks)) != suite.version:
            raise IntegrityError(
                f"changed since the suite was frozen: {SHARED}",
                hint="git -C evals log -p -- labkit.yaml rubric.yaml suite.json shows the change; "
                "undo it",
            )
        return suite

    def pinned_environment(self, tasks: Mapping[TaskId, Task]) -> dict[str, object]:
        """Return what the suite's version pins of the environments."""
        own = (task.environment for task in tasks.values())
        return pinned(self.settings.environment, own, self.workspace.evals)

    def log(
        self,
        person: Person,
        action: str,
        *,
        subject: str = "",
        digests: Mapping[str, str] | None = None,
    ) -> None:
        """Record in the person's signed log that they did something."""
        event = Event(action=action, subject=subject, digests=digests or {})
        append(
            self.workspace.log(person.name),
            event,
            member=person.name,
            key=self.key(person),
            now=now(),
        )


def key_path(team: str, name: Member) -> Path:
    """Return where a member's private signing key lies."""
    return user_folder() / "keys" / f"{team}-{name}.pem"


def holder_key_path(chosen: str) -> Path:
    """Return where the holder's private age key lies."""
    return Path(chosen) if chosen else user_folder() / "holder.agekey"
