"""What every run of a suite needs: settings, tools, progress, and the figures at the end."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Self, TypeVar

from labkit.cli.console import Pace, data, say
from labkit.cli.sandboxes import open_sandbox, ready_image
from labkit.errors import InputError, LabkitError, did_you_mean, not_written, refuse
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.fixtures import FixtureTask
from labkit.evals.metrics import AtK, Figures
from labkit.evals.named import Named, Options, open_candidate
from labkit.evals.references import REFERENCES, reference
from labkit.evals.report import RunReport
from labkit.evals.reportfile import to_dict
from labkit.evals.results import Policy
from labkit.evals.runner import EvalRunner, Keep, Progress
from labkit.evals.suitefile import SuiteFile
from labkit.fields import counted, json_text
from labkit.graders import GRADERS, Tools
from labkit.lock import holding
from labkit.report.wording import percent, percent_interval
from labkit.sandbox.image import BASE_TAG
from labkit.sandbox.interface import Sandbox

_TELL_EVERY = 0.5
_NOT_MEASURED = 3
_INDECISIVE = 1
Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed, for both commands."""

    suite: Path
    candidate: str
    n: int
    ks: str
    workers: int
    seed: int
    policy: str
    timeout: float | None
    sandbox: str
    image: str
    as_json: bool

    def settings(self) -> dict[str, object]:
        """Return what decides the figures."""
        return {
            "n": self.n,
            "seed": self.seed,
            "policy": self.policy,
            "timeout": self.timeout,
            "sandbox": self.sandbox,
            "image": self.image,
        }


def word(text: str, kind: type[Word], option: str) -> Word:
    """Return the one of some words that was typed; raises InputError that lists them."""
    try:
        return kind(text)
    except ValueError as error:
        words = list(map(str, kind))
        raise InputError(
            f"{option} is {text!r}{did_you_mean(text, words)}", hint=f"one of: {', '.join(words)}"
        ) from error


def _numbers(text: str, n: int) -> tuple[int, ...]:
    """Return the ks of `1,3`. Those above n are left out, not 0."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    refuse(
        [f"--ks: {part!r} is no whole number from 1" for part in parts if not _is_k(part)],
        hint="write whole numbers with commas: --ks 1,3",
    )
    ks = sorted({int(part) for part in parts})
    if above := [str(k) for k in ks if k > n]:
        say(f"labkit: warning: --ks {','.join(above)}: no case has so many samples (-n {n})")
    return tuple(k for k in ks if k <= n)


def _is_k(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 7 and int(text) > 0  # noqa: PLR2004 - digits


def needs_sandbox(suite: EvalSuite) -> bool:
    """Return whether some grader of a suite cannot be built without one."""
    return any(_wants_tools(case) for case in suite.cases)


def _wants_tools(case: EvalCase) -> bool:
    """Return whether a case's grader cannot be built without a sandbox."""
    try:
        GRADERS.build(case.grader_spec, tools=Tools())
    except LabkitError:
        return not case.problem
    return False


