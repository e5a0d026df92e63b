"""The command agent: any program that is in the image, told of its task by its arguments."""

from labkit.archive import Entry, Kind
from labkit_runner.agents.interface import INPUTS, Launch, Request


class CommandAgent:
    """Starts `configuration.command`; `{prompt}` and `{prompt_file}` stand for the prompt."""

    def launch(self, request: Request) -> Launch:
        """Return the command with the prompt filled in; settings become its environment."""
        configuration = request.configuration
        prompt_file = f"{INPUTS}/prompt.txt"
        argv = tuple(
            word.replace("{prompt_file}", prompt_file).replace("{prompt}", request.prompt)
            for word in configuration.command
        )
        told = {
            "LABKIT_PROMPT": prompt_file,
            "LABKIT_SEED": str(request.seed),
            "LABKIT_MODEL": configuration.model,
            "LABKIT_EFFORT": configuration.effort,
            "LABKIT_TURN_CAP": str(configuration.turn_cap),
        }
        return Launch(
            argv=argv,
            inputs=(Entry(path=b"prompt.txt", kind=Kind.FILE, data=request.prompt.encode()),),
            environment={**told, **configuration.settings},
            version=configuration.agent_version,
            transcript="transcript.txt",
        )
