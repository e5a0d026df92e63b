"""Running a candidate on a suite: n samples of every case, each in a fresh folder, all kept."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from labkit.errors import InputError, LabkitError
from labkit.evals.arguments import (
    ks_of,
    require_callable,
    require_timeout,
    require_whole,
    texts_of,
    word_of,
)
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.crew import Work, work_through
from labkit.evals.one import Attempted, Job, Ready, as_asked, as_graded, attempt, overdue, settle
from labkit.evals.report import RunReport
from labkit.evals.results import CaseResult, Policy
from labkit.evals.runfolder import SHOWN, RunFolder, rollout_of
from labkit.evals.sample import Candidate, Sample
from labkit.evals.scratch import Cupboard, Remover, move, remove
from labkit.evals.store import Memory, Store
from labkit.graders import GRADERS, Registry, Tools, lacking
from labkit.graders.values import shown_type


class Keep(StrEnum):
    """Whose scratch folders are kept, where a run has a folder to keep them in."""

    ALL = "all"
    FAILED = "failed"
    """Of samples that did not pass, the missing ones among them."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is; given to whoever watches, after each sample."""

    sample: Sample
    done: int
    planned: int


def settled(settings: object) -> None:
    """Read the settings that a runner and a harness share, texts as the words they stand for.

    Raises ValueError or TypeError for settings that make no sense.
    """
    values = {name: getattr(settings, name) for name in ("n", "workers", "seed", "timeout", "ks")}
    require_whole(values["n"], "n", 1)
    require_whole(values["workers"], "workers", 1)
    require_whole(values["seed"], "seed")
    require_timeout(values["timeout"])
    object.__setattr__(settings, "ks", ks_of(values["ks"], values["n"]))
    for name, words in (("policy", Policy), ("keep", Keep)):
        object.__setattr__(settings, name, word_of(getattr(settings, name), words, name))


