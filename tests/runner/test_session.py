import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import IO, cast

import pytest
import runs
from gitrepo import Project
from runs import A, B, Hurried, Lab, sandbox_named
from sandboxes import BOTH

from labkit.errors import InfrastructureError, InputError, ToolError
from labkit.model import Ended, RunId, TaskId
from labkit.phases import progress
from labkit.records import load_missing, load_run
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Outcome, Sandbox, Spec, Streams, T
from labkit_runner.agents.interface import Agent
from labkit_runner.agents.scripted import ScriptedAgent
from labkit_runner.causes import Broken
from labkit_runner.job import Route
from labkit_runner.rehearsal.script import Turn
from labkit_runner.tries import TRIES
from labkit_runner.voided import Took, Voided, partial_runs, void_partial

ONE, TWO = "bug-a", "bug-b"


class Breaking:
    """A real sandbox on a machine that fails: its first `times` runs break after they ran."""

    name = "breaking"

    def __init__(self, inner: Sandbox, times: int) -> None:
        self.inner = inner
        self.times = times

    def run(
        self, spec: Spec, streams: Streams, collect: Callable[[IO[bytes]], T]
    ) -> tuple[Outcome, T]:
        result = self.inner.run(spec, streams, collect)
        if self.times > 0:
            self.times -= 1
            raise InfrastructureError("the engine went away")
        return result

    def kill(self, labels: Mapping[str, str]) -> int:
        return self.inner.kill(labels)

    def leftovers(self) -> tuple[str, ...]:
        return self.inner.leftovers()

    def clean(self) -> tuple[str, ...]:
        return self.inner.clean()


def run_id(task: str, configuration: str = "A") -> RunId:
    return RunId.parse(f"{task}__{configuration}__1")


def lab_of(project: Project, sandbox: Sandbox, *names: str) -> Lab:
    lab = Lab(project, sandbox)
    for name in names:
        for configuration in (A, B):
            say = {"finish": f"{name} {configuration}"}
            lab.steps(RunId(TaskId(name), configuration, 1), [say])
    return lab


def test_a_session_runs_in_the_planned_order_and_tells_each(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = lab_of(project, bubblewrap_sandbox, ONE, TWO)
    records = lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO))
    wanted = [run_id(ONE), run_id(ONE, "B"), run_id(TWO), run_id(TWO, "B")]
    assert [record.run for record in records] == wanted
    assert [(event.place, event.of, event.run) for event in lab.told] == [
        (place, 4, run) for place, run in enumerate(wanted, 1)
    ]
    assert all(record.earlier_failures == () for record in records)


