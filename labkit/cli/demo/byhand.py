"""What people do between the commands, done for them in the demo: writing, deciding, scoring."""

import csv
import shutil
from collections.abc import Mapping
from pathlib import Path

from labkit import journal
from labkit.cli.demo import sample
from labkit.cli.demo.stage import HOLDER, TEAM, Stage
from labkit.fields import Document, read_json
from labkit.model import BlindId, Member, RunId, TaskId
from labkit.nodes import dump_yaml
from labkit.settings import read_person
from labkit_instructor.blinding import open_blinding

_AFTER_RESULTS = "correctness"
_NO_MARKS = ("blind_id", "guess", "note")


def write_task(stage: Stage, task: sample.SampleTask) -> None:
    """Write the prompt, stronger hidden tests, and the task file's own fields."""
    name = TaskId(task.id)
    path = stage.workspace.task(name)
    made = Document.read(path)
    wanted = sample.document("tasks", task.id, "task.yaml")
    values: dict[str, object] = {
        field: made.text(field)
        for field in ("id", "author", "category", "base", "solution")
        if field in made
    }
    values |= {field: wanted.text(field) for field in ("title", "grading", "notes")}
    values |= {
        field: list(wanted.texts(field)) for field in ("forbidden", "allowed", "slices", "tags")
    }
    path.write_text(dump_yaml(values), encoding="utf-8")
    prompt = task.folder.joinpath("prompt.txt").read_bytes()
    stage.workspace.prompt(name).write_bytes(prompt)
    shutil.rmtree(stage.workspace.draft(name))
    sample.write_files(task.folder.joinpath("draft"), stage.workspace.draft(name))


def decide(stage: Stage) -> None:
    """Decide about every open hit of the leak check, with a reason."""
    expected = sample.document("expected.yaml").mapping("runs")
    me = next(iter(sample.people()))
    hits: dict[str, list[str]] = {"--confirm": [], "--clear": []}
    for hit in read_json(stage.workspace.leaks, schema=1)["hits"]:
        leaked = expected.mapping(hit["runs"][0]).flag("leak")
        hits["--confirm" if leaked else "--clear"].append(hit["id"])
    reasons = {
        "--confirm": "it went looking for evals/ above its work folder",
        "--clear": "read it: harmless, nothing of ours was there",
    }
    for decision, ids in hits.items():
        if ids:
            named = [word for hit in ids for word in (decision, hit)]
            reason = ("--reason", reasons[decision])
            stage.labkit("leaks", *named, *reason, "--me", me, expect=(0, 1))


def blind_names(stage: Stage) -> dict[BlindId, RunId]:
    """Return which run stands behind each blind id: the demo plays the holder too."""
    holder = Member(HOLDER)
    public = read_person(stage.workspace, holder).signing_key
    entries = journal.read(stage.workspace.log(holder), public=public)
    commitment = next(
        entry.event.digests["commitment"] for entry in entries if entry.event.action == "blind"
    )
    sealed = stage.workspace.blinding_key(TEAM).read_bytes()
    blinding = open_blinding(sealed, identity=stage.holder_identity(), commitment=commitment)
    return {blind: run for run, blind in blinding.names.items()}


def fill_in(
    sheet: Path, scorer: str, names: Mapping[BlindId, RunId], *, after_results: bool
) -> None:
    """Fill in a score sheet as its scorer would; correctness only once the results are open."""
    marks = sample.marks()
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        run = str(names[BlindId(row["blind_id"])])
        for dimension in row.keys() - set(_NO_MARKS):
            if dimension != _AFTER_RESULTS or after_results:
                row[dimension] = f"{marks.given(scorer, run, dimension):g}"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
