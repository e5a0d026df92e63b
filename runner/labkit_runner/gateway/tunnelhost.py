"""The tunnels of a subscription seen from labkit: started beside a run and listened to."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from labkit.sandbox.interface import Halt, SidecarSandbox, SidecarSpec
from labkit_runner.gateway.host import SOCKET, Gateway


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelTerms:
    """Where one run may go."""

    hosts: tuple[str, ...]
    """Names of the vendor's hosts, in small letters."""
    mask: tuple[str, ...] = field(default=(), repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def tunnels(
    sandbox: SidecarSandbox, terms: TunnelTerms, sink: IO[bytes], halt: Halt
) -> Iterator[Gateway]:
    """Have tunnels beside a run; `sink` gets every line as it comes.

    `halt` stops the run when they end before their time. Raises InfrastructureError when they
    cannot be had, or when their lines could not be written.
    """
    spec = SidecarSpec(
        module="labkit_runner.gateway.tunnel",
        packages=("h11",),
        folders={"labkit_runner.gateway": Path(__file__).parent},
        labels=terms.labels,
    )
    with sandbox.sidecar(spec) as sidecar:
        found = Gateway(sidecar, sink, halt, 0.0)
        try:
            found.open(
                {
                    "socket": f"{sidecar.folder}/{SOCKET}",
                    "hosts": terms.hosts,
                    "mask": terms.mask,
                }
            )
            yield found
        finally:
            found.closing()
    found.close()
