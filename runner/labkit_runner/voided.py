"""Tries of a run that the infrastructure broke: what they took, and where their evidence is kept.

A voided try has no result, but what it cost was spent, and people want to see what broke it. So it
is kept as `voided/<run>__<n>/`, with `voided.json` beside whatever the try left.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labkit.errors import InfrastructureError, IntegrityError
from labkit.fields import json_text, read_json
from labkit.model import Ended, RunId
from labkit.records import SCHEMA
from labkit.sandbox.interface import Outcome
from labkit.workspace import write_new
from labkit_runner.causes import Broken, cause
from labkit_runner.gateway.wire import Wire, read_wire

NOTE = "voided.json"


class Voided(InfrastructureError):  # noqa: N818 - what it is, as the records call it
    """A try of a run that was broken: what is known of it, and the folder with its evidence."""

    def __init__(
        self,
        message: str,
        *,
        kind: Broken = Broken.SANDBOX,
        took: "Took | None" = None,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.took = took or Took()
        self.retry_after = retry_after
        """Seconds that the model's API asks to wait for."""
        self.folder: Path | None = None
        """Where its evidence lies for now; whoever catches the error keeps or removes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a broken try took; None is not known."""

    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None

    @classmethod
    def of(cls, wire: Wire, seconds: float | None = None) -> "Took":
        """Return what the wire tells."""
        return cls(seconds=seconds, tokens=wire.tokens, cost=wire.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A voided try, as voided.json and the records of runs tell of it."""

    when: str
    """ISO time at which it was over."""
    why: str
    kind: Broken
    took: Took = field(default_factory=Took)

    def facts(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "when": self.when,
            "why": self.why,
            "kind": str(self.kind),
            "seconds": self.took.seconds,
            "tokens": self.took.tokens,
            "cost": self.took.cost,
        }


def void(voided: Path, run: RunId, error: InfrastructureError, when: str) -> Try:
    """Keep what an error tells of a try, with the evidence that it brings along."""
    broken = error if isinstance(error, Voided) else Voided(error.message)
    each = Try(when=when, why=error.message, kind=broken.kind, took=broken.took)
    keep(voided, run, each, broken.folder)
    return each


def united(
    *several: tuple[Mapping[str, object], ...],
) -> tuple[Mapping[str, object], ...]:
    """Return voided tries that several places tell of, each once, the earliest first."""
    found = {json_text(dict(each)): each for tries in several for each in tries}
    return tuple(sorted(found.values(), key=lambda each: str(each.get("when", ""))))


def keep(voided: Path, run: RunId, each: Try, evidence: Path | None) -> Path:
    """Keep a voided try and its evidence below `voided`; return its folder."""
    count = sum(1 for _ in voided.glob(f"{run}__*")) + 1
    while (target := voided / f"{run}__{count}").exists():
        count += 1
    if evidence is None:
        target.mkdir(parents=True)
    else:
        voided.mkdir(parents=True, exist_ok=True)
        evidence.chmod(0o755)
        shutil.move(evidence, target)
    write_new(target / NOTE, json_text({"schema": SCHEMA, "run": str(run), **each.facts()}))
    return target


def broken(reason: str, outcome: Outcome, wire: Wire | None) -> Voided:
    """Return the error that says that a run had no result, with what broke it by the wire."""
    last = wire.final if wire is not None else None
    kind = cause(last) if last is not None else Broken.AGENT
    if outcome.ended is Ended.KILLED:
        kind = Broken.SANDBOX
    took = Took.of(wire, outcome.seconds) if wire else Took(seconds=outcome.seconds)
    return Voided(reason, kind=kind, took=took, retry_after=last.retry_after if last else None)


def kept(voided: Path, run: RunId) -> tuple[Mapping[str, object], ...]:
    """Return the voided tries of a run that are kept here, the earliest first."""
    found = []
    for path in voided.glob(f"{run}__*/{NOTE}"):
        values = read_json(path, schema=SCHEMA)
        try:
            each = Try(
                when=str(values["when"]),
                why=str(values["why"]),
                kind=Broken(values["kind"]),
                took=Took(**{name: values[name] for name in ("seconds", "tokens", "cost")}),
            )
        except (KeyError, ValueError) as error:
            raise IntegrityError(
                f"{path} is damaged: {error}", hint="move its folder away: its cost is lost then"
            ) from error
        found.append(each.facts())
    return tuple(sorted(found, key=lambda each: str(each["when"])))


def void_partial(raw: Path, voided: Path, when: str) -> tuple[str, ...]:
    """Void what a killed session left half-written below `raw`; return the runs' names."""
    partial = partial_runs(raw)
    for path in partial:
        wire = path / "wire.jsonl"
        took = Took.of(read_wire(wire.read_bytes().splitlines())) if wire.is_file() else Took()
        each = Try(when=when, why="labkit itself was ended", kind=Broken.INTERRUPTED, took=took)
        keep(voided, RunId.parse(run_of(path)), each, path)
    return tuple(map(run_of, partial))


def partial_runs(raw: Path) -> tuple[Path, ...]:
    """Return the folders of runs that are half-written, because they go on or labkit was killed."""
    return tuple(sorted(path for path in raw.glob(".*__*__*.*") if path.is_dir()))


def run_of(partial: Path) -> str:
    """Return the name of the run that a half-written folder is of."""
    return partial.name[1:].rsplit(".", 1)[0]
