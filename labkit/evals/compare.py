"""Two reports of the same suite side by side, task by task."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from labkit.errors import refuse
from labkit.evals.report import RunReport, with_code
from labkit.evals.results import CaseResult
from labkit.fields import first_words
from labkit.stats import Interval, SignFlip, paired_interval, sign_flip_test

_VERSION = "suite version"
_UNNAMED = "without a name"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPair:
    """One task that was scored in both reports."""

    before: CaseResult
    after: CaseResult
    reward_before: Fraction
    reward_after: Fraction

    @property
    def id(self) -> str:
        """The task's name."""
        return self.before.id

    @property
    def difference(self) -> Fraction:
        """The candidate's reward less the baseline's, exact."""
        return self.reward_after - self.reward_before


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDifference:
    """What the tasks of one slice did. Description: slices are too small to conclude from."""

    name: str
    tasks: int
    mean: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The candidate against the baseline; differences above 0 are in the candidate's favour."""

    baseline: str
    candidate: str
    baseline_from: str
    """The file or folder that its report lies in; empty when it lies in none."""
    candidate_from: str
    suite: str
    suite_version: str
    split: str
    """Empty when neither report says it."""
    pairs: tuple[TaskPair, ...]
    """Tasks scored in both, in the order of their ids."""
    missing_now: tuple[str, ...]
    """Scored before, and not now: nothing is known of them, which is no regression."""
    missing_before: tuple[str, ...]
    """Scored now, and not before."""
    mean: Fraction | None
    """The mean difference; None without a task scored in both."""
    interval: Interval | None
    """Its 95 % interval: Tango's, matched to the second moment."""
    test: SignFlip
    """How often chance alone moves as far, either way."""
    slices: tuple[SliceDifference, ...]
    baseline_code: str = ""
    candidate_code: str = ""

    @property
    def baseline_words(self) -> str:
        """The baseline's name and code, and where it lies when the candidate's are the same."""
        return self._words[0]

    @property
    def candidate_words(self) -> str:
        """The candidate's name and code, and where it lies when the baseline's are the same."""
        return self._words[1]

    @property
    def _words(self) -> tuple[str, str]:
        before = with_code(self.baseline or _UNNAMED, self.baseline_code)
        after = with_code(self.candidate or _UNNAMED, self.candidate_code)
        if before != after or self.baseline_from == self.candidate_from:
            return before, after
        return (
            f"{before} ({self.baseline_from or 'in memory'})",
            f"{after} ({self.candidate_from or 'in memory'})",
        )

    @property
    def differences(self) -> tuple[Fraction, ...]:
        """The difference of every pair."""
        return tuple(pair.difference for pair in self.pairs)

    @property
    def regressed(self) -> tuple[TaskPair, ...]:
        """Tasks whose reward dropped, the largest drop first."""
        found = [pair for pair in self.pairs if pair.difference < 0]
        return tuple(sorted(found, key=lambda pair: pair.difference))

    @property
    def improved(self) -> tuple[TaskPair, ...]:
        """Tasks whose reward rose, the largest gain first."""
        found = [pair for pair in self.pairs if pair.difference > 0]
        return tuple(sorted(found, key=lambda pair: -pair.difference))

    @property
    def lost(self) -> tuple[str, ...]:
        """Cases that were passed under the reports' policy, and no longer are."""
        return tuple(
            pair.id
            for pair in self.pairs
            if pair.before.passed is True and pair.after.passed is False
        )

    @property
    def won(self) -> tuple[str, ...]:
        """Cases that were not passed under the reports' policy, and now are."""
        return tuple(
            pair.id
            for pair in self.pairs
            if pair.before.passed is False and pair.after.passed is True
        )


def compare_runs(baseline: RunReport, candidate: RunReport) -> Comparison:
    """Compare two reports over the tasks that both scored.

    Differences are exact. A report without its cases has nothing to pair. Raises InputError for
    reports that cannot be compared: of different suite versions, splits or policies. A report
    without its cases need not say its split.
    """
    _require_alike(baseline, candidate)
    before = {case.id: case for case in baseline.cases if case.reward is not None}
    after = {case.id: case for case in candidate.cases if case.reward is not None}
    pairs = tuple(_pairs(before, after))
    differences = [pair.difference for pair in pairs]
    return Comparison(
        baseline=baseline.candidate,
        candidate=candidate.candidate,
        baseline_code=baseline.code,
        candidate_code=candidate.code,
        baseline_from=_place(baseline),
        candidate_from=_place(candidate),
        suite=candidate.suite,
        suite_version=candidate.suite_version,
        split=candidate.split or baseline.split,
        pairs=pairs,
        missing_now=tuple(sorted(before.keys() - after.keys())),
        missing_before=tuple(sorted(after.keys() - before.keys())),
        mean=_mean(differences) if pairs else None,
        interval=paired_interval(differences) if pairs else None,
        test=sign_flip_test(differences),
        slices=_slices(pairs),
    )


