"""Submissions that misuse the folder in which a project's own runner writes its JUnit report."""

import time
from pathlib import Path

import pytest
from gradings import CALC, FIXED, Set, bench_of, make_set, validated
from redteam.hostile_programs import fills, goes_deep, makes_files
from redteam.test_runner_attacks import HIDDEN, RUNNER
from sandboxes import require_memory_reports

from labkit.model import Flag, Verdict
from labkit.sandbox.interface import Sandbox
from labkit_grader.execute import Bench

PACKED = "/report/results.tar"
RIGHT: dict[str, tuple[str, Verdict | None]] = {
    "fills it at first": (fills("/results").body, Verdict.FAIL),
    "makes folders deeper than a path can be": (goes_deep("/results"), Verdict.FAIL),
    "leaves odd files": (
        r"""
os.mkfifo('/results/pipe')
socket.socket(socket.AF_UNIX).bind('/results/socket')
os.symlink('/', '/results/root')
for name in (b'\xff\xfe', b'a\nb', b'=\n', b'x' * 255):
    open(b'/results/' + name, 'w').close()
""",
        Verdict.PASS,
    ),
    "locks it": ("os.chmod('/results', 0)", Verdict.FAIL),
    "makes more files than are read": (
        "for n in range(5000):\n    open(f'/results/{n}', 'w').close()",
        Verdict.FAIL,
    ),
    "writes to what it is packed into": (f"open({PACKED!r}, 'wb').write(b'no tar')", Verdict.PASS),
    "goes on writing to what it is packed into": (
        f"""
if os.fork() == 0:
    os.setsid()
    while True:
        open({PACKED!r}, 'ab').write(b'no tar' * 100)
time.sleep(0.2)
""",
        None,
    ),
    "kills the shell that packs it": ("os.kill(os.getppid(), 9)", Verdict.FAIL),
    "makes a million files": (makes_files("/results"), Verdict.FAIL),
}


def submission(body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"import os, socket, time\ndef attack():\n{lines}\nattack()\n{FIXED}"


@pytest.fixture
def bench(sandbox: Sandbox) -> Bench:
    return bench_of(sandbox, seconds=30, memory=256, scratch=32)


@pytest.fixture
def by_junit(tmp_path: Path, bench: Bench) -> Set:
    made = make_set(
        tmp_path / "set",
        base={"calc.py": CALC, "run.py": RUNNER, "README.md": "calc\n"},
        draft={"hidden/tests/test_hidden.py": HIDDEN},
        forbidden=(),
        grading="python run.py {report} {tests}",
    )
    return validated(made, bench)


@pytest.mark.slow
def test_what_a_runner_leaves_is_bounded(by_junit: Set, bench: Bench) -> None:
    """One grade after the other, and an honest one behind each; where two writers race, either."""
    require_memory_reports(bench.sandbox)
    for name, (body, verdict) in RIGHT.items():
        began = time.monotonic()
        record = by_junit.graded(bench, by_junit.diff({"calc.py": submission(body)}))
        assert time.monotonic() - began < 25, name
        assert record.verdict is (verdict or record.verdict), (name, record.reason)
        assert record.verdict is not Verdict.UNGRADED, name
        assert Flag.TIMEOUT not in record.flags, name
        after = by_junit.graded(bench, by_junit.diff({"calc.py": FIXED}))
        assert (after.verdict, after.flags) == (Verdict.PASS, ()), (name, after.reason)
