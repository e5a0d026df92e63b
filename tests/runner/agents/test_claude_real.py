"""Claude Code itself, in two versions, against a scripted model."""

import json
from pathlib import Path

import pytest
from realagents import configured, versions
from solves import CLAUDE_SOLVES, play_claude

from labkit_runner.agents.claude import ClaudeCode
from labkit_runner.agents.interface import Said
from labkit_runner.rehearsal.script import Fault, FaultKind, Script

pytestmark = [pytest.mark.registry, pytest.mark.bubblewrap]

OLD, NEW = "2.1.197", "2.1.332"
BOTH = pytest.mark.parametrize("version", [OLD, NEW])


@BOTH
def test_it_solves_a_task_in_three_turns(version: str, tmp_path: Path) -> None:
    run = play_claude(tmp_path, version)
    assert (run.left.exit_code, run.account.said) == (0, Said.COMPLETED), run.left.stderr
    assert "return a + b" in (tmp_path / "workspace" / "calc.py").read_text()
    assert (tmp_path / "workspace" / "out.txt").read_text() == "3\n"
    assert (run.account.turns, run.account.tokens) == (3, 3 * 940)
    assert (run.account.version, run.account.model) == (version, "claude-opus-4-8")
    assert run.account.final_message == "Mended."
    assert [each.turn for each in run.main] == [0, 1, 2]
    assert len(run.left.sessions) == 1


@BOTH
def test_what_it_may_not_have_is_not_on_the_wire(version: str, tmp_path: Path) -> None:
    run = play_claude(tmp_path, version, effort="medium")
    first = run.main[0].body
    assert first["model"] == "claude-opus-4-8"
    assert first["output_config"] == {"effort": "medium"}
    assert {"Bash", "Edit", "Read"} <= {each["name"] for each in first["tools"]}
    whole = json.dumps([each.body for each in run.asked])
    assert "WebFetch" not in whole
    assert "WebSearch" not in whole
    assert {each.path.split("?")[0] for each in run.asked} <= {"/", "/v1/messages"}


@BOTH
def test_a_workspace_cannot_have_another_model_asked(version: str, tmp_path: Path) -> None:
    other = "claude-haiku-4-5"
    own = tmp_path / "workspace" / ".claude"
    (own / "agents").mkdir(parents=True)
    settings = {
        "modelOverrides": {"claude-opus-4-8": other},
        "availableModels": ["haiku"],
        "fallbackModel": [other],
        "agent": "boss",
    }
    (own / "settings.json").write_text(json.dumps(settings))
    boss = f"---\nname: boss\ndescription: boss\nmodel: {other}\n---\nLAZY BOSS\n"
    (own / "agents" / "boss.md").write_text(boss)
    run = play_claude(tmp_path, version, effort="high")
    assert run.account.said is Said.COMPLETED
    assert {each.body["model"] for each in run.asked if each.body} == {"claude-opus-4-8"}
    assert "LAZY" not in json.dumps([each.body.get("system") for each in run.main])


def test_the_turn_cap_is_its_own(tmp_path: Path) -> None:
    script = Script(turns=CLAUDE_SOLVES.turns[:1], loop=True)
    run = play_claude(tmp_path, NEW, script, turn_cap=3)
    assert (run.account.said, run.account.turns, len(run.main)) == (Said.TURN_CAP, 3, 3)
    assert run.left.exit_code == 1


@pytest.mark.parametrize(
    ("fault", "said", "reason"),
    [
        (Fault(kind=FaultKind.STATUS, status=400, turn=1), Said.BROKEN, "400"),
        (Fault(kind=FaultKind.CUT, turn=1), Said.BROKEN, "HTTP 200"),
        (
            Fault(
                kind=FaultKind.STATUS,
                status=400,
                turn=0,
                message="prompt is too long: 9 tokens > 8 maximum",
            ),
            Said.AGENT_ERROR,
            "too long",
        ),
    ],
    ids=["400", "cut", "too long"],
)
def test_it_says_how_it_ended(tmp_path: Path, fault: Fault, said: Said, reason: str) -> None:
    run = play_claude(tmp_path, OLD, Script(turns=CLAUDE_SOLVES.turns, faults=(fault,)))
    assert run.account.said is said, run.account
    assert reason in run.account.reason
    assert run.account.turns == fault.turn


def test_a_model_that_is_busy_once_is_asked_again(tmp_path: Path) -> None:
    fault = Fault(kind=FaultKind.STATUS, status=429, turn=1, times=1, headers={"retry-after": "0"})
    run = play_claude(tmp_path, NEW, Script(turns=CLAUDE_SOLVES.turns, faults=(fault,)))
    assert (run.account.said, run.account.turns, len(run.main)) == (Said.COMPLETED, 3, 4)


@BOTH
def test_its_version_is_read_back(version: str) -> None:
    assert version in versions(ClaudeCode(), configured(ClaudeCode(), agent_version=version))


def test_an_argument_that_it_does_not_know_is_its_error(tmp_path: Path) -> None:
    run = play_claude(tmp_path, NEW, arguments=("--no-such-thing",))
    assert run.account.said is Said.AGENT_ERROR
    assert "--no-such-thing" in run.account.reason
