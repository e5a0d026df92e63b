"""What of the runs and their grades people should look at before they believe the verdicts."""

from collections.abc import Iterator, Sequence

from labkit.fields import counted, first_words
from labkit.model import RunId
from labkit.summary.model import ConfigurationSummary
from labkit.summary.whole import Limitation, Topic

_SHOWN = 4


def doubts(configurations: Sequence[ConfigurationSummary]) -> Iterator[Limitation]:
    """Yield what tampering, suspicions, weak oracles, unread transcripts and sandboxes limit."""
    found = [side.doubts for side in configurations]
    yield from _about(
        Topic.TAMPERED,
        [run for each in found for run in each.tampered],
        "tried to upset the grading and failed for it",
    )
    yield from _about(
        Topic.SUSPICIOUS,
        [run for each in found for run in each.suspicious],
        "left a diff that people should read before they believe the verdict (see grade.txt)",
    )
    weak = [run for each in found for run in each.weak]
    rest = "rests" if len(weak) == 1 else "rest"
    yield from _about(Topic.WEAK, weak, f"{rest} on an exit code alone", of="the verdict of ")
    yield from _about(
        Topic.UNREAD,
        [run for each in found for run in each.unread],
        "left a transcript that was not read to its end, so the leak check rests on people",
    )
    yield from _sandboxes(configurations)


def _about(topic: Topic, runs: Sequence[RunId], what: str, of: str = "") -> Iterator[Limitation]:
    if not runs:
        return
    names = first_words([str(run) for run in sorted(runs)], _SHOWN)
    subject = of and (of if len(runs) == 1 else "the verdicts of ")
    text = f"{subject}{counted(len(runs), 'run')} {what}: {names}."
    yield Limitation(topic=topic, text=text[0].upper() + text[1:])


def _sandboxes(configurations: Sequence[ConfigurationSummary]) -> Iterator[Limitation]:
    if len({name for side in configurations for name in side.sandboxes}) <= 1:
        return
    told = "; ".join(
        f"{side.id}: " + ", ".join(f"{runs} in {name}" for name, runs in side.sandboxes.items())
        for side in configurations
        if side.sandboxes
    )
    used = {tuple(side.sandboxes) for side in configurations}
    worse = (
        " They differ between the configurations, so nobody can say which of the two made a "
        "difference."
        if len(used) > 1
        else ""
    )
    yield Limitation(
        topic=Topic.MIXED_SANDBOXES, text=f"Runs were made in different sandboxes ({told}).{worse}"
    )
