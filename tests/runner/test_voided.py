import json
from pathlib import Path

import pytest
from gitrepo import Project
from runs import A, Lab, a_configuration

from labkit.errors import InfrastructureError, IntegrityError
from labkit.model import RunId, TaskId
from labkit.sandbox.interface import Sandbox
from labkit_runner.attempt import perform
from labkit_runner.causes import Broken
from labkit_runner.voided import (
    Took,
    Try,
    Voided,
    keep,
    kept,
    partial_runs,
    united,
    void,
    void_partial,
)

RUN = RunId(TaskId("bug-a"), A, 1)
WIRE = [
    {"kind": "request", "t": 0, "n": 1, "main": True, "model": "m"},
    {
        "kind": "response", "t": 1, "n": 1, "status": 200, "outcome": "answered", "seconds": 1,
        "usage": {"input": 70, "output": 30}, "cost": 0.25, "stop": "", "error": None, "web": [],
    },
]  # fmt: skip


def partial(raw: Path, run: str = str(RUN)) -> Path:
    folder = raw / f".{run}.abc"
    folder.mkdir(parents=True)
    (folder / "transcript.jsonl").write_text('{"torn')
    (folder / "wire.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in WIRE) + '{"k')
    return folder


def test_what_a_killed_labkit_left_is_voided_with_its_cost(tmp_path: Path) -> None:
    raw, voided = tmp_path / "raw", tmp_path / "voided"
    partial(raw)
    assert void_partial(raw, voided, "2026-01-02") == (str(RUN),)
    assert list(raw.iterdir()) == []
    assert {path.name for path in (voided / f"{RUN}__1").iterdir()} == {
        "transcript.jsonl", "voided.json", "wire.jsonl"
    }  # fmt: skip
    assert kept(voided, RUN) == (
        {
            "when": "2026-01-02", "why": "labkit itself was ended", "kind": "interrupted",
            "seconds": None, "tokens": 100, "cost": 0.25,
        },
    )  # fmt: skip
    assert void_partial(raw, voided, "2026-01-03") == ()


def test_tries_of_a_run_are_kept_apart_and_in_order(tmp_path: Path) -> None:
    later = Try(when="2026-01-03", why="b", kind=Broken.QUOTA, took=Took(seconds=1.5))
    earlier = Try(when="2026-01-02", why="a", kind=Broken.NETWORK)
    assert keep(tmp_path, RUN, later, None).name == f"{RUN}__1"
    assert keep(tmp_path, RUN, earlier, None).name == f"{RUN}__2"
    assert [each["why"] for each in kept(tmp_path, RUN)] == ["a", "b"]
    assert united(kept(tmp_path, RUN), (earlier.facts(),)) == kept(tmp_path, RUN)


def test_a_place_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / f"{RUN}__2").mkdir()
    assert keep(tmp_path, RUN, Try(when="1", why="", kind=Broken.AUTH), None).name == f"{RUN}__3"


def test_a_damaged_note_names_its_file(tmp_path: Path) -> None:
    path = keep(tmp_path, RUN, Try(when="1", why="", kind=Broken.AUTH), None) / "voided.json"
    path.write_text(path.read_text().replace('"auth"', '"bad weather"'))
    with pytest.raises(IntegrityError, match=r"voided\.json is damaged: .*bad weather"):
        kept(tmp_path, RUN)


def test_any_error_of_the_infrastructure_can_be_voided(tmp_path: Path) -> None:
    void(tmp_path, RUN, InfrastructureError("the image is gone"), "2026-01-02")
    assert [(each["why"], each["kind"]) for each in kept(tmp_path, RUN)] == [
        ("the image is gone", "sandbox")
    ]


def test_only_folders_of_runs_are_partial(tmp_path: Path) -> None:
    (tmp_path / "bug-a__A__1").mkdir()
    (tmp_path / ".DS_Store").write_text("")
    assert partial_runs(tmp_path) == ()
    assert void_partial(tmp_path / "nosuch", tmp_path / "voided", "now") == ()
    assert len(list(tmp_path.iterdir())) == 2


class Leaving:
    """A real sandbox on a machine that fails after the agent has worked."""

    name = "leaving"

    def __init__(self, inner: Sandbox) -> None:
        self.inner = inner

    def run(self, *words: object) -> object:
        self.inner.run(*words)  # type: ignore[arg-type] # handed on as they are
        raise InfrastructureError("the engine went away", hint="start it")


def test_a_broken_run_hands_over_its_evidence_and_time(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = Lab(project, Leaving(bubblewrap_sandbox))  # type: ignore[arg-type] # only runs
    lab.steps(RUN, [{"say": "I look."}, {"finish": "Done."}])
    with pytest.raises(Voided, match="the engine went away") as caught:
        perform(lab.bench, lab.job(a_configuration(), RUN), lab.workspace.run(RUN))
    error = caught.value
    assert (error.kind, error.hint, error.retry_after) == (Broken.SANDBOX, "start it", None)
    assert error.took.seconds is not None
    assert error.took.seconds > 0
    assert error.folder is not None
    assert b"I look." in (error.folder / "transcript.jsonl").read_bytes()
    assert not lab.workspace.run(RUN).exists()
    void(lab.workspace.voided, RUN, error, "2026-01-02")
    assert not error.folder.exists()
    assert list(lab.workspace.raw.iterdir()) == []
    assert (lab.workspace.voided / f"{RUN}__1" / "transcript.jsonl").is_file()
