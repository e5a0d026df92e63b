"""Short ways to run a shell script in a sandbox and look at all that came back."""

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO

from sandboxes import IMAGE

from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """All that a run gave."""

    outcome: Outcome
    stdout: bytes
    stderr: bytes
    members: Mapping[str, tarfile.TarInfo]
    files: Mapping[str, bytes]
    home: bytes
    """The tar of the home folder; empty where none was asked for, or where it was too large."""

    @property
    def home_files(self) -> Mapping[str, bytes]:
        """What is in the regular files of the home folder."""
        return collect(io.BytesIO(self.home))[1]


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Return a tar of files that belong to the sandbox's user."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.uid, entry.gid = len(content), 1000, 1000
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def shell(script: str, **changes: object) -> Spec:
    """Return a spec that runs a shell script at /workspace."""
    plain = Spec(
        argv=("sh", "-c", script),
        image=IMAGE,
        returned="/workspace",
        memory_folders=("/labkit",),
        workdir="/workspace",
        limits=Limits(seconds=60, memory=512, processes=64, scratch=64),
    )
    return replace(plain, **changes)  # type: ignore[arg-type] # a test's own typing errors show


def collect(stream: IO[bytes]) -> tuple[dict[str, tarfile.TarInfo], dict[str, bytes]]:
    """Return the members of the returned folder, and what is in its regular files."""
    members, files = {}, {}
    with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            members[member.name] = member
            if member.isreg():
                content = archive.extractfile(member)
                assert content is not None
                files[member.name] = content.read()
    return members, files


def run_spec(sandbox: Sandbox, spec: Spec) -> Ran:
    """Run a spec and return everything."""
    stdout, stderr, home = io.BytesIO(), io.BytesIO(), io.BytesIO()
    streams = Streams(stdout=stdout, stderr=stderr, home=home if spec.home else None)
    outcome, (members, files) = sandbox.run(spec, streams, collect)
    return Ran(
        outcome=outcome,
        stdout=stdout.getvalue(),
        stderr=stderr.getvalue(),
        members=members,
        files=files,
        home=home.getvalue(),
    )


def run_in(
    sandbox: Sandbox,
    script: str,
    *,
    returned: Mapping[str, bytes] | None = None,
    streamed: Mapping[str, bytes] | None = None,
    **changes: object,
) -> Ran:
    """Run a shell script with the given files in /workspace and below /labkit."""
    spec = shell(
        script,
        returned_tar=tar_of(returned) if returned else b"",
        streamed_tar=tar_of(streamed) if streamed else b"",
        **changes,
    )
    return run_spec(sandbox, spec)
