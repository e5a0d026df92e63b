"""What `labkit evaluate` does: a candidate on the train or the val split, resumable."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.evalruns import Asked, Plan, Session, Watch, locked, told, word
from labkit.cli.lab import now
from labkit.errors import InputError, IntegrityError, PhaseError
from labkit.evals.case import EvalSuite, Split
from labkit.evals.named import Named
from labkit.evals.probe import Nature, probe
from labkit.evals.reportfile import NAME
from labkit.evals.runfolder import MADE_OF, SCHEMA
from labkit.evals.runner import Keep
from labkit.evals.suitefile import SuiteFile, read_suite
from labkit.fields import counted, read_json

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
    _tell_problems(cases)
    with session.candidate() as candidate:
        facts = _facts(asked, found.suite.only(split), split, candidate, ids)
        with _folder(found, wanted, split, facts) as folder:
            notes = [*candidate.notes(cases), *_nature(asked, wanted, candidate, cases)]
            plan = Plan(
                split=split,
                ids=ids,
                folder=folder,
                keep=keep,
                notes=tuple(notes),
                retry=wanted.retry,
            )
            try:
                report = session.measure(candidate, found, plan)
            except KeyboardInterrupt:
                say(f"\n{_so_far(session.watch)} in {folder}")
                raise
    return told(report, as_json=asked.as_json)


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


def _nature(asked: Asked, wanted: Wanted, candidate: Named, cases: EvalSuite) -> Iterator[str]:
    """Yield what the figures of this candidate can and cannot say, and say it at once."""
    deterministic = candidate.deterministic
    if wanted.probe:
        found = probe(candidate, cases.cases, seeds=(asked.seed, asked.seed + 1))
        deterministic = found.nature is Nature.DETERMINISTIC
        say(f"labkit: probe: {found.words}")
        yield found.words
    if asked.n == 1 and not deterministic:
        say(f"labkit: warning: -n 1: {_ONE}")
        yield f"{_ONE[0].upper()}{_ONE[1:]}."


def _facts(
    asked: Asked, suite: EvalSuite, split: Split, candidate: Named, ids: tuple[str, ...]
) -> dict[str, object]:
    """Return what a run's folder has to say of itself to be this run's."""
    return {
        "suite_version": suite.version,
        "split": str(split),
        "candidate": candidate.name,
        "n": asked.n,
        "seed": asked.seed,
        "ids": sorted(ids),
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
    if (folder / MADE_OF).exists():
        say(f"going on with the run in {folder}")
    with locked(folder):
        yield folder


def _earlier(
    found: SuiteFile, wanted: Wanted, split: Split, facts: Mapping[str, object]
) -> Path | None:
    """Return the newest run like this one that nobody is at and that is not finished.

    With `--retry-errored`, a finished one too; raises InputError when there is none.
    """
    for folder in sorted(found.runs.glob(f"*-{split}"), reverse=True):
        open_ = wanted.retry or not (folder / NAME).exists()
        if open_ and _is_same(folder, facts) and _is_free(folder):
            return folder
    if wanted.retry:
        raise InputError(
            f"no earlier run of {facts['candidate']} like this one in {found.runs}",
            hint="--out names its folder; the same split, -n, --seed and --ids are needed",
        )
    return None


def _is_same(folder: Path, facts: Mapping[str, object]) -> bool:
    try:
        there = read_json(folder / MADE_OF, schema=SCHEMA)
    except (InputError, IntegrityError):
        return False
    return all(there.get(name) == value for name, value in facts.items())


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
