"""The leak check of one run: which rules its transcript, diff and other files meet.

Canaries decide, wherever they stand. Paths are judged in what the agent did (commands, tool
arguments), never in what it said or wrote into files. Where this cannot tell, a person decides.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labkit.model import RunId, TaskId
from labkit.transcripts.detect import read_transcript
from labkit.transcripts.model import Call, Transcript
from labkit_grader.leaks.actions import judge_call
from labkit_grader.leaks.hits import Hit, Spot, make_hit
from labkit_grader.leaks.paths import KIT_NAMES, Territory
from labkit_grader.leaks.tokens import Source, TokenSearch, sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a run left behind, as bytes; nothing of it is trusted."""

    run: RunId
    transcript: bytes
    transcript_name: str = "transcript.jsonl"
    agent: str | None = None
    """The agent that is known to have run, see `read_transcript`."""
    prompt: bytes = b""
    diff: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Other files of the run by name, such as stderr.txt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What must not show up in a run, and where an agent must not go."""

    canaries: Mapping[str, TaskId]
    """Every published canary digest, with the task that it belongs to."""
    territory: Territory = field(default_factory=Territory)

    @classmethod
    def of_team(
        cls, canaries: Mapping[str, TaskId], *, protected: tuple[str, ...], handover: str
    ) -> "Rules":
        """Return the rules of a team: its protected names and its handover folder's name."""
        beyond = (*KIT_NAMES, handover)
        return cls(canaries=canaries, territory=Territory(protected=protected, beyond=beyond))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was read of one run."""

    run: RunId
    digest: str
    """SHA-256 of the transcript."""
    format: str
    calls: int
    ended: bool
    gaps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """What was read of one run, and what was found in it."""

    checked: Checked
    hits: tuple[Hit, ...]


def check_run(evidence: Evidence, rules: Rules) -> RunCheck:
    """Check one run. Whatever the evidence holds, this returns; coverage is judged by `review`."""
    transcript = read_transcript(evidence.transcript, agent=evidence.agent)
    checked = Checked(
        run=evidence.run,
        digest=hashlib.sha256(evidence.transcript).hexdigest(),
        format=transcript.format,
        calls=sum(len(step.calls) for step in transcript.steps),
        ended=transcript.ended,
        gaps=transcript.gaps,
    )
    hits = (*_canary_hits(evidence, transcript, rules), *_path_hits(evidence, transcript, rules))
    return RunCheck(checked=checked, hits=tuple({hit.id: hit for hit in hits}.values()))


def _canary_hits(evidence: Evidence, transcript: Transcript, rules: Rules) -> Iterator[Hit]:
    search = TokenSearch(rules.canaries)
    given = [Source.of_prompt(evidence.prompt)]
    told = sources(transcript, evidence.transcript, name=evidence.transcript_name)
    left = [
        Source.of_file(name, data)
        for name, data in {"diff.patch": evidence.diff, **evidence.files}.items()
    ]
    for source in (*given, *told, *left):
        found = search.look(source)
        if found is not None:
            yield make_hit(
                found.rule,
                found.spot,
                runs=(evidence.run,),
                explanation=found.explanation,
                owners=found.owners,
            )


def _path_hits(evidence: Evidence, transcript: Transcript, rules: Rules) -> Iterator[Hit]:
    for step in transcript.steps:
        for call in step.calls:
            for finding in judge_call(call, rules.territory):
                spot = Spot(
                    file=evidence.transcript_name,
                    line=step.line,
                    path=finding.path,
                    excerpt=_excerpt(call),
                )
                yield make_hit(
                    finding.rule, spot, runs=(evidence.run,), explanation=finding.explanation
                )


def _excerpt(call: Call) -> str:
    asked = call.command or " ".join((call.tool, *call.reads, *call.writes))
    return f"{asked[:2000]} => {call.output[:2000].strip() or '(no output)'}"
