"""The canary rules: in whose text a token stands decides what it means."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from labkit.canary import digest
from labkit.model import TaskId
from labkit.transcripts import plain
from labkit.transcripts.model import Transcript
from labkit_grader.leaks.canary import sightings
from labkit_grader.leaks.hits import Rule, Spot

_AROUND = 60


class Origin(StrEnum):
    """Who brought a text into the run."""

    KIT = "the prompt that the agent was given"
    RUN = "what came out of the run"
    WORDS = "the agent's own words, with no output before that shows it"


_RULES = {
    Origin.KIT: Rule.CANARY_IN_PROMPT,
    Origin.RUN: Rule.CANARY,
    Origin.WORDS: Rule.CANARY_IN_WORDS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text of a run and where it stands."""

    origin: Origin
    file: str
    line: int | None = None
    text: str

    @classmethod
    def of_prompt(cls, data: bytes) -> "Source":
        """Return the prompt as a source."""
        return cls(origin=Origin.KIT, file="prompt", text=data.decode("utf-8", "replace"))

    @classmethod
    def of_file(cls, name: str, data: bytes) -> "Source":
        """Return a file that the run left behind as a source."""
        return cls(origin=Origin.RUN, file=name, text=data.decode("latin-1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Tokens of sealed files in a source."""

    rule: Rule
    spot: Spot
    owners: tuple[TaskId, ...]
    explanation: str


def sources(transcript: Transcript, data: bytes, *, name: str) -> Iterator[Source]:
    """Return every text of a transcript in its order, then all outputs as one, then what is raw.

    All outputs as one: a token can be printed in two halves. The raw lines: what no reader
    understood is searched all the same.
    """
    told = Origin.RUN if transcript.format == plain.NAME else Origin.WORDS
    for step in transcript.steps:
        yield Source(origin=told, file=name, line=step.line, text=step.text)
        for call in step.calls:
            asked = "\n".join((call.command or "", *call.reads, *call.writes))
            yield Source(origin=Origin.WORDS, file=name, line=step.line, text=asked)
            yield Source(origin=Origin.RUN, file=name, line=step.line, text=call.output)
    outputs = [call.output for step in transcript.steps for call in step.calls if call.output]
    if len(outputs) > 1:
        yield Source(origin=Origin.RUN, file=name, text="\n".join(outputs))
    if transcript.gaps and transcript.format != plain.NAME:
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            yield Source(origin=Origin.RUN, file=name, line=number, text=line)


class TokenSearch:
    """Looks for the published tokens in one source after the other, and tells of each once."""

    def __init__(self, canaries: Mapping[str, TaskId]) -> None:
        self._canaries = canaries
        self._told: set[tuple[str, str]] = set()
        self._printed: set[str] = set()

    def look(self, source: Source) -> Found | None:
        """Return what is new in a source: a token counts once for each file and origin."""
        forms = {
            token: form
            for token, form in sightings(source.text).items()
            if digest(token) in self._canaries and self._is_new(token, source)
        }
        if not forms:
            return None
        token, form = next(iter(forms.items()))
        owners = tuple(sorted({self._canaries[digest(token)] for token in forms}))
        named = ", ".join(str(owner) for owner in owners)
        return Found(
            rule=_RULES[source.origin],
            spot=Spot(file=source.file, line=source.line, excerpt=_around(source.text, token)),
            owners=owners,
            explanation=f"a canary of the sealed files of {named} stands {form} in {source.origin}",
        )

    def _is_new(self, token: str, source: Source) -> bool:
        if source.origin is Origin.WORDS and token in self._printed:
            return False
        if source.origin is Origin.RUN:
            self._printed.add(token)
        key = (token, f"{source.origin}:{source.file}")
        new = key not in self._told
        self._told.add(key)
        return new


def _around(text: str, token: str) -> str:
    """Return the whole words around a token; nothing when it does not stand there as it is."""
    start = text.upper().find(token)
    if start < 0:
        return ""
    end = start + len(token)
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    # A word that the window cuts may be half of another token.
    before = before if start <= _AROUND else before.partition(" ")[2]
    after = after if end + _AROUND >= len(text) else after.rpartition(" ")[0]
    return before + token + after
