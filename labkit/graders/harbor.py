"""`harbor_tests`: the tests of a Harbor task, run on what the candidate left, and their reward.

The reward is a file that the tests write. Code under test runs beside them and can write it too,
so this is exactly as strong as the task's own tests are, and no stronger: Harbor's own grade is the
same. Golden tasks have a grader that cannot be fooled that way (`labkit grade`).
"""

import base64
import binascii
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import IO, assert_never

from labkit.archive import Entry, Kind, read_tar, write_tar
from labkit.errors import InfrastructureError, ReturnedTooLargeError
from labkit.fields import Fields
from labkit.graders.folder import Unreadable, path_problem, runnable_entries
from labkit.graders.interface import Case, Output, Verdict, total
from labkit.graders.tools import COMMAND_LIMITS, Tools
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams

TESTS, LOGS = "/tests", "/logs/verifier"
_REWARDS = ("reward.json", "reward.txt")
"""Where a reward is looked for, in Harbor's own order."""
_TAKEN = frozenset(
    {
        *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "run"),
        *("sbin", "sys", "tmp", "usr", "var", "labkit", "logs", "solution", "tests"),
    }
)
_MOST_BYTES = 64 * 1024 * 1024
_MOST_REWARD = 64 * 1024
_MOST_OUTPUT = 1024 * 1024
_TAIL = 500
_LONGEST_TIMEOUT = 24 * 3600.0


def workdir_problem(workdir: str) -> str:
    """Return why a folder cannot be where the candidate's files are laid; empty when it can."""
    if not workdir.startswith("/") or path_problem(workdir[1:]):
        return f"{workdir!r} is not the whole path of a folder below /"
    top = workdir.split("/")[1]
    return f"{workdir} lies in /{top}, which belongs to the system" if top in _TAKEN else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HarborTests:
    """`harbor_tests`: passes when the tests write a reward of 1; the reward is the score.

    The candidate's folder lies at `workdir`, the tests at `/tests`; `/tests/<script>` runs in a
    fresh sandbox, without a network. A reward that is missing, is no number, or is not in 0..1
    fails: the code under test could have seen to that. So does taking too long.
    """

    files: tuple[Entry, ...]
    """The tests, by their path below `/tests`."""
    workdir: str
    sandbox: Sandbox
    script: str = "test.sh"
    image: str = ""
    limits: Limits = COMMAND_LIMITS
    environment: Mapping[str, str] = field(default_factory=dict)

    @total
    def __call__(self, output: Output, case: Case) -> Verdict:
        """Return the verdict."""
        del case
        left = () if output.folder is None else runnable_entries(output.folder)
        if isinstance(left, Unreadable):
            return Verdict.failing(left.why)
        log = io.BytesIO()
        try:
            outcome, rewards = self.sandbox.run(
                self._spec(left), Streams(stdout=log, stderr=log), _collect
            )
        except ReturnedTooLargeError as error:
            return Verdict.failing(f"the tests left too much in {LOGS}: {error.message}")
        return _verdict(outcome, self.limits, rewards, log.getvalue())

    def _spec(self, left: tuple[Entry, ...]) -> Spec:
        return Spec(
            argv=("sh", "-c", '"$0"', f"{TESTS}/{self.script}"),
            image=self.image,
            returned=LOGS,
            memory_folders=(self.workdir, TESTS),
            streamed_tar=write_tar([*_below(self.workdir, left), *_below(TESTS, self.files)]),
            workdir=self.workdir,
            environment={"PYTHONDONTWRITEBYTECODE": "1", **self.environment},
            limits=replace(self.limits, output_bytes=_MOST_OUTPUT, returned_bytes=_MOST_BYTES),
        )


def _below(folder: str, entries: tuple[Entry, ...]) -> Iterator[Entry]:
    for entry in entries:
        yield replace(entry, path=folder[1:].encode() + b"/" + entry.path)


def _collect(stream: IO[bytes]) -> dict[str, Entry]:
    """Return what lies where rewards are written."""
    found = read_tar(stream, most_bytes=_MOST_BYTES, most_file_bytes=_MOST_REWARD)
    named = {entry.path.decode(errors="replace"): entry for entry in found}
    return {name: named[name] for name in _REWARDS if name in named}


