"""The nouns of the lab: ids, closed sets of words, and what they may look like.

Ids are parsed into these types where they enter (a file, an option) and never sliced again.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from labkit.errors import InputError

_TASK_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MEMBER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_RUN_ID = re.compile(r"(?P<task>.+)__(?P<configuration>[A-Z])__(?P<attempt>[1-9])")
_BLIND_ID = re.compile(r"B[0-9]{4,5}")
_WINDOWS_NAMES = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
_LONGEST_ID = 60


class Category(StrEnum):
    """What kind of work a task is; it decides which oracle proves and grades it."""

    BUGFIX = "bugfix"
    FEATURE = "feature"
    REFACTOR = "refactor"
    TESTS = "tests"
    TRAP = "trap"
    OTHER = "other"


class Verdict(StrEnum):
    """What grading says of a run. UNGRADED is missing data: the grader itself could not run."""

    PASS = "pass"
    FAIL = "fail"
    UNGRADED = "ungraded"


class Flag(StrEnum):
    """Why a verdict is what it is, where that is more than a failing test."""

    NOT_APPLIED = "not_applied"
    OUT_OF_SCOPE = "out_of_scope"
    TAMPERED = "tampered"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    REPAIRED = "repaired"
    NEUTRALISED = "neutralised"
    DEPENDENCIES = "dependencies"
    """The diff changes what the project depends on; nothing of that was installed."""
    SUSPICIOUS = "suspicious"
    """People should look at the diff: it has what dishonest work often has."""
    WEAK = "weak"
    """The verdict rests on an exit code alone."""


class Ended(StrEnum):
    """How a process in a sandbox ended, as its host saw it."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED = "killed_from_outside"
    STOPPED = "stopped"
    """By labkit itself, through the `Halt` that the command was run with."""


class Ending(StrEnum):
    """How a run ended, decided from the agent's end record, the wire and the host, in that order.

    Never from an exit code alone: agents end in 0 when they are interrupted, and in 1 when they are
    told that their turns are over.
    """

    COMPLETED = "completed"
    TURN_CAP = "turn_cap"
    TOKEN_CAP = "token_cap"
    COST_CAP = "cost_cap"
    DEADLINE = "deadline"
    IDLE = "idle"
    """Neither the agent nor what it started asked the model for anything for too long."""
    REFUSED = "refused"
    """The model would not go on."""
    AGENT_ERROR = "agent_error"
    OUT_OF_MEMORY = "out_of_memory"
    INFRASTRUCTURE = "infrastructure"
    """Nothing was measured: the run is missing, never a fail."""


class Api(StrEnum):
    """The model APIs that the gateway understands."""

    ANTHROPIC = "anthropic-messages"
    RESPONSES = "openai-responses"
    CHAT = "openai-chat"
    GEMINI = "gemini"


class HardFailKind(StrEnum):
    """A leak voids the run and retires the task; a forbidden edit makes the run a fail."""

    LEAK = "leak"
    FORBIDDEN_EDIT = "forbidden_edit"


def _check_id(text: str, pattern: re.Pattern[str], what: str) -> str:
    if not pattern.fullmatch(text) or len(text) > _LONGEST_ID:
        raise InputError(
            f"{what} {text[:80]!r} is not allowed",
            hint="use lower-case letters and digits, joined by single hyphens: bug-17 "
            f"(at most {_LONGEST_ID} characters)",
        )
    if _WINDOWS_NAMES.fullmatch(text):
        raise InputError(
            f"{what} {text!r} cannot be a file name on Windows", hint="choose another name"
        )
    return text


@dataclass(frozen=True, slots=True, order=True)
class TaskId:
    """A task's id, `[a-z0-9]+(-[a-z0-9]+)*`, so that `__` can join it to others."""

    text: str

    def __post_init__(self) -> None:
        _check_id(self.text, _TASK_ID, "task id")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """A person's short name; it stands in file names, so it is as plain as a task id."""

    text: str

    def __post_init__(self) -> None:
        _check_id(self.text, _MEMBER, "member name")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, order=True)
class ConfigurationId:
    """One capital letter: A, B, ..."""

    text: str

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Z]", self.text):
            raise InputError(
                f"configuration {self.text[:80]!r} is not one capital letter", hint="use A, B, ..."
            )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, order=True)
class RunId:
    """One execution of one configuration on one task: `<task>__<configuration>__<attempt>`."""

    task: TaskId
    configuration: ConfigurationId
    attempt: int

    def __post_init__(self) -> None:
        if not 1 <= self.attempt <= 9:  # noqa: PLR2004 - one digit keeps run ids sortable
            raise InputError(f"attempt {self.attempt} is not between 1 and 9")

    def __str__(self) -> str:
        return f"{self.task}__{self.configuration}__{self.attempt}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a run id back; raises InputError when it is none."""
        match = _RUN_ID.fullmatch(text)
        if match is None:
            raise InputError(
                f"{text[:80]!r} is not a run", hint="a run is <task>__<configuration>__<attempt>"
            )
        return cls(
            TaskId(match["task"]), ConfigurationId(match["configuration"]), int(match["attempt"])
        )


@dataclass(frozen=True, slots=True, order=True)
class BlindId:
    """The random name under which people score a run: `B` and four digits (five in large pools)."""

    text: str

    def __post_init__(self) -> None:
        if not _BLIND_ID.fullmatch(self.text):
            raise InputError(
                f"{self.text[:80]!r} is not a blind id",
                hint="blind ids look like B0042; a spreadsheet may have changed it",
            )

    def __str__(self) -> str:
        return self.text
