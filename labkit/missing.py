"""The records of runs that lack: who writes which, and what they say together.

`missing/<run>.json` is its planned runner's, and `missing/<run>.<member>.json` that of a member who
took the run over. Nobody touches another member's, so that git merges what two have written.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from labkit.fields import json_text
from labkit.model import RunId
from labkit.plan import read_plan
from labkit.records import MissingRecord, load_missing
from labkit.workspace import Workspace

Tried = Mapping[str, object]
"""A voided try, as records hold it."""


def planned_runners(workspace: Workspace) -> dict[RunId, str]:
    """Return whom the plan gives each run; nothing before the suite is frozen."""
    planned = read_plan(workspace) if workspace.plan.is_file() else ()
    return {item.run: str(item.runner) for item in planned}


def own_path(folder: Path, run: RunId, runner: str, planned: str) -> Path:
    """Return where a runner records that a run lacks, whoever it is planned for."""
    return folder / (f"{run}.json" if runner == planned else f"{run}.{runner}.json")


def paths(folder: Path, run: RunId) -> tuple[Path, ...]:
    """Return every record of a run, its planned runner's first."""
    planned = folder / f"{run}.json"
    first = (planned,) if planned.is_file() else ()
    return (*first, *sorted(folder.glob(f"{run}.*.json")))


def load(folder: Path, run: RunId) -> MissingRecord | None:
    """Return what all records of a run say together; None when there is none."""
    found = [load_missing(path) for path in paths(folder, run)]
    if not found:
        return None
    return MissingRecord(
        run=run,
        runner=found[0].runner,
        reasons=most(each.reasons for each in found),
        voided=united(*(each.voided for each in found)),
        lost=any(each.lost for each in found),
    )


def is_lost(folder: Path, run: RunId) -> bool:
    """Tell whether a run was given up, and not only broken off and still to be done."""
    return any(load_missing(path).lost for path in paths(folder, run))


def united(*several: tuple[Tried, ...]) -> tuple[Tried, ...]:
    """Return voided tries that several places tell of, each once, the earliest first.

    Two that one place tells of in the same words are two: a clock has only seconds.
    """
    by_text = {json_text(dict(each)): each for tries in several for each in tries}
    texts = most([json_text(dict(each)) for each in tries] for tries in several)
    return tuple(sorted((by_text[text] for text in texts), key=lambda e: str(e.get("when", ""))))


def most(several: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return what several places say, each as often as the place that says it most often."""
    found: Counter[str] = Counter()
    for said in several:
        found |= Counter(said)
    return tuple(found.elements())


def tries_of(folder: Path, run: RunId, of_run: tuple[Tried, ...] = ()) -> tuple[Tried, ...]:
    """Return every broken try of a run: those that its own record names, and all others."""
    lost = load(folder, run)
    return united(of_run, lost.voided if lost else ())


def settle(path: Path, reasons: tuple[str, ...], voided: tuple[Tried, ...]) -> bool:
    """Remove one's own record of a run that is done now; keep it when it tells of more tries.

    `reasons` and `voided` are what run.json says. Return whether it is gone.
    """
    if not path.is_file():
        return True
    lost = load_missing(path)
    tells_more = len(united(voided, lost.voided)) > len(voided)
    if tells_more or Counter(lost.reasons) - Counter(reasons):
        return False
    path.unlink()
    return True
