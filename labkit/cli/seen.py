"""What the finished runs on this machine say about what was declared to differ."""

from collections.abc import Iterable, Iterator

from labkit.cli.lab import Lab
from labkit.configurations import Configuration, read_configurations
from labkit.effects import Finding, effects, same_answers, same_trees
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


def seen(lab: Lab) -> tuple[str, ...]:
    """Return what people should know of the runs so far, one sentence each."""
    records = finished_records(lab)
    try:
        configurations = read_configurations(lab.workspace)
    except LabkitError:
        return ()  # whoever reads configurations says what is wrong with them
    return tuple(_sentences(configurations, records))


def _sentences(
    configurations: tuple[Configuration, ...], records: Iterable[RunRecord]
) -> Iterator[str]:
    found = tuple(records)
    for finding in effects(configurations, found):
        yield weighed(finding)
    for one, other in same_trees(found):
        yield f"{one} and {other} left the same diff: they are not independent attempts."
    for one, other in same_answers(found):
        yield (
            f"The model answered the same, word by word, in {one} and {other}: they are not "
            "independent attempts."
        )


def weighed(finding: Finding) -> str:
    """Return a finding with its weight in front."""
    return f"{finding.weight}: {finding.text}"
