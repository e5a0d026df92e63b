"""What is written down of a run: the agent's own account beside what its host and the wire saw."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from labkit.archive import Kind
from labkit.fields import counted
from labkit.model import Ending
from labkit.records import RunRecord
from labkit.sandbox.interface import Outcome
from labkit.treediff import TreeDiff
from labkit_runner.agents.interface import HOME, Account, Launch, Left, Said
from labkit_runner.capture import capture
from labkit_runner.conversation import strays
from labkit_runner.gateway.answers import answered_by, answers_digest, asked_models, with_calls
from labkit_runner.gateway.wire import Wire
from labkit_runner.job import Bench, Job

_MOST_REMARKS = 50


@dataclass(frozen=True, slots=True)
class Kept:
    """Where what a run left lies: its folder, and the tar of the agent's own folder."""

    folder: Path
    home: IO[bytes]


def called_of(folder: Path, wire: Wire | None) -> Wire | None:
    """Return the wire with what the recorded answers say of tools."""
    path = folder / "wire.jsonl"
    if wire is None or not path.is_file():
        return wire
    with path.open("rb") as lines:
        return with_calls(wire, lines)


def account_of(bench: Bench, job: Job, launch: Launch, outcome: Outcome, kept: Kept) -> Account:
    """Keep what the agent wrote of itself, and let it be read by whoever knows its format."""
    folder = kept.folder
    kept.home.seek(0)
    captured = capture(kept.home, launch, bench.limits.returned_bytes).masked(job.masker)
    if launch.transcript_path:
        (folder / launch.transcript).write_bytes(captured.transcript or b"")
    if captured.sessions:
        (folder / "sessions.tar").write_bytes(captured.sessions_tar())
    left = Left(
        transcript=(folder / launch.transcript).read_bytes(),
        stderr=(folder / "stderr.txt").read_bytes(),
        sessions=captured.sessions,
        exit_code=outcome.exit_code,
        argv=launch.argv,
    )
    account = job.agent.account(left)
    if not captured.note:
        return account
    if launch.transcript_path and captured.transcript is None:
        account = _without_transcript(outcome)
    return replace(account, remarks=(*account.remarks, captured.note))


def _without_transcript(outcome: Outcome) -> Account:
    """Return the account where labkit kept none for its size: then the wire has to decide."""
    if outcome.exit_code == 0:
        return Account(said=Said.COMPLETED)
    return Account(said=Said.NOTHING, reason="its transcript was too large to keep")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """All that came of a run, before it is written down."""

    launch: Launch
    started: str
    outcome: Outcome
    difference: TreeDiff
    wire: Wire | None
    account: Account
    ending: Ending
    why: str


def record_of(bench: Bench, job: Job, done: Done, folder: Path) -> RunRecord:
    """Return run.json of a run whose other evidence lies in `folder`."""
    wire, account = _read(done.wire), done.account
    return RunRecord(
        run=job.planned.run,
        runner=str(job.planned.runner),
        suite_version=bench.suite_version,
        seed=job.planned.seed,
        ended=done.outcome.ended,
        exit_code=done.outcome.exit_code,
        ending=done.ending,
        why=done.why,
        started=done.started,
        seconds=round(done.outcome.seconds, 3),
        sandbox=bench.sandbox.name,
        image_digest=done.outcome.image_digest,
        environment=job.surroundings.key if job.surroundings else "",
        agent=job.configuration.agent,
        agent_version=job.readback.version or account.version or done.launch.version,
        model=job.configuration.model,
        turns=wire.answered if wire else account.turns,
        **_metered(wire),
        **_answered(folder / "wire.jsonl"),
        claimed=_claimed(account),
        final_message=account.final_message,
        argv=_without_prompt(done.launch.argv, job.task.prompt),
        variables=tuple(sorted(done.launch.environment)),
        binary_digest=job.readback.digest,
        memory={**job.memory, **_settings(job, done.launch)},
        remarks=remarks_of(done, job.configuration.model),
        login=job.configuration.login,
        base_tree=job.base.tree,
        result_tree=done.difference.result_tree,
        digests={path.name: file_digest(path) for path in sorted(folder.iterdir())},
        left_out=done.difference.left_out,
        cut_bytes=done.outcome.cut_bytes,
        earlier_failures=job.earlier_failures,
        voided=job.voided,
    )


def _metered(wire: Wire | None) -> dict[str, Any]:
    """Return the fields that the wire fills; without one they keep what stands for unknown."""
    if wire is None:
        return {}
    return {
        "tokens": wire.tokens,
        "cost": wire.cost,
        "usage": wire.usage or {},
        "requests": len(wire.exchanges),
        "fingerprint": wire.fingerprint,
    }


def _answered(wire: Path) -> dict[str, Any]:
    """Return what the model answered as one digest, and who did."""
    if not wire.is_file():
        return {}
    with wire.open("rb") as lines:
        digest = answers_digest(lines)
    with wire.open("rb") as lines:
        by = answered_by(lines)
    with wire.open("rb") as lines:
        return {"answers_digest": digest, "answered_by": by, "asked": asked_models(lines)}


def _settings(job: Job, launch: Launch) -> dict[str, str]:
    """Return the digests of the files that labkit sets the agent with, by path in the sandbox.

    Nothing is told of a home that holds a login.
    """
    homes = {} if job.configuration.login == "subscription" else {HOME: launch.home}
    return {
        f"{folder}/{entry.path.decode(errors='backslashreplace')}": hashlib.sha256(
            entry.data
        ).hexdigest()
        for folder, entries in {**homes, **launch.fixed}.items()
        for entry in entries
        if entry.kind in (Kind.FILE, Kind.EXECUTABLE)
    }


def _without_prompt(argv: tuple[str, ...], prompt: str) -> tuple[str, ...]:
    return tuple(word.replace(prompt, "{prompt}") if prompt.strip() else word for word in argv)


def _read(wire: Wire | None) -> Wire | None:
    """Return the wire where it could be read: what a tunnel carried is unknown, not nothing."""
    return wire if wire is not None and wire.metered else None


def _claimed(account: Account) -> dict[str, object]:
    values = {"turns": account.turns, "tokens": account.tokens, "cost": account.cost}
    return {name: value for name, value in values.items() if value is not None}


def remarks_of(done: Done, model: str) -> tuple[str, ...]:
    """Return what people should know of a run, each thing once."""
    found = list(done.account.remarks)
    broken, read = done.account.broken_tools, _read(done.wire)
    if broken:
        found.append(f"it said that its tools did not work, which counts for nothing: {broken}")
    if read is not None:
        found += strays(read, done.account)
    if done.wire is not None:
        found += [f"refused by the gateway: {what}" for what in done.wire.refused]
        found += _unseen(done.wire)
        asked = {each.model for each in done.wire.exchanges if each.generates} - {model, ""}
        found += [
            f"asked for the model {name}, and the configuration names {model}"
            for name in sorted(asked)
            if model
        ]
        if not done.wire.metered:
            found.append("paid by a subscription: tokens, cost and requests are unknown")
        found += [
            f"the provider's own tool {name} was used"
            for x in done.wire.exchanges
            for name in x.web
        ]
    return tuple(dict.fromkeys(found))[:_MOST_REMARKS]


def _unseen(wire: Wire) -> list[str]:
    """Return what the wire does not tell."""
    found = []
    untold = sum(each.usage is None and not each.is_free for each in wire.exchanges)
    if untold and wire.metered:
        found.append(f"{counted(untold, 'answer')} of the model told no usage: tokens are unknown")
    if wire.is_cut:
        found.append("the record of the wire was too large: it has only numbers from there on")
    return found


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
