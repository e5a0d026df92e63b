"""What a reader has to know before believing the figures."""

from collections.abc import Iterator, Sequence

from labkit.effects import Weight
from labkit.fields import counted, first_words
from labkit.model import ConfigurationId, Verdict
from labkit.study import Wasted
from labkit.summary.doubts import doubts
from labkit.summary.evidence import Evidence
from labkit.summary.model import ConfigurationSummary, Coverage
from labkit.summary.whole import Blinding, Limitation, Topic

_SHOWN = 4
_NOTABLE_LOSS = 2
_TIMES = {1: "once", 2: "twice"}


def limitations(
    evidence: Evidence,
    configurations: Sequence[ConfigurationSummary],
    blinding: Blinding | None = None,
) -> tuple[Limitation, ...]:
    """Collect every limitation that the study itself shows."""
    return (
        *_people(evidence),
        *_effects(evidence),
        *_unequal_plan(evidence),
        *_incomplete(configurations),
        *_unequal_loss(configurations),
        *_broken_tries(evidence),
        *_extremes(evidence, configurations),
        *_attempts(evidence, configurations),
        *_corrected(evidence),
        *_flaky(evidence),
        *doubts(configurations),
        *_scoring(configurations, blinding),
        *_effects(evidence, notes=True),
    )


def _people(evidence: Evidence) -> Iterator[Limitation]:
    if evidence.study.pilot:
        yield Limitation(
            topic=Topic.PILOT,
            text="A pilot: the suite was frozen with less than a course asks for. It shows that "
            "the lab works, and is too small to decide by.",
        )
    if evidence.study.solo:
        yield Limitation(
            topic=Topic.SOLO,
            text="One person wrote the tasks, ran the agents and scored the runs: "
            "the scoring was blind in name only.",
        )


def _effects(evidence: Evidence, *, notes: bool = False) -> Iterator[Limitation]:
    for found in evidence.study.effects:
        if (found.weight is Weight.NOTE) is notes:
            yield Limitation(topic=Topic(str(found.kind)), text=found.text)


def _unequal_plan(evidence: Evidence) -> Iterator[Limitation]:
    unequal = [
        str(task)
        for task in evidence.counted
        if len({len(of.get(task, ())) for of in evidence.outcomes.values()}) > 1
    ]
    if unequal:
        yield Limitation(
            topic=Topic.UNEQUAL_PLAN,
            text="The configurations were not planned alike: they have different numbers of "
            f"attempts at {first_words(unequal, _SHOWN)}.",
        )


def _incomplete(configurations: Sequence[ConfigurationSummary]) -> Iterator[Limitation]:
    for configuration in configurations:
        coverage = configuration.coverage
        absent = _absent(coverage)
        if absent:
            yield Limitation(
                topic=Topic.INCOMPLETE,
                text=f"Not measured of {configuration.id}: {absent} of "
                f"{counted(coverage.planned - coverage.retired, 'run')} ({coverage.missing} "
                f"missing, {coverage.ungraded} ungraded), which are out of the rates.",
            )


def _absent(coverage: Coverage) -> int:
    return coverage.missing + coverage.ungraded


def _unequal_loss(configurations: Sequence[ConfigurationSummary]) -> Iterator[Limitation]:
    lost = {side.id: _absent(side.coverage) for side in configurations}
    most, least = max(lost, key=lost.__getitem__), min(lost, key=lost.__getitem__)
    if lost[most] - lost[least] >= _NOTABLE_LOSS:
        yield Limitation(
            topic=Topic.UNEQUAL_LOSS,
            text=f"{most} lost {counted(lost[most], 'run')} and {least} {lost[least] or 'none'}: "
            "find out why, for what is lost is seldom lost by chance.",
        )


def _broken_tries(evidence: Evidence) -> Iterator[Limitation]:
    for configuration, wasted in sorted(evidence.study.wasted.items()):
        if wasted.tries:
            took = f": {wasted.tokens:,} tokens, cost {wasted.cost:.2f}" if wasted.tokens else ""
            if wasted.unpriced:
                took += (
                    f"; what {wasted.unpriced} of them cost is not known, and so the whole is not"
                )
            yield Limitation(
                topic=Topic.BROKEN_TRIES,
                text=f"{_who_broke(wasted)} of {configuration}{took}. What they took "
                "is in the tokens and the cost, and in nothing else.",
            )


def _who_broke(wasted: Wasted) -> str:
    broken, stopped = wasted.tries - wasted.stopped, wasted.stopped
    told = [f"The infrastructure broke {_tries(broken)}"] if broken else []
    if stopped:
        told.append(f"{'i' if told else 'I'}ts runner stopped {_tries(stopped)}")
    return " and ".join(told)


def _tries(count: int) -> str:
    return "1 try" if count == 1 else f"{count} tries"


def _extremes(
    evidence: Evidence, configurations: Sequence[ConfigurationSummary]
) -> Iterator[Limitation]:
    by_task = [
        {
            passed
            for side in configurations
            for passed in evidence.attempts(side.id, task)
            if passed is not None
        }
        for task in evidence.counted
    ]
    passed, failed, known = by_task.count({True}), by_task.count({False}), sum(map(bool, by_task))
    if known and passed == known:
        yield Limitation(
            topic=Topic.CEILING,
            text="Every run passes: these tasks are too easy to separate anything.",
        )
    elif known and failed == known:
        yield Limitation(
            topic=Topic.FLOOR,
            text="Every run fails: these tasks are too hard to separate anything.",
        )
    elif 2 * (passed + failed) > known:
        yield Limitation(
            topic=Topic.SEPARATES_LITTLE,
            text=f"{passed + failed} of {counted(known, 'task')} came out the same in every run "
            f"({passed} passed, {failed} failed): they separate nothing.",
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
    for side in configurations:
        if len(side.coverage.attempts) > 1:
            plan = ", ".join(
                f"{counted(tasks, 'task')} {_TIMES.get(times, f'{times} times')}"
                for times, tasks in side.coverage.attempts.items()
            )
            yield Limitation(
                topic=Topic.REDUCED_PLAN,
                text=f"A reduced plan for {side.id}: {plan}. Every task weighs the same in the "
                "rates, and pass^2 is of those with two attempts.",
            )
    for one, other in sorted(evidence.study.identical):
        yield Limitation(
            topic=Topic.IDENTICAL_ATTEMPTS,
            text=f"{one} and {other} left the same diff: they are not independent attempts.",
        )

    for one, other in sorted(evidence.study.same_answers):
        yield Limitation(
            topic=Topic.IDENTICAL_ATTEMPTS,
            text=f"The model answered the same, word by word, in {one} and {other}: they are not "
            "independent attempts.",
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


def _scoring(
    configurations: Sequence[ConfigurationSummary], blinding: Blinding | None
) -> Iterator[Limitation]:
    scored: dict[ConfigurationId, tuple[int, int]] = {
        side.id: (side.coverage.scored, side.coverage.graded) for side in configurations
    }
    full = [many == of for many, of in scored.values()]
    if any(many for many, _ in scored.values()) and not all(full):
        told = ", ".join(f"{which} {many} of {of}" for which, (many, of) in scored.items())
        yield Limitation(
            topic=Topic.UNEQUAL_SCORING,
            text=f"Not every graded run has marks ({told}): the rubric's means are over those "
            "that have.",
        )
    if blinding and blinding.interval and blinding.interval.low > 0:
        yield Limitation(
            topic=Topic.UNBLINDED,
            text=f"Scorers could tell the configurations apart: {blinding.correct} of "
            f"{blinding.correct + blinding.wrong} guesses were right. "
            "The marks are not blind.",
        )
