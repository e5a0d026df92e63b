"""A rehearsal: one scripted session through the real client, before the first run that costs.

The agent runs as it will, in its own environment, on a real task's base, through the gateway; only
the model behind that is a script, which asks it to write a file and then says that it is done. So
whatever is broken between here and the model's door shows without a token being paid for: a
program that does not start, an inner sandbox that fails in silence, a way that leads nowhere.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from labkit.effects import effort_of, parts_of
from labkit.errors import InfrastructureError, InputError
from labkit.model import Api, Ending
from labkit.records import RunRecord
from labkit_runner.attempt import perform
from labkit_runner.job import Bench, Job, Route
from labkit_runner.rehearsal.play import Played, playing
from labkit_runner.rehearsal.script import Script

_FILE = "labkit-rehearsal.txt"
_PROMPT = f"This is a rehearsal. Write the word done into the file {_FILE}.\n"
_SECONDS = 180.0
_BUDGETED = frozenset(
    {
        ("gemini-cli", Api.GEMINI),
        ("mini-swe-agent", Api.GEMINI),
        ("mini-swe-agent", Api.ANTHROPIC),
    }
)
"""Who makes an effort into tokens or a level of thinking, by the API that is spoken."""
_WORD_BY_WORD = ("claude-code", "codex", "opencode")
"""Agents that send the effort's own word."""


def rehearse(bench: Bench, job: Job, route_to: Callable[[str], Route]) -> None:
    """Play a short session with a job's agent; raises InputError with everything that is broken.

    `job` is any run of the configuration: only what it starts from is used. `route_to` makes the
    way to a model at an address of this machine.
    """
    script = Script(turns=job.agent.rehearsed(f"echo done > {_FILE}"))
    with playing(script) as played, tempfile.TemporaryDirectory(prefix="labkit-rehearsal-") as made:
        trial = replace(
            job,
            task=replace(job.task, prompt=_PROMPT),
            route=route_to(_url(played, job.api)),
        )
        limits = replace(bench.limits, seconds=min(bench.limits.seconds, _SECONDS))
        folder = Path(made, "run")
        try:
            record = perform(replace(bench, limits=limits), trial, folder)
        except InfrastructureError as error:
            problems = [error.message]
        else:
            patch = (folder / "diff.patch").read_bytes()
            problems = list(_problems(job, record, patch, turns=len(script.turns)))
    if problems:
        raise InputError(
            f"the rehearsal of configuration {job.configuration.id} failed: {problems[0]}",
            more=problems[1:],
            hint="nothing was paid for; labkit config show says how its agent is started",
        )


def _url(played: Played, api: Api | None) -> str:
    return f"{played.url}/v1" if api in (Api.RESPONSES, Api.CHAT) else played.url


def _problems(job: Job, record: RunRecord, patch: bytes, *, turns: int) -> Iterator[str]:
    configuration = job.configuration
    if record.ending is not Ending.COMPLETED:
        yield f"{configuration.agent} ended as {record.ending}{_because(record.why)}"
    if (record.turns or 0) < turns:
        yield f"its model was asked {record.turns or 0} times, where the script has {turns} turns"
    elif _FILE.encode() not in patch:
        yield f"{configuration.agent} could not run a command: the file {_FILE} is not there"
    asked = record.fingerprint.get("model")
    if asked and asked != configuration.model:
        yield f"it asked for the model {asked}, and the configuration names {configuration.model}"
    yield from lost_effort(job, record)
    yield from (remark for remark in record.remarks if "web" in remark)


def lost_effort(job: Job, record: RunRecord) -> Iterator[str]:
    """Yield that an effort did not reach the model: the client dropped it, or sends another."""
    configuration = job.configuration
    wanted, asked = configuration.effort, effort_of(record.fingerprint)
    if not wanted or not record.fingerprint:
        return
    if not asked and not _thinks(job, record):
        yield (
            f"the effort {wanted} does not reach the model: {configuration.agent} sends none for "
            f"{configuration.model}, which takes no effort. Take effort: out, or choose another "
            "model"
        )
    elif asked and configuration.agent in _WORD_BY_WORD and asked.rpartition("=")[2] != wanted:
        yield (
            f"the effort {wanted} does not reach the model: {configuration.agent} asks "
            f"{configuration.model} with {asked}"
        )


def _thinks(job: Job, record: RunRecord) -> bool:
    """Return whether a request asks for thinking where the agent makes an effort into that."""
    if (job.configuration.agent, job.api) not in _BUDGETED:
        return False
    if job.configuration.effort == "none":
        return True  # nothing is what was asked for
    return any("thinking" in name.lower() for name in parts_of(record.fingerprint))


def _because(why: str) -> str:
    return f": {why}" if why else ""
