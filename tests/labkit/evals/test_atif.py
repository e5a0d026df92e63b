"""ATIF trajectories, as Harbor's own models read them."""

import json
from pathlib import Path
from typing import Any

import pytest
from foreign import Foreign
from hypothesis import given
from hypothesis import strategies as st

from labkit.evals import Sample, Status
from labkit.evals.atif import About, sample_trajectory, trajectory_text, transcript_trajectory
from labkit.graders import Verdict
from labkit.transcripts.model import Call, Step, Transcript

VALIDATE = """
import json, sys
from harbor.models.trajectories import Trajectory
found = [Trajectory.model_validate(each) for each in json.load(open(sys.argv[1]))]
print(json.dumps([each.to_json_dict() for each in found]))
"""
ABOUT = About(session="bug-1__A__1", agent="command", version="2.1", model="small", prompt="Mend.")
TRANSCRIPT = Transcript(
    format="scripted",
    steps=(
        Step(line=3, text="Looking."),
        Step(
            line=4,
            calls=(
                Call(tool="shell", command="ls", cwd="/w", output="a.py", failed=True),
                Call(tool="read", reads=("a.py",), complete=False),
            ),
        ),
        Step(line=9, calls=(Call(tool="write", writes=("a.py",), complete=False),)),
    ),
    final_message="Done.",
    turns=2,
    ended=False,
    gaps=("line 5 is no JSON",),
)


def sample(*trace: dict[str, Any], output: object = None) -> Sample:
    """Return a passed sample with a trace."""
    return Sample(
        case="add", number=2, seed=8, status=Status.GRADED, trace=trace, output=output,
        verdict=Verdict.passing("yes"), cost=0.5, latency_ms=12.0,
    )  # fmt: skip


def test_a_transcript_keeps_its_steps_calls_and_gaps() -> None:
    made = transcript_trajectory(TRANSCRIPT, ABOUT, {"tokens": 900, "cost": None})
    assert made["agent"] == {"name": "command", "version": "2.1", "model_name": "small"}
    asked, looking, acting, writing = made["steps"]
    assert asked == {"step_id": 1, "source": "user", "message": "Mend."}
    assert (looking["step_id"], looking["message"], looking["extra"]) == (
        2,
        "Looking.",
        {"line": 3},
    )
    first, second = acting["tool_calls"]
    assert (first["function_name"], first["arguments"]) == ("shell", {"command": "ls", "cwd": "/w"})
    assert second["arguments"] == {"reads": ["a.py"]}
    (answered,) = acting["observation"]["results"]
    assert answered["source_call_id"] == first["tool_call_id"]
    assert (answered["content"], answered["extra"]) == ("a.py", {"failed": True})
    assert "observation" not in writing
    assert made["notes"] == "line 5 is no JSON; the transcript has no end mark"
    assert made["final_metrics"] == {"total_steps": 4, "extra": {"tokens": 900}}


def test_a_trace_keeps_whatever_it_holds() -> None:
    made = sample_trajectory(
        sample(
            {"role": "assistant", "content": "I add."},
            {"tool": "sum", "arguments": {"of": [2, 2]}, "output": 4},
            {"tool": "look", "input": "a.py"},
            {"role": "robot", "seen": True},
            output={"answer": 4},
        ),
        ABOUT,
    )
    _, said, called, looked, odd, answer = made["steps"]
    assert (said["source"], said["message"]) == ("agent", "I add.")
    assert called["tool_calls"][0]["arguments"] == {"of": [2, 2]}
    assert called["observation"]["results"][0]["content"] == "4"
    assert looked["tool_calls"][0]["arguments"] == {"value": "a.py"}
    assert "observation" not in looked
    assert (odd["source"], odd["extra"]["trace"]) == ("system", {"role": "robot", "seen": True})
    assert answer["message"] == '{"answer": 4}'
    assert made["extra"]["passed"] is True
    assert made["final_metrics"]["extra"] == {"cost": 0.5, "latency_ms": 12.0}


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = ["role", "source", "message", "content", "tool", "arguments", "input", "output", "other"]
STEPS = st.dictionaries(st.sampled_from(NAMES), PLAIN, max_size=5)


@given(st.lists(STEPS, max_size=4), PLAIN)
def test_every_trace_is_a_trajectory_that_holds_it(
    trace: list[dict[str, Any]], end: object
) -> None:
    made = json.loads(trajectory_text(sample_trajectory(sample(*trace, output=end), ABOUT)))
    kept = [step["extra"]["trace"] for step in made["steps"] if "extra" in step]
    assert kept == json.loads(json.dumps(trace))
    assert [step["step_id"] for step in made["steps"]] == list(range(1, len(made["steps"]) + 1))
    for step in made["steps"]:
        assert step["source"] in ("system", "user", "agent")
        assert isinstance(step["message"], str)
        calls = {each["tool_call_id"] for each in step.get("tool_calls", ())}
        results = step.get("observation", {}).get("results", ())
        assert {each["source_call_id"] for each in results} <= calls


@pytest.mark.registry
@pytest.mark.slow
def test_harbor_reads_what_was_written(foreign: Foreign, tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"role": "user", "tool": "x", "output": 1},
        {"tool": 3, "arguments": None, "result": None},
        {"source": None, "message": {"of": ["a"]}},
    ]
    made = [
        transcript_trajectory(TRANSCRIPT, ABOUT),
        transcript_trajectory(
            Transcript(format="plain", steps=(), final_message="", turns=0, ended=True),
            About(session="s", agent=""),
        ),
        sample_trajectory(sample(), About(session="s", agent="a")),
        sample_trajectory(sample(*odd, output="text \ud800"), ABOUT),
    ]
    path = tmp_path / "all.json"
    path.write_bytes(b"[" + b",".join(map(trajectory_text, made)) + b"]")
    read = foreign.ask(VALIDATE, str(path))
    written = json.loads(path.read_bytes())
    assert [each["steps"] for each in read] == [each["steps"] for each in written]
    assert {each["schema_version"] for each in read} == {"ATIF-v1.7"}
