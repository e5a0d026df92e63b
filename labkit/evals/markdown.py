"""A run report as a page of Markdown: good on a terminal and in a CI summary."""

from collections.abc import Callable, Iterator, Sequence

from labkit.evals.metrics import Figures, Spread
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult
from labkit.fields import counted
from labkit.report.wording import (
    amount,
    listed,
    percent,
    percent_interval,
    plain,
    table,
    unavailable,
)

_MOST_CASES = 50
_WORDS = {
    "not_applied": "patch not applied",
    "forbidden": "forbidden edits",
    "escaped": "wrote outside the scratch folder",
    "timeout": "timed out",
    "errored": "errored (missing)",
    "ungraded": "not graded (missing)",
}


def to_markdown(report: RunReport) -> str:
    """Return the report as Markdown."""
    parts = [
        f"# {plain(report.suite)}: {plain(report.told)}",
        _setting(report),
        *(f"**{plain(warning)}**" for warning in report.warnings),
        _safety(report),
        table(["figure", "value"], _figures(report)),
        *_slices(report),
        *_cases(report),
        *(plain(note) for note in report.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _setting(report: RunReport) -> str:
    split = "all splits" if report.split == "all" else f"split {report.split}"
    subset = " Some cases only: no gate takes this report." if report.subset else ""
    return (
        f"Suite version `{report.suite_version}`, {split}, {counted(report.n, 'sample')} a case, "
        f"seeds from {report.seed}, a case is passed when {_POLICIES[report.policy]}.{subset}"
    )


_POLICIES = {
    "all": "all its samples pass",
    "any": "any of its samples passes",
    "majority": "most of its samples pass",
}


def _safety(report: RunReport) -> str:
    safety = report.safety
    if safety.failures:
        return f"**Safety: FAILED.** {plain('; '.join(safety.failures))}."
    if safety.unmeasured:
        return f"Safety: not known, samples are missing for {listed(safety.unmeasured)}."
    if not safety.cases:
        return "Safety: the suite has no safety case."
    return f"Safety: held in {counted(safety.cases, 'case')}."


def _figures(report: RunReport) -> Iterator[tuple[str, str]]:
    found = report.figures
    yield "pass@1", _rate(found)
    yield "reward", _reward(found)
    for name, row in (("pass@{}", found.pass_at), ("pass^{}", found.pass_hat)):
        for each in row:
            if each.k > 1:
                yield name.format(each.k), f"{percent(each.value)} of {counted(each.tasks, 'task')}"
    undecided = f", {found.undecided} undecided" if found.undecided else ""
    yield "cases passed", f"{found.passed} of {found.n_scored}{undecided}"
    yield "flaky cases", str(found.flakes)
    yield "coverage", _coverage(found)
    yield "latency", _spread(found.latency_ms, lambda ms: f"{amount(ms)} ms")
    yield "cost", _spread(found.cost, amount)
    rest = {word: found.statuses[key] for key, word in _WORDS.items() if key in found.statuses}
    if rest:
        yield "samples that were not graded as usual", _tally(rest)
    if found.lies:
        yield "failed samples that claimed success", str(found.lies)
    yield from _noise(report)


def _tally(rest: dict[str, int]) -> str:
    return ", ".join(f"{number} {word}" for word, number in rest.items())


def _rate(found: Figures) -> str:
    if not found.pass_at or found.interval is None:
        return unavailable("no task was measured")
    return (
        f"{percent(found.pass_at[0].value)} of {counted(found.n_scored, 'task')} "
        f"(95 % interval {percent_interval(found.interval)})"
        if found.pass_at[0].k == 1
        else f"95 % interval {percent_interval(found.interval)}"
    )


def _reward(found: Figures) -> str:
    if found.reward is None:
        return unavailable("no task was measured")
    error = (
        unavailable("one task")
        if found.standard_error is None
        else f"{100 * found.standard_error:.1f} points"
    )
    return f"{float(found.reward):.3f} (standard error {error})"


def _coverage(found: Figures) -> str:
    if found.coverage is None:
        return unavailable("nothing was planned")
    return (
        f"{found.valid} of {counted(found.planned, 'sample')}, "
        f"{found.n_scored} of {counted(found.n_tasks, 'task')}"
    )


def _spread(found: Spread | None, shown: Callable[[float], str]) -> str:
    if found is None:
        return unavailable("not recorded")
    return (
        f"mean {shown(found.mean)}, 95th percentile {shown(found.p95)} "
        f"({counted(found.known, 'sample')})"
    )


def _noise(report: RunReport) -> Iterator[tuple[str, str]]:
    parts = report.noise.parts
    if parts is not None and parts.total:
        share = parts.within / parts.total
        yield (
            "noise of the reward",
            f"{percent(1 - share)} between tasks, {percent(share)} between samples of a task",
        )


def _slices(report: RunReport) -> Iterator[str]:
    if not report.slices:
        return
    rows = [
        (f"`{plain(name)}`", _rate(found), _coverage(found))
        for name, found in report.slices.items()
    ]
    yield "## By slice\n\n" + table(["slice", "pass@1", "coverage"], rows)
    yield "Slices describe: with few tasks in each, differences between them are mostly chance."


def _cases(report: RunReport) -> Iterator[str]:
    """Yield the cases that did not pass, those without measurement first."""
    shown = sorted(
        (case for case in report.cases if case.passed is not True),
        key=lambda case: (case.passed is not None, case.id),
    )
    if not shown:
        return
    rows = [(f"`{plain(case.id)}`", _result(case), _why(case)) for case in shown[:_MOST_CASES]]
    more = len(shown) - _MOST_CASES
    yield "## Cases that did not pass\n\n" + table(["case", "passed", "first reason"], rows)
    if more > 0:
        yield f"And {counted(more, 'case')} more: see report.json."


def _result(case: CaseResult) -> str:
    if not case.valid_trials:
        return unavailable("no sample was measured")
    missing = case.planned - case.valid_trials
    rest = f", {missing} missing" if missing else ""
    return f"{case.passes} of {case.valid_trials}{rest}"


def _why(case: CaseResult) -> str:
    if case.problem:
        return plain(case.problem)
    wanted: Sequence[int] = [
        place for place, trial in enumerate(case.trials) if trial.passed is not True
    ]
    if not wanted or len(case.samples) != len(case.trials):
        return ""
    return plain(case.samples[wanted[0]].verdict.detail)[:200]
