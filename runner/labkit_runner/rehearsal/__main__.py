"""`python -m labkit_runner.rehearsal SCRIPT`: a scripted model to try agents with, without a key.

It says on standard output where it listens, and plays until it is ended.
"""

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from labkit.errors import LabkitError
from labkit_runner.rehearsal.play import serve
from labkit_runner.rehearsal.script import read_script


def main() -> None:
    """Play the script that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m labkit_runner.rehearsal",
        description="Play a scripted model, to try agents with: no key, no cost. It speaks "
        "Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini, says where it "
        "listens, and plays until Ctrl-C. docs/rehearsal.md has a script and the way to use it.",
    )
    parser.add_argument("script", type=Path, help="a file of turns and faults, YAML or JSON")
    parser.add_argument("--port", type=int, default=0, help="of this machine [default: a free one]")
    parser.add_argument("--socket", type=Path, help="a Unix socket instead of a port")
    parser.add_argument("--log", type=Path, help="a file for the requests, one JSON object a line")
    told = parser.parse_args()
    try:
        script = read_script(told.script)
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(script, unix=told.socket, port=told.port, log=told.log, ready=_ready))
    except LabkitError as error:
        sys.exit(str(error))


def _ready(url: str) -> None:
    sys.stdout.write(f"{url or 'listening'}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