def test_a_run_that_the_infrastructure_broke_is_tried_again_and_tells_why(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = lab_of(project, Breaking(bubblewrap_sandbox, TRIES - 1), ONE)
    records = lab.session(ONE).run_all(lab.plan(ONE))
    reason = "2026-01-02T03:04:05+00:00 the engine went away"
    assert [record.earlier_failures for record in records] == [(reason, reason), ()]
    assert [event.tries_left for event in lab.told if event.record is None] == [2, 1]
    assert not list((lab.workspace.evals / "missing").glob("*"))


def test_a_run_broken_every_time_is_missing_and_the_session_goes_on(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = lab_of(project, Breaking(bubblewrap_sandbox, TRIES), ONE)
    records = lab.session(ONE).run_all(lab.plan(ONE))
    assert [record.run for record in records] == [run_id(ONE, "B")]
    missing = load_missing(lab.workspace.missing(run_id(ONE)))
    assert (missing.run, missing.runner, len(missing.reasons)) == (run_id(ONE), "ana", TRIES)
    assert not lab.workspace.run(run_id(ONE)).exists()


def test_a_missing_run_that_succeeds_later_is_no_longer_missing(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = lab_of(project, Breaking(bubblewrap_sandbox, TRIES), ONE)
    lab.session(ONE).run_all(lab.plan(ONE)[:1])
    records = lab.session(ONE).run_all(lab.plan(ONE)[:1])
    assert len(records[0].earlier_failures) == TRIES
    assert not lab.workspace.missing(run_id(ONE)).exists()


@pytest.mark.docker
def test_an_image_that_is_missing_ends_the_session_after_three_runs(
    project: Project, docker_sandbox: DockerSandbox
) -> None:
    lab = lab_of(project, docker_sandbox, ONE, TWO)
    lab.image = "labkit-test-no-such-image:none"
    with pytest.raises(ToolError, match=r"3 runs in a row were broken: .* no such image") as caught:
        lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO))
    assert "labkit doctor" in str(caught.value.hint)
    assert len(list((lab.workspace.evals / "missing").iterdir())) == 3


def test_a_run_killed_from_outside_is_infrastructure(project: Project, sandbox: Sandbox) -> None:
    lab = lab_of(project, sandbox, ONE)
    lab.steps(run_id(ONE), [{"run": "sleep 3; true"}, {"finish": "late"}])

    def kill() -> None:
        labels = {"labkit.lab": lab.workspace.label, "labkit.run": str(run_id(ONE))}
        while not sandbox.kill(labels):
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    records = lab.session(ONE).run_all(lab.plan(ONE)[:1])
    killer.join()
    assert (records[0].ended, records[0].exit_code) == (Ended.EXITED, 0)
    assert len(records[0].earlier_failures) == 1
    assert records[0].earlier_failures[0].endswith("killed from outside its sandbox")


def test_steps_that_are_missing_or_wrong_are_told_before_the_first_run(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = lab_of(project, bubblewrap_sandbox, ONE)
    lab.steps(run_id(TWO), [{"sing": "la"}, {"wait": "long"}])
    with pytest.raises(InputError) as caught:
        lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO))
    told = "\n".join(caught.value.problems)
    assert 'unknown field "sing"' in told
    assert '"wait" must be a number' in told
    assert f"no step file {lab.workspace.evals / 'configs' / 'steps' / 'B' / 'bug-b.yaml'}" in told
    assert not lab.workspace.raw.exists()


@pytest.fixture(params=BOTH)
def own_sandbox(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, Path, Sandbox]]:
    request.getfixturevalue(f"{request.param}_sandbox")  # skips where it does not work
    with sandbox_named(request.param, tmp_path / "scratch") as sandbox:
        yield request.param, tmp_path / "scratch", sandbox


def test_after_kill_9_the_same_session_loses_and_redoes_nothing(
    project: Project, own_sandbox: tuple[str, Path, Sandbox]
) -> None:
    name, scratch, sandbox = own_sandbox
    lab = lab_of(project, sandbox, ONE, TWO)
    slow = run_id(ONE, "B")
    lab.steps(slow, [{"run": "echo 'x = 5' > a.py"}, {"run": "sleep 4"}, {"finish": "slow"}])
    raw = lab.workspace.raw
    with started(lab, name, scratch) as victim:
        wait_until((raw / str(run_id(ONE)) / "run.json").is_file)
        wait_until(lambda: b'"run"' in b"".join(p.read_bytes() for p in raw.glob(".*/tran*")))
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    finished = (raw / str(run_id(ONE)) / "run.json").read_bytes()

    wait_until(lambda: bool(sandbox.leftovers()))
    assert len(sandbox.clean()) == 1
    assert void_partial(raw, lab.workspace.voided, "later") == (str(slow),)
    assert [path.name for path in raw.iterdir()] == [str(run_id(ONE))]

    left = [item for item in lab.plan(ONE, TWO) if not lab.workspace.run(item.run).exists()]
    records = lab.session(ONE, TWO).run_all(left)
    assert [record.run for record in records] == [slow, run_id(TWO), run_id(TWO, "B")]
    assert (raw / str(run_id(ONE)) / "run.json").read_bytes() == finished
    assert b"+x = 5" in (raw / str(slow) / "diff.patch").read_bytes()
    assert {load_run(path / "run.json").run for path in raw.iterdir()} == {
        item.run for item in lab.plan(ONE, TWO)
    }
    assert (sandbox.leftovers(), partial_runs(raw)) == ((), ())
    if name == "bubblewrap":
        assert list(scratch.iterdir()) == []


