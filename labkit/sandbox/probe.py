"""Proves a sandbox's isolation by trying, from inside, everything that must not be possible."""

import contextlib
import io
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO

from labkit.errors import InfrastructureError
from labkit.sandbox import answering
from labkit.sandbox.answering.program import NAME, WORD
from labkit.sandbox.container import RUN_LABEL
from labkit.sandbox.interface import (
    CHANNEL,
    Limits,
    Outcome,
    Sandbox,
    Sidecar,
    SidecarSandbox,
    SidecarSpec,
    Spec,
    Streams,
)

_LIMITS = Limits(
    seconds=60, memory=256, processes=32, cpus=1.0, scratch=32, returned_bytes=32 * 1024 * 1024
)
_SOCKETS = ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock")
_LIMIT = "limit: "
_WAY_OUT = "way out"
_ANSWERING = "labkit_answering"
_REACH = """\
import socket, sys
with socket.socket(socket.AF_UNIX) as way:
    way.connect(sys.argv[1])
    sys.stdout.write(way.recv(100).decode())
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was tried."""

    name: str
    ok: bool
    detail: str

    @property
    def is_limit(self) -> bool:
        """Whether this is a limit, whose lack is told to people, and not a matter of isolation."""
        return self.name.startswith(_LIMIT)


def probe(sandbox: Sandbox, image: str, *, hidden: Sequence[Path] = ()) -> tuple[Finding, ...]:
    """Try to get out of a sandbox; return what was tried and whether the sandbox held.

    `hidden` are folders of the host that must not be visible, beside the home folder and the
    current one: a file is made in each for a moment, and looked for from inside. Raises
    InfrastructureError when the sandbox cannot run anything at all.
    """
    folders = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), *hidden]
    with _markers(folders) as markers:
        told = {
            "paths": [*markers, *_SOCKETS],
            "namespace": _namespace(),
            "limits": asdict(_LIMITS),
        }
        outcome, stdout, stderr = _run(sandbox, image, json.dumps(told))
    try:
        results = json.loads(stdout)
    except ValueError as error:
        complaint = stderr.decode(errors="backslashreplace").strip()[-500:]
        raise InfrastructureError(
            f"the probe failed ({outcome.ended}, code {outcome.exit_code}): {complaint}",
            hint=f"does the image {image} have python3",
        ) from error
    return tuple(Finding(name=name, ok=ok, detail=text) for name, (ok, text) in results.items())


def probe_way_out(sandbox: SidecarSandbox, image: str) -> Finding:
    """Start a program beside a sandbox, and let a command in it reach that program."""
    spec = SidecarSpec(
        module=f"{_ANSWERING}.program",
        packages=(),
        folders={_ANSWERING: Path(answering.__file__).parent},
        labels={RUN_LABEL: "probe"},
    )
    try:
        with sandbox.sidecar(spec) as sidecar:
            sidecar.tell(f"{sidecar.folder}\n".encode())
            if next(sidecar.stdout, b"") != b"listening":
                return _no_way_out(f"the program ended: {sidecar.complaint() or 'without a word'}")
            outcome, stdout, stderr = _reach(sandbox, image, sidecar)
    except InfrastructureError as error:
        return _no_way_out(" ".join(filter(None, (f"{error.message}.", error.hint))))
    if stdout != WORD:
        said = stderr.decode(errors="backslashreplace").strip().splitlines()[-1:]
        return _no_way_out(f"the command {outcome.ended} without an answer: {' '.join(said)}")
    return Finding(name=_WAY_OUT, ok=True, detail="a command reaches the program beside it")


def _no_way_out(why: str) -> Finding:
    return Finding(name=_WAY_OUT, ok=False, detail=f"agents cannot ask a model here: {why}")


def _reach(sandbox: SidecarSandbox, image: str, sidecar: Sidecar) -> tuple[Outcome, bytes, bytes]:
    spec = Spec(
        argv=("python3", "-c", _REACH, f"{CHANNEL}/{NAME}"),
        image=image,
        returned="/workspace",
        workdir="/workspace",
        channel=sidecar.channel,
        limits=_LIMITS,
        labels={RUN_LABEL: "probe"},
    )
    stdout, stderr = io.BytesIO(), io.BytesIO()
    outcome, _ = sandbox.run(spec, Streams(stdout=stdout, stderr=stderr), _ignore)
    return outcome, stdout.getvalue(), stderr.getvalue()


def _run(sandbox: Sandbox, image: str, told: str) -> tuple[Outcome, bytes, bytes]:
    script = files("labkit.sandbox").joinpath("inside.py").read_text(encoding="utf-8")
    spec = Spec(
        argv=("python3", "-c", script, told),
        image=image,
        returned="/workspace",
        workdir="/workspace",
        limits=_LIMITS,
        labels={RUN_LABEL: "probe"},
    )
    stdout, stderr = io.BytesIO(), io.BytesIO()
    outcome, _ = sandbox.run(spec, Streams(stdout=stdout, stderr=stderr), _ignore)
    return outcome, stdout.getvalue(), stderr.getvalue()


def _ignore(stream: IO[bytes]) -> None:
    """Take nothing of what the probe left."""


@contextlib.contextmanager
def _markers(folders: Sequence[Path]) -> Iterator[list[str]]:
    """Make a file in each folder that can be written to, and remove it afterwards."""
    with contextlib.ExitStack() as made:
        names = []
        for folder in folders:
            with contextlib.suppress(OSError):
                file = tempfile.NamedTemporaryFile(dir=folder, prefix=".labkit-probe-")  # noqa: SIM115 - the stack closes it
                names.append(made.enter_context(file).name)
        yield names


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
