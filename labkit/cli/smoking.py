"""`labkit task run --smoke`: a few tasks again, on a new version of an agent, say.

What comes of it is no part of the study: it has a folder of its own, and no figure counts it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from labkit.cli.chosen import meant_runs
from labkit.cli.console import say
from labkit.cli.lab import Lab
from labkit.configurations import read_configurations
from labkit.errors import PhaseError, refuse
from labkit.fields import json_text, read_json
from labkit.phases import progress
from labkit.plan import PlannedRun
from labkit.records import SCHEMA, RunRecord, load_run
from labkit.settings import Person
from labkit.spending import amount
from labkit.workspace import replace as write_file
from labkit_runner.preflight import configuration_digest

_PIN = "configurations.json"
_WORTH_SECONDS = 60
"""Shorter runs differ in their time by how busy the machine is."""
_MUCH = 1.5
"""A figure that is so many times the other one is worth a word."""


def smoke_runs(lab: Lab, person: Person, words: Sequence[str]) -> tuple[PlannedRun, ...]:
    """Return the first attempts of the smoke subset, or those of them that are named.

    Raises PhaseError when there is none.
    """
    tasks = lab.settings.smoke
    if not tasks:
        raise PhaseError(
            "no smoke subset is chosen",
            hint="name about five tasks in evals/labkit.yaml: smoke: [task-1, task-2]",
        )
    planned = progress(lab.workspace).planned
    known = {item.run.task for item in planned}
    refuse(
        [f"smoke names {task}, which is no task of the frozen suite" for task in tasks
         if task not in known],
        hint="labkit task list shows the tasks",
    )  # fmt: skip
    subset = [item for item in planned if item.run.task in tasks and item.run.attempt == 1]
    meant = meant_runs([item.run for item in subset], words)
    return tuple(replace(item, runner=person.name) for item in subset if item.run in meant)


def round_of(lab: Lab, runs: Sequence[PlannedRun]) -> Path:
    """Return the folder of the rerun that is not complete yet, else of a new one.

    One whose configurations were others is not gone on with: half of it would be of something else.
    """
    earlier = lab.workspace.smokes()
    new = lab.workspace.smoke(len(earlier) + 1)
    if not earlier or not left_of(earlier[-1], runs):
        return new
    if changed := _changed(lab, earlier[-1]):
        say(
            f"rerun {earlier[-1].name} stays incomplete: {changed} since it was begun, "
            f"so rerun {new.name} begins"
        )
        return new
    return earlier[-1]


def pin(lab: Lab, folder: Path) -> None:
    """Write down in a rerun's folder which configurations it is of."""
    if not (folder / _PIN).exists():
        write_file(folder / _PIN, json_text({"schema": SCHEMA, "configurations": _digests(lab)}))


def _digests(lab: Lab) -> dict[str, str]:
    found = read_configurations(lab.workspace)
    return {str(each.id): configuration_digest(lab.workspace, each) for each in found}


def _changed(lab: Lab, folder: Path) -> str:
    """Say which configurations are no longer those of a rerun; empty when all are."""
    if not (folder / _PIN).is_file():
        return "its configurations were not written down"
    then, now = read_json(folder / _PIN, schema=SCHEMA)["configurations"], _digests(lab)
    letters = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
    if not letters:
        return ""
    return f"configuration{'s' if len(letters) > 1 else ''} {', '.join(letters)} changed"


def left_of(folder: Path, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
    """Return the runs that a rerun lacks."""
    return tuple(item for item in runs if not (folder / str(item.run) / "run.json").is_file())


def compared(lab: Lab, folder: Path, runs: Sequence[PlannedRun]) -> Iterator[str]:
    """Yield, in words, how each run of a rerun differs from the study's own."""
    for item in runs:
        now = folder / str(item.run) / "run.json"
        if not now.is_file():
            yield f"{item.run}: not run now"
            continue
        then = lab.workspace.run(item.run) / "run.json"
        if not then.is_file():
            yield f"{item.run}: now {_told(load_run(now))}; the study's own run is not here"
            continue
        yield f"{item.run}: {difference(load_run(then), load_run(now))}"


def difference(then: RunRecord, now: RunRecord) -> str:
    """Say how a run that was repeated differs from the study's own."""
    changed = [
        f"{name} {before or 'unknown'} then, {after or 'unknown'} now"
        for name, before, after in (
            ("version", then.agent_version, now.agent_version),
            ("program", then.binary_digest[:12], now.binary_digest[:12]),
            ("model", then.model, now.model),
            ("sandbox", then.sandbox, now.sandbox),
            ("ending", then.ending.replace("_", " "), now.ending.replace("_", " ")),
        )
        if before != after
    ]
    for name, was, is_now in (
        ("turns", then.turns, now.turns),
        ("tokens", then.tokens, now.tokens),
        ("cost", then.cost, now.cost),
        ("seconds", then.seconds, now.seconds),
    ):
        if not was or not is_now or (name == "seconds" and max(was, is_now) < _WORTH_SECONDS):
            continue
        if not 1 / _MUCH < is_now / was < _MUCH:
            changed.append(f"{name} {_figure(name, was)} then, {_figure(name, is_now)} now")
    changed.append(_trees(then, now))
    return "; ".join(changed)


def _figure(name: str, value: float) -> str:
    return amount("cost", value) if name == "cost" else f"{value:,.0f}"


def _trees(then: RunRecord, now: RunRecord) -> str:
    if then.result_tree == now.result_tree:
        return "the very same change"
    for record, when in ((then, "then"), (now, "now")):
        if record.result_tree == record.base_tree:
            return f"no change {when}"
    return "another change"


def _told(record: RunRecord) -> str:
    return f"{record.ending.replace('_', ' ')} after {record.seconds:.1f} s"