@dataclass(frozen=True, kw_only=True)
class EvalRunner:
    """Runs one candidate. Raises ValueError or TypeError for settings that make no sense.

    A callable runs in labkit's own process, and is trusted as code of one's own is: it can be left
    behind when it hangs, and no more. `labkit.evals.Hosted` and `Command` hold more back.
    """

    candidate: Candidate
    n: int = 1
    """Samples of each case."""
    seed: int = 0
    """Sample k of every case is given `seed + k - 1`."""
    policy: Policy = Policy.ALL
    workers: int = 1
    """Threads that take samples at the same time; figures do not depend on it."""
    timeout: float | None = None
    """Seconds that a callable may take for one sample."""
    tools: Tools = field(default_factory=Tools)
    graders: Registry = GRADERS
    name: str = ""
    """What the candidate is called in reports; empty: the callable's own name."""
    code: str = ""
    """A digest of the candidate's own code; empty: its attribute `code`, if it has one."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Plain values of whatever else decides a verdict: a run goes on only with the same."""
    ks: tuple[int, ...] = ()
    keep: Keep = Keep.ALL
    notes: tuple[str, ...] = ()
    progress: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        require_callable(self.candidate)
        settled(self)
        object.__setattr__(self, "notes", texts_of(self.notes, "notes"))

    def run(
        self,
        suite: EvalSuite,
        *,
        split: Split | str | None = None,
        ids: Sequence[str] = (),
        folder: Path | str | None = None,
        retry_missing: bool = False,
    ) -> RunReport:
        """Take the samples that are missing, and return the report of all.

        With a `folder`, every sample is written there when it ends, and a run that was cut short
        goes on where it was; `retry_missing` takes errored and ungraded samples again. Raises
        InputError for an empty suite, and for a folder that holds another run; ToolError when the
        disk does not take what is written.
        """
        if not isinstance(suite, EvalSuite):
            raise TypeError(f"a runner is given an EvalSuite, and this is {shown_type(suite)}")
        split = word_of(split, Split, "split") if split is not None else None
        folder = Path(folder) if folder is not None else None
        whole, chosen = suite.only(split), _chosen(suite, split, ids)
        report = self._empty(whole, chosen, split)
        home = RunFolder.take(folder, self._facts(report, ids)) if folder else None
        store = Store(folder / "samples.jsonl") if folder else Memory()
        if retry_missing and isinstance(store, Store):
            store.forget_missing()
        with closing(store):
            cupboard = Cupboard()
            ready, problems = self._prepared(chosen, cupboard)
            self._sampled(ready, store, folder, cupboard)
            cases = tuple(
                replace(self._result(case, store, problems), digest=_known_digest(case, whole))
                for case in chosen.cases
            )
        report = replace(report, cases=cases, folder=folder)
        if home:
            home.finish(report)
        return report

    @property
    def _code(self) -> str:
        return self.code or str(getattr(self.candidate, "code", None) or "")

    def _facts(self, report: RunReport, ids: Sequence[str]) -> dict[str, object]:
        """Return what a folder has to say of itself to be this run's."""
        return {
            "suite": report.suite,
            "suite_version": report.suite_version,
            "split": report.split,
            "candidate": report.candidate,
            "code": self._code,
            "n": self.n,
            "seed": self.seed,
            "ids": sorted(ids),
            "policy": str(self.policy),
            "settings": {"timeout": self.timeout, **self.settings},
        }

    def _empty(self, whole: EvalSuite, chosen: EvalSuite, split: Split | None) -> RunReport:
        return RunReport(
            suite=whole.name,
            suite_version=whole.version,
            candidate=self.name or getattr(self.candidate, "__qualname__", "") or "candidate",
            code=self._code[:SHOWN],
            split=str(split) if split else "all",
            subset=len(chosen.cases) < len(whole.cases),
            n=self.n,
            seed=self.seed,
            policy=self.policy,
            ks=self.ks,
            notes=self.notes,
            cases=(),
        )

    def _prepared(self, suite: EvalSuite, cupboard: Cupboard) -> tuple[list[Ready], dict[str, str]]:
        """Build what can be run, and say why the rest cannot."""
        ready, problems = [], {}
        for case in suite.cases:
            try:
                if case.problem:
                    raise InputError(case.problem)
                grader = self.graders.build(case.grader_spec, tools=self.tools, place=case.id)
                if why := lacking(grader, as_graded(case)):
                    raise InputError(why)
                cupboard.files(case.folder)
                ready.append(Ready(case=case, asked=as_asked(case), grader=grader))
            except (LabkitError, OSError) as error:
                problems[case.id] = str(error)
        return ready, problems

    def _sampled(
        self,
        ready: Sequence[Ready],
        store: Store | Memory,
        folder: Path | None,
        cupboard: Cupboard,
    ) -> None:
        planned = len(ready) * self.n
        done = sum(
            (each.case.id, number) in store for each in ready for number in range(1, self.n + 1)
        )
        root = tempfile.mkdtemp(prefix="labkit-evals-")
        remover = Remover()
        try:
            for job, sample in self._taken(self._jobs(ready, store, root, cupboard)):
                kept = self._put_away(job, sample, folder, remover)
                store.add(kept)
                done += 1
                if self.progress:
                    self.progress(Progress(sample=kept, done=done, planned=planned))
        finally:
            remover.close()
            remove(root)

    def _jobs(
        self, ready: Sequence[Ready], store: Store | Memory, root: str, cupboard: Cupboard
    ) -> Iterator[Job]:
        place = 0
        for number in range(1, self.n + 1):
            for each in ready:
                if (each.case.id, number) not in store:
                    place += 1
                    yield Job(
                        ready=each,
                        files=cupboard.files(each.case.folder),
                        number=number,
                        seed=self.seed + number - 1,
                        scratch=f"{root}/{place}",
                    )

    def _taken(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Sample]]:
        work: Work[Job, Attempted, tuple[Job, Sample]] = Work(
            attempt=partial(attempt, self.candidate),
            settle=lambda job, attempted: (job, settle(job, attempted)),
            overdue=lambda job, seconds: (job, overdue(job, seconds)),
        )
        return work_through(jobs, work, workers=self.workers, timeout=self.timeout)

    def _put_away(self, job: Job, sample: Sample, folder: Path | None, remover: Remover) -> Sample:
        """Keep the scratch folder or remove it."""
        wanted = self.keep is Keep.ALL or (self.keep is Keep.FAILED and sample.passed is not True)
        replaced = os.path.islink(job.scratch)  # noqa: PTH114 - for each sample
        if folder is None or not wanted or replaced:
            remover.remove(job.scratch)
            return sample
        name = rollout_of(sample.case, sample.number)
        try:
            move(job.scratch, f"{folder}/{name}")
        except OSError:
            return sample
        return replace(sample, rollout=name)

    def _result(
        self, case: EvalCase, store: Store | Memory, problems: dict[str, str]
    ) -> CaseResult:
        trials, samples = store.of(case.id, self.n)
        return CaseResult(
            id=case.id,
            planned=self.n,
            trials=trials,
            samples=samples,
            slices=tuple(sorted(case.slices)),
            tags=tuple(sorted(case.tags)),
            policy=self.policy,
            problem=problems.get(case.id, ""),
        )


def _chosen(suite: EvalSuite, split: Split | None, ids: Sequence[str]) -> EvalSuite:
    """Return what is to be run; raises InputError when that is nothing."""
    chosen = suite.only(split, ids)
    if not chosen.cases:
        raise InputError(
            f"suite {suite.name} has no case" + (f" in the {split} split" if split else ""),
            hint="labkit suite list lists the cases, each with its split",
        )
    return chosen


def _known_digest(case: EvalCase, suite: EvalSuite) -> str:
    """Return what a report may say of a case's content: of a test case nothing."""
    return "" if case.split is Split.TEST else suite.digests[case.id]