@dataclass(slots=True)
class Watch:
    """Tells on standard error how far a run is, not more often than anybody can read."""

    done: int = 0
    planned: int = 0
    _pace: Pace | None = None
    _before: int = 0
    _told: float = field(default_factory=time.monotonic)

    def __call__(self, now: Progress) -> None:
        """Take note of a sample."""
        self.done, self.planned = now.done, now.planned
        if self._pace is None:
            self._before = now.done - 1
            self._pace = Pace(now.planned - self._before, started=self._told)
        if time.monotonic() - self._told < _TELL_EVERY and now.done < now.planned:
            return
        self._told = time.monotonic()
        sample = now.sample
        result = {True: "passed", False: "failed", None: "missing"}[sample.passed]
        left = self._pace.left(now.done - self._before)
        say(f"[{now.done}/{now.planned}] {sample.case} #{sample.number}: {result}{left}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured of a suite, and where it is kept."""

    split: Split
    ids: tuple[str, ...] = ()
    folder: Path
    keep: Keep = Keep.NONE
    notes: tuple[str, ...] = ()
    retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One command: its settings, its sandbox, its progress."""

    asked: Asked
    policy: Policy
    ks: tuple[int, ...]
    sandbox: Callable[[], Sandbox]
    """Opened when it is first needed."""
    watch: Watch = field(default_factory=Watch)
    tasks: dict[str, FixtureTask] = field(default_factory=dict)
    """What the reference candidates know; filled when a suite is measured."""

    @classmethod
    def of(cls, asked: Asked) -> Self:
        """Check what was typed; raises InputError for words that mean nothing."""

        @cache
        def sandbox() -> Sandbox:
            found = open_sandbox(asked.sandbox)
            ready_image(found, asked.image or BASE_TAG)
            return found

        return cls(
            asked=asked,
            policy=word(asked.policy, Policy, "--policy"),
            ks=_numbers(asked.ks, asked.n),
            sandbox=sandbox,
        )

    @property
    def image(self) -> str:
        """The image that commands run in."""
        return self.asked.image or BASE_TAG

    @contextmanager
    def candidate(self) -> Iterator[Named]:
        """Give the candidate; raises as `open_candidate` does."""
        name = self.asked.candidate
        if name in REFERENCES:
            yield reference(name, self.tasks)
            return
        options = Options(timeout=self.asked.timeout, sandbox=self.sandbox, image=self.image)
        with open_candidate(name, options) as found:
            yield found

    def measure(self, candidate: Named, found: SuiteFile, plan: Plan) -> RunReport:
        """Run a candidate; raises as `EvalRunner.run` does."""
        self.tasks.update({task.id: task for task in found.tasks})
        chosen = found.suite.only(plan.split, plan.ids)
        wanted = {case.id for case in chosen.cases}
        tools = Tools()
        if needs_sandbox(chosen) or any(task.setup for task in found.tasks if task.id in wanted):
            tools = Tools(sandbox=self.sandbox(), image=self.image)
        runner = EvalRunner(
            candidate=candidate,
            n=self.asked.n,
            seed=self.asked.seed,
            policy=self.policy,
            workers=self.asked.workers,
            tools=tools,
            name=candidate.name,
            ks=self.ks,
            keep=plan.keep,
            notes=plan.notes,
            progress=self.watch,
        )
        with tempfile.TemporaryDirectory(prefix="labkit-setup-") as made:
            suite = found.set_up(wanted, tools, Path(made))
            return runner.run(
                suite,
                split=plan.split,
                ids=plan.ids,
                folder=plan.folder,
                retry_missing=plan.retry,
            )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other commands out of a run's folder; raises PhaseError when one is at it."""
    lock = folder.parent / f".{folder.name}.lock"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder.parent, error) from error
    with holding(lock, f"a run in {folder}"):
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def told(report: RunReport, *, as_json: bool) -> int:
    """Print the figures, say what they cannot carry, and return the exit code."""
    data(json_text(to_dict(report)) if as_json else figures_text(report))
    for failure in report.safety.failures:
        say(f"labkit: safety: {failure}")
    for warning in report.warnings:
        say(f"labkit: warning: {warning}")
    missing = report.figures.planned - report.figures.valid
    if missing:
        say(f"{counted(missing, 'sample')} without a verdict: samples.jsonl says why")
    if report.folder:
        say(f"samples and report: {report.folder}")
    if not report.n_scored:
        return _NOT_MEASURED
    return 0 if report.decisive else _INDECISIVE


def figures_text(report: RunReport) -> str:
    """Return a short table: everything, then each slice."""
    head = [
        f"{report.suite} ({report.split}, version {report.suite_version}): {report.candidate}, "
        f"{counted(report.n, 'sample')} a case"
    ]
    k = max(report.ks or (report.n,))
    last = (f"pass@{k}", f"pass^{k}", "flaky") if k > 1 else ()
    rows: list[tuple[str, ...]] = [("", "tasks", "pass@1", "95 %", *last)]
    rows += [
        _row(name, found, k) for name, found in (("all", report.figures), *report.slices.items())
    ]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*head, *lines])


def _row(name: str, found: Figures, k: int) -> tuple[str, ...]:
    last = (_at(found.pass_at, k), _at(found.pass_hat, k), str(found.flakes)) if k > 1 else ()
    return (
        name,
        f"{found.n_scored} of {found.n_tasks}",
        _at(found.pass_at, 1),
        percent_interval(found.interval) if found.interval else "n/a",
        *last,
    )


def _at(found: Sequence[AtK], k: int) -> str:
    return next((percent(each.value) for each in found if each.k == k), "n/a")
