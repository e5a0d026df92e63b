"""Rehearsals that passed on this machine within a day, so that none is played twice for nothing."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from labkit import __version__
from labkit.fields import canonical_json, first_words
from labkit.plan import PlannedRun
from labkit.suite import digest
from labkit.workspace import cache_folder
from labkit_runner.preflight import configuration_digest
from labkit_runner.session import Session

_A_DAY = 24 * 3600.0


def rehearse(session: Session, ready: Sequence[PlannedRun], begin: Callable[[str], None]) -> str:
    """Rehearse what was not rehearsed already; return a remark on what was, empty for none."""
    keys = {item: _key(session, item) for item in ready if _asks_a_model(session, item)}
    fresh = [item for item, key in keys.items() if not _is_known(key)]
    session.rehearse(fresh, lambda arm: begin(str(arm.configuration.id)))
    for item in fresh:
        _remember(keys[item])
    begun = {item.run.configuration for item in fresh}
    known = sorted({str(item.run.configuration) for item in keys} - set(map(str, begun)))
    return f"rehearsed already within a day: configuration {first_words(known)}" if known else ""


def _asks_a_model(session: Session, item: PlannedRun) -> bool:
    return session.arms[item.run.configuration].route is not None


def _key(session: Session, item: PlannedRun) -> str:
    """Return the digest of all that a rehearsal on a run's base depends on."""
    arm, task = session.arms[item.run.configuration], session.tasks[item.run.task]
    place = arm.surroundings.get(task.id) or session.surroundings.get(task.id)
    return digest(
        canonical_json(
            {
                "labkit": __version__,
                "sandbox": session.bench.sandbox.name,
                "image": place.image if place else session.bench.image,
                "program": str(sorted(arm.readback.items())),
                "configuration": configuration_digest(session.workspace, arm.configuration),
                "provider": str(arm.provider),
                "base": str(task.base),
            }
        )
    )


def _folder() -> Path:
    return cache_folder() / "rehearsals"


def _is_known(key: str) -> bool:
    try:
        return time.time() - (_folder() / key).stat().st_mtime < _A_DAY
    except OSError:
        return False


def _remember(key: str) -> None:
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if not _is_known(path.name):
            path.unlink(missing_ok=True)
    (folder / key).touch()