def _verdict(outcome: Outcome, limits: Limits, rewards: Mapping[str, Entry], log: bytes) -> Verdict:
    match outcome.ended:
        case Ended.TIMEOUT:
            return Verdict.failing(f"the tests had not ended after {limits.seconds:g} s")
        case Ended.OUT_OF_MEMORY:
            return Verdict.failing(f"the tests took more than {limits.memory} MiB of memory")
        case Ended.KILLED | Ended.STOPPED:
            raise InfrastructureError("the sandbox was killed from outside")
        case Ended.EXITED:
            return _rewarded(rewards, _said(outcome, log))
        case _:
            assert_never(outcome.ended)


def _said(outcome: Outcome, log: bytes) -> str:
    said = log[-_TAIL:].decode(errors="backslashreplace").strip()
    return f" (exit {outcome.exit_code})" + (f"\n{said}" if said else "")


def _rewarded(rewards: Mapping[str, Entry], said: str) -> Verdict:
    name = next((name for name in _REWARDS if name in rewards), "")
    if not name:
        return Verdict.failing(f"the tests wrote no reward{said}")
    reward = _reward(name, rewards[name])
    if isinstance(reward, str):
        return Verdict.failing(f"{name} {reward}{said}")
    if not 0 <= reward <= 1:
        return Verdict.failing(f"{name} has a reward of {reward:g}, which is not in 0..1{said}")
    passed = reward == 1
    return Verdict(
        passed=passed, score=reward, detail=f"reward {reward:g}" + ("" if passed else said)
    )


def _reward(name: str, entry: Entry) -> float | str:
    """Return the reward in a file, or what is wrong with that file."""
    if entry.kind not in (Kind.FILE, Kind.EXECUTABLE):
        return "is no plain file of a reasonable size"
    try:
        text = entry.data.decode()
        value = float(text) if name.endswith(".txt") else _named(json.loads(text))
    except (ValueError, OverflowError, RecursionError):
        return "is no number" if name.endswith(".txt") else "is not JSON"
    if value is None or not math.isfinite(value):
        return 'has no single number, and none called "reward"' if value is None else "is no number"
    return value


def _named(values: object) -> float | None:
    """Return the one reward of a JSON file: a number, the only one, or the one so called."""
    if isinstance(values, dict):
        values = values.get("reward", next(iter(values.values())) if len(values) == 1 else None)
    if isinstance(values, bool) or not isinstance(values, int | float):
        return None
    return float(values)


def harbor_tests(fields: Fields, tools: Tools) -> HarborTests:
    """Build `harbor_tests` from its mapping: the tests stand in it whole."""
    workdir = fields.filled("workdir")
    if problem := workdir_problem(workdir) if workdir else "":
        fields.problem("workdir", f'"workdir": {problem}')
    script = fields.text("script", default="test.sh")
    files = tuple(_file(each) for each in fields.mappings("files"))
    if script.encode() not in {entry.path for entry in files}:
        fields.problem("files", f'"files" has no {script}')
    if tools.sandbox is None:
        fields.problem("name", "harbor_tests needs a sandbox, and none is given")
    named = fields.mapping("environment")
    return HarborTests(
        files=tuple(
            replace(each, kind=Kind.EXECUTABLE) if each.path == script.encode() else each
            for each in files
        ),
        workdir=workdir,
        script=script,
        sandbox=tools.sandbox,  # type: ignore[arg-type] # without one it is never used
        image=tools.image,
        limits=_limits(fields, tools.limits),
        environment={name: named.text(name) for name in named.names()},
    )


def _limits(fields: Fields, usual: Limits) -> Limits:
    found = replace(
        usual,
        seconds=fields.number("timeout", default=usual.seconds, low=1),
        memory=fields.whole("memory", default=usual.memory, low=16),
        cpus=fields.number("cpus", default=usual.cpus, low=0.1),
    )
    if found.seconds > _LONGEST_TIMEOUT:
        fields.problem("timeout", f'"timeout" is at most {_LONGEST_TIMEOUT:g} seconds')
    return found


def _file(fields: Fields) -> Entry:
    path = fields.filled("path")
    if problem := path_problem(path) if path else None:
        fields.problem("path", f'"path" {problem}')
    kind = Kind.EXECUTABLE if fields.flag("executable") else Kind.FILE
    if "base64" not in fields:
        return Entry(path=path.encode(), kind=kind, data=fields.text("text").encode())
    try:
        data = base64.b64decode(fields.text("base64"), validate=True)
    except (binascii.Error, ValueError):
        fields.problem("base64", f'"base64" of {path} is not base64')
        data = b""
    return Entry(path=path.encode(), kind=kind, data=data)
