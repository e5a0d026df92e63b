"""What `labkit leaks` does: checks every run that is here, keeps people's decisions."""

from dataclasses import dataclass

from labkit.cli.console import data, say
from labkit.cli.lab import Lab, now
from labkit.corrections import read_corrections
from labkit.errors import InputError, PhaseError
from labkit.evidence import load_intact
from labkit.fields import counted, first_words, read_bytes
from labkit.model import RunId
from labkit.phases import Progress, progress, require_frozen
from labkit.records import RunRecord, load_run
from labkit.workspace import replace
from labkit_grader.leaks.report import render
from labkit_grader.leaks.review import Review, review
from labkit_grader.leaks.rules import Evidence, Rules, check_run
from labkit_grader.leaks.store import load_review, review_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Which hits a person decides about, as typed."""

    confirm: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    reason: str = ""


def check(me: str, decision: Decision) -> int:
    """Check the runs, take the decisions, write the reports; return 1 while a hit is open."""
    lab = Lab.open()
    require_frozen(lab.workspace)
    done = progress(lab.workspace)
    if not done.finished:
        raise PhaseError("there is no run to check yet", hint="run: labkit task run")
    found = _decided(lab, me, _review(lab, done), decision)
    replace(lab.workspace.leaks, review_text(found))
    replace(lab.workspace.leak_notes, render(found))
    _tell(lab, found)
    return 1 if found.open_hits() else 0


def _review(lab: Lab, done: Progress) -> Review:
    tasks = lab.tasks()
    suite = lab.frozen_suite(tasks)
    canaries = read_corrections(lab.workspace, suite).canaries(suite)
    rules = Rules.of_team(
        canaries, protected=lab.settings.protected, handover=lab.workspace.handover.name
    )
    prompts = {task.id: task.prompt.encode() for task in tasks.values()}
    earlier = load_review(lab.workspace.leaks) if lab.workspace.leaks.is_file() else None
    records = load_intact(lab.workspace, sorted(done.finished), suite_version=suite.version)
    checks = [
        check_run(_evidence(lab, record, prompts[run.task]), rules)
        for run, record in records.items()
    ]
    return review(checks, suite_version=suite.version, earlier=earlier)


def _evidence(lab: Lab, record: RunRecord, prompt: bytes) -> Evidence:
    """Return what a run left, without what grading added to it."""
    folder = lab.workspace.run(record.run)
    return Evidence(
        run=record.run,
        transcript=read_bytes(folder / record.transcript),
        transcript_name=record.transcript,
        agent=record.agent,
        prompt=prompt,
        diff=read_bytes(folder / "diff.patch"),
        files={"stderr.txt": read_bytes(folder / "stderr.txt")},
    )


def _decided(lab: Lab, me: str, found: Review, decision: Decision) -> Review:
    if not decision.confirm and not decision.clear:
        if decision.reason:
            raise InputError("a reason for what?", hint="add --confirm HIT or --clear HIT")
        return found
    person = lab.person(me)
    at = now().isoformat(timespec="seconds")
    for hit in decision.confirm:
        found = found.confirm(hit, by=person.name, at=at, reason=decision.reason)
        lab.log(person, "confirm-leak", subject=hit)
    for hit in decision.clear:
        found = found.clear(hit, by=person.name, at=at, reason=decision.reason)
        lab.log(person, "clear-leak", subject=hit)
    return found


def _tell(lab: Lab, found: Review) -> None:
    for hit in found.hits:
        decision = found.decision(hit)
        state = str(decision.choice) if decision else str(hit.severity)
        runs = first_words([str(run) for run in hit.runs], 3)
        data(f"{hit.id}\t{state}\t{runs}\t{hit.explanation}")
    open_hits = found.open_hits()
    hits = counted(len(found.hits), "hit")
    say(f"checked {counted(len(found.checked), 'run')}: {hits}, {len(open_hits)} to decide")
    for task, reason in found.retired_tasks().items():
        say(f"retired: task {task}: {reason}")
    if open_hits:
        say(f"read {lab.workspace.leak_notes}, then for each hit:")
        say('  labkit leaks --clear HIT --reason "..."    or    --confirm HIT --reason "..."')


def read_review(lab: Lab) -> Review:
    """Return the newest leak check; raises PhaseError when there is none."""
    if not lab.workspace.leaks.is_file():
        raise PhaseError("the leak check has not been made", hint="run: labkit leaks")
    return load_review(lab.workspace.leaks)


def require_decided(lab: Lab, done: Progress) -> Review:
    """Refuse what needs every finished run checked as it is, and every hit decided."""
    found = read_review(lab)
    checked = {item.run: item.digest for item in found.checked}
    stale = [
        str(run)
        for run in sorted(done.finished)
        if checked.get(run) != _transcript_digest(lab, run)
    ]
    if stale:
        raise PhaseError(
            f"{counted(len(stale), 'run')} not leak-checked as now in raw/: "
            f"{first_words(stale, 4)}",
            hint="run: labkit leaks",
        )
    if open_hits := found.open_hits():
        raise PhaseError(
            f"{len(open_hits)} leak hits wait for a decision",
            hint=f"read {lab.workspace.leak_notes}, then labkit leaks --clear or --confirm",
        )
    return found


def _transcript_digest(lab: Lab, run: RunId) -> str:
    record = load_run(lab.workspace.run(run) / "run.json")
    return record.digests[record.transcript]


def notes_on(found: Review, run: RunId) -> str:
    """Return what the leak check says of one run, for its scorers."""
    lines = []
    for hit in found.hits:
        if run in hit.runs:
            decision = found.decision(hit)
            said = f"{decision.choice}: {decision.reason}" if decision else str(hit.severity)
            lines.append(f"{hit.explanation}: {hit.excerpt}\n  {said}\n")
    return "".join(lines) or "the leak check found nothing\n"