def _place(report: RunReport) -> str:
    place = report.source or report.folder
    return str(place) if place else ""


def _require_alike(baseline: RunReport, candidate: RunReport) -> None:
    """Raise one InputError for all in which two reports differ that have to be alike."""
    problems, hints = [], []
    known = baseline.totals is None and candidate.totals is None
    for what, before, after, hint in (
        (_VERSION, baseline.suite_version, candidate.suite_version, "suite"),
        ("split", baseline.split, candidate.split, "--split"),
        ("policy", str(baseline.policy), str(candidate.policy), "--policy"),
    ):
        unknown = (what == "split" and not (before and after)) or (what == "policy" and not known)
        if before != after and not unknown:
            hints.append(hint)
            which = _changed_cases(baseline, candidate) if what == _VERSION else ""
            problems.append(
                f"the reports are not of the same {what}: the baseline's is {before}, the "
                f"candidate's is {after}{which}"
            )
    wanted = " and ".join(filter(None, (", ".join(hints[:-1]), *hints[-1:])))
    problems += _repeated(baseline, candidate)
    refuse(problems, hint=f"evaluate both with the same {wanted or 'suite'}")


def _repeated(baseline: RunReport, candidate: RunReport) -> Iterator[str]:
    for which, report in (("baseline", baseline), ("candidate", candidate)):
        for name, many in Counter(case.id for case in report.cases).items():
            if many > 1:
                yield f"the {which}'s report has the case {name} more than once"


def _changed_cases(baseline: RunReport, candidate: RunReport) -> str:
    """Return in words which cases differ between two versions, as far as both reports know."""
    before = {case.id: case.digest for case in baseline.cases if case.digest}
    after = {case.id: case.digest for case in candidate.cases if case.digest}
    shared = before.keys() & after.keys()
    told = [("not the same", {name for name in shared if before[name] != after[name]})]
    if before and after and not (baseline.subset or candidate.subset):
        told.append(("only in the baseline's", before.keys() - after.keys()))
        told.append(("only in the candidate's", after.keys() - before.keys()))
    words = [f"{what}: {first_words(sorted(names))}" for what, names in told if names]
    return f" ({'; '.join(words)})" if words else ""


def other_cases(baseline: RunReport, candidate: RunReport) -> Iterator[str]:
    """Yield how the cases of two reports differ: of one version they are the same, measured or not.

    Nothing of a report without any.
    """
    if not (baseline.cases and candidate.cases):
        return
    before = {case.id: case.safety for case in baseline.cases}
    after = {case.id: case.safety for case in candidate.cases}
    for which, more in (("baseline", before.keys() - after), ("candidate", after.keys() - before)):
        if more:
            yield f"only the {which}'s report has {first_words(sorted(more))}"
    for name in sorted(before.keys() & after):
        if before[name] != after[name]:
            yield f"only one report has {name} tagged safety"


def _pairs(before: Mapping[str, CaseResult], after: Mapping[str, CaseResult]) -> Iterator[TaskPair]:
    for name in sorted(before.keys() & after.keys()):
        one, other = before[name].reward, after[name].reward
        if one is not None and other is not None:
            yield TaskPair(
                before=before[name], after=after[name], reward_before=one, reward_after=other
            )


def _slices(pairs: tuple[TaskPair, ...]) -> tuple[SliceDifference, ...]:
    names = sorted({name for pair in pairs for name in pair.after.slices})
    found = []
    for name in names:
        inside = [pair.difference for pair in pairs if name in pair.after.slices]
        found.append(SliceDifference(name=name, tasks=len(inside), mean=_mean(inside)))
    return tuple(found)


def _mean(numbers: list[Fraction]) -> Fraction:
    return sum(numbers, Fraction()) / len(numbers)
