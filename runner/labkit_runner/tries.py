"""One run, tried again while the infrastructure breaks it: told, bounded, and never for nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from labkit.errors import InfrastructureError
from labkit.missing import load, own_path, planned_runners, settle, united
from labkit.model import RunId
from labkit.plan import PlannedRun
from labkit.records import MissingRecord, RunRecord, load_missing, record_text
from labkit.workspace import Workspace
from labkit.workspace import replace as write_file
from labkit_runner.causes import Broken
from labkit_runner.stopping import Stop
from labkit_runner.voided import Try, Voided, kept, void

TRIES = 3
"""How often a run that the infrastructure broke is tried in one session."""
_LONGEST_WAIT = 900.0
"""Whoever asks to wait longer ends the session."""
_FIRST_WAIT = 1.0
_FIRST_REMOTE_WAIT = 15.0
_GROWTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a session tells its caller after each try of a run."""

    place: int
    of: int
    run: RunId
    record: RunRecord | None
    """The finished run; None when this try was broken by the infrastructure."""
    failure: str = ""
    tries_left: int = 0
    wait: float = 0.0
    """Seconds until the next try."""
    kind: Broken | None = None
    """What broke this try."""
    is_lost: bool = False
    """Whether it was recorded missing now."""


Listener = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Where a session puts what comes of runs."""

    raw: Path
    missing: Path
    voided: Path
    planned: Mapping[RunId, str] = field(default_factory=dict)
    """Whom the plan gives each run; one that is not in it is its runner's own."""

    @classmethod
    def of(cls, workspace: Workspace) -> "Shelf":
        """Return the place of the study's own runs."""
        return cls(
            raw=workspace.raw,
            missing=workspace.evals / "missing",
            voided=workspace.voided,
            planned=planned_runners(workspace),
        )

    def own(self, run: RunId, runner: str) -> Path:
        """The record of a run that lacks, which its runner alone writes and removes."""
        return own_path(self.missing, run, runner, self.planned.get(run, runner))

    def note(
        self,
        run: RunId,
        runner: str,
        *,
        lost: bool = False,
        more: tuple[Mapping[str, object], ...] = (),
    ) -> None:
        """Write what the tries of a run took so far; `lost` when it is given up for now.

        It is written at once, so that it reaches whoever takes the run over.
        """
        path = self.own(run, runner)
        was_lost = path.is_file() and load_missing(path).lost
        known = self.before(run, runner)
        told = replace(known, voided=united(known.voided, more), lost=lost or was_lost)
        write_file(path, record_text(told))

    def done(self, record: RunRecord) -> None:
        """Remove the runner's own record of a run that is finished: run.json has all of it."""
        settle(self.own(record.run, record.runner), record.earlier_failures, record.voided)

    def before(self, run: RunId, runner: str) -> MissingRecord:
        """Return what broke earlier tries of a run, in this session and in others."""
        lost = load(self.missing, run)
        reasons, voided = (lost.reasons, lost.voided) if lost else ((), ())
        everything = united(voided, kept(self.voided, run))
        # What another place tells of has its reason there already.
        more = Counter(_reasons(everything)) - Counter(_reasons(voided))
        return MissingRecord(
            run=run, runner=runner, reasons=(*reasons, *more.elements()), voided=everything
        )


def _reasons(tries: Iterable[Mapping[str, object]]) -> list[str]:
    return [f"{each['when']} {each['why']}" for each in tries]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """How the runs of a session are tried."""

    attempt: Callable[[PlannedRun, MissingRecord], RunRecord]
    """Performs a run, told what broke its earlier tries."""
    shelf: Shelf
    stop: Stop
    now: Callable[[], datetime]

    def run_one(self, item: PlannedRun, place: tuple[int, int], tell: Listener) -> RunRecord | None:
        """Try a run until it is finished, lost, or nothing more is to be begun."""
        for left in reversed(range(TRIES)):
            try:
                record = self.attempt(item, self.shelf.before(item.run, str(item.runner)))
            except InfrastructureError as error:
                told = self._broken(item, error, left, place)
                tell(told)
                self.stop.wait(told.wait)
                if self.stop.why:
                    return None
                continue
            self.shelf.done(record)
            tell(Progress(place=place[0], of=place[1], run=item.run, record=record))
            return record
        return None

    def _broken(
        self, item: PlannedRun, error: InfrastructureError, left: int, place: tuple[int, int]
    ) -> Progress:
        """Void a try, and record the run missing when no other one is worth it."""
        if self.stop.at_once:
            error = _interrupted(error)
        each = void(self.shelf.voided, item.run, error, self.now().isoformat(timespec="seconds"))
        asked = (error.retry_after or 0.0) if isinstance(error, Voided) else 0.0
        lasts = each.kind.lasts or asked > _LONGEST_WAIT
        if lasts:
            minutes = "" if each.kind.lasts else f": the model asks to wait {asked / 60:.0f} min"
            self.stop.ask(f"a short wait does not mend what broke {item.run}{minutes}")
        elif left == 0 and each.kind is Broken.RATE_LIMIT:
            self.stop.ask(f"the rate limit outlasted {TRIES} tries: wait, or use fewer --jobs")
        is_lost = lasts or (left == 0 and not self.stop.by_person)
        self.shelf.note(item.run, str(item.runner), lost=is_lost)
        again = left > 0 and not self.stop.why
        return Progress(
            place=place[0],
            of=place[1],
            run=item.run,
            record=None,
            failure=each.why,
            tries_left=left if again else 0,
            wait=max(_pause(each, TRIES - 1 - left), asked) if again else 0.0,
            kind=each.kind,
            is_lost=is_lost,
        )


def _pause(each: Try, tried: int) -> float:
    """Return how long to wait after so many tries before: longer each time."""
    first = _FIRST_REMOTE_WAIT if each.kind.is_remote else _FIRST_WAIT
    return min(first * float(_GROWTH**tried), _LONGEST_WAIT)


def _interrupted(error: InfrastructureError) -> Voided:
    """Return what is said of a run that was ended because a person wanted it so."""
    took = error.took if isinstance(error, Voided) else None
    stopped = Voided("stopped by a person (Ctrl-C)", kind=Broken.INTERRUPTED, took=took)
    stopped.folder = error.folder if isinstance(error, Voided) else None
    return stopped
