"""After kill -9 the same command goes on: nothing is lost, done twice, or left behind."""

import hashlib
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, EARLY, STUDENTS, TARA, Lab, assigned, fill_in, planned, wait_for
from sandboxes import BOTH

from labkit.sandbox.docker import DockerSandbox

At = Callable[[str], Lab]


def present(lab: Lab, engine: DockerSandbox | None) -> set[str]:
    """Return every container and volume of the engine, or every scratch folder of the lab."""
    if engine is None:
        return {path.name for path in (lab.cache / "labkit" / "scratch").glob("*")}
    volumes = engine.api.volumes()["Volumes"] or []
    found = {each["Id"] for each in engine.api.containers(all=True)}
    return found | {each["Name"] for each in volumes}


def traces(lab: Lab, run: str, engine: DockerSandbox | None) -> set[str]:
    """Return what a run of the lab has on this machine: others may be at work in the engine."""
    if engine is None:
        return present(lab, engine)
    place = hashlib.sha256(str(lab.workspace.evals).encode()).hexdigest()[:12]
    labels = ["labkit=1", f"labkit.run={run}", f"labkit.lab={place}"]
    found = engine.api.containers(all=True, filters={"label": labels})
    mounts = {mount["Name"] for each in found for mount in each["Mounts"] if "Name" in mount}
    return {each["Id"] for each in found} | mounts


def kill_in(lab: Lab, runs: tuple[str, str], sandbox: str, engine: DockerSandbox | None) -> None:
    """Freeze two runs, the second a slow one, and kill labkit while that one works."""
    first, second = runs
    lab.steps(first, 'finish: "Done."')
    lab.steps(second, "wait: 2.5", 'finish: "Done later."')
    lab.done("task", "freeze", "--pilot", "--again", me=ANA)
    with lab.start("task", "run", "--sandbox", sandbox, me=ANA) as program:
        wait_for((lab.workspace.raw / first / "run.json").is_file)
        wait_for(lambda: bool(traces(lab, second, engine)))
        time.sleep(0.5)
        program.kill()
        program.communicate()
    assert program.returncode == -9


@pytest.mark.parametrize("sandbox", BOTH)
def test_a_killed_run_goes_on(lab_at: At, sandbox: str, request: pytest.FixtureRequest) -> None:
    engine = request.getfixturevalue("docker_sandbox") if sandbox == "docker" else None
    lab = lab_at("frozen")
    first, second = planned(lab, ANA)
    kill_in(lab, (first, second), sandbox, engine)
    before = {name: digest for name, digest in lab.snapshot().items() if f"raw/{first}/" in name}
    assert before
    assert not (lab.workspace.raw / second).exists()

    left = traces(lab, second, engine)
    assert left
    assert f"{sandbox}: " in lab.done("clean", "--dry-run")
    assert left <= present(lab, engine)
    lab.done("clean")
    assert not left & present(lab, engine)

    again = lab.labkit("task", "run", "--sandbox", sandbox, me=ANA)
    assert again.code == 0, again.err
    assert second in again.err
    assert first not in again.err
    assert before.items() <= lab.snapshot().items()
    assert (lab.workspace.raw / second / "run.json").is_file()
    assert {path.name for path in lab.workspace.raw.iterdir()} == {first, second}
    assert not traces(lab, second, engine)


def test_the_next_run_removes_what_a_killed_one_left(lab_at: At) -> None:
    lab = lab_at("frozen")
    partial = lab.workspace.raw / f".{planned(lab, ANA)[0]}.xyz"
    partial.mkdir(parents=True)
    (partial / "transcript.jsonl").write_text("{", encoding="utf-8")
    assert f"half-written run: {partial}" in lab.done("clean", "--dry-run")
    answer = lab.labkit("task", "run", me=ANA)
    assert answer.code == 0
    assert "was interrupted earlier: it starts again" in answer.err
    assert not partial.exists()


def _before_the_packs(lab: Lab) -> None:
    shutil.rmtree(lab.workspace.blind)


def _before_the_key_to_the_results(lab: Lab) -> None:
    for name in ("assignment.csv", "results.agekey"):
        (lab.workspace.blind / name).unlink()
    next(lab.workspace.blind.glob("B*/results.age")).unlink()


def _before_the_assignment(lab: Lab) -> None:
    (lab.workspace.blind / "assignment.csv").unlink()


def _before_the_log(lab: Lab) -> None:
    _before_the_packs(lab)
    log = Path(lab.workspace.evals, "log", f"{TARA}.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    assert b'"action":"blind"' in lines[-1]
    log.write_bytes(b"".join(lines[:-1]))


def blind_entries(lab: Lab) -> int:
    """Return how many commitments the holder's log tells of."""
    text = Path(lab.workspace.evals, "log", f"{TARA}.jsonl").read_text(encoding="utf-8")
    return text.count('"action":"blind"')


@pytest.mark.parametrize(
    "interrupt",
    [_before_the_log, _before_the_packs, _before_the_key_to_the_results, _before_the_assignment],
    ids=["log", "packs", "results key", "assignment"],
)
def test_an_interrupted_blinding_goes_on(lab_at: At, interrupt: Callable[[Lab], None]) -> None:
    lab = lab_at("blinded")
    names = {name: assigned(lab, name) for name in STUDENTS}
    key = lab.workspace.blinding_key("blue").read_bytes()
    interrupt(lab)
    answer = lab.labkit("blind", me=TARA)
    assert answer.code == 0, answer.err
    assert "an earlier labkit blind was interrupted: its names are kept" in answer.err
    assert {name: assigned(lab, name) for name in names} == names
    assert lab.workspace.blinding_key("blue").read_bytes() == key
    assert blind_entries(lab) == 1
    lab.done("score", "--from", str(fill_in(lab, ANA, EARLY)), me=ANA)
    assert "grade.txt" in lab.done("score", "--show", names[ANA][0], me=ANA)


def test_a_killed_blinding_goes_on(lab_at: At) -> None:
    lab = lab_at("graded")
    with lab.start("blind", me=TARA) as program:
        wait_for(lab.workspace.blinding_key("blue").is_file)
        program.kill()
        program.communicate()
    if not (lab.workspace.blind / "assignment.csv").exists():  # it may have been quicker
        lab.done("blind", me=TARA)
    assert blind_entries(lab) == 1
    for scorer in STUDENTS:
        for marks in (EARLY, {"correctness": "1"}):
            lab.done("score", "--from", str(fill_in(lab, scorer, marks)), me=scorer)
    lab.done("unblind", me=TARA)


def test_a_blinding_of_other_runs_is_not_taken_up(lab_at: At) -> None:
    lab = lab_at("blinded")
    _before_the_packs(lab)
    gone = lab.workspace.raw / planned(lab, ANA)[0]
    record = lab.workspace.evals / "missing" / f"{gone.name}.json"
    record.parent.mkdir(exist_ok=True)
    record.write_text(
        f'{{"schema": 1, "run": "{gone.name}", "runner": "ana", "reasons": ["x"]}}',
        encoding="utf-8",
    )
    shutil.rmtree(gone)
    says = ("is of other runs than those that are here", "move it away")
    lab.refused("blind", me=TARA, code=2, says=says)
