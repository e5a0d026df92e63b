"""What `labkit finalize` does: one look at the sealed test split, recorded before it is taken."""

import getpass
import os
from dataclasses import dataclass
from pathlib import Path

from labkit import __version__
from labkit.cli.closing import CLOSED_NOTE, as_begun, closing
from labkit.cli.console import say
from labkit.cli.evalruns import Asked, Plan, Session, locked
from labkit.cli.evaltold import told
from labkit.cli.identity import own_identity
from labkit.cli.lab import now
from labkit.cli.privatefolder import private_folder
from labkit.cli.witness import Witness
from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.evals.case import EvalSuite, Split
from labkit.evals.ledger import BEGUN, CLOSED, COMPLETED, RESUMED, Entry, Ledger, Look
from labkit.evals.named import Named
from labkit.evals.report import RunReport
from labkit.evals.reportfile import NAME, read_report
from labkit.evals.sealedsplit import Opened, Places, open_split, sealed_split
from labkit.evals.store import NAME as SAMPLES
from labkit.evals.suitefile import SuiteFile, read_suite
from labkit.evals.tuned import tuned_words
from labkit.fields import counted, read_bytes
from labkit.seal import seal
from labkit.suite import digest
from labkit.workspace import replace as rewrite

_FOLDER = "final"
_KEY = "whoever has the key that it was sealed to can do this; --key PATH names a key elsewhere"
_SEALED_SAMPLES = f"{SAMPLES}.age"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was typed, for this command alone."""

    val: Path | None
    key: str
    me: str
    close: bool
    """Whether to end a look with what was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Final:
    """One look at an opened split."""

    opened: Opened
    ledger: Ledger
    folder: Path
    witness: Witness | None
    close: bool = False


def finalize(asked: Asked, wanted: Wanted) -> int:
    """Score the test split, record it, tell the figures, and return the exit code."""
    found = read_suite(asked.suite)
    _require_split(found)
    before = _val_report(found, wanted.val)
    witness = Witness.of(found.path, wanted.me)
    session = Session.of(asked)
    with closing(asked.candidate) if wanted.close else session.candidate() as candidate:
        split = open_split(found.path, own_identity(wanted.key, hint=_KEY))
        final = _Final(
            opened=split,
            ledger=Ledger(Places(found.path).ledger, split.salt),
            folder=found.runs / f"{_FOLDER}-{split.record.commitment[:8]}",
            witness=witness,
            close=wanted.close,
        )
        with locked(final.folder), private_folder(split.record.commitment) as private:
            tests = split.lay_out(private / "split")
            session.require_sense(tests, tests.suite)
            notes = candidate.notes(tests.suite)
            _begin(final, _look(asked, tests.suite, split, candidate))
            if witness:
                witness.begun(split.record.suite, split.record.commitment)
            notes = (*notes, *_sittings(final.ledger))
            report = _measured(session, candidate, tests, final, notes)
            _end(final, report)
    code = told(report, as_json=asked.as_json, reasons=False)
    if before:
        say(tuned_words(before, report))
    return code


def _measured(
    session: Session,
    candidate: Named,
    tests: SuiteFile,
    final: _Final,
    notes: tuple[str, ...],
) -> RunReport:
    """Run what is missing; or nothing, where the look is to be closed."""
    for note in notes:
        say(f"labkit: warning: {note}")
    if final.close:
        notes = (*notes, CLOSED_NOTE)
        candidate = as_begun(candidate, final.ledger.entries()[0].look, final.folder)
    wanted = {case.id for case in tests.suite.cases}
    tools = session.tools(tests, wanted)
    plan = Plan(split=Split.TEST, folder=final.folder, notes=notes, retry=not final.close)
    with session.set_up(tests, wanted, tools) as suite:
        return session.measure(candidate, suite, tools, plan)


def _require_split(found: SuiteFile) -> None:
    record = sealed_split(found.path)
    if record is None or not record.taken_out:
        raise PhaseError(
            f"{found.path} has no sealed test split, so there is nothing that nobody has looked at",
            hint=f"labkit suite seal {found.path} seals its test cases",
        )


def _val_report(found: SuiteFile, val: Path | None) -> RunReport | None:
    """Read the report to set beside; before anything is opened, because it may be the wrong one."""
    if val is None:
        return None
    if not val.exists():
        raise InputError(f"no report {val}", hint="labkit evaluate says where it put one")
    report = read_report(val)
    if report.split == "test" or report.suite != found.suite.name:
        raise InputError(
            f"{val} is a report of {report.suite}, split {report.split}",
            hint=f"give one of {found.suite.name} that labkit evaluate made on val",
        )
    return report


def _look(asked: Asked, suite: EvalSuite, split: Opened, candidate: Named) -> Look:
    return Look(
        suite=split.record.suite,
        suite_version=suite.version,
        commitment=split.record.commitment,
        candidate=candidate.name,
        settings={**asked.settings(), "code": candidate.code},
    )


