"""Grades with the `swebench` package, in a virtual environment of its own, on request.

Every line on standard input is a JSON object with an instance and a prediction; the answer is one
line with the verdict, the seconds of the whole grade, and those of ending its container.
"""

import contextlib
import json
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import docker
from swebench.harness import run_evaluation  # type: ignore[import-not-found] # of its own venv
from swebench.harness.utils import make_test_spec  # type: ignore[import-not-found]


class Stopwatch:
    """Measures the ending of containers, which the harness does by `docker stop`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._end = run_evaluation.cleanup_container
        run_evaluation.cleanup_container = self._timed

    def _timed(self, *arguments: Any) -> None:
        began = time.perf_counter()
        self._end(*arguments)
        self.seconds += time.perf_counter() - began


def graded(client: docker.DockerClient, watch: Stopwatch, request: Any) -> dict[str, object]:
    """Grade one prediction as `swebench evaluate` does for each."""
    spec = make_test_spec(request["instance"])
    watch.seconds, began = 0.0, time.perf_counter()
    done = run_evaluation.run_instance(
        spec, request["prediction"], client, uuid.uuid4().hex, timeout=60
    )
    seconds = time.perf_counter() - began
    resolved = done is not None and done[1][spec.instance_id]["resolved"]
    return {"resolved": resolved, "seconds": seconds, "stop": watch.seconds}


def main() -> None:
    """Answer until the input ends."""
    client, watch = docker.from_env(), Stopwatch()
    with tempfile.TemporaryDirectory() as logs:
        run_evaluation.RUN_EVALUATION_LOG_DIR = Path(logs)
        for line in sys.stdin:
            with contextlib.redirect_stdout(sys.stderr):
                answer = graded(client, watch, json.loads(line))
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
