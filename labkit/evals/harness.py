"""The harness of fixture tasks: a plain function on tasks of a folder, and what came of it."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from labkit.evals.arguments import paths_of, require_callable
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.escape import watched
from labkit.evals.fixtures import FixtureTask
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult, Policy
from labkit.evals.runner import EvalRunner, Keep, settled
from labkit.evals.sample import Answer, Candidate, Replacement, Status, Trial
from labkit.evals.setups import prepared
from labkit.evals.verifiers import VerifierRegistry
from labkit.graders import Registry, Tools
from labkit.graders.values import shown_type
from labkit.stats import pass_at_k, pass_hat_k

_NAME = "fixtures"


@dataclass(frozen=True, slots=True)
class SampleResult:
    """What a candidate says of one sample. Nothing of it is believed: the verifier decides."""

    success_self_reported: bool | None = None
    latency_ms: float | None = None
    """None: what the harness measured."""
    cost_units: float | None = None
    edits: Sequence[Replacement | str] = ()
    """Exact edits, which are applied to the scratch folder, all or none. A text is the path of a
    file that the candidate says it changed itself: it is kept, and no more."""
    diff: str | None = None
    """A unified diff that is applied to the scratch folder, instead of exact edits."""
    trace: Sequence[Mapping[str, Any]] = ()


FixtureCandidate = Callable[[FixtureTask, str], SampleResult]
"""Works on a task in a scratch folder of its own, whose path it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """What all samples of one task say together."""

    task: FixtureTask
    result: CaseResult

    @property
    def id(self) -> str:
        """The task's id."""
        return self.task.id

    @property
    def passed(self) -> bool | None:
        """Whether it is passed under the run's policy; None: missing samples could decide."""
        return self.result.passed

    def pass_at(self, k: int) -> float | None:
        """Return pass@k; None with fewer than k valid samples."""
        valid = self.result.valid_trials
        return pass_at_k(valid, self.result.passes, k) if 1 <= k <= valid else None

    def pass_hat(self, k: int) -> float | None:
        """Return pass^k; None with fewer than k valid samples."""
        valid = self.result.valid_trials
        return pass_hat_k(valid, self.result.passes, k) if 1 <= k <= valid else None

    def count(self, status: Status) -> int:
        """Return how many samples came by their verdict in this way."""
        return sum(trial.status is status for trial in self.result.trials)

    @property
    def crashes(self) -> int:
        """Samples without an answer, because the candidate raised: missing data."""
        return self.count(Status.ERRORED)

    @property
    def hangs(self) -> int:
        """Samples that had not ended in their time."""
        return self.count(Status.TIMEOUT)

    @property
    def escapes(self) -> int:
        """Samples that wrote outside their scratch folder."""
        return self.count(Status.ESCAPED)

    @property
    def lies(self) -> int:
        """Failed samples whose candidate claimed success."""
        return sum(trial.lied for trial in self.result.trials)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport:
    """One candidate on fixture tasks."""

    run: RunReport
    """The same as of any suite: figures, safety, coverage, files; a gate takes it."""
    tasks: tuple[TaskReport, ...]
    """In the order of their ids."""

    def task(self, name: str) -> TaskReport:
        """Return one task's report; raises KeyError."""
        for task in self.tasks:
            if task.id == name:
                return task
        raise KeyError(name)

    def pass_at(self, k: int) -> float | None:
        """Return the mean pass@k over tasks with k valid samples; None when there are none."""
        return _mean([task.pass_at(k) for task in self.tasks])

    def pass_hat(self, k: int) -> float | None:
        """Return the mean pass^k over tasks with k valid samples; None when there are none."""
        return _mean([task.pass_hat(k) for task in self.tasks])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class EvalHarness:
    """Runs candidates on fixture tasks, each sample in a fresh copy of what the task starts from.

    A candidate is a function in this process, trusted as one's own code is: it is given the whole
    task. Where it writes outside its scratch folder by mistake, it is stopped. For candidates that
    are not trusted, `measure` takes those that `labkit.evals` runs in processes of their own.
    """

    tasks: Sequence[FixtureTask]
    _: KW_ONLY
    verifiers: Registry = field(default_factory=VerifierRegistry)
    n: int = 1
    """Samples of each task."""
    seed: int = 0
    tools: Tools = field(default_factory=Tools)
    """The sandbox for setups and verifiers that run something."""
    policy: Policy = Policy.ALL
    workers: int = 1
    timeout: float | None = None
    """Seconds that the candidate may take for one sample."""
    ks: tuple[int, ...] = ()
    keep: Keep = Keep.ALL
    allow: tuple[Path, ...] = ()
    """Where else a candidate may write."""

    def __post_init__(self) -> None:
        """Raise ValueError or TypeError for settings that make no sense."""
        if isinstance(self.tasks, str | Path):
            raise TypeError(
                f"a harness is given tasks, not the path {str(self.tasks)[:60]!r}: "
                "read_fixtures reads a folder of them"
            )
        for task in self.tasks:
            if not isinstance(task, FixtureTask):
                raise TypeError(f"a harness is given FixtureTask, and this is {shown_type(task)}")
        settled(self)
        object.__setattr__(self, "allow", paths_of(self.allow, "allow"))

    def run(
        self,
        candidate: FixtureCandidate,
        *,
        split: Split | str | None = None,
        ids: Sequence[str] = (),
        folder: Path | str | None = None,
    ) -> EvalReport:
        """Run a candidate; the rest is as in `EvalRunner.run`, which raises what this raises."""
        require_callable(candidate)
        known = {task.id: task for task in self.tasks}

        def answer(case: EvalCase, trial: Trial) -> Answer:
            return _answer(candidate(known[case.id], str(trial.scratch)))

        answer.__qualname__ = getattr(candidate, "__qualname__", "candidate")
        return self.measure(
            watched(answer, allow=self.allow), split=split, ids=ids, folder=folder,
            name=answer.__qualname__,
        )  # fmt: skip

    def measure(
        self,
        candidate: Candidate,
        *,
        split: Split | str | None = None,
        ids: Sequence[str] = (),
        folder: Path | str | None = None,
        name: str = "",
    ) -> EvalReport:
        """Run a candidate of `labkit.evals`, which is given the goal and the files, no more."""
        runner = EvalRunner(
            candidate=candidate, n=self.n, seed=self.seed, policy=self.policy,
            workers=self.workers, timeout=self.timeout, tools=self.tools, graders=self.verifiers,
            name=name, ks=self.ks, keep=self.keep,
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="labkit-setup-") as made:
            suite = self._suite(Path(made), split, ids)
            report = runner.run(suite, split=split, ids=ids, folder=folder)
        known = {task.id: task for task in self.tasks}
        return EvalReport(
            run=report,
            tasks=tuple(TaskReport(task=known[case.id], result=case) for case in report.cases),
        )

    def _suite(self, made: Path, split: Split | str | None, ids: Sequence[str]) -> EvalSuite:
        """Return all tasks as a suite; only those that will be run are set up."""
        suite = EvalSuite([task.case() for task in self.tasks], _NAME)
        wanted = {case.id for case in suite.only(split, ids).cases}
        ready = prepared([task for task in self.tasks if task.id in wanted], self.tools, made)
        rest = [case for case in suite.cases if case.id not in wanted]
        return EvalSuite([*ready, *rest], _NAME)


def _answer(result: object) -> Answer:
    """Return what a candidate said as the runner takes it; raises TypeError for anything else."""
    if not isinstance(result, SampleResult):
        raise TypeError(f"a candidate returns a SampleResult, and this is {shown_type(result)}")
    edits = tuple(each for each in result.edits if not isinstance(each, str))
    claimed = [each for each in result.edits if isinstance(each, str)]
    return Answer(
        output={"edits": claimed} if claimed else None,
        trace=result.trace,
        latency_ms=result.latency_ms,
        cost=result.cost_units,
        success_self_reported=result.success_self_reported,
        diff=result.diff,
        replacements=edits or None,
    )
