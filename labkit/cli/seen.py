"""What the finished runs on this machine say about what was declared to differ."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from labkit.cli.lab import Lab
from labkit.configurations import Configuration, read_configurations
from labkit.effects import Finding, Weight, effects, same_answers, same_trees
from labkit.errors import LabkitError
from labkit.model import RunId
from labkit.phases import progress
from labkit.records import RunRecord, load_run


def finished_records(lab: Lab) -> tuple[RunRecord, ...]:
    """Read the records of the finished runs; those that are damaged are told of elsewhere."""
    found = (_read(lab, run) for run in sorted(progress(lab.workspace).finished))
    return tuple(record for record in found if record is not None)


def _read(lab: Lab, run: RunId) -> RunRecord | None:
    try:
        return load_run(lab.workspace.run(run) / "run.json")
    except LabkitError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One thing that people should know of the runs so far."""

    text: str
    identity: tuple[object, ...]
    """The same as long as only its figures change."""


def seen(lab: Lab) -> tuple[Sentence, ...]:
    """Return what people should know of the runs so far, without what asks nothing of them."""
    records = finished_records(lab)
    try:
        configurations = read_configurations(lab.workspace)
    except LabkitError:
        return ()  # whoever reads configurations says what is wrong with them
    return tuple(_sentences(configurations, records))


def identities(lab: Lab) -> frozenset[tuple[object, ...]]:
    """Return what is known of the runs so far, to be held against what is known later."""
    return frozenset(sentence.identity for sentence in seen(lab))


def unsaid(lab: Lab, known: frozenset[tuple[object, ...]]) -> tuple[str, ...]:
    """Return what people should know of the runs so far and was not `known` before."""
    return tuple(sentence.text for sentence in seen(lab) if sentence.identity not in known)


def _sentences(
    configurations: tuple[Configuration, ...], records: Iterable[RunRecord]
) -> Iterator[Sentence]:
    found = tuple(records)
    for finding in effects(configurations, found):
        if finding.weight is not Weight.NOTE:
            yield Sentence(text=weighed(finding), identity=finding.identity)
    twins = [
        f"{one} and {other} left the same diff: they are not independent attempts."
        for one, other in same_trees(found)
    ]
    twins += [
        f"The model answered the same, word by word, in {one} and {other}: they are not "
        "independent attempts."
        for one, other in same_answers(found)
    ]
    yield from (Sentence(text=f"{Weight.CAUTION}: {text}", identity=(text,)) for text in twins)


def weighed(finding: Finding) -> str:
    """Return a finding with its weight in front."""
    return f"{finding.weight}: {finding.text}"
