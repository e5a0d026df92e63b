"""What agents did, as ATIF trajectories (Harbor's Agent Trajectory Interchange Format).

Two things have steps: the trace that a candidate returned with a sample, and the transcript of a
run of a golden task. Nothing of them is dropped: what ATIF has no place for stands in `extra`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labkit.evals.sample import Sample
from labkit.fields import json_text
from labkit.transcripts.model import Call, Step, Transcript

SCHEMA_VERSION = "ATIF-v1.7"
"""The oldest version that has a place for everything written here; newer readers take it."""
_SOURCES = {
    "agent": "agent", "assistant": "agent", "user": "user", "human": "user", "system": "system",
}  # fmt: skip
_SAID = ("message", "content", "text")
_ASKED = ("arguments", "args", "input")
_ANSWERED = ("output", "result", "observation")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a trajectory says of the whole run, beside its steps."""

    session: str
    """The run's name."""
    agent: str
    version: str = ""
    """Empty where nobody knows it: then the file says `unknown`."""
    model: str = ""
    prompt: str = ""
    """What was asked; the first step."""
    extra: Mapping[str, Any] | None = None


def sample_trajectory(sample: Sample, about: About) -> dict[str, Any]:
    """Return the trajectory of a sample: what was asked, its trace, its answer.

    A step of a trace is a mapping. Its text is taken from `message`, `content` or `text`, who said
    it from `role` or `source` (the agent, where it does not say), a tool call from `tool`,
    `arguments` and `output`; the whole mapping stands in `extra`.
    """
    steps = [_traced(step) for step in sample.trace]
    if sample.output is not None:
        steps.append({"source": "agent", "message": _text(sample.output)})
    known = {
        "status": str(sample.status),
        "passed": sample.passed,
        "score": sample.verdict.score,
        "detail": sample.verdict.detail,
        "seed": sample.seed,
    }
    figures = {"cost": sample.cost, "latency_ms": sample.latency_ms}
    return _trajectory(about, steps, extra=known, figures=figures)


def transcript_trajectory(
    transcript: Transcript, about: About, figures: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the trajectory of a transcript; what of it could not be read stands in `notes`."""
    steps = [_said(step) for step in transcript.steps]
    notes = list(transcript.gaps)
    if not transcript.ended:
        notes.append("the transcript has no end mark")
    known = {"transcript": transcript.format, "turns": transcript.turns}
    return _trajectory(about, steps, extra=known, figures=figures or {}, notes=notes)


def trajectory_text(values: dict[str, Any]) -> bytes:
    """Return a trajectory as its file's content; what no UTF-8 can hold is a question mark."""
    return json_text(values).encode("utf-8", "replace")


def _trajectory(
    about: About,
    steps: list[dict[str, Any]],
    *,
    extra: Mapping[str, Any],
    figures: Mapping[str, Any],
    notes: list[str] | None = None,
) -> dict[str, Any]:
    asked = {"source": "user", "message": about.prompt}
    numbered = [{"step_id": number, **step} for number, step in enumerate([asked, *steps], 1)]
    agent = {"name": about.agent or "unknown", "version": about.version or "unknown"}
    known = {name: value for name, value in figures.items() if value is not None}
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": about.session,
        "agent": agent | ({"model_name": about.model} if about.model else {}),
        "steps": numbered,
        **({"notes": "; ".join(notes)} if notes else {}),
        # A cost is in whatever unit the team counts in, so it is not Harbor's total_cost_usd.
        "final_metrics": {
            "total_steps": len(numbered), **({"extra": known} if known else {}),
        },
        "extra": {**extra, **(about.extra or {})},
    }  # fmt: skip


def _traced(step: Mapping[str, Any]) -> dict[str, Any]:
    source = _SOURCES.get(str(step.get("source", step.get("role", "agent"))).lower(), "system")
    made: dict[str, Any] = {"source": source, "message": _text(_first(step, _SAID))}
    if source == "agent" and step.get("tool"):
        asked = _first(step, _ASKED)
        call = {
            "tool_call_id": "call-1",
            "function_name": str(step["tool"]),
            "arguments": dict(asked) if isinstance(asked, Mapping) else _named(asked),
        }
        made["tool_calls"] = [call]
        if any(name in step for name in _ANSWERED):
            result = {"source_call_id": "call-1", "content": _text(_first(step, _ANSWERED))}
            made["observation"] = {"results": [result]}
    return made | {"extra": {"trace": dict(step)}}


def _first(step: Mapping[str, Any], names: tuple[str, ...]) -> object:
    return next((step[name] for name in names if name in step), None)


def _named(asked: object) -> dict[str, Any]:
    return {} if asked is None else {"value": asked}


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _said(step: Step) -> dict[str, Any]:
    made: dict[str, Any] = {"source": "agent", "message": step.text, "extra": {"line": step.line}}
    if not step.calls:
        return made
    named = [(f"call-{step.line}-{number}", call) for number, call in enumerate(step.calls, 1)]
    made["tool_calls"] = [
        {"tool_call_id": name, "function_name": call.tool, "arguments": dict(_arguments(call))}
        for name, call in named
    ]
    results = [
        {"source_call_id": name, "content": call.output, "extra": {"failed": call.failed}}
        for name, call in named
        if call.complete
    ]
    return made | ({"observation": {"results": results}} if results else {})


def _arguments(call: Call) -> Iterator[tuple[str, Any]]:
    """Yield what is known of a call's arguments."""
    if call.command is not None:
        yield "command", call.command
    if call.reads:
        yield "reads", list(call.reads)
    if call.writes:
        yield "writes", list(call.writes)
    if call.cwd is not None:
        yield "cwd", call.cwd
