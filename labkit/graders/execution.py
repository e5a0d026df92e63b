"""`shell_exit_zero`: a command in the candidate's folder ends in 0. Always in a sandbox.

An exit code is weak evidence: code under test that runs in the same process can end it in 0
whenever it likes. Golden tasks have a grader that cannot be fooled that way (`labkit grade`).
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, assert_never

from labkit.archive import Entry, Kind, write_tar
from labkit.errors import InfrastructureError
from labkit.fields import Fields
from labkit.graders.folder import Unreadable, runnable_entries
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.tools import COMMAND_LIMITS, Tools
from labkit.graders.values import TooLongError, text_of
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams

ANSWER = "/labkit/answer.txt"
"""Where the command finds the candidate's answer, if that is a text."""
MOST_OUTPUT = 1024 * 1024
_TAIL = 500
_LONGEST_TIMEOUT = 3600.0
_HINTS = {126: ": not executable", 127: ": command not found"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellExitZero:
    """`shell_exit_zero`: passes when `sh -c command` ends in 0 in time; score 1 or 0.

    The command runs in a fresh sandbox, without a network, on a copy of the candidate's folder; an
    answer that is a text lies at `/labkit/answer.txt`. Ending in another code, taking too long or
    too much memory fails. When the sandbox itself fails, the output is not graded.
    """

    command: str
    sandbox: Sandbox
    image: str = ""
    limits: Limits = COMMAND_LIMITS

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        del case
        files = () if output.folder is None else runnable_entries(output.folder)
        if isinstance(files, Unreadable):
            return Verdict.failing(files.why)
        try:
            answer = text_of(output.value)
        except TooLongError as error:
            return Verdict.failing(f"the answer is too long: {error}")
        log = io.BytesIO()
        outcome, _ = self.sandbox.run(
            self._spec(files, answer), Streams(stdout=log, stderr=log), _nothing
        )
        return _verdict(outcome, self.limits, log.getvalue())

    def _spec(self, files: tuple[Entry, ...], answer: str | None) -> Spec:
        return Spec(
            argv=("sh", "-c", self.command),
            image=self.image,
            returned="/report",
            memory_folders=("/workspace", "/labkit"),
            streamed_tar=write_tar(_laid(files, answer)),
            workdir="/workspace",
            environment={"TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"},
            limits=replace(self.limits, output_bytes=MOST_OUTPUT),
        )


def _laid(files: tuple[Entry, ...], answer: str | None) -> Iterator[Entry]:
    yield from in_workspace(files)
    if answer is not None:
        yield Entry(path=ANSWER[1:].encode(), kind=Kind.FILE, data=answer.encode())


def in_workspace(files: Iterable[Entry]) -> Iterator[Entry]:
    """Yield files as they lie in the sandbox."""
    for entry in files:
        yield replace(entry, path=b"workspace/" + entry.path)


def _nothing(_: IO[bytes]) -> None:
    """Read nothing back: only how the command ended counts."""


def _verdict(outcome: Outcome, limits: Limits, log: bytes) -> Verdict:
    if stopped := stopped_early(outcome, limits):
        return stopped
    if outcome.exit_code == 0:
        return Verdict.passing("exit 0")
    code = f"exit {outcome.exit_code}{_HINTS.get(outcome.exit_code or 0, '')}"
    said = last_words(log)
    return Verdict.failing(f"{code}\n{said}" if said else code)


def last_words(log: bytes) -> str:
    """Return the end of what a command printed."""
    return log[-_TAIL:].decode(errors="backslashreplace").strip()


def stopped_early(outcome: Outcome, limits: Limits) -> Verdict | None:
    """Return the verdict on a command that did not end by itself; None for one that did.

    Raises InfrastructureError when that was not its own doing.
    """
    match outcome.ended:
        case Ended.EXITED:
            return None
        case Ended.TIMEOUT:
            return Verdict.failing(f"had not ended after {limits.seconds:g} s")
        case Ended.OUT_OF_MEMORY:
            return Verdict.failing(f"took more than {limits.memory} MiB of memory")
        case Ended.KILLED | Ended.STOPPED:
            raise InfrastructureError("the sandbox was killed from outside")
        case _:
            assert_never(outcome.ended)


def shell_exit_zero(fields: Fields, tools: Tools) -> ShellExitZero:
    """Build `shell_exit_zero` from its mapping."""
    command = fields.filled("command")
    limits, sandbox = read_bounds(fields, tools, "shell_exit_zero")
    return ShellExitZero(command=command, sandbox=sandbox, image=tools.image, limits=limits)


def read_bounds(fields: Fields, tools: Tools, name: str) -> tuple[Limits, Sandbox]:
    """Return what a grader's command may use, and where it runs; note what is wrong with either."""
    limits = replace(
        tools.limits, seconds=fields.number("timeout", default=tools.limits.seconds, low=1)
    )
    if limits.seconds > _LONGEST_TIMEOUT:
        fields.problem("timeout", f'"timeout" is at most {_LONGEST_TIMEOUT:g} seconds')
    if tools.sandbox is None:
        fields.problem("name", f"{name} needs a sandbox, and none is given")
    return limits, tools.sandbox  # type: ignore[return-value] # without one it is never used
