"""Calls a function inside the sandbox and applies what it returns: the `callable` agent.

Runs on the sandbox's own Python, imports the standard library alone, and is trusted no more than
any agent. Usage: callable_player.py TASK.json FILE.py FUNCTION; the transcript goes to standard
output as JSON lines, and what the function prints to standard error.
"""

import asyncio
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

VERSION = "1"
FIELDS = ("output", "trace", "cost", "success_self_reported", "diff", "replacements", "message")
_FIELDS_NOT_USED = ("latency_ms",)
_EDIT = ("path", "search", "replace")


class Misfit(Exception):  # noqa: N818 - what is wrong with an answer
    """An answer that cannot be read or applied, with the reason."""


class Transcript:
    """Where events go. Standard output itself becomes standard error: a function may print."""

    def __init__(self) -> None:
        self._stream: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def say(self, kind: str, **values: object) -> None:
        """Write one event."""
        self._stream.write(json.dumps({"type": kind, **values}) + "\n")
        self._stream.flush()


def called(task: "dict[str, Any]", file: str, name: str, workspace: Path) -> "dict[str, Any]":
    """Return what the function answers, as a mapping; raises whatever it raises."""
    sys.path.insert(0, str(Path(file).parent))
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise Misfit(f"{Path(file).name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise Misfit(f"{Path(file).name} has no function {name}")
    answer = function(SimpleNamespace(**task), workspace)
    if inspect.isawaitable(answer):
        answer = asyncio.run(_awaited(answer))
    return fields(answer)


async def _awaited(answer: Any) -> Any:
    return await answer


def fields(answer: object) -> "dict[str, Any]":
    """Return an answer's fields: None and a text are answers, too."""
    if answer is None:
        return {}
    if isinstance(answer, str):
        return {"message": answer}
    if isinstance(answer, dict):
        if unknown := sorted(str(name) for name in set(answer) - {*FIELDS, *_FIELDS_NOT_USED}):
            raise Misfit(f"{unknown[0]!r} is no field of an answer: {', '.join(FIELDS)}")
        return {name: answer[name] for name in FIELDS if answer.get(name) is not None}
    found = {name: getattr(answer, name, None) for name in FIELDS}
    if not any(hasattr(answer, name) for name in FIELDS):
        raise Misfit(f"the function returned a {type(answer).__name__}: that is no answer")
    return {name: value for name, value in found.items() if value is not None}


def apply(workspace: Path, answer: "dict[str, Any]", out: Transcript) -> None:
    """Make an answer's edits: all of its replacements or none, then its diff."""
    made = replaced(workspace, answer.get("replacements") or ())
    for path, text in made.items():
        place = workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
        out.say("write", path=path, bytes=len(text.encode()))
    diff = answer.get("diff") or ""
    if not isinstance(diff, str):
        raise Misfit(f"diff is a {type(diff).__name__}, not a text")
    if diff.strip():
        patched(diff, out)


def replaced(workspace: Path, edits: Any) -> "dict[str, str]":
    """Return the texts of files once all edits are made; raises Misfit when one does not fit."""
    if isinstance(edits, (str, bytes)) or not hasattr(edits, "__iter__"):
        raise Misfit("replacements is not a list of edits")
    made: dict[str, str] = {}
    for count, each in enumerate(edits, 1):
        path, search, replace = _edit(each, f"edit {count}")
        before = made[path] if path in made else _before(workspace, path, f"edit {count}")
        if before is None and search:
            raise Misfit(f"edit {count}: there is no file {path}")
        if before is not None and not search:
            raise Misfit(f"edit {count}: an empty search makes a new file, and {path} is there")
        if before is not None and before.count(search) != 1:
            times = before.count(search)
            raise Misfit(f"edit {count}: the text to replace stands {times} times in {path}")
        made[path] = replace if before is None else before.replace(search, replace)
    return made


def _edit(each: Any, which: str) -> "tuple[str, str, str]":
    path, search, replace = (_text(each, name, which) for name in _EDIT)
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or ".git" in map(str.lower, parts):
        raise Misfit(f"{which}: {path!r} is not a path in the workspace")
    return str(Path(path)), search, replace


def _text(each: Any, name: str, which: str) -> str:
    value = each.get(name) if isinstance(each, dict) else getattr(each, name, None)
    if not isinstance(value, str):
        raise Misfit(f"{which}: {name} is no text")
    return value


def _before(workspace: Path, path: str, which: str) -> "str | None":
    place = workspace / path
    inside = place.resolve().is_relative_to(workspace.resolve())
    if not inside or place.is_symlink() or place.is_dir():
        raise Misfit(f"{which}: {path} is not a plain file of the workspace")
    if not place.exists():
        return None
    try:
        return place.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise Misfit(f"{which}: {path} is no text") from None


def patched(diff: str, out: Transcript) -> None:
    """Apply a diff, wholly or not at all."""
    try:
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"],  # noqa: S607 - whatever git is here
            input=diff.encode(),
            capture_output=True,
            check=False,
        )
    except OSError:
        raise Misfit("there is no git in the image to apply the diff with") from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise Misfit(f"the diff does not apply: {lines[0] if lines else 'git says nothing'}")
    out.say("run", command="git apply", exit_code=0, output=diff)


def main(task_file: str, file: str, name: str) -> None:
    """Call the function, apply its answer, say the end."""
    out = Transcript()
    task = json.loads(Path(task_file).read_text(encoding="utf-8"))
    workspace = Path.cwd()
    out.say("start", agent="callable", version=VERSION, seed=task["seed"], cwd=str(workspace))
    try:
        answer = called(task, file, name, workspace)
        for step in answer.get("trace") or ():
            out.say("say", text=json.dumps(step, default=str))
        apply(workspace, answer, out)
    except BaseException as error:  # noqa: BLE001 - whatever a function may raise
        out.say("say", text=traceback.format_exc())
        last = (
            str(error)
            if isinstance(error, Misfit)
            else traceback.format_exception_only(type(error), error)[-1]
        )
        out.say("say", text=last.strip())
        out.say("exit", code=1)
        sys.exit(1)
    out.say("finish", text=_message(answer), cost=answer.get("cost"))


def _message(answer: "dict[str, Any]") -> str:
    message = answer.get("message", answer.get("output", ""))
    return message if isinstance(message, str) else json.dumps(message, default=str)


if __name__ == "__main__":
    main(*sys.argv[1:4])
