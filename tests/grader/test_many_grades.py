"""Grades in a row leave nothing behind, whatever their verdict; `bench_200_grades.py` has more."""

from dataclasses import replace
from pathlib import Path

import pytest
from gradings import CALC, FIXED, bench_of, make_set, validated
from leftovers import control_groups, engine_things, local_things, own_temporary_folder, soon_empty
from sandboxes import BOTH, bubblewrap_cache, or_skip

from labkit.model import Verdict
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox

GRADES = 20
_BREATHES = 5
"""How many connections more than before the engine's client may keep: none for each grade."""
SUBMISSIONS = {
    FIXED: Verdict.PASS,
    CALC: Verdict.FAIL,
    "import os\nos._exit(0)\n": Verdict.FAIL,
    "import os\nos.kill(os.getpid(), 9)\n": Verdict.FAIL,
    "import time\ntime.sleep(100)\n": Verdict.FAIL,
}


def shared_things(sandbox: Sandbox) -> frozenset[str]:
    """Name what other tests make and remove at the same time."""
    if isinstance(sandbox, DockerSandbox):
        return engine_things(sandbox.api)["volumes"]
    return control_groups()


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_grades_in_a_row_leave_nothing(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with own_temporary_folder(tmp_path / "temporary") as temporary:
        scratch = temporary / "scratch"
        if name == "docker":
            sandbox: Sandbox = request.getfixturevalue("docker_sandbox")
        else:
            sandbox = or_skip(
                "bubblewrap", lambda: bubblewrap_sandbox(cache=bubblewrap_cache(), scratch=scratch)
            )
        bench = replace(bench_of(sandbox, seconds=30), labels={"labkit.run": str(tmp_path)})
        task = validated(make_set(tmp_path / "set", forbidden=()), bench)
        quick = replace(bench, limits=replace(bench.limits, seconds=2))
        diffs = [task.diff({"calc.py": source}) for source in SUBMISSIONS]
        for diff in diffs:  # connections of the engine's client are kept from now on
            task.graded(quick, diff)
        shared = shared_things(sandbox)
        local = local_things(temporary)
        for number in range(GRADES):
            record = task.graded(quick if number % 5 == 4 else bench, diffs[number % 5])
            assert record.verdict is list(SUBMISSIONS.values())[number % 5], record.reason
        after = local_things(temporary)
    assert len(after.pop("descriptors") - local.pop("descriptors")) < _BREATHES
    assert after == local
    assert soon_empty(lambda: shared_things(sandbox) - shared) == set()
    if isinstance(sandbox, DockerSandbox):
        label = {"label": f"labkit.run={tmp_path}"}
        assert sandbox.api.containers(all=True, filters=label) == []
