"""The team's settings (labkit.yaml) and its members, read once and trusted afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labkit.bounds import Budget, Caps, read_budget, read_caps
from labkit.environments import BASE_IMAGE, Recipe, read_recipe
from labkit.errors import InputError, PhaseError
from labkit.fields import Document
from labkit.model import Member, TaskId
from labkit.nodes import dump_yaml
from labkit.providers import Provider, read_providers
from labkit.sandbox.interface import Limits
from labkit.workspace import Workspace, write_new


class Role(StrEnum):
    """What a person does: students write, run and score; the holder keeps secrets and grades."""

    STUDENT = "student"
    HOLDER = "holder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """labkit.yaml."""

    team: str
    holder: str
    """The holder's public key (age recipient); empty until there is one."""
    backup: str
    solo: bool
    environment: Recipe
    """What tasks are run in, unless their own files say otherwise."""
    site: str
    """Bubblewrap: a folder of packages."""
    run_limits: Limits
    grade_limits: Limits
    caps: Caps
    """What each run may use of the model."""
    budget: Budget
    """What the lab as a whole may use; runs stop before it is over."""
    providers: Mapping[str, Provider]
    attempts: int
    second_attempts: tuple[TaskId, ...]
    """Tasks with a second attempt where `attempts` is 1: the reduced plan."""
    smoke: tuple[TaskId, ...]
    """A few tasks that `labkit task run --smoke` runs again, on a new version of an agent, say."""
    protected: tuple[str, ...]
    """Names whose reading by an agent is a leak."""
    redact: tuple[str, ...]

    @property
    def image(self) -> str:
        """The image that environments start from unless they say otherwise."""
        return self.environment.image or BASE_IMAGE

    @property
    def recipients(self) -> tuple[str, ...]:
        """The public keys that everything secret is sealed to."""
        if not self.holder:
            raise PhaseError(
                "the team has no holder's key yet",
                hint="the holder runs: labkit holder keygen; "
                'put the key into evals/labkit.yaml: holder: "age1..."',
            )
        return (self.holder, self.backup) if self.backup else (self.holder,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """members/<name>.yaml: what everybody may know of a member."""

    name: Member
    role: Role
    full_name: str
    email: str
    signing_key: str
    """Public half of the member's Ed25519 key, base64."""


def read_settings(workspace: Workspace) -> Settings:
    """Read evals/labkit.yaml; raises InputError with every problem in it."""
    document = Document.read(workspace.settings)
    team = document.filled("team")
    _check_team(document, team)
    environment = document.mapping("environment")
    recipe = read_recipe(environment, workspace.evals)
    site = environment.text("site", default="")
    environment.done()
    limits = document.mapping("limits")
    memory = limits.whole("memory", default=2048, low=64)
    processes = limits.whole("processes", default=256, low=16)

    def limited(name: str, minutes: float) -> Limits:
        seconds = 60 * limits.number(name, default=minutes, low=0.01)
        return Limits(seconds=seconds, memory=memory, processes=processes)

    settings = Settings(
        team=team,
        holder=document.text("holder", default=""),
        backup=document.text("backup", default=""),
        solo=document.flag("solo"),
        environment=recipe,
        site=site,
        run_limits=limited("minutes", 10),
        grade_limits=limited("grade_minutes", 5),
        caps=read_caps(limits),
        budget=read_budget(document.mapping("budget")),
        providers=read_providers(document.mapping("providers")),
        attempts=document.whole("attempts", default=2, low=1),
        second_attempts=_task_names(document, "second_attempts"),
        smoke=_task_names(document, "smoke"),
        protected=document.texts("protected") or ("evals",),
        redact=document.texts("redact"),
    )
    _check_attempts(document, settings)
    limits.done()
    document.finish()
    return settings


def _task_names(document: Document, name: str) -> tuple[TaskId, ...]:
    """Take a list of tasks, noting every word that is no task's id or stands there twice."""
    found: dict[TaskId, None] = {}
    for text in document.texts(name):
        try:
            task = TaskId(text)
        except InputError as error:
            document.problem(name, f'"{name}": {error.message}')
            continue
        if task in found:
            document.problem(name, f'"{name}" names {task} twice')
        found[task] = None
    return tuple(found)


def _check_attempts(document: Document, settings: Settings) -> None:
    if settings.attempts > 9:  # noqa: PLR2004 - attempts are one digit
        document.problem("attempts", "at most 9 attempts")
    if settings.second_attempts and settings.attempts != 1:
        document.problem(
            "second_attempts",
            f'"second_attempts" goes with "attempts: 1", not with {settings.attempts}',
        )


def _check_team(document: Document, team: str) -> None:
    try:
        if team.strip():
            Member(team)  # a team's name stands in file names too
    except InputError:
        document.problem("team", f"{team!r} must be lower-case letters, digits and hyphens: blue-7")


def read_person(workspace: Workspace, name: Member) -> Person:
    """Read one member's file; raises InputError when there is none."""
    path = workspace.member(name)
    if not path.is_file():
        raise InputError(f"{name} has not joined", hint=f"run: labkit init --me {name}")
    document = Document.read(path)
    role = document.word("role", list(Role), instead=Role.STUDENT)
    document.named("name", str(name))
    values = [document.text(field) for field in ("full_name", "email", "signing_key")]
    document.finish()
    return Person(
        name=name, role=Role(role), full_name=values[0], email=values[1], signing_key=values[2]
    )


def read_people(workspace: Workspace) -> tuple[Person, ...]:
    """Read everybody who has joined, sorted by name."""
    return tuple(read_person(workspace, name) for name in workspace.member_names())


def write_person(path: Path, person: Person) -> None:
    """Write a new member's file."""
    write_new(
        path,
        dump_yaml(
            {
                "name": str(person.name),
                "role": str(person.role),
                "full_name": person.full_name,
                "email": person.email,
                "signing_key": person.signing_key,
            }
        ),
    )
