"""What `labkit evaluate` does: a candidate on the train or the val split, resumable."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.evalruns import Asked, Plan, Session, Watch, locked, word
from labkit.cli.evaltold import told
from labkit.cli.lab import now
from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.evals.case import EvalSuite, Split
from labkit.evals.named import Named
from labkit.evals.probe import Nature, Probed, probe
from labkit.evals.report import RunReport
from labkit.evals.reportfile import NAME
from labkit.evals.runfolder import MADE_OF, SCHEMA, RunFolder, differences
from labkit.evals.runner import Keep
from labkit.evals.suitefile import SuiteFile, read_suite
from labkit.fields import counted, read_json
from labkit.graders import Tools

_ONE = "within-task variance and pass^k cannot be estimated from one trial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was typed, for this command alone."""

    split: str
    ids: str
    out: Path | None
    retry: bool
    keep: str
    probe: bool


def evaluate(asked: Asked, wanted: Wanted) -> int:
    """Measure, tell the figures, and return the exit code."""
    split = _split(wanted.split)
    keep = word(wanted.keep, Keep, "--keep")
    session = Session.of(asked)
    found = read_suite(asked.suite, image=asked.image)
    ids = tuple(dict.fromkeys(name.strip() for name in wanted.ids.split(",") if name.strip()))
    cases = _cases(found.suite, split, ids)
    session.require_sense(found, cases)
    _tell_problems(cases)
    with session.candidate() as candidate:
        chosen = {case.id for case in cases.cases}
        tools = session.tools(found, chosen)
        facts = _facts(session, found.suite.only(split), candidate, tools) | {
            "split": str(split),
            "ids": sorted(ids),
        }
        with (
            _folder(found, wanted, split, facts) as folder,
            session.set_up(found, chosen, tools) as suite,
        ):
            plan = Plan(split=split, ids=ids, folder=folder, keep=keep, retry=wanted.retry)
            report = _measured(session, wanted, _Run(candidate, suite, tools, plan))
    return told(report, as_json=asked.as_json)


@dataclass(frozen=True, slots=True)
class _Run:
    """What is about to be measured."""

    candidate: Named
    suite: EvalSuite
    tools: Tools
    plan: Plan

    @property
    def cases(self) -> EvalSuite:
        return self.suite.only(self.plan.split, self.plan.ids)


def _measured(session: Session, wanted: Wanted, run: _Run) -> RunReport:
    """Say what is known of the candidate beforehand, and measure it."""
    notes = [*run.candidate.notes(run.cases)]
    for note in notes:
        say(f"labkit: warning: {note}")
    nature = _probed(session.asked, wanted, run)
    if nature:
        notes.append(nature.words)
    if session.asked.n == 1 and not run.candidate.deterministic:
        say(f"labkit: warning: -n 1: {_ONE}")
        notes.append(f"{_ONE[0].upper()}{_ONE[1:]}.")
    if (run.plan.folder / MADE_OF).exists():
        say(f"going on with the run in {run.plan.folder}")
    plan = replace(run.plan, notes=tuple(notes))
    try:
        report = session.measure(run.candidate, run.suite, run.tools, plan)
    except KeyboardInterrupt:
        say(f"\n{_so_far(session.watch)} in {plan.folder}")
        raise
    if nature and nature.nature is Nature.DETERMINISTIC and report.figures.flakes:
        flaky = counted(report.figures.flakes, "case")
        say(f"labkit: warning: the probe saw no difference, and samples of {flaky} differ")
    return report


def _so_far(watch: Watch) -> str:
    return (
        f"{watch.done} of {counted(watch.planned, 'sample')} are kept"
        if watch.planned
        else "no sample was finished; the run is"
    )


def _split(text: str) -> Split:
    if text == Split.TEST:
        raise InputError(
            "labkit evaluate never runs the test split: what is looked at often is learned",
            hint="labkit finalize scores it, once, when the candidate is final",
        )
    if text not in (Split.TRAIN, Split.VAL):
        raise InputError(f"--split is {text!r}", hint="one of: train, val")
    return Split(text)


