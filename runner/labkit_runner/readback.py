"""What an agent's program says it is, asked in the very environment of its runs.

A version that is written down is a wish: installers choose older ones without a word. So the
program is asked, and its bytes are digested, before the first run.
"""

import io
import re
import shlex
from dataclasses import dataclass

from labkit.building import Surroundings
from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit.model import Ended
from labkit.sandbox.interface import Limits, Sandbox, Spec, Streams
from labkit_runner.agents.interface import HOME, Agent

_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+.]?\w+)*")
_SECONDS = 120.0
_SCRIPT = """\
if [ -n "$1" ]; then sha256sum -- "$(readlink -f -- "$1")" || exit 9; else echo; fi
shift
[ $# = 0 ] || exec "$@" 2>&1 </dev/null
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """What the environment of a configuration's runs really holds."""

    version: str = ""
    """As the program says; empty where it cannot be asked."""
    digest: str = ""
    """SHA-256 of the program; empty where there is none to name."""


NOTHING_READ = ReadBack()


def read_back(
    sandbox: Sandbox, place: Surroundings, agent: Agent, configuration: Configuration
) -> ReadBack:
    """Ask for the version and the digest of a configuration's program.

    Raises InputError when the program is not there, does not start, or is of another version than
    the configuration names.
    """
    program = agent.program(configuration)
    command = agent.version_command(configuration)
    if not program and not command:
        return NOTHING_READ
    out = io.BytesIO()
    outcome, _ = sandbox.run(
        _spec(place, agent.name, (program, *command)),
        Streams(stdout=out, stderr=out),
        lambda _: None,
    )
    said = out.getvalue().decode(errors="backslashreplace")
    first, _, rest = said.partition("\n")
    if outcome.ended is not Ended.EXITED or outcome.exit_code != 0:
        what = shlex.join(command) or program
        raise InputError(
            f"configuration {configuration.id}: {what} does not work in its environment: "
            f"{said.strip()[-300:] or outcome.ended}",
            hint=f"make it anew: labkit env build --agent {agent.name} --again",
        )
    found = ReadBack(version=_version(rest), digest=first.split(" ")[0])
    wanted = configuration.agent_version or agent.usual_version
    if command and wanted and found.version != wanted:
        raise InputError(
            f"configuration {configuration.id} is written for {agent.name} {wanted}, "
            f"but {found.version or 'no version'} is what its environment holds",
            hint=f"labkit env build --agent {agent.name} --again, or mend agent_version",
        )
    return found


def _spec(place: Surroundings, name: str, words: tuple[str, ...]) -> Spec:
    return Spec(
        argv=("/bin/sh", "-c", _SCRIPT, "labkit-readback", *words),
        image=place.image,
        returned="/workspace",
        home=HOME,
        environment={**place.variables, "HOME": HOME},
        limits=Limits(seconds=_SECONDS, output_bytes=100_000),
        labels={"labkit.run": f"version of {name}"},
    )


def _version(said: str) -> str:
    match = _VERSION.search(said)
    return match[0] if match else ""
