"""Real agents through the whole run phase: sandbox, gateway, evidence, ending."""

from pathlib import Path

import pytest
from wholeruns import KEY, MEND, stage

from labkit.model import Ended, Ending
from labkit.sandbox.interface import SidecarSandbox
from labkit_runner.rehearsal.script import Script, Turn, Usage

AGENTS = [
    *("claude-code", "codex", "mini-swe-agent"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("gemini-cli", "opencode")),
]
FREE = Turn(text="A title", usage=Usage(input=0, output=0))
"""To what is asked beside the conversation, as OpenCode does."""
LAST = {"mini-swe-agent": "Done."}
"""Its last word is part of a command."""


@pytest.mark.parametrize("name", AGENTS)
def test_a_task_is_solved_and_everything_is_accounted_for(
    sandbox: SidecarSandbox, name: str, tmp_path: Path
) -> None:
    found = stage(sandbox, tmp_path, name)
    record, played = found.play(Script(turns=found.turns("cat calc.py", MEND), side=FREE))
    assert (record.ending, record.ended, record.why) == (Ending.COMPLETED, Ended.EXITED, "")
    assert b"+    return a + b" in (found.folder / "diff.patch").read_bytes()
    assert record.turns == len(played.main) == 3
    assert record.usage["input"] == 3600
    assert record.usage["output"] == 120
    assert record.tokens == sum(n for kind, n in record.usage.items() if kind != "reasoning")
    assert record.cost == pytest.approx((3600 * 3 + 120 * 15) / 1e6)
    assert record.agent_version == found.agent.usual_version
    assert record.final_message == LAST.get(name, "It is mended.")
    assert len(record.binary_digest) == 64
    assert record.fingerprint["model"] == found.configuration.model
    everything = b"".join(path.read_bytes() for path in found.folder.iterdir())
    assert KEY.encode() not in everything
    assert not record.remarks
