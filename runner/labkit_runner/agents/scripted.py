"""The scripted agent: plays a file of steps, for demos and for tests of what is around agents."""

import json
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.model import Api
from labkit.transcripts.detect import read_transcript
from labkit_runner.agents import player
from labkit_runner.agents.interface import INPUTS, Account, Launch, Left, Request, Said
from labkit_runner.agents.steps import read_steps, steps_path
from labkit_runner.rehearsal.script import Turn


class ScriptedAgent:
    """Plays `<configs>/<configuration.steps>/<task>[__<attempt>].yaml`."""

    name = "scripted"
    apis: tuple[Api, ...] = ()
    provider = ""
    usual_version = player.VERSION
    main = "any"
    memory: tuple[str, ...] = ()

    def __init__(self, configs: Path) -> None:
        self.configs = configs

    def install(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: the player comes with every run."""
        return ()

    def program(self, configuration: Configuration) -> str:  # noqa: ARG002 - the protocol's signature
        """Return nothing: the player is a file of the run."""
        return ""

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: the player's version is labkit's."""
        return ()

    def rehearsed(self, command: str) -> tuple[Turn, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: what it can be asked to do is not known."""
        return ()

    def account(self, left: Left) -> Account:
        """Read the player's own end."""
        transcript = read_transcript(left.transcript, agent=self.name)
        if not transcript.ended:
            return Account(said=Said.NOTHING, turns=transcript.turns)
        said = Said.COMPLETED if left.exit_code == 0 else Said.AGENT_ERROR
        reason = "" if left.exit_code == 0 else f"it ended in {left.exit_code}"
        return Account(
            said=said,
            reason=reason,
            turns=transcript.turns,
            final_message=transcript.final_message,
        )

    def launch(self, request: Request) -> Launch:
        """Return how to start the player with the run's steps."""
        folder = self.configs / request.configuration.steps
        steps = read_steps(steps_path(folder, request.run))
        script = json.dumps({"seed": request.seed, "steps": list(steps)})
        return Launch(
            argv=("python3", f"{INPUTS}/player.py", f"{INPUTS}/steps.json"),
            inputs=(
                Entry(path=b"player.py", kind=Kind.FILE, data=Path(player.__file__).read_bytes()),
                Entry(path=b"steps.json", kind=Kind.FILE, data=script.encode()),
                Entry(path=b"prompt.txt", kind=Kind.FILE, data=request.prompt.encode()),
            ),
            version=player.VERSION,
            transcript="transcript.jsonl",
        )