def _cases(suite: EvalSuite, split: Split, ids: tuple[str, ...]) -> EvalSuite:
    whole = suite.only(split)
    if not whole.cases:
        there = [f"{one} {len(suite.only(one).cases)}" for one in Split if suite.only(one).cases]
        raise InputError(
            f"suite {suite.name} has no case in the {split} split: nothing would be measured",
            hint=f"it has: {', '.join(there)}; a case says split: {split}",
        )
    return suite.only(split, ids)


def _tell_problems(cases: EvalSuite) -> None:
    for case in cases.cases:
        if case.problem:
            say(f"labkit: warning: {case.id} is never run: {case.problem}")


def _probed(asked: Asked, wanted: Wanted, run: _Run) -> Probed | None:
    """Return what a few samples say of the candidate, and say it at once; None: not asked for."""
    if not wanted.probe:
        return None
    found = probe(run.candidate, run.cases.cases, seeds=(asked.seed, asked.seed + 1))
    say(f"labkit: probe: {found.words}")
    return found


def _facts(session: Session, suite: EvalSuite, candidate: Named, tools: Tools) -> dict[str, object]:
    """Return what a run's folder has to say of itself to be this run's."""
    return {
        "suite_version": suite.version,
        "candidate": candidate.name,
        "code": candidate.code,
        "n": session.asked.n,
        "seed": session.asked.seed,
        "policy": str(session.policy),
        "settings": session.settings(candidate, tools),
    }


@contextmanager
def _folder(
    found: SuiteFile, wanted: Wanted, split: Split, facts: Mapping[str, object]
) -> Iterator[Path]:
    """Give the folder of this run, and keep other commands out of it."""
    folder = wanted.out or _earlier(found, wanted, split, facts) or _fresh(found, split)
    if (folder / NAME).exists() and not wanted.retry and _is_same(folder, facts):
        raise InputError(
            f"{folder} holds a finished run, and a run is never overwritten",
            hint="choose another folder; --retry-errored takes samples without a verdict again",
        )
    with locked(folder):
        if (folder / MADE_OF).is_file():
            RunFolder.take(folder, facts)
        yield folder


def _earlier(
    found: SuiteFile, wanted: Wanted, split: Split, facts: Mapping[str, object]
) -> Path | None:
    """Return the newest run like this one that nobody is at and that is not finished.

    With `--retry-errored`, a finished one too; raises InputError when there is none.
    """
    earlier = [
        folder
        for folder in sorted(found.runs.glob(f"*-{split}"), reverse=True)
        if wanted.retry or not (folder / NAME).exists()
    ]
    for folder in earlier:
        if _is_same(folder, facts) and _is_free(folder):
            return folder
    almost = next(filter(None, (_almost(folder, facts) for folder in earlier)), "")
    if wanted.retry:
        raise InputError(
            f"no earlier run of {facts['candidate']} like this one in {found.runs}{almost}",
            hint="--out names its folder; all but --keep, --ks and --workers has to be the same, "
            "and the candidate's code",
        )
    if almost:
        say(f"an earlier run is not gone on with{almost}")
    return None


def _differences(folder: Path, facts: Mapping[str, object]) -> list[str] | None:
    """Return in what a run differs; None for what is no run."""
    try:
        return [*differences(read_json(folder / MADE_OF, schema=SCHEMA), facts)]
    except (InputError, IntegrityError):
        return None


def _is_same(folder: Path, facts: Mapping[str, object]) -> bool:
    return _differences(folder, facts) == []


def _almost(folder: Path, facts: Mapping[str, object]) -> str:
    """Say in which one thing a run differs; nothing where it is more: it is another's."""
    found = _differences(folder, facts) or []
    return f": {folder} is of {found[0]}" if len(found) == 1 else ""


def _is_free(folder: Path) -> bool:
    try:
        with locked(folder):
            return True
    except PhaseError:
        return False


def _fresh(found: SuiteFile, split: Split) -> Path:
    name = f"{now():%Y%m%d-%H%M%S}"
    folder, count = found.runs / f"{name}-{split}", 1
    while folder.exists():
        count += 1
        folder = found.runs / f"{name}.{count}-{split}"
    return folder
