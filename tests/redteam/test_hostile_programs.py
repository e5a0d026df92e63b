"""Submissions that fork, fill, flood, hang or kill: bounded, told apart, gone with their run."""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from gradings import FIXED, Set, bench_of, make_set, validated
from redteam.hostile_programs import END, NEVER_END, Program
from sandboxes import BOTH, bubblewrap_cache, or_skip, require_memory_reports

from labkit.model import Flag, Verdict
from labkit.records import GradeRecord
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench

HONEST = "an honest fix"
_SECONDS = 4
_PATIENCE = 20
"""Seconds that a grade may take beyond its limit: a loaded machine is slow to remove things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A task, and the bench that grades it."""

    task: Set
    bench: Bench
    scratch: Path
    """Where bubblewrap works: empty between grades."""

    def diff(self, source: str) -> bytes:
        return self.task.diff({"calc.py": source})

    def grade(self, diff: bytes, *, mark: str, seconds: float = 60) -> GradeRecord:
        """Grade a submission whose every process can be told by a mark."""
        limits = replace(self.bench.limits, seconds=seconds)
        labels = {"labkit.run": mark}
        bench = replace(self.bench, limits=limits, labels=labels, variables={"MARK": mark})
        return self.task.graded(bench, diff)

    def left(self, mark: str) -> list[str]:
        """Name every process, container and scratch folder that is left of a run."""
        found = [str(folder) for folder in self.scratch.iterdir()]
        found += [str(file) for file in Path("/proc").glob("[0-9]*/environ") if _holds(file, mark)]
        if isinstance(self.bench.sandbox, DockerSandbox):
            label = {"label": f"labkit.run={mark}"}
            found += [
                str(each) for each in self.bench.sandbox.api.containers(all=True, filters=label)
            ]
        return found


def _holds(file: Path, mark: str) -> bool:
    try:
        return mark.encode() in file.read_bytes()
    except OSError:
        return False


@pytest.fixture(scope="module", params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    scratch = tmp_path_factory.mktemp("scratch")
    if request.param == "docker":
        sandbox: Sandbox = request.getfixturevalue("docker_sandbox")
    else:
        made_here = partial(bubblewrap_sandbox, cache=bubblewrap_cache(), scratch=scratch)
        sandbox = or_skip("bubblewrap", made_here)
    bench = bench_of(sandbox, memory=256, processes=64, scratch=32)
    made = make_set(tmp_path_factory.mktemp("hostile"), forbidden=())
    return Place(task=validated(made, bench), bench=bench, scratch=scratch)


def told(record: GradeRecord) -> tuple[Verdict, tuple[Flag, ...], str]:
    """Return the verdict; that the screen finds such programs suspicious is for its own tests."""
    flags = tuple(flag for flag in record.flags if flag is not Flag.SUSPICIOUS)
    return record.verdict, flags, record.reason


@pytest.mark.slow
def test_programs_that_never_end_run_out_of_time_at_once(place: Place) -> None:
    """All at the same time, and beside them one that is honest."""
    sources = {name: Program(body=body).source for name, body in NEVER_END.items()}
    diffs = {name: place.diff(source) for name, source in (sources | {HONEST: FIXED}).items()}
    marks = {name: uuid.uuid4().hex for name in diffs}
    began = time.monotonic()

    def grade(name: str) -> GradeRecord:
        seconds = 60 if name == HONEST else _SECONDS
        return place.grade(diffs[name], mark=marks[name], seconds=seconds)

    with ThreadPoolExecutor(len(diffs)) as pool:
        records = dict(zip(diffs, pool.map(grade, diffs), strict=True))
    assert time.monotonic() - began < _SECONDS + _PATIENCE
    assert records.pop(HONEST).verdict is Verdict.PASS
    out_of_time = (Verdict.FAIL, (Flag.TIMEOUT,), "the tests ran out of time")
    assert {name: told(record) for name, record in records.items()} == dict.fromkeys(
        NEVER_END, out_of_time
    )
    took = [record.seconds or 0 for record in records.values()]
    assert _SECONDS <= min(took) <= max(took) < _SECONDS + _PATIENCE
    assert {name: left for name, mark in marks.items() if (left := place.left(mark))} == {}


@pytest.mark.parametrize("name", END)
def test_a_program_is_bounded_and_gone_with_its_run(place: Place, name: str) -> None:
    program, mark = END[name], uuid.uuid4().hex
    if Flag.OUT_OF_MEMORY in program.flags:
        require_memory_reports(place.bench.sandbox)
    began = time.monotonic()
    record = place.grade(place.diff(program.source), mark=mark, seconds=30)
    assert time.monotonic() - began < _PATIENCE
    assert told(record)[:2] == (program.verdict, program.flags), record.reason
    assert record.reason.startswith(program.reason)
    assert place.left(mark) == []
    after = place.grade(place.diff(FIXED), mark=mark)
    assert told(after) == (Verdict.PASS, (), "all 3 expected tests passed")


def test_how_long_it_took_is_measured_from_outside(place: Place) -> None:
    record = place.grade(place.diff(END["changes the clocks"].source), mark="clock")
    assert record.seconds is not None
    assert 1.5 <= record.seconds < _PATIENCE
