"""The scripted agent: plays a file of steps, for demos and for tests of what is around agents."""

import json
from dataclasses import dataclass
from pathlib import Path

from labkit.archive import Entry, Kind
from labkit_runner.agents import player
from labkit_runner.agents.interface import INPUTS, Launch, Request
from labkit_runner.agents.steps import read_steps, steps_path


@dataclass(frozen=True, slots=True)
class ScriptedAgent:
    """Plays `<configs>/<configuration.steps>/<task>[__<attempt>].yaml`."""

    configs: Path

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
