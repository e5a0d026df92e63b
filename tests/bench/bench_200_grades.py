"""What 200 grades in a row leave behind: counts before and after, which have to be the same.

A pass, a fail, an early exit, a self-kill and a fork bomb that runs out of time in turn, in both
sandboxes. On an engine that others use at the same time their things are counted too.

Run: PYTHONPATH=tests python tests/bench/bench_200_grades.py [grades]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gradings import CALC, FIXED, bench_of, make_set, validated
from leftovers import (
    Things,
    control_groups,
    engine_things,
    local_things,
    own_temporary_folder,
    soon_empty,
)
from sandboxes import bubblewrap_cache, make_docker

from labkit.errors import LabkitError
from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox

FORKS = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n"
SUBMISSIONS = (
    FIXED,
    CALC,
    "import os\nos._exit(0)\n",
    "import os\nos.kill(os.getpid(), 9)\n",
    FORKS,
)


def things(sandbox: Sandbox, folder: Path) -> Things:
    """Name all that could be left."""
    return {**_of_all(sandbox), **local_things(folder)}


def _of_all(sandbox: Sandbox) -> Things:
    engine = engine_things(sandbox.api) if isinstance(sandbox, DockerSandbox) else {}
    return {**engine, "control groups": control_groups()}


def shared(sandbox: Sandbox) -> frozenset[str]:
    """Name what others make and remove here at the same time."""
    return frozenset[str]().union(*_of_all(sandbox).values())


def many(sandbox: Sandbox, folder: Path, grades: int) -> None:
    """Grade many times in one sandbox and print what is there before and after."""
    bench = bench_of(sandbox, seconds=30)
    quick = replace(bench, limits=replace(bench.limits, seconds=1))
    task = validated(make_set(folder.parent / f"set-{sandbox.name}", forbidden=()), bench)
    diffs = [task.diff({"calc.py": source}) for source in SUBMISSIONS]
    for diff in diffs:  # connections of the engine's client are kept from now on
        task.graded(quick, diff)
    before = things(sandbox, folder)
    began = time.monotonic()
    verdicts = [
        task.graded(quick if number % 5 == 4 else bench, diffs[number % 5]).verdict.value
        for number in range(grades)
    ]
    seconds = time.monotonic() - began
    soon_empty(lambda: shared(sandbox) - frozenset[str]().union(*before.values()))
    after = things(sandbox, folder)
    print(f"{sandbox.name}: {grades} grades in {seconds:.0f} s, {verdicts.count('pass')} passed")
    for kind, names in before.items():
        new = sorted(after[kind] - names)
        print(
            f"  {kind:<15} before {len(names):5}  after {len(after[kind]):5}  new {new or 'none'}"
        )


def main() -> None:
    """Grade in every sandbox that works here."""
    grades = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "temporary")
        ways: tuple[Callable[[], Sandbox], ...] = (
            lambda: bubblewrap_sandbox(cache=bubblewrap_cache(), scratch=folder / "scratch"),
            make_docker,
        )
        with own_temporary_folder(folder):
            for way in ways:
                try:
                    many(way(), folder, grades)
                except LabkitError as error:
                    print(f"a sandbox does not work here: {error}")


if __name__ == "__main__":
    main()
