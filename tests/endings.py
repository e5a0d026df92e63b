"""What hosts, wires and agents tell of runs, for tests of how runs end."""

from dataclasses import replace

from accounts import codex_begun, codex_completed, command, left

from labkit.model import Ended
from labkit.sandbox.interface import Outcome
from labkit_runner.agents.codex import Codex
from labkit_runner.agents.interface import Account, Ends, Said
from labkit_runner.gateway.wire import Exchange, Wire
from labkit_runner.gateway.wire import Outcome as Came

EXITED = Outcome(ended=Ended.EXITED, exit_code=0, seconds=9.0, cut_bytes=0, image_digest="x")
TIMEOUT = replace(EXITED, ended=Ended.TIMEOUT, exit_code=None)
STOPPED = replace(EXITED, ended=Ended.STOPPED, exit_code=None)
KILLED = replace(EXITED, ended=Ended.KILLED, exit_code=None)
HUNGRY = replace(EXITED, ended=Ended.OUT_OF_MEMORY, exit_code=137)
GOOD = Exchange(
    number=1, main=True, model="m", outcome=Came.ANSWERED, status=200, seconds=2.0, first_byte=0.5
)


def failing(status: int | None, came: Came = Came.ERROR, **error: str) -> Exchange:
    return replace(GOOD, number=2, outcome=came, status=status, error=error, first_byte=None)


def wire(*exchanges: Exchange, cap: str = "") -> Wire:
    return Wire(exchanges=exchanges, cap=cap, ended=True)


def exited(code: int | None) -> Outcome:
    return replace(EXITED, exit_code=code)


DONE = Account(said=Said.COMPLETED)
SILENT_AGENT = Account(said=Said.NOTHING)
BROKEN = Account(said=Said.BROKEN, reason="API Error")
CALLED = replace(GOOD, stop="tool_use")
INNER = Codex().account(
    replace(
        left([*codex_begun()[:3], command("ls", "bwrap: no", 1), *codex_completed()[4:]], 0),
        argv=("codex", "exec", "--sandbox", "workspace-write", "--", "--sandbox read-only"),
    )
)
UNREADY = Account(said=Said.NOTHING, broken_tools="Skipping system settings")
WORDS = Account(said=Said.COMPLETED, ends=Ends.WORDS)
TOOL = Account(said=Said.COMPLETED, ends=Ends.TOOL)
ENDED = replace(GOOD, number=2, stop="end_turn")
STRAY = replace(failing(429), number=3, model="no-such-model", client="python")
COPIED = replace(failing(500), number=3)
"""A stray that has the name of the model and of the client."""
