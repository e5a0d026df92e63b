"""What proving nine typical tasks costs: the aim is three minutes on two cores.

Each task is a project of 54 files with twenty hidden tests, proven as `labkit task validate` does
it, as many tasks at once as there are processors: rounds on both sides, one run in the reverse
order, every cheat. The reference, measured right after it on the same machine, is as many bare runs
of the very same sandboxed pytest, equally many at once.

Run: PYTHONPATH=tests python tests/bench/bench_validate.py [docker|bubblewrap]
"""

import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from threading import Lock

from gradings import CALC, FIXED, make_set
from sandboxes import bubblewrap_cache, make_docker

from labkit.sandbox.choose import bubblewrap_sandbox
from labkit.sandbox.image import BASE_TAG
from labkit.sandbox.interface import Collect, Limits, Outcome, Sandbox, Spec, Streams, T
from labkit_grader.execute import Bench
from labkit_grader.oracles.interface import Case
from labkit_grader.validate import validate_task

TASKS = 9
AIM = 180.0
WORKERS = cpu_count() or 1
TESTS = "import pytest\nfrom calc import add\n" + "".join(
    f"def test_add_{n}():\n    assert type(add({n}, {n})) is int and add({n}, {n}) == {2 * n}\n"
    for n in range(1, 21)
)


class Counter:
    """A sandbox that keeps every spec given to it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._lock = Lock()
        self.specs: list[Spec] = []

    def run(self, spec: Spec, streams: Streams, collect: Collect[T]) -> tuple[Outcome, T]:
        """Keep the spec and run it."""
        with self._lock:
            self.specs.append(spec)
        return self._sandbox.run(spec, streams, collect)

    def __getattr__(self, name: str) -> object:
        return getattr(self._sandbox, name)


def cases(folder: Path) -> list[Case]:
    """Return nine tasks."""
    files = {f"part{n % 9}/file{n}.py": f"value = {n}\n" * 150 for n in range(52)}
    base = {**files, "calc.py": CALC, "tests/test_calc.py": "def test_nothing():\n    pass\n"}
    draft = {"hidden/tests/test_hidden.py": TESTS}
    return [
        make_set(folder / str(n), base=base, solution={"calc.py": FIXED}, draft=draft).case
        for n in range(TASKS)
    ]


def together(work: Callable[[T], object], items: Iterable[T]) -> float:
    """Return the seconds that some pieces of work take, as many at once as processors."""
    begun = time.perf_counter()
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        list(pool.map(work, items))
    return time.perf_counter() - begun


def main(name: str) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        sandbox = (
            make_docker()
            if name == "docker"
            else bubblewrap_sandbox(cache=bubblewrap_cache(), scratch=folder)
        )
        counter = Counter(sandbox)
        bench = Bench(sandbox=counter, image=BASE_TAG, limits=Limits(seconds=300))  # type: ignore[arg-type]  # the rest is passed on

        def prove(case: Case) -> None:
            evidence = validate_task(bench, case)
            assert evidence.valid, evidence.problems

        def bare(spec: Spec) -> None:
            streams = Streams(stdout=io.BytesIO(), stderr=io.BytesIO())
            sandbox.run(spec, streams, lambda stream: stream.read())

        took = together(prove, cases(folder / "tasks"))
        runs = len(counter.specs)
        reference = together(bare, list(counter.specs))
    print(f"{TASKS} tasks in {name}: {took:.0f} s, {runs} runs (aim: at most {AIM:.0f} s)")
    print(f"as many bare runs: {reference:.0f} s; ratio {took / reference:.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docker")
