"""Runs the hidden tests of both sides, round after round, each with another hash seed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from labkit.model import Ended
from labkit_grader.execute import Bench, run_tests
from labkit_grader.oracles.compared import Sides
from labkit_grader.oracles.interface import Case
from labkit_grader.protected import Guarded
from labkit_grader.repeats import Repeats
from labkit_grader.sentinel import make_sentinel
from labkit_grader.testrun import TestRun

_LEAST_SECONDS = 10.0
_SLOWER = 10
_MOST_STUCK = 5
_WORDS = {
    Ended.TIMEOUT: "runs out of time",
    Ended.OUT_OF_MEMORY: "runs out of memory",
}


def run_hidden(
    bench: Bench, case: Case, staged: Guarded, variables: Mapping[str, str] | None = None
) -> TestRun:
    """Run every hidden test file in one process, and a new sentinel behind them.

    `variables` give way to the grading command's.
    """
    command, targets = case.command(), case.test_files
    if variables:
        command = replace(command, environment={**variables, **command.environment})
    sentinel = make_sentinel(command, targets)
    return run_tests(bench, staged.tree, command, targets, sentinel=sentinel)


def run_rounds(
    bench: Bench, case: Case, *, base: Guarded, solution: Guarded, repeats: Repeats
) -> Sides:
    """Run both sides; once the solution is cut off or not collected, nothing can follow."""
    after: list[TestRun] = []
    before: list[TestRun] = []
    side = _Base(bench=bench, case=case, staged=base)
    for number in repeats.rounds():
        after.append(run_hidden(bench, case, solution, _seed(number)))
        if after[-1].trouble or after[-1].collect_errors:
            break
        side.allow(after[-1].seconds)
        before.append(side.run(number))
    turned = None
    if repeats.thorough and before and after[-1].complete:
        turned = run_hidden(bench, case, solution, {**_seed(0), "LABKIT_REVERSED": "1"})
    return Sides(
        base=tuple(before),
        solution=tuple(after),
        turned=turned,
        stuck=side.stuck,
        base_seconds=side.seconds,
        limits=bench.limits,
        laid=solution,
    )


@dataclass(slots=True, kw_only=True)
class _Base:
    """The base's side, where tests may hang or eat all memory.

    It gets ten times the time that the solution took, so that a base that hangs does not cost the
    whole limit each time; an empty diff is graded with the whole limit afterwards. A test that cut
    a run off is left out of the next ones, so that those behind it are seen.
    """

    bench: Bench
    case: Case
    staged: Guarded
    stuck: dict[str, str] = field(default_factory=dict)
    seconds: float = _LEAST_SECONDS

    def allow(self, taken: float) -> None:
        """Set the time limit by what a run of the solution took."""
        self.seconds = min(self.bench.limits.seconds, max(self.seconds, _SLOWER * taken))

    def run(self, number: int) -> TestRun:
        """Run the tests once, again without each that cuts the run off."""
        while True:
            run = self._once(number)
            unseen = (test for test in run.collected if test not in run.outcomes)
            culprit = next(unseen, "") if run.reported_exit is None else ""
            if not culprit or culprit in self.stuck or len(self.stuck) >= _MOST_STUCK:
                return run
            self.stuck[culprit] = _WORDS.get(run.ended, "ends the process")

    def _once(self, number: int) -> TestRun:
        bench = replace(self.bench, limits=replace(self.bench.limits, seconds=self.seconds))
        variables = _seed(number)
        if self.stuck:
            variables["LABKIT_LEAVE_OUT"] = json.dumps(sorted(self.stuck))
        return run_hidden(bench, self.case, self.staged, variables)


def _seed(number: int) -> dict[str, str]:
    return {"PYTHONHASHSEED": str(number)}
