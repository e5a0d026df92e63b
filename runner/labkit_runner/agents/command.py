"""The command agent: any program that is in the image, told of its task by its arguments."""

from labkit.archive import Entry, Kind
from labkit.configurations import Configuration
from labkit.model import Api
from labkit_runner.agents.endpoints import check_settings, endpoint
from labkit_runner.agents.interface import INPUTS, Account, Launch, Left, Request, Said
from labkit_runner.rehearsal.script import Turn


class CommandAgent:
    """Starts `configuration.command`; `{prompt}` and `{prompt_file}` stand for the prompt.

    It is given a way to a model where the configuration names a provider.
    """

    name = "command"
    apis: tuple[Api, ...] = tuple(Api)
    provider = ""
    usual_version = ""
    main = "any"
    memory: tuple[str, ...] = ()

    def install(self, configuration: Configuration) -> tuple[str, ...]:
        """Return what the configuration asks for."""
        return configuration.install

    def program(self, configuration: Configuration) -> str:
        """Return the program, where its whole path is written down."""
        first = configuration.command[0]
        return first if first.startswith("/") else ""

    def version_command(self, configuration: Configuration) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: how any program tells its version is not known."""
        return ()

    def rehearsed(self, command: str) -> tuple[Turn, ...]:  # noqa: ARG002 - the protocol's signature
        """Return nothing: what it can be asked to do is not known."""
        return ()

    def account(self, left: Left) -> Account:
        """Go by the exit code: there is nothing else."""
        if left.exit_code == 0:
            return Account(said=Said.COMPLETED)
        if left.exit_code is None:
            return Account(said=Said.NOTHING)
        return Account(said=Said.AGENT_ERROR, reason=f"it ended in {left.exit_code}")

    def launch(self, request: Request) -> Launch:
        """Return the command with the prompt filled in; settings become its environment."""
        configuration = request.configuration
        check_settings(configuration, request.api)
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
            environment={**told, **endpoint(request.api), **configuration.settings},
            version=configuration.agent_version,
            transcript="transcript.txt",
        )
