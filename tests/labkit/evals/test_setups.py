"""Setups: run once, in the sandbox, over the buggy tree."""

from pathlib import Path

from sandboxes import IMAGE

from labkit.evals.digests import files_of
from labkit.evals.fixtures import FixtureTask
from labkit.evals.harness import EvalHarness, SampleResult
from labkit.evals.setups import prepared
from labkit.evals.verifiers import VerifierRegistry
from labkit.graders import Tools
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Limits, Sandbox

LIMITS = Limits(seconds=20, memory=256, processes=32, scratch=32)


def task(folder: Path, *setup: str) -> FixtureTask:
    (folder / "buggy" / "sub").mkdir(parents=True, exist_ok=True)
    (folder / "buggy" / "sub" / "calc.py").write_text("a - b\n")
    (folder / "buggy" / "run").write_text("#!/bin/sh\necho ran > out.txt\n")
    (folder / "buggy" / "run").chmod(0o755)
    return FixtureTask(
        id="calc", goal="Mend it.", verifier={"name": "right"}, folder=folder, setup=setup
    )


def contents(folder: Path) -> dict[str, str]:
    return {name: path.read_text() for name, path in files_of(folder)}


def test_what_a_setup_leaves_is_where_samples_start(sandbox: Sandbox, tmp_path: Path) -> None:
    made = task(tmp_path / "task", "./run", "echo 'a b' > 'two words.txt'; rm sub/calc.py")
    before = contents(made.buggy)
    tools = Tools(sandbox=sandbox, image=IMAGE, limits=LIMITS)
    (case,) = prepared([made], tools, tmp_path / "made")
    assert case.problem == ""
    assert case.folder == tmp_path / "made" / "calc"
    assert contents(case.folder) == {
        "out.txt": "ran\n",
        "two words.txt": "a b\n",
        "run": before["run"],
    }
    assert (case.folder / "run").stat().st_mode & 0o111
    assert contents(made.buggy) == before
    assert made.case().content() == case.content()


def test_a_setup_that_fails_is_the_cases_problem(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    def problem(*setup: str, seconds: float = 20) -> str:
        limits = Limits(seconds=seconds, memory=256, processes=32, scratch=32)
        tools = Tools(sandbox=bubblewrap_sandbox, limits=limits)
        (case,) = prepared([task(tmp_path / "task", *setup)], tools, tmp_path / "made")
        return case.problem

    assert problem("true", "echo lost; exit 3", "touch late") == (
        "its setup failed: lost\ncommand 2 ended in 3"
    )
    assert problem("sleep 100", seconds=1) == "its setup failed: had not ended after 1 s"
    assert problem("ln -s /etc/passwd link") == (
        "its setup failed: it left link, which is neither a file nor a folder"
    )
    (case,) = prepared([task(tmp_path / "task", "true")], Tools(), tmp_path / "made")
    assert case.problem == "its setup failed: it needs a sandbox, and none is given"
    assert not (tmp_path / "made").exists()


def test_only_what_will_be_run_is_set_up_and_each_once(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    registry = VerifierRegistry()
    registry.register_check("right", lambda folder: (folder / "out.txt").read_text() == "ran\n")
    good = task(tmp_path / "good", "test ! -e out.txt && ./run")
    bad = FixtureTask(
        id="bad", goal="x", verifier={"name": "right"}, folder=good.folder, setup=("exit 1",)
    )
    harness = EvalHarness(
        [good, bad], verifiers=registry, n=3, tools=Tools(sandbox=bubblewrap_sandbox, limits=LIMITS)
    )

    def candidate(_: FixtureTask, scratch: str) -> SampleResult:
        assert Path(scratch, "out.txt").read_text() == "ran\n"
        Path(scratch, "mine.txt").write_text("x")
        return SampleResult()

    report = harness.run(candidate)
    assert report.task("calc").result.passes == 3
    assert report.task("calc").result.samples[2].edits == ("mine.txt",)
    assert report.task("bad").result.problem == "its setup failed: command 1 ended in 1"
    assert report.task("bad").pass_at(1) is None
    assert report.pass_at(1) == report.run.n_scored == 1
    assert float(report.run.coverage or 0) == 0.5
    assert harness.run(candidate, ids=["calc"]).run.subset
