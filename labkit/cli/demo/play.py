"""The demo from its first command to its summary.

Each step is the real command in a process of its own, shown as a person would type it.
"""

import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from labkit.cli.console import say
from labkit.cli.demo import byhand, sample
from labkit.cli.demo.stage import HOLDER, TEAM, Stage, by_hand, heading
from labkit.cli.sandboxes import open_sandbox, ready_image
from labkit.errors import LabkitError
from labkit.sandbox.image import BASE_TAG
from labkit.sandbox.interface import Sandbox
from labkit.scaffold import template


def demonstrate(folder: Path, sandbox_name: str) -> None:
    """Play the whole lab in `folder`, which is made anew when an earlier demo made it."""
    started = time.monotonic()
    sandbox = open_sandbox(sandbox_name)
    stage = Stage(folder=folder.absolute(), sandbox=sandbox)
    stage.prepare()
    ready_image(sandbox, BASE_TAG)
    prepared = time.monotonic()
    say(f"a whole lab, in {sandbox.name}, below {stage.folder}")
    _write_tasks(stage, _begin(stage))
    _run(stage)
    _judge(stage)
    _score(stage)
    heading("The result")
    stage.labkit("unblind", "--me", HOLDER)
    stage.labkit("summary")
    stage.labkit("status")
    stage.labkit("clean")
    took = time.monotonic() - prepared
    say(f"\nthe lab took {took:.0f} s, after {prepared - started:.0f} s of preparation")
    say(f"read {stage.workspace.summary('md')}")
    say(f"everything else: {stage.workspace.evals} and {stage.workspace.handover}")


def _begin(stage: Stage) -> dict[str, str]:
    """Build the project, make the keys, let everybody join; return the commits by number."""
    heading("A team of three, their project, and a holder who keeps the secrets")
    commits = sample.build_history(stage.workspace.project)
    say(f"{stage.workspace.project}: {len(commits)} commits by {len(sample.people())} people")
    stage.labkit("doctor", "--sandbox", stage.sandbox.name)
    recipient = stage.labkit("holder", "keygen").strip()
    stage.labkit("init", "--team", TEAM, "--holder", recipient)
    for name, (full_name, email) in sample.people().items():
        stage.labkit("init", "--me", name, "--full-name", full_name, "--email", email)
    stage.labkit("init", "--me", HOLDER, "--role", "holder")
    by_hand("two configurations that differ in their model alone go into evals/configs/")
    configs = stage.workspace.evals / "configs"
    shutil.rmtree(configs)
    sample.write_files(template("demo", "configs"), configs)
    return commits


def _write_tasks(stage: Stage, commits: Mapping[str, str]) -> None:
    """Write nine golden tasks, prove them, seal them, freeze the suite."""
    heading("Golden tasks out of solved commits: proven in the sandbox, sealed to the holder")
    for task in sample.tasks():
        start = ("--commit", task.commit) if task.commit else ("--base", task.base)
        stage.labkit(
            "task", "new", task.id, "--category", task.category,
            start[0], commits[start[1]], "--me", task.author,
        )  # fmt: skip
        byhand.write_task(stage, task)
    by_hand("the authors wrote prompts, notes and stronger hidden tests into these files")
    stage.labkit("task", "validate", "--repeats", "3")
    for name in sample.people():
        stage.labkit("task", "seal", "--me", name)
    stage.labkit("task", "freeze", "--me", next(iter(sample.people())))


def _run(stage: Stage) -> None:
    """Run both configurations, interleaved; one sandbox is killed from outside once."""
    heading("Two configurations, twice on each task, interleaved, each run in a fresh sandbox")
    stage.labkit("status")
    with _killed_once(stage.sandbox, stage.workspace.label, _run_to_kill()):
        for name in sample.people():
            stage.labkit("task", "run", "--me", name)
    for name in sample.people():
        stage.labkit("handin", "--me", name)


def _run_to_kill() -> str:
    runs = sample.document("expected.yaml").mapping("runs")
    return next(name for name in runs.names() if runs.mapping(name).flag("killed_once"))


@contextmanager
def _killed_once(sandbox: Sandbox, lab: str, run: str) -> Iterator[None]:
    """Kill one run's sandbox from outside while it works, as a crashing machine would."""
    over = threading.Event()

    def lurk() -> None:
        while not over.wait(0.2):
            try:
                hit = sandbox.kill({"labkit.lab": lab, "labkit.run": run})
            except LabkitError:
                continue  # it may end just while it is looked for
            if hit:
                say(f"(the demo has just killed the sandbox of {run} from outside)")
                return

    thread = threading.Thread(target=lurk, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _judge(stage: Stage) -> None:
    """Check for leaks, decide about the hits, grade."""
    heading("The leak check, people's decisions, and grading with the unsealed tests")
    stage.labkit("leaks", expect=(1,))
    byhand.decide(stage)
    stage.labkit("grade", "--me", HOLDER)


def _score(stage: Stage) -> None:
    """Blind the runs and score them, each scorer in two steps."""
    heading("Blind scoring: first without the test results, then with them")
    stage.labkit("blind", "--me", HOLDER)
    sheets = stage.folder / "sheets"
    sheets.mkdir()
    names = byhand.blind_names(stage)
    for scorer in sample.people():
        sheet = sheets / f"{scorer}.csv"
        stage.labkit("score", "--sheet", str(sheet), "--me", scorer)
        for after_results in (False, True):
            byhand.fill_in(sheet, scorer, names, after_results=after_results)
            stage.labkit("score", "--from", str(sheet), "--me", scorer)
