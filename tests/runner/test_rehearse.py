"""What a rehearsal says of the effort that its requests had."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from runs import A, a_configuration
from wires import a_record, printed

from labkit.model import Api
from labkit_runner.job import Job
from labkit_runner.rehearse import lost_effort


def told(agent: str, api: Api, effort: str, **params: Any) -> list[str]:
    arm = a_configuration(A, agent=agent, effort=effort)
    job = cast("Job", SimpleNamespace(configuration=arm, api=api))
    record = a_record("bug-1__A__1", fingerprint=printed(params=params))
    return list(lost_effort(job, record))


@pytest.mark.parametrize(
    ("agent", "api", "effort", "params"),
    [
        ("claude-code", Api.ANTHROPIC, "high", {"output_config.effort": "high"}),
        ("claude-code", Api.ANTHROPIC, "", {}),
        ("codex", Api.RESPONSES, "xhigh", {"reasoning.effort": "xhigh"}),
        ("mini-swe-agent", Api.ANTHROPIC, "low", {"thinking.budget_tokens": 1024}),
        ("mini-swe-agent", Api.ANTHROPIC, "none", {}),
        ("mini-swe-agent", Api.CHAT, "minimal", {"reasoning_effort": "low"}),
        ("gemini-cli", Api.GEMINI, "8192", {"generationConfig.thinkingConfig.x": 8192}),
    ],
)
def test_an_effort_that_arrives_is_no_news(
    agent: str, api: Api, effort: str, params: dict[str, Any]
) -> None:
    assert told(agent, api, effort, **params) == []


@pytest.mark.parametrize(
    ("agent", "api", "params"),
    [
        # Claude Code lets some models think whatever effort it was told.
        ("claude-code", Api.ANTHROPIC, {"thinking.budget_tokens": 31999}),
        ("codex", Api.RESPONSES, {}),
        ("mini-swe-agent", Api.CHAT, {}),
        ("gemini-cli", Api.GEMINI, {}),
    ],
)
def test_an_effort_that_was_dropped_is_told(agent: str, api: Api, params: dict[str, Any]) -> None:
    (found,) = told(agent, api, "low", **params)
    assert found.startswith(f"the effort low does not reach the model: {agent} sends none for ")
    assert "which takes no effort" in found


def test_another_effort_than_the_declared_one_is_told() -> None:
    (found,) = told("claude-code", Api.ANTHROPIC, "max", **{"output_config.effort": "high"})
    assert "the effort max does not reach the model" in found
    assert found.endswith("with output_config.effort=high")
