"""From what people write after `--candidate` to a candidate."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from labkit.errors import InputError, did_you_mean
from labkit.evals.arguments import paths_of
from labkit.evals.candidatefiles import CandidateFiles
from labkit.evals.case import EvalCase, EvalSuite
from labkit.evals.command import COMMAND_LIMITS, Command
from labkit.evals.harborsolution import HarborSolution
from labkit.evals.hostcommand import HostCommand
from labkit.evals.hosted import Hosted
from labkit.evals.recorded import Recorded
from labkit.evals.sample import Candidate, Trial
from labkit.sandbox.interface import Sandbox

FORMS = (
    "FILE.py:FUNCTION or MODULE:FUNCTION (a Python function in a process of its own), "
    "cmd:COMMAND (in the sandbox), host:COMMAND (on this machine, with its network), "
    "patches:FILE.jsonl (recorded answers), solutions:FOLDER (those of Harbor's tasks), "
    "known-fixes, nothing"
)
"""What can be written, for a message or a help text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a candidate may need that its name does not say."""

    folder: Path = Path()
    """Where files and modules are looked for."""
    timeout: float | None = None
    """Seconds for one sample; a command in the sandbox has 600 unless this is given."""
    sandbox: Callable[[], Sandbox] | None = None
    """Called only for a candidate that needs one."""
    image: str = ""
    allow: tuple[Path, ...] | None = ()
    """Further places where a Python function may write; None: nobody looks."""
    any_exit: bool = False
    """Whether what a command left counts in whatever code it ended."""
    files: tuple[Path, ...] = ()
    """A command's own files and folders, laid outside its scratch folder."""

    def read_files(self) -> CandidateFiles:
        """Return a command's own files; raises InputError for all that cannot be laid."""
        return CandidateFiles.read([self.folder / path for path in self.files], beside=self.folder)

    def __post_init__(self) -> None:
        """Take texts for paths."""
        object.__setattr__(self, "folder", Path(self.folder))
        if self.allow is not None:
            object.__setattr__(self, "allow", paths_of(self.allow, "allow"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A candidate that somebody named."""

    name: str
    """As it was written."""
    description: str
    """What it is, for the report."""
    candidate: Candidate
    deterministic: bool = False
    """Whether it is known to give the same answer to a sample each time."""
    code: str = ""
    """The digest of its own code; empty: it has none, or nobody knows."""
    sandbox: str = ""
    """The sandbox that it runs in; empty: none."""

    def __call__(self, case: EvalCase, trial: Trial) -> object:
        """Answer."""
        return self.candidate(case, trial)

    def notes(self, suite: EvalSuite) -> tuple[str, ...]:
        """Say what of this suite it cannot answer, a sentence each.

        Raises InputError when it is recorded answers of another suite.
        """
        if isinstance(self.candidate, Recorded):
            return self.candidate.notes([case.id for case in suite.cases])
        return ()


@contextlib.contextmanager
def open_candidate(text: str, options: Options | None = None) -> Iterator[Named]:
    """Give the candidate that `text` names, and end what it has started afterwards.

    Raises InputError for a name that means nothing, for files that cannot be laid or are no use,
    for a function that cannot be imported and for a file of answers that cannot be used, and
    whatever `options.sandbox` raises.
    """
    told = options or Options()
    kind, colon, rest = text.partition(":")
    if told.files and not (colon and kind in ("cmd", "host")):
        raise InputError(
            f"--files is for commands, and {text} is none", hint="write cmd:COMMAND or host:COMMAND"
        )
    if colon and kind in _PREFIXES:
        if not rest.strip():
            raise InputError(f"{text!r} has nothing after the colon", hint=f"write {FORMS}")
        named = _PREFIXES[kind](rest.strip(), told)
    else:
        named = _function(text, told)
    try:
        yield replace(named, name=text)
    finally:
        close = getattr(named.candidate, "close", None)
        if close is not None:
            close()


def _command(text: str, options: Options) -> Named:
    if options.sandbox is None:
        raise InputError("cmd: needs a sandbox, and none is given", hint="labkit doctor finds one")
    limits = replace(COMMAND_LIMITS, seconds=options.timeout or COMMAND_LIMITS.seconds)
    sandbox = options.sandbox()
    found = Command(
        text, sandbox=sandbox, image=options.image, limits=limits, any_exit=options.any_exit,
        files=options.read_files(),
    )  # fmt: skip
    return _named(found, f"the command {text} in {sandbox.name}", sandbox=sandbox.name)


def _host_command(text: str, options: Options) -> Named:
    found = HostCommand(
        text, timeout=options.timeout, any_exit=options.any_exit, files=options.read_files()
    )
    return _named(found, f"the command {text} on this machine")


def _patches(text: str, options: Options) -> Named:
    return _named(
        Recorded.read(options.folder / text), f"answers recorded in {text}", deterministic=True
    )


def _solutions(text: str, options: Options) -> Named:
    if options.sandbox is None:
        raise InputError(
            "solutions: needs a sandbox, and none is given", hint="labkit doctor finds one"
        )
    sandbox = options.sandbox()
    found = HarborSolution(tasks=options.folder / text, sandbox=sandbox, image=options.image)
    return _named(found, f"the tasks' own solutions in {text}", sandbox=sandbox.name)


def _function(text: str, options: Options) -> Named:
    if ":" not in text:
        raise InputError(
            f"{text[:80]!r} is no candidate{did_you_mean(text, _WORDS)}", hint=f"write {FORMS}"
        )
    found = Hosted(text, timeout=options.timeout, folder=options.folder, allow=options.allow)
    return _named(found, f"the function {text}")


def _named(
    candidate: Any, description: str, *, deterministic: bool = False, sandbox: str = ""
) -> Named:
    return Named(
        name="",
        description=description,
        candidate=candidate,
        deterministic=deterministic,
        code=candidate.code or "",
        sandbox=sandbox,
    )


_WORDS = ("cmd:", "host:", "patches:", "known-fixes", "nothing")
_PREFIXES: dict[str, Callable[[str, Options], Named]] = {
    "cmd": _command,
    "host": _host_command,
    "patches": _patches,
    "solutions": _solutions,
}
