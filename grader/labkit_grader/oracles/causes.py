"""What a broken test complained of, as far as its text tells."""

import re
from enum import StrEnum

from labkit.patch.place import shown
from labkit_grader.oracles.interface import Case

_NO_MODULE = re.compile(r"No module named ['\"]?([A-Za-z_][\w.]*)")
_ERROR = re.compile(r"^E\s+(?P<error>\S.*)$", re.MULTILINE)
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b")
_NO_NAME = re.compile(
    r"(?:ImportError|ModuleNotFoundError|NameError): |^E?\s*fixture '[^']*' not found",
    re.MULTILINE,
)


class Cause(StrEnum):
    """Something that the sandbox does not give."""

    NETWORK = "network"
    OUTSIDE = "outside"


_CAUSES = {
    Cause.NETWORK: re.compile(
        r"Temporary failure in name resolution|Name or service not known|getaddrinfo failed"
        r"|nodename nor servname|Network is unreachable|No address associated with hostname"
        r"|Failed to resolve|Max retries exceeded|Could not resolve host"
    ),
    Cause.OUTSIDE: re.compile(r"Read-only file system|PermissionError: \[Errno (?:1|13)\]"),
}


def cause_of(message: str) -> Cause | None:
    """Return what a test lacked in the sandbox, if its message says so."""
    return next((cause for cause, words in _CAUSES.items() if words.search(message)), None)


def wrong_reason(message: str) -> bool:
    """Return whether a test broke since a name was not there, before anything was asserted."""
    return _NO_NAME.search(message) is not None


def missing_package(case: Case, message: str) -> str:
    """Return the module that a test could not import and the project does not have either."""
    found = _NO_MODULE.search(message)
    if not found:
        return ""
    top = found[1].partition(".")[0]
    names = {
        part.partition(".")[0]
        for tree in (case.base.tree, case.task.solution)
        for entry in case.repository.tree(tree)
        for part in shown(entry.path).split("/")
    }
    hidden = {part.partition(".")[0] for path in case.material.hidden for part in path.split("/")}
    return "" if top in names | hidden else top


def last_error(message: str) -> str:
    """Return the line of a complaint that says most: the last exception that pytest shows."""
    errors = [match["error"] for match in _ERROR.finditer(message)]
    raised = [line for line in errors if _RAISED.match(line)]
    lines = raised or errors[:1] or [line for line in message.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no reason given"
