"""What `labkit init` does: the workspace, a member's key and file."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.lab import key_path
from labkit.errors import InputError
from labkit.git import Repository
from labkit.model import Member
from labkit.process import run
from labkit.scaffold import TeamFacts, keep_out, make_workspace
from labkit.seal import check_recipient
from labkit.settings import Person, Role, read_settings, write_person
from labkit.signing import SigningKey
from labkit.workspace import Workspace


def workspace(start: Path, facts: TeamFacts) -> Workspace:
    """Return the project's workspace, made from `facts` when there is none yet."""
    project = Repository.discover(start).work_tree()
    found = Workspace(project)
    if found.settings.is_file():
        if facts.team or facts.holder or facts.backup or facts.solo:
            raise InputError(
                f"{found.evals} is already there, so its settings are not changed",
                hint=f"edit {found.settings}; labkit init --me NAME joins",
            )
        # A clone brings evals/ along, but not what its own git is told to leave alone.
        keep_out(Repository.discover(project))
        found.handover.mkdir(exist_ok=True)
        return found
    for key in (facts.holder, facts.backup):
        if key:
            check_recipient(key)
    named = TeamFacts(
        team=str(Member(facts.team or _slug(project.name))),
        holder=facts.holder,
        backup=facts.backup,
        solo=facts.solo,
    )
    made = make_workspace(project, named)
    say(f"made {made.evals}: the lab of team {named.team}")
    say(f"sealed bundles and drafts go to {made.handover}, never into evals/")
    if not named.holder:
        say(f"next: put the holder's public key into {made.settings}")
    return made


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """Who joins, as typed; full name and mail are taken from git where they are empty."""

    me: str
    role: str
    full_name: str = ""
    email: str = ""


def join(found: Workspace, joining: Joining) -> None:
    """Make a member's key and file, and remember on this machine who is asking."""
    name = Member(joining.me)
    if joining.role not in list(Role):
        raise InputError(f"there is no role {joining.role!r}", hint=f"one of: {', '.join(Role)}")
    path = found.member(name)
    if path.exists():
        raise InputError(
            f"{name} has joined already", hint=f"remove {path} only if that was a mistake"
        )
    key_file = key_path(read_settings(found).team, name)
    key = SigningKey.load(key_file) if key_file.exists() else SigningKey.generate(key_file)
    # The member's file comes last: it is what says that they have joined.
    Repository(found.evals / ".git").git("config", "--local", "labkit.me", str(name))
    write_person(
        path,
        Person(
            name=name,
            role=Role(joining.role),
            full_name=joining.full_name or _git_setting(found, "user.name"),
            email=joining.email or _git_setting(found, "user.email"),
            signing_key=key.public,
        ),
    )
    say(f"{name} has joined as {joining.role}: signing key in {key_file}")
    say(f"commit and push {path.relative_to(found.project)} in evals/")


def _git_setting(found: Workspace, name: str) -> str:
    """Return what the user told git of themselves: the one place where their settings count."""
    asked = run(["git", "-C", found.project, "config", name], env=os.environ, check=False)
    return asked.stdout.decode(errors="replace").strip()
