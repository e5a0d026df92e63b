"""Codex itself against a scripted model."""

import json
from pathlib import Path

import pytest
from realagents import configured, rehearse_in_docker, versions
from solves import CODEX_SOLVES, play_codex, task

from labkit.sandbox.docker import DockerSandbox
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.interface import Said
from labkit_runner.rehearsal.script import Fault, FaultKind, Script

pytestmark = [pytest.mark.registry]


@pytest.mark.bubblewrap
def test_it_solves_a_task_in_three_turns(tmp_path: Path) -> None:
    run = play_codex(tmp_path, effort="high")
    assert (run.left.exit_code, run.account.said) == (0, Said.COMPLETED), run.left.stderr
    assert "return a + b" in (tmp_path / "workspace" / "calc.py").read_text()
    assert (tmp_path / "workspace" / "out.txt").read_text() == "3\n"
    assert (run.account.turns, run.account.tokens) == (3, 3 * 930)
    assert (run.account.version, run.account.model) == ("0.171.0", "gpt-5.5")
    assert (run.account.final_message, run.account.broken_tools) == ("Mended.", "")
    assert [each.turn for each in run.main] == [0, 1, 2]
    assert run.main[0].body["reasoning"]["effort"] == "high"
    assert "web_search" not in json.dumps(run.main[0].body["tools"])
    assert {each.path for each in run.asked} == {"/v1/responses"}


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("fault", "said", "reason"),
    [
        (Fault(kind=FaultKind.STATUS, status=400, turn=1), Said.BROKEN, "400"),
        (
            Fault(kind=FaultKind.STATUS, status=429, turn=1, code="insufficient_quota"),
            Said.BROKEN,
            "Quota",
        ),
        (
            Fault(
                kind=FaultKind.STREAM_ERROR,
                turn=1,
                code="context_length_exceeded",
                message="Your input exceeds the context window of this model.",
            ),
            Said.AGENT_ERROR,
            "context",
        ),
    ],
    ids=["400", "quota", "too long"],
)
def test_it_says_how_it_ended(tmp_path: Path, fault: Fault, said: Said, reason: str) -> None:
    run = play_codex(tmp_path, Script(turns=CODEX_SOLVES.turns, faults=(fault,)))
    assert run.account.said is said, run.account
    assert reason in run.account.reason


@pytest.mark.docker
def test_its_inner_sandbox_in_a_container_is_seen_as_broken_tools(
    tmp_path: Path, docker_sandbox: DockerSandbox
) -> None:
    task(tmp_path)
    agent = Codex()
    inner = configured(agent, model="gpt-5.5", arguments=("--sandbox", "workspace-write"))
    run = rehearse_in_docker(agent, inner, CODEX_SOLVES, tmp_path, docker_sandbox)
    assert (run.left.exit_code, run.account.said) == (0, Said.COMPLETED)
    assert "bwrap" in run.account.broken_tools
    assert "return a - b" in (tmp_path / "workspace" / "calc.py").read_text()


@pytest.mark.bubblewrap
def test_its_version_is_read_back() -> None:
    assert "0.171.0" in versions(Codex(), configured(Codex()))


@pytest.mark.bubblewrap
def test_an_argument_that_it_does_not_know_is_its_error(tmp_path: Path) -> None:
    run = play_codex(tmp_path, arguments=("--no-such-thing",))
    assert run.account.said is Said.AGENT_ERROR
    assert run.account.reason