@contextmanager
def started(lab: Lab, name: str, scratch: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a lab's session in a process of its own, gone at the end."""
    words = [str(lab.project.folder), name, str(scratch), ONE, TWO]
    process = subprocess.Popen(
        [sys.executable, runs.__file__, *words],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(happened: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


class Failing(Breaking):
    """A real sandbox whose first runs end in the given errors, after they ran."""

    def __init__(self, inner: Sandbox, *errors: Voided) -> None:
        super().__init__(inner, 0)
        self.errors = list(errors)

    def run(
        self, spec: Spec, streams: Streams, collect: Callable[[IO[bytes]], T]
    ) -> tuple[Outcome, T]:
        result = super().run(spec, streams, collect)
        if self.errors:
            raise self.errors.pop(0)
        return result


def test_waits_grow_are_told_and_heed_what_the_model_asks_for(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    errors = (
        Voided("too many requests", kind=Broken.RATE_LIMIT),
        Voided("too many requests", kind=Broken.RATE_LIMIT, retry_after=100),
    )
    lab = lab_of(project, Failing(bubblewrap_sandbox, *errors), ONE)
    (record,) = lab.session(ONE).run_all(lab.plan(ONE)[:1])
    assert [event.wait for event in lab.told] == [*lab.stop.waited, 0.0] == [15.0, 100.0, 0.0]
    assert [each["kind"] for each in record.voided] == ["rate_limit", "rate_limit"]
    assert len(record.earlier_failures) == 2


def test_a_rate_limit_that_outlasts_the_tries_keeps_the_next_pair_from_meeting_it(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    errors = [Voided("too many requests", kind=Broken.RATE_LIMIT) for _ in range(TRIES)]
    lab = lab_of(project, Failing(bubblewrap_sandbox, *errors), ONE, TWO)
    assert lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO)) == ()
    assert {event.run for event in lab.told} == {run_id(ONE)}
    assert lab.told[-1].is_lost
    assert lab.stop.why == "the rate limit outlasted 3 tries: wait, or use fewer --jobs"


@pytest.mark.parametrize(
    "error",
    [
        Voided("the credit is used up", kind=Broken.QUOTA, took=Took(tokens=50, cost=0.5)),
        Voided("the key is not taken", kind=Broken.AUTH),
        Voided("come back tomorrow", kind=Broken.RATE_LIMIT, retry_after=3600),
    ],
    ids=["quota", "key", "far retry-after"],
)
def test_what_lasts_ends_the_session_at_once_and_the_run_is_missing(
    project: Project, bubblewrap_sandbox: Sandbox, error: Voided
) -> None:
    lab = lab_of(project, Failing(bubblewrap_sandbox, error), ONE, TWO)
    assert lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO)) == ()
    assert [(event.run, event.is_lost, event.tries_left) for event in lab.told] == [
        (run_id(ONE), True, 0)
    ]
    assert "a short wait does not mend what broke bug-a__A__1" in lab.stop.why
    missing = load_missing(lab.workspace.missing(run_id(ONE)))
    assert len(missing.reasons) == 1
    assert [(each["tokens"], each["cost"]) for each in missing.voided] == [
        (error.took.tokens, error.took.cost)
    ]
    assert not lab.workspace.missing(run_id(ONE, "B")).exists()  # it was never begun


def test_the_cost_of_a_lost_run_stays_when_it_succeeds_later(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    error = Voided("no credit", kind=Broken.QUOTA, took=Took(tokens=50, cost=0.5))
    lab = lab_of(project, Failing(bubblewrap_sandbox, error), ONE)
    lab.session(ONE).run_all(lab.plan(ONE))
    lab.stop = Hurried()
    (record, _) = lab.session(ONE).run_all(lab.plan(ONE))
    assert [(each["why"], each["cost"]) for each in record.voided] == [("no credit", 0.5)]
    assert not lab.workspace.missing(run_id(ONE)).exists()
    assert load_run(lab.workspace.run(run_id(ONE)) / "run.json").voided == record.voided
    kept = lab.workspace.voided / f"{run_id(ONE)}__1"
    assert (kept / "transcript.jsonl").is_file()


def test_both_arms_run_at_once_and_leave_what_they_leave_alone(
    project: Project, sandbox: Sandbox
) -> None:
    lab = lab_of(project, sandbox, ONE, TWO)
    session = replace(lab.session(ONE, TWO), jobs=2)
    records = session.run_all(lab.plan(ONE, TWO))
    assert sorted(record.run for record in records) == [item.run for item in lab.plan(ONE, TWO)]
    for record in records:
        folder = lab.workspace.run(record.run)
        assert (
            f"{record.run.task} {record.run.configuration}".encode()
            in (folder / "transcript.jsonl").read_bytes()
        )


def test_a_person_who_insists_ends_runs_and_none_is_missing(
    project: Project, sandbox: Sandbox
) -> None:
    lab = lab_of(project, sandbox, ONE, TWO)
    for letter in "AB":
        lab.steps(run_id(ONE, letter), [{"run": "true"}, {"run": "sleep 30"}, {"finish": "late"}])
    session = replace(lab.session(ONE, TWO), jobs=2)

    def insist() -> None:
        raw = lab.workspace.raw
        wait_until(lambda: sum(b'"run"' in p.read_bytes() for p in raw.glob(".*/tran*")) == 2)
        lab.stop.interrupt()
        lab.stop.interrupt()

    person = threading.Thread(target=insist)
    person.start()
    began = time.monotonic()
    assert session.run_all(lab.plan(ONE, TWO)) == ()
    person.join()
    assert time.monotonic() - began < 25
    for letter in "AB":
        told = load_missing(lab.workspace.missing(run_id(ONE, letter)))
        assert (told.lost, [each["kind"] for each in told.voided]) == (False, ["interrupted"])
    assert not progress(lab.workspace).missing
    assert list(lab.workspace.raw.iterdir()) == []
    assert {path.name for path in lab.workspace.voided.iterdir()} == {
        f"{run_id(ONE)}__1", f"{run_id(ONE, 'B')}__1"
    }  # fmt: skip
    lab.stop = Hurried()
    for letter in "AB":
        lab.steps(run_id(ONE, letter), [{"finish": "now"}])
    records = lab.session(ONE, TWO).run_all(lab.plan(ONE, TWO))
    assert [len(record.voided) for record in records] == [1, 1, 0, 0]
    assert records[0].voided[0]["kind"] == "interrupted"


class Asking(ScriptedAgent):
    """An agent that asks a model, and reads CLAUDE.md."""

    memory = ("CLAUDE.md",)

    def rehearsed(self, command: str) -> tuple[Turn, ...]:
        return (Turn(text=command),)


def test_each_different_set_of_instructions_is_rehearsed(
    project: Project, bubblewrap_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = project.commit({"CLAUDE.md": "Other.\n"})
    bases = {ONE: "base", TWO: "base", "bug-c": other, "bug-d": other}
    session = lab_of(project, bubblewrap_sandbox).session(*bases)
    tasks = {name: replace(task, base=bases[str(name)]) for name, task in session.tasks.items()}
    route = cast("Route", SimpleNamespace(to=lambda url: url))
    agent = Asking(session.workspace.evals / "configs")
    asking = {
        name: replace(arm, agent=cast("Agent", agent), route=route)
        for name, arm in session.arms.items()
    }
    monkeypatch.setattr(Asking, "launch", lambda *_: None)
    played: list[str] = []
    monkeypatch.setattr(
        "labkit_runner.session.rehearse", lambda _, job, __: played.append(str(job.planned.run))
    )
    replace(session, tasks=tasks, arms=asking).rehearse(
        Lab(project, bubblewrap_sandbox).plan(*bases), lambda _: None
    )
    assert played == ["bug-a__A__1", "bug-c__A__1", "bug-a__B__1", "bug-c__B__1"]
