"""What the development loop costs around a candidate in its own process, a sample at a time.

A candidate mends one file of a case of two files, and `file_equals` looks at it. Beside it, in
turn, two bare loops: `tempfile.mkdtemp`, the candidate, `shutil.rmtree` (what is asked: an overhead
of at most twice that), and the same with the case's files copied in, as the harness does. Samples
are streamed to disk; the peak memory is that of the whole process.

Run: PYTHONPATH=tests python tests/bench/bench_evals.py [cases]
"""

import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from labkit.evals import EvalCase, EvalRunner, EvalSuite, Keep, Trial

SAMPLES = 5
PARTS = 10
AIM = 2.0
FIXED = "def add(a, b):\n    return a + b\n"
CASE = EvalCase("bare")


def mend(case: EvalCase, trial: Trial) -> str:
    """Write the mended file."""
    del case
    with open(f"{trial.scratch}/calc.py", "w") as file:  # noqa: PTH123 - as little as can be
        file.write(FIXED)
    return "done"


def bare(fixture: Path | None) -> None:
    """Do what nobody can do without."""
    scratch = tempfile.mkdtemp()
    if fixture:
        shutil.copytree(fixture, scratch, dirs_exist_ok=True)
    mend(CASE, Trial(number=1, seed=0, scratch=Path(scratch)))
    shutil.rmtree(scratch)


def suite_of(fixture: Path, cases: range) -> EvalSuite:
    """Return so many cases with the same files."""
    spec = {"name": "file_equals", "path": "calc.py", "expected": FIXED}
    return EvalSuite(
        EvalCase(f"case-{number}", grader_spec=spec, folder=fixture) for number in cases
    )


def repeat(times: int, fixture: Path | None) -> None:
    """Do it so many times."""
    for _ in range(times):
        bare(fixture)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(cases: int) -> None:
    """Measure in turns, so that a busy machine is busy for all, and print ratios."""
    home = Path(tempfile.mkdtemp(prefix="bench-evals-"))
    fixture = home / "buggy"
    fixture.mkdir()
    (fixture / "calc.py").write_text(FIXED.replace("+", "-"))
    (fixture / "README.md").write_text("A calculator.\n" * 20)
    part = cases // PARTS
    spent = {"bare": 0.0, "copied": 0.0, "harness": 0.0}
    for turn in range(PARTS):
        spent["bare"] += timed(partial(repeat, part * SAMPLES, None))
        spent["copied"] += timed(partial(repeat, part * SAMPLES, fixture))
        suite = suite_of(fixture, range(turn * part, (turn + 1) * part))
        runner = EvalRunner(candidate=mend, n=SAMPLES, keep=Keep.NONE)
        spent["harness"] += timed(partial(runner.run, suite, folder=home / f"run-{turn}"))
    samples = part * PARTS * SAMPLES
    each = {name: seconds / samples * 1e6 for name, seconds in spent.items()}
    over = (each["harness"] - each["bare"]) / each["bare"]
    print(f"{samples:,} samples, in microseconds a sample:")
    for name, cost in each.items():
        print(f"  {name:8} {cost:7.0f}")
    print(f"overhead over the bare loop: {over:.2f} of it (aim at most {AIM:g})")
    print(f"harness / bare loop with the files copied: {each['harness'] / each['copied']:.2f}")
    whole = timed(
        lambda: EvalRunner(candidate=mend, n=SAMPLES, keep=Keep.NONE).run(
            suite_of(fixture, range(cases)), folder=home / "whole"
        )
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (home / "whole/samples.jsonl").stat().st_size / 1e6
    print(f"all {cases:,} cases in one run: {whole:.0f} s, {size:.0f} MB of samples on disk,")
    print(f"peak memory of the process {peak:.0f} MiB")
    shutil.rmtree(home)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
