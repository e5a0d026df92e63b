"""Plays a file of steps inside the sandbox, as a coding agent would: the `scripted` agent.

Runs on the sandbox's own Python, imports the standard library alone, and is trusted no more than
any agent. Usage: player.py STEPS.json; the transcript goes to standard output as JSON lines.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

VERSION = "1"
_MOST_OUTPUT = 200_000


def say(kind: str, **values: object) -> None:
    """Write one event of the transcript."""
    sys.stdout.write(json.dumps({"type": kind, **values}) + "\n")
    sys.stdout.flush()


def run(command: str) -> None:
    """Run a shell command and tell its output, cut in the middle where it is very long."""
    done = subprocess.run(  # noqa: S602 - running shell commands is what an agent does
        command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    output = (done.stdout + done.stderr).decode(errors="backslashreplace")
    if len(output) > _MOST_OUTPUT:
        half = _MOST_OUTPUT // 2
        output = f"{output[:half]}\n[... {len(output) - _MOST_OUTPUT} cut ...]\n{output[-half:]}"
    say("run", command=command, exit_code=done.returncode, output=output)


def edit(change: dict[str, str]) -> None:
    """Replace a text that must stand in the file exactly once."""
    path = Path(change["path"])
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = text.count(change["find"])
    if found == 1:
        path.write_text(text.replace(change["find"], change["replace"]), encoding="utf-8")
    say("edit", path=change["path"], ok=found == 1)


def write(change: dict[str, str]) -> None:
    """Write a whole file."""
    path = Path(change["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(change["text"], encoding="utf-8")
    say("write", path=change["path"], bytes=len(change["text"].encode()))


def delete(path: str) -> None:
    """Delete a file."""
    Path(path).unlink(missing_ok=True)
    say("delete", path=path)


def play(kind: str, value: Any) -> bool:
    """Play one step and return whether the player goes on."""
    match kind:
        case "say":
            say("say", text=value)
        case "run":
            run(value)
        case "edit":
            edit(value)
        case "write":
            write(value)
        case "delete":
            delete(value)
        case "wait":
            time.sleep(value)
        case "exit":
            say("exit", code=value)
            sys.exit(value)
        case _:
            say("finish", text=value)
            return False
    return True


def main() -> None:
    """Play the steps of the file named on the command line."""
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    say("start", agent="scripted", version=VERSION, seed=script["seed"], cwd=str(Path.cwd()))
    os.environ.pop("LABKIT_SEED", None)
    for step in script["steps"]:
        for kind, value in step.items():
            if not play(kind, value):
                return


if __name__ == "__main__":
    main()
