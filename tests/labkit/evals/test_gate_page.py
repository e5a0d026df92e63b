"""The page about gates: its examples are run, its workflow and its table are true."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from house import COMMANDS, ROOT

from labkit.cli.gating import EXIT_CODES
from labkit.process import plain_environment

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def test_the_examples_are_true() -> None:
    found = doctest.DocTestParser().get_doctest(PAGE, {}, "gate.md", "docs/gate.md", 0)
    failures: list[str] = []
    doctest.DocTestRunner().run(found, out=failures.append)
    assert not failures, "".join(failures)
    assert len(found.examples) > 12


def test_the_workflow_can_be_read_and_tells_every_exit_code() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    scripts = "\n".join(
        step.get("run", "") for step in yaml.safe_load(block)["jobs"]["gate"]["steps"]
    )
    assert all(f"{code}) " in scripts for code in EXIT_CODES.values())
    for command in ("labkit evaluate", "labkit gate"):
        known = {word for param in COMMANDS[command].params for word in param.opts}
        asked = re.split(r"\n(?! )|>>", scripts.split(command)[1])[0]
        typed = set(re.findall(r"(?<= )--?[a-z]+", asked))
        assert typed, command
        assert typed <= known


SUITE = """\
name: sums
cases:
""" + "".join(
    f"""\
  - id: sum-{number}
    split: val
    inputs: {number}
    reference: {number + 1}
    grader: {{name: exact}}
"""
    for number in range(5)
)
ALL_WELL = "def answer(case, trial):\n    return case.inputs + 1\n"
LOST = "def answer(case, trial):\n    return case.inputs + (case.inputs < 3)\n"
OUTAGE = "def answer(case, trial):\n    raise OSError('the model is away')\n"
HALF = """\
def answer(case, trial):
    if case.inputs > 1:
        raise OSError('the model is away')
    return case.inputs + 1
"""


class Job:
    """The workflow's own scripts, run as GitHub runs them: each by `bash -e`, up to a failure."""

    def __init__(self, folder: Path) -> None:
        (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
        steps = yaml.safe_load(block)["jobs"]["gate"]["steps"]
        self.steps = [step["run"] for step in steps if "labkit " in step.get("run", "")]
        self.folder = folder
        self.summary = folder / "summary.md"

    def script(self, script: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env=plain_environment() | {"PATH": path, "GITHUB_STEP_SUMMARY": str(self.summary)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def run(self) -> tuple[int, str]:
        """Return the job's code, and what it printed."""
        told = ""
        for step in self.steps:
            done = self.script(step)
            told += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, told
        return 0, told


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a suite, a candidate and its baseline."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "evals").mkdir()
    (folder / "evals/suite.yaml").write_text(SUITE)
    (folder / "agent.py").write_text(ALL_WELL)
    made = Job(folder).script(
        "labkit evaluate --suite evals/suite.yaml --candidate agent.py:answer -n 3 "
        "--out evals/baseline"
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.parametrize(
    ("agent", "code", "heading", "told"),
    [
        (ALL_WELL, 0, "## Gate: PASS", "samples and report: out"),
        (LOST, 1, "## Gate: BLOCK", "::error::the gate blocks this change"),
        (OUTAGE, 3, "## Gate: INDECISIVE", "::error::the gate cannot decide: look at coverage"),
        (HALF, 3, "## Gate: INDECISIVE", "::warning::labkit evaluate ended with "),
        ("def other(): ...", 2, "", "::error::the gate could not run"),
    ],
)
def test_the_workflow_reaches_the_gate_whatever_became_of_the_run(
    repository: Path, tmp_path: Path, agent: str, code: int, heading: str, told: str
) -> None:
    folder = tmp_path / "checkout"
    shutil.copytree(repository, folder)
    (folder / "agent.py").write_text(agent)
    job = Job(folder)
    assert len(job.steps) == 2
    found, printed = job.run()
    assert found == code, printed
    assert told in printed
    assert job.summary.read_text().split("\n")[0] == heading
    assert (folder / "out/gate.xml").exists() is bool(heading)


def test_every_option_stands_on_the_page() -> None:
    names = {word for param in COMMANDS["labkit gate"].params for word in param.opts}
    assert not {name for name in names if name.startswith("--") and f"`{name}" not in PAGE}


def test_the_exit_codes_are_those_of_the_page() -> None:
    told = dict(re.findall(r"^\| (PASS|BLOCK|INDECISIVE) \| (\d) \|", PAGE, re.MULTILINE))
    assert {str(outcome).upper(): str(code) for outcome, code in EXIT_CODES.items()} == told
