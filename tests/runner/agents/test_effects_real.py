"""Flags and their effects, with real clients: what reaches the wire is what is compared."""

from dataclasses import replace
from pathlib import Path

import pytest
from runs import Lab
from wholeruns import RUN, stage

from labkit.archive import Entry, Kind
from labkit.building import NOTHING_BUILT
from labkit.configurations import Configuration
from labkit.effects import Kind as Effect
from labkit.effects import Weight, effects, effort_of, same_answers
from labkit.export import workspace_tar
from labkit.instructions import laid
from labkit.model import RunId
from labkit.records import RunRecord
from labkit.sandbox.interface import SidecarSandbox
from labkit_runner.job import Job
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
        (Effect.NO_EFFECT, Weight.BREAKS),
        (Effect.MORE, Weight.BREAKS),
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


def laying(monkeypatch: pytest.MonkeyPatch, *files: Entry) -> None:
    """Have instructions laid over the base of the runs that come, as a session does."""
    plain = Lab.job

    def job(lab: Lab, configuration: Configuration, run: RunId) -> Job:
        made = plain(lab, configuration, run)
        built = laid(NOTHING_BUILT, files, made.base.files())
        tree = built.over(made.base.files()).values()
        tar = workspace_tar(lab.project.repository, made.base, files=tree, laid=files)
        return replace(made, base_tar=tar, built=built)

    monkeypatch.setattr(Lab, "job", job)


@pytest.mark.parametrize(
    ("name", "file", "told"),
    [
        ("claude-code", "CLAUDE.md", ()),
        ("claude-code", "GEMINI.md", (Effect.NO_EFFECT,)),
        ("codex", "AGENTS.md", ()),
        ("codex", "CLAUDE.md", (Effect.NO_EFFECT,)),
    ],
)
def test_instructions_are_seen_where_the_agent_reads_them_and_only_there(
    bubblewrap_sandbox: SidecarSandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    file: str,
    told: tuple[Effect, ...],
) -> None:
    arms, records = [], []
    for instructions, run in (("", RUN), ("rules", OTHER)):
        found = stage(bubblewrap_sandbox, tmp_path / str(run), name, instructions=instructions)
        if instructions:
            entry = Entry(path=file.encode(), kind=Kind.FILE, data=b"Always be brief.\n")
            laying(monkeypatch, entry)
        record, _ = found.play(Script(turns=found.turns("git status --short")))
        assert (found.folder / "diff.patch").read_bytes() == b""
        arms.append(replace(found.configuration, id=run.configuration))
        records.append(replace(record, run=run))
    assert tuple(each.kind for each in effects(arms, records)) == told