def _begin(final: _Final, look: Look) -> None:
    """Record that the look begins, or go on with the same one; refuse any other."""
    entries = final.ledger.entries()
    if not entries:
        _record(final, look)
        return
    begun, last = entries[0], entries[-1]
    at = (last if last.event in (COMPLETED, CLOSED) else begun).at
    who = f"{begun.by} with {last.look.candidate} on {at[:16].replace('T', ' at ')}"
    if last.event in (COMPLETED, CLOSED):
        _require_report(final, last)
        closed = " (closed before all was measured)" if last.event == CLOSED else ""
        raise PhaseError(
            f"the test split of {look.suite} was scored by {who}{closed}: {final.folder / NAME}",
            hint="it is scored once, for any candidate; a new question wants new test cases, "
            "in a suite of their own",
        )
    if differs := look.differences(last.look, code=not final.close):
        raise PhaseError(
            f"the test split of {look.suite} is being scored by {who}; this would be "
            f"{', '.join(differs)}",
            hint=f"only the same look goes on: {_shown(last.look)}; with --close it ends with what "
            "was measured",
        )
    _resume(final)
    going = "closing" if final.close else "going on with"
    say(f"{going} the look that {who} began; the ledger says so")


def _record(final: _Final, look: Look) -> None:
    """Record that the look begins; refuse one that another place knows of."""
    _require_none(final, look.commitment)
    if final.close:
        raise PhaseError(
            f"no look at the test split of {look.suite} was begun: there is nothing to close",
            hint="labkit finalize without --close begins it",
        )
    final.ledger.begin(
        Entry(
            event=BEGUN,
            look=look,
            by=_user(),
            at=now().isoformat(timespec="seconds"),
            labkit=__version__,
            report=os.path.relpath(final.folder, final.ledger.path.parent),
        )
    )


def _resume(final: _Final) -> None:
    """Record that an interrupted look goes on; refuse one whose samples were taken away."""
    samples = final.folder / SAMPLES
    ended = [final.folder / name for name in (NAME, _SEALED_SAMPLES)]
    if not samples.exists() and any(path.exists() for path in ended):
        raise IntegrityError(
            f"{final.folder} is of a look that had come to its end: {final.ledger.path} has lost "
            f"the line that said so, or the folder its {SAMPLES}",
            hint="restore both, from git or a backup",
        )
    there = read_bytes(samples).count(b"\n") if samples.exists() else 0
    final.ledger.resume(by=_user(), at=now().isoformat(timespec="seconds"), samples=there)


def _sittings(ledger: Ledger) -> list[str]:
    """Return what the report says of a look that was not taken at once."""
    resumed = [entry for entry in ledger.entries() if entry.event == RESUMED]
    if not resumed:
        return []
    found = ", ".join(str(entry.samples) for entry in resumed)
    return [
        f"This look was interrupted and resumed {counted(len(resumed), 'time')}; samples that lay "
        f"there then: {found}."
    ]


def _require_none(final: _Final, commitment: str) -> None:
    """Refuse to begin a look that, as other places know, is not the first."""
    known = f"{final.folder} is" if final.folder.exists() else ""
    if final.witness and (member := final.witness.looked(commitment)):
        known = f"the signed log of {member} tells of"
    if known:
        raise IntegrityError(
            f"{known} a look at this split, and {final.ledger.path} is gone",
            hint="restore it from git",
        )


def _shown(look: Look) -> str:
    settings = ", ".join(
        f"{name} {value}" for name, value in look.settings.items() if name != "code" and value
    )
    return f"--candidate {look.candidate} ({settings}), with the code of then"


def _end(final: _Final, report: RunReport) -> None:
    """Seal the samples, and record the result when enough was measured for one."""
    if not report.decisive and not final.close:
        say(
            "labkit: too little was measured to be a result: the look is not over; the same "
            "command takes the missing samples again, and with --close the look ends with what "
            "was measured"
        )
        return
    samples = final.folder / SAMPLES
    recipients = final.opened.record.recipients
    rewrite(final.folder / _SEALED_SAMPLES, seal(read_bytes(samples), recipients))
    made = digest(read_bytes(final.folder / NAME))
    incomplete = final.close and report.figures.valid < report.figures.planned
    final.ledger.complete(
        at=now().isoformat(timespec="seconds"),
        digest=made,
        event=CLOSED if incomplete else COMPLETED,
    )
    if final.witness:
        record = final.opened.record
        final.witness.completed(record.suite, record.commitment, made)
    samples.unlink()
    count = f"{report.n_scored} of {counted(final.opened.record.cases, 'case')}"
    say(f"{count} scored; recorded in {final.ledger.path}: commit it")


def _require_report(final: _Final, completed: Entry) -> None:
    """Take up what a killed labkit left, and refuse a report that is not the recorded one."""
    (final.folder / SAMPLES).unlink(missing_ok=True)
    report = final.folder / NAME
    if report.exists() and digest(read_bytes(report)) != completed.digest:
        raise IntegrityError(
            f"{report} is not the report that was recorded on {completed.at[:10]}",
            hint="restore it from git",
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "somebody"
