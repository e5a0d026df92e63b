"""What is kept of each run and each grade, and its one form on disk.

Figures that were not measured are None; zero means zero.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from labkit.errors import IntegrityError, LabkitError
from labkit.fields import json_text, read_json
from labkit.model import Ended, Ending, Flag, RunId, Verdict
from labkit.workspace import write_new

SCHEMA = 1
EVIDENCE_FILES = frozenset(
    {
        "transcript.jsonl",
        "transcript.txt",
        "transcript.json",
        "stdout.txt",
        "terminal.txt",
        "declaration.yaml",
        "sessions.tar",
        "wire.jsonl",
        "stderr.txt",
        "diff.patch",
        "test-diff-stat.txt",
        "minutes.txt",
        "run.json",
    }
)
"""What a run leaves; everything else in its folder is the grader's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """run.json: one execution, as its host saw it."""

    run: RunId
    runner: str
    suite_version: str
    seed: int
    ended: Ended
    """How the process ended, as its host saw it."""
    exit_code: int | None
    ending: Ending = Ending.COMPLETED
    """How the run ended, decided from the agent's end record, the wire and the host."""
    why: str = ""
    """The ending in a sentence, where there is more to say."""
    started: str
    """ISO time with zone."""
    seconds: float
    """From a monotonic clock of the host."""
    sandbox: str
    image_digest: str
    environment: str = ""
    """The hash of the environment that setup made; empty where an image was used as it is."""
    agent: str
    agent_version: str
    """The tool's version; it lies in the read-only image, so the digest above pins it too."""
    model: str
    turns: int | None
    """Answered requests of the agent's main conversation on the wire, else as the transcript says;
    None when neither tells."""
    interventions: int = 0
    tokens: int | None = None
    """All that the wire tells of, in and out, side requests too; None where nothing was metered."""
    cost: float | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    """Tokens by kind, as the wire tells: input, output, cache_read, cache_write, reasoning."""
    requests: int | None = None
    """How many requests reached the model, answered or not."""
    claimed: Mapping[str, object] = field(default_factory=dict)
    """What the agent says of itself in its end record: turns, tokens, cost. Not comparable."""
    final_message: str = ""
    """The agent's last words to people, by its own account."""
    fingerprint: Mapping[str, object] = field(default_factory=dict)
    """Digests of the first main request by part, and its parameters: what the model was given."""
    answers_digest: str = ""
    """Of all that the model answered in the main conversation, ids, times and usage left out."""
    answered_by: tuple[str, ...] = ()
    """Names under which models answered the main conversation."""
    asked: Mapping[str, int] = field(default_factory=dict)
    """Answered requests by the model that they asked for, those beside the conversation too."""
    argv: tuple[str, ...] = ()
    """The command line, with the prompt's text left out."""
    variables: tuple[str, ...] = ()
    """Names of the variables that were set."""
    binary_digest: str = ""
    """SHA-256 of the agent's program, read back in the sandbox."""
    memory: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each file that instructs or sets the agent, by path in the sandbox."""
    voided: tuple[Mapping[str, object], ...] = ()
    """Earlier tries that the infrastructure broke: when, why, seconds, tokens, cost."""
    remarks: tuple[str, ...] = ()
    """What people should know of the run, one sentence each: refused requests, web tools used."""
    login: str = "key"
    manual: Mapping[str, object] = field(default_factory=dict)
    """How a person ran it, where one did: what was declared of the isolation, and by whom."""
    base_tree: str
    result_tree: str
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each evidence file, by name."""
    left_out: tuple[str, ...] = ()
    """What the returned tree held and a diff cannot or must not hold, one sentence each."""
    cut_bytes: int = 0
    earlier_failures: tuple[str, ...] = ()
    """Why the infrastructure broke earlier tries of this run."""

    @property
    def transcript(self) -> str:
        """Name of the transcript's file in the run's folder."""
        return next(name for name in self.digests if name.startswith("transcript."))

    @property
    def agent_failed(self) -> bool:
        """Whether the agent ended otherwise than by saying that it is done."""
        return self.ending is not Ending.COMPLETED


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingRecord:
    """missing/<run>.json: a run that the infrastructure broke every time."""

    run: RunId
    runner: str
    reasons: tuple[str, ...]
    voided: tuple[Mapping[str, object], ...] = ()
    """What the broken tries took: when, why, seconds, tokens, cost."""
    lost: bool = True
    """Whether it was given up; else tries were broken off, and it is still to be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRecord:
    """grade.json: what the hidden oracle says of one run."""

    run: RunId
    suite_version: str
    commitment: str
    verdict: Verdict
    reason: str
    """One sentence for a person."""
    flags: tuple[Flag, ...] = ()
    tests: Mapping[str, str] = field(default_factory=dict)
    """Each expected test (or oracle step): passed, failed, error, skipped, missing."""
    checks: Mapping[str, str] = field(default_factory=dict)
    """What the grading protocol checked of the run itself, and what it saw."""
    unexpected: tuple[str, ...] = ()
    """Tests that ran and that validation did not know; they count for nothing."""
    submission: str = ""
    """What was handed in where that is no ordinary diff: no file, null, empty or blank."""
    forbidden_edits: tuple[str, ...] = ()
    neutralised: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    """Changes to what the project depends on, one sentence each; nothing was installed."""
    suspicions: tuple[str, ...] = ()
    """What people should look at, one sentence each; no part of the verdict."""
    repairs: tuple[str, ...] = ()
    seconds: float | None = None
    image_digest: str = ""
    environment: str = ""
    """The hash of the environment that setup made, as in run.json."""
    supersedes: str = ""
    """SHA-256 of the grade.json that this one replaces, if any; that one is kept beside it."""
    because: str = ""
    """Why it was graded again."""


def save(path: Path, record: RunRecord | MissingRecord | GradeRecord) -> None:
    """Write a record as a new JSON file."""
    write_new(path, record_text(record))


def record_text(record: RunRecord | MissingRecord | GradeRecord) -> str:
    """Return a record as JSON text."""
    values: dict[str, Any] = {"schema": SCHEMA}
    for item in fields(record):
        value = getattr(record, item.name)
        values[item.name] = _plain(value)
    return json_text(values)


def _plain(value: object) -> object:
    if isinstance(value, RunId):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value


def load_run(path: Path) -> RunRecord:
    """Read run.json; raises IntegrityError when it is damaged."""
    return RunRecord(**_values(path, RunRecord, ended=Ended, ending=Ending, digests=_digests))


def load_missing(path: Path) -> MissingRecord:
    """Read the record of a missing run."""
    return MissingRecord(**_values(path, MissingRecord))


def load_grade(path: Path) -> GradeRecord:
    """Read grade.json; raises IntegrityError when it is damaged."""
    return GradeRecord(**_values(path, GradeRecord, verdict=Verdict, flags=_flags))


def _digests(values: dict[str, str]) -> dict[str, str]:
    if not isinstance(values, dict):
        raise TypeError("its digests are no mapping of names to digests")
    return values


def _flags(values: list[str]) -> list[Flag]:
    return [Flag(value) for value in values]


def _values(
    path: Path,
    kind: type[RunRecord | MissingRecord | GradeRecord],
    **parsers: Callable[[Any], object],
) -> dict[str, Any]:
    values = read_json(path, schema=SCHEMA)
    # What an earlier labkit did not write yet has its default.
    known = {item.name: item for item in fields(kind)}
    needed = {
        name
        for name, item in known.items()
        if item.default is MISSING and item.default_factory is MISSING
    }
    if not needed <= set(values) - {"schema"} <= set(known):
        raise IntegrityError(f"{path} is damaged: its fields are not those of a {kind.__name__}")
    try:
        for name, parse in {"run": RunId.parse, **parsers}.items():
            if name in values:
                values[name] = parse(values[name])
    except (LabkitError, TypeError, ValueError) as error:
        raise IntegrityError(f"{path} is damaged: {error}", hint="restore it from git") from error
    del values["schema"]
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
