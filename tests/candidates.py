"""Candidates for tests: a function written to a file, a case, a sample, and who is still alive."""

import os
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labkit.evals import EvalCase, Trial
from labkit.evals.hosted import Hosted

LONG = f"600.{os.getpid()}"
"""What a `sleep` of these tests is told, so that `alive` knows it from everybody else's."""
CASE = EvalCase(
    id="add", inputs={"a": 1}, reference="the right answer", grader_spec={"name": "exact"}
)


def case(inputs: object = None) -> EvalCase:
    """Return a case with these inputs."""
    return EvalCase(id="add", inputs=inputs, reference="the right answer")


def trial(folder: Path, *, number: int = 1, seed: int = 7) -> Trial:
    """Return a sample with a fresh scratch folder that holds one file."""
    scratch = folder / f"scratch-{time.monotonic_ns()}"
    scratch.mkdir(parents=True)
    (scratch / "calc.py").write_text("one = 1\n", encoding="utf-8")
    return Trial(number=number, seed=seed, scratch=scratch)


def write(folder: Path, body: str) -> str:
    """Write a file with a function `answer` of this body; return what names it."""
    head = "import ctypes, os, signal, subprocess, sys, threading, time\nfrom pathlib import Path\n"
    head += "from labkit.evals import Answer, Escaped, Replacement, TimedOut\n\n"
    function = "def answer(case, trial):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    (folder / "agent.py").write_text(head + function, encoding="utf-8")
    return "agent.py:answer"


@contextmanager
def hosted(folder: Path, body: str, *, timeout: float = 20.0) -> Iterator[Hosted]:
    """Give a hosted candidate with this body."""
    with Hosted(write(folder, body), folder=folder, timeout=timeout) as candidate:
        yield candidate


def alive() -> list[int]:
    """Return the processes whose command line holds LONG."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "cmdline").read_bytes()
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if LONG.encode() in words and state != "Z":
                found.append(int(path.name))
    return found


def all_gone(seconds: float = 5.0) -> bool:
    """Return whether none of them is left after a while at most."""
    until = time.monotonic() + seconds
    while alive():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
