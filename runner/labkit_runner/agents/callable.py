"""The callable agent: a Python function of the team's own, called inside the sandbox."""

import json
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Api
from labkit.transcripts.detect import read_transcript
from labkit.transcripts.lines import json_object, numbered
from labkit_runner.agents import callable_player
from labkit_runner.agents.endpoints import check_settings, endpoint
from labkit_runner.agents.interface import INPUTS, Account, Launch, Left, Request, Said
from labkit_runner.agents.jsonlines import last_line, number
from labkit_runner.rehearsal.script import Turn


class CallableAgent:
    """Calls `<configs>/<configuration.callable>`, which is `FILE.py:FUNCTION`."""

    name = "callable"
    apis: tuple[Api, ...] = tuple(Api)
    provider = ""
    usual_version = callable_player.VERSION
    main = "any"
    memory: tuple[str, ...] = ()

    def __init__(self, configs: Path) -> None:
        self.configs = configs

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return what the configuration asks for."""
        return configuration.install

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return nothing: the function is a file of the run."""
        return ""

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: its version is the digest of its file, which the suite holds."""
        return ()

    def rehearsed(self, command: str) -> tuple[Turn, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: what it can be asked to do is not known."""
        return ()

    def launch(self, request: Request) -> Launch:
        """Return how to start the player with the function's file."""
        configuration = request.configuration
        check_settings(configuration, request.api)
        name, _, function = configuration.callable.rpartition(":")
        path = self.configs / name
        if not path.is_file():
            raise InputError(f"there is no file configs/{name}", hint="mend callable:")
        task = {
            "id": str(request.run.task),
            "prompt": request.prompt,
            "seed": request.seed,
            "model": configuration.model,
            "effort": configuration.effort,
            "turn_cap": configuration.turn_cap,
        }
        files = {
            "callable_player.py": Path(callable_player.__file__).read_bytes(),
            "callable/" + Path(name).name: path.read_bytes(),
            "task.json": json.dumps(task).encode(),
        }
        return Launch(
            argv=(
                *("python3", f"{INPUTS}/callable_player.py", f"{INPUTS}/task.json"),
                *(f"{INPUTS}/callable/{Path(name).name}", function),
            ),
            inputs=tuple(
                Entry(path=each.encode(), kind=Kind.FILE, data=data) for each, data in files.items()
            ),
            environment={**endpoint(request.api), **configuration.settings},
            version=configuration.agent_version,
            transcript="transcript.jsonl",
        )

    def account(self, left: Left) -> Account:
        """Read the player's own end; an exception of the function is its own fault."""
        transcript = read_transcript(left.transcript, agent=self.name)
        if not transcript.ended:
            return Account(said=Said.NOTHING, reason=last_line(left.stderr))
        if left.exit_code != 0:
            said, reason = Said.AGENT_ERROR, transcript.final_message
            return Account(said=said, reason=reason or f"it ended in {left.exit_code}")
        events = [json_object(line) or {} for _, line in numbered(left.transcript)]
        return Account(
            said=Said.COMPLETED,
            cost=number(events[-1], "cost"),
            final_message=transcript.final_message,
        )
