"""What a reader has to know before believing the figures."""

from collections.abc import Iterator, Sequence

from labkit.model import Verdict
from labkit.summary.evidence import Evidence
from labkit.summary.model import ConfigurationSummary, Limitation, Topic


def limitations(
    evidence: Evidence, configurations: Sequence[ConfigurationSummary]
) -> tuple[Limitation, ...]:
    """Collect every limitation that the study itself shows."""
    return (
        *_solo(evidence),
        *_incomplete(configurations),
        *_extremes(evidence, configurations),
        *_attempts(evidence, configurations),
        *_corrected(evidence),
        *_flaky(evidence),
    )


def _solo(evidence: Evidence) -> Iterator[Limitation]:
    if evidence.study.solo:
        yield Limitation(
            topic=Topic.SOLO,
            text="One person wrote the tasks, ran the agents and scored the runs: "
            "the scoring was blind in name only.",
        )


def _incomplete(configurations: Sequence[ConfigurationSummary]) -> Iterator[Limitation]:
    for configuration in configurations:
        coverage = configuration.coverage
        absent = coverage.missing + coverage.ungraded
        if absent:
            yield Limitation(
                topic=Topic.INCOMPLETE,
                text=f"Not measured of {configuration.id}: {absent} of "
                f"{coverage.planned - coverage.retired} runs ({coverage.missing} missing, "
                f"{coverage.ungraded} ungraded); they are out of the rates.",
            )


def _extremes(
    evidence: Evidence, configurations: Sequence[ConfigurationSummary]
) -> Iterator[Limitation]:
    seen = {
        passed
        for configuration in configurations
        for task in evidence.counted
        for passed in evidence.measured(configuration.id, task)
    }
    if seen == {True}:
        yield Limitation(
            topic=Topic.CEILING,
            text="Every run passes: these tasks are too easy to separate anything.",
        )
    if seen == {False}:
        yield Limitation(
            topic=Topic.FLOOR,
            text="Every run fails: these tasks are too hard to separate anything.",
        )


def _attempts(
    evidence: Evidence, configurations: Sequence[ConfigurationSummary]
) -> Iterator[Limitation]:
    single = [
        str(side.id) for side in configurations if side.rate.tasks and not side.pass_hat_2.tasks
    ]
    if single:
        yield Limitation(
            topic=Topic.SINGLE_ATTEMPT,
            text=f"No task has two measured attempts of {' or '.join(single)}: "
            "nothing is known about flakiness.",
        )
    for one, other in sorted(evidence.study.identical):
        yield Limitation(
            topic=Topic.IDENTICAL_ATTEMPTS,
            text=f"{one} and {other} left the same diff: they are not independent attempts.",
        )


def _corrected(evidence: Evidence) -> Iterator[Limitation]:
    for task, reasons in sorted(evidence.study.corrections.items()):
        regrades = [
            each for each in evidence.study.regrades if each.corrected and each.run.task == task
        ]
        changed = [
            f"{each.run} from {each.before} to {each.after}"
            for each in regrades
            if each.before is not each.after
        ]
        late = (
            " Scorers may have seen the earlier verdicts." if any(e.late for e in regrades) else ""
        )
        yield Limitation(
            topic=Topic.CORRECTED,
            text=f"The hidden tests of {task} were corrected after the freeze "
            f"({'; '.join(reasons)}), and all its runs are graded by the corrected ones. "
            f"Verdicts that changed: {', '.join(changed) or 'none'}.{late}",
        )


def _flaky(evidence: Evidence) -> Iterator[Limitation]:
    for each in evidence.study.regrades:
        if not each.corrected and {each.before, each.after} == {Verdict.PASS, Verdict.FAIL}:
            yield Limitation(
                topic=Topic.FLAKY_GRADE,
                text=f"{each.run} was graded twice by the same hidden tests: {each.before} at "
                f"first, {each.after} the second time, which is what counts here.",
            )
