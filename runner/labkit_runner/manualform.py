"""What a person declares of a run on a machine of their own: the form, blank and filled in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from labkit.errors import InputError
from labkit.fields import Document
from labkit.graders.folder import Unreadable, read_inside
from labkit.model import Ending
from labkit_runner.manual import Begun
from labkit_runner.veil import Veil

FORM = "declaration.yaml"
_MOST_FORM = 100_000
_MINUTE = timedelta(minutes=1)
_PROMISES = {
    "no_hidden_tests": "No hidden test and no draft of one could be read there.",
    "no_evals": "No evals/ folder, no other run and no history of the project was there.",
    "fresh_session": "The agent began a new session, without memory of earlier ones.",
    "model_network_only": "The agent reached its model and nothing else of a network.",
    "same_prompt": "The agent was asked what prompt.txt says, and nothing before it.",
}
_ENDS = (Ending.COMPLETED, Ending.TURN_CAP, Ending.REFUSED, Ending.AGENT_ERROR, Ending.DEADLINE)


def blank_form(begun: Begun) -> str:
    """Return the form that a person fills in."""
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


def read_declaration(folder: Path, begun: Begun, now: datetime, veil: Veil) -> Declaration:
    """Read the form that came back; raises InputError with everything that it lacks."""
    data = read_inside(folder, FORM)
    if isinstance(data, Unreadable):
        raise InputError(
            f"{folder}: {data.why}", hint=f"the export had a {FORM}: fill it in and bring it back"
        )
    if len(data) > _MOST_FORM:
        raise InputError(f"{folder / FORM} is too large", hint="fill in the form of the export")
    data = veil.over([data]).mask(data)[0]
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
    _require_between(form, (began, ended), begun, now)
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


def _require_between(
    form: Document, span: tuple[datetime | None, datetime | None], begun: Begun, now: datetime
) -> None:
    """Note times before the run was written out or after this moment; people note whole minutes."""
    began, ended = span
    first = datetime.fromisoformat(begun.started)
    if began and began <= first - _MINUTE:
        form.problem("began", f'"began" is before the run was written out: {begun.started}')
    if ended and ended >= now + _MINUTE:
        form.problem("ended", f'"ended" is yet to come: it is {now.isoformat(timespec="minutes")}')


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
