"""Flags and their effects, with real clients: what reaches the wire is what is compared."""

from dataclasses import replace
from pathlib import Path

import pytest
from wholeruns import RUN, stage

from labkit.configurations import Configuration
from labkit.effects import Kind, Weight, effects, effort_of, same_answers
from labkit.model import RunId
from labkit.records import RunRecord
from labkit.sandbox.interface import SidecarSandbox
from labkit_runner.rehearsal.script import Script

OTHER = RunId.parse("bug-a__B__1")


def both(
    sandbox: SidecarSandbox, folder: Path, name: str, *, model: str, efforts: tuple[str, str]
) -> tuple[tuple[Configuration, Configuration], list[RunRecord]]:
    """Run an agent with each of two efforts; return the arms and their records."""
    arms, records = [], []
    for effort, run in zip(efforts, (RUN, OTHER), strict=True):
        found = stage(sandbox, folder / str(run), name, model=model, effort=effort)
        record, _ = found.play(Script(turns=found.turns("cat calc.py")))
        arms.append(replace(found.configuration, id=run.configuration))
        records.append(replace(record, run=run))
    return (arms[0], arms[1]), records


@pytest.mark.parametrize(
    ("name", "model"), [("claude-code", "claude-opus-4-8"), ("codex", "gpt-5.5")]
)
def test_an_effort_that_reaches_the_wire_is_the_only_difference(
    bubblewrap_sandbox: SidecarSandbox, tmp_path: Path, name: str, model: str
) -> None:
    arms, records = both(bubblewrap_sandbox, tmp_path, name, model=model, efforts=("low", "high"))
    assert effects(arms, records) == ()
    assert [effort_of(record.fingerprint).partition("=")[2] for record in records] == [
        "low",
        "high",
    ]


def test_an_effort_that_the_client_drops_is_told_and_what_it_changes_instead(
    bubblewrap_sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    model = "claude-sonnet-4-5-20250929"
    arms, records = both(
        bubblewrap_sandbox, tmp_path, "claude-code", model=model, efforts=("", "low")
    )
    found = effects(arms, records)
    assert [(each.kind, each.weight) for each in found] == [
        (Kind.NO_EFFECT, Weight.BREAKS),
        (Kind.MORE, Weight.BREAKS),
    ]
    assert "not seen in the one pair of runs: it did not reach the model" in found[0].text
    # Told an effort, the client takes the choice of one from the tool that starts further agents.
    assert found[1].text.startswith("The tools differ in the one pair")


def test_two_runs_of_one_script_are_no_independent_draws(
    bubblewrap_sandbox: SidecarSandbox, tmp_path: Path
) -> None:
    again = RunId.parse("bug-a__A__2")
    records = []
    model = ""
    for run, last in ((RUN, "Done."), (again, "Done."), (RunId.parse("bug-a__A__3"), "Other.")):
        found = stage(bubblewrap_sandbox, tmp_path / str(run), "claude-code")
        record, _ = found.play(Script(turns=found.turns("cat calc.py", last=last)))
        records.append(replace(record, run=run))
        model = found.configuration.model
    assert same_answers(records) == ((RUN, again),)
    assert records[0].answered_by == (model,)
    assert "/etc/claude-code/managed-settings.json" in records[0].memory
