"""Records of runs for tests, with what their agents asked the model."""

from collections.abc import Mapping
from typing import Any

from labkit.model import Ended, RunId
from labkit.records import RunRecord

PRINT: Mapping[str, Any] = {
    "model": "m",
    "client": "cli/1.0",
    "system": "5157",
    "tools": "7001",
    "messages": "3355",
    "params": {"max_tokens": 32000, "stream": True},
}


def printed(**changes: Any) -> dict[str, Any]:
    """Return a fingerprint; `params` are added to the usual ones."""
    params = PRINT["params"] | changes.pop("params", {})
    return {**PRINT, **changes, "params": params}


def a_record(run: str, **changes: Any) -> RunRecord:
    """Return a record of a run: `bug-1__A__1`."""
    values: dict[str, Any] = {
        "run": RunId.parse(run),
        "runner": "ana",
        "suite_version": "v1",
        "seed": 1,
        "ended": Ended.EXITED,
        "exit_code": 0,
        "started": "2026-01-02T10:00:00+00:00",
        "seconds": 1.0,
        "sandbox": "docker",
        "image_digest": "sha256:aaaa",
        "agent": "claude-code",
        "agent_version": "2.1",
        "model": "m",
        "turns": 3,
        "base_tree": "b",
        "result_tree": "r",
        "binary_digest": "bbbb",
        "fingerprint": printed(messages=run.partition("__")[0]),
    }
    return RunRecord(**(values | changes))


def study_of(tasks: int = 2, attempts: int = 1, **of_side: Mapping[str, Any]) -> list[RunRecord]:
    """Return records of A and B, and of more where named: `B={"agent_version": "2"}`."""
    sides = sorted({"A", "B", *of_side})
    return [
        a_record(f"bug-{task}__{side}__{attempt}", **of_side.get(side, {}))
        for task in range(1, tasks + 1)
        for attempt in range(1, attempts + 1)
        for side in sides
    ]
