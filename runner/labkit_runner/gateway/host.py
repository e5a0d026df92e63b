"""The gateway seen from labkit: started beside a run, listened to, and obeyed."""

import contextlib
import json
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from labkit.bounds import Caps
from labkit.errors import InfrastructureError
from labkit.providers import Provider
from labkit.sandbox.interface import Halt, Sidecar, SidecarSandbox, SidecarSpec
from labkit_runner.gateway.wire import Reader, Wire

SOCKET = "gateway.sock"
_READY_SECONDS = 60.0
_GRACE = 10.0
"""Seconds that an agent has to end by itself once its run is over."""
_LONG_KINDS = (b'{"kind": "piece"', b'{"kind": "part"')
"""What a run's summary does not need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one run may ask of whom."""

    provider: Provider
    key: str = field(repr=False)
    """See `labkit_runner.gateway.keys.key_of`."""
    caps: Caps
    turn_cap: int | None = None
    main: str = "tools"
    """Which requests are the agent's main conversation: those with tools, or any."""
    mask: tuple[str, ...] = field(default=(), repr=False)
    """Further texts that must not stand in the record of the wire."""
    labels: Mapping[str, str] = field(default_factory=dict)


class Gateway:
    """A gateway that runs beside a run."""

    def __init__(self, sidecar: Sidecar, sink: IO[bytes], halt: Halt, grace: float) -> None:
        self.channel = sidecar.channel
        """What `Spec.channel` says."""
        self._sidecar = sidecar
        self._sink = sink
        self._halt = halt
        self._grace = grace
        self._ready = threading.Event()
        self._closing = False
        self._is_ready = False
        self._unwritten: OSError | None = None
        self._reader = Reader()
        self._timer: threading.Timer | None = None
        self._thread = threading.Thread(target=self._listen, daemon=True)

    @property
    def wire(self) -> Wire:
        """Everything that it told so far: all of the run, once its context is left."""
        return self._reader.wire

    def open(self, settings: Mapping[str, Any]) -> None:
        """Hand it its settings and wait until it listens."""
        self._thread.start()
        self._sidecar.tell(json.dumps(settings).encode() + b"\n")
        self._ready.wait(_READY_SECONDS)
        if not self._is_ready:
            complaint = self._sidecar.complaint() or "it said nothing"
            raise InfrastructureError(f"the gateway beside the run did not start: {complaint}")

    def closing(self) -> None:
        """Say that its end is wanted now."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()

    def close(self) -> None:
        """Take the rest of what it told; raises InfrastructureError when that was not written."""
        self._thread.join()
        if self._unwritten is not None:
            raise InfrastructureError(
                f"the record of the wire could not be written: {self._unwritten.strerror}",
                hint="free some space",
            )

    def _listen(self) -> None:
        for line in self._sidecar.stdout:
            self._write(line)
            if not line.startswith(_LONG_KINDS):
                self._obey(line)
        if not self._closing:
            complaint = self._sidecar.complaint() or "it said nothing"
            self._halt.stop(f"the gateway beside the run ended: {complaint}")
        self._ready.set()

    def _obey(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        self._reader.take(event)
        if event.get("kind") == "ready":
            self._is_ready = True
            self._ready.set()
        elif event.get("kind") == "cap" and not self._closing:
            why = f"its bound on {event.get('which')} was reached"
            self._timer = threading.Timer(self._grace, self._halt.stop, (why,))
            self._timer.daemon = True
            self._timer.start()

    def _write(self, line: bytes) -> None:
        if self._unwritten is not None:
            return
        try:
            self._sink.write(line + b"\n")
            self._sink.flush()
        except OSError as error:
            self._unwritten = error
            self._halt.stop("the record of the wire could not be written")


@contextlib.contextmanager
def gateway(
    sandbox: SidecarSandbox, terms: Terms, sink: IO[bytes], halt: Halt, *, grace: float = _GRACE
) -> Iterator[Gateway]:
    """Have a gateway beside a run; `sink` gets every line as it comes.

    `halt` stops the run when a bound is reached (after `grace` seconds), and at once when the
    gateway ends before its time. Raises InfrastructureError when it does not start, or when its
    lines could not be written.
    """
    spec = SidecarSpec(
        module="labkit_runner.gateway.server",
        packages=_packages(),
        folders={"labkit_runner.gateway": Path(__file__).parent},
        labels=terms.labels,
    )
    with sandbox.sidecar(spec) as sidecar:
        found = Gateway(sidecar, sink, halt, grace)
        try:
            found.open(settings(terms, f"{sidecar.folder}/{SOCKET}"))
            yield found
        finally:
            found.closing()
    found.close()


def settings(terms: Terms, socket: str) -> dict[str, Any]:
    """Return what the gateway's process is told; see `labkit_runner.gateway.settings`."""
    url = urlsplit(terms.provider.url)
    proxy = _proxy(url.scheme, url.netloc)
    hidden = urlsplit(proxy).password
    return {
        "socket": socket,
        "apis": [terms.provider.api],
        "url": terms.provider.url,
        "secret": terms.key,
        "mask": [*terms.mask, *([unquote(hidden)] if hidden else [])],
        "caps": {"requests": terms.turn_cap, **asdict(terms.caps)},
        "main": terms.main,
        "prices": {model: asdict(price) for model, price in terms.provider.prices.items()},
        "ca": _certificates() if url.scheme == "https" else "",
        "proxy": proxy,
    }


def _packages() -> tuple[str, ...]:
    """Return what the process imports; from Python 3.14 on zstd is Python's own."""
    return ("aiohttp", "backports-zstd") if sys.version_info < (3, 14) else ("aiohttp",)


def _proxy(scheme: str, host: str) -> str:
    """Return this machine's way out, for which the environment says that there is one."""
    proxies = getproxies_environment()
    if proxy_bypass(host, proxies):
        return ""
    return proxies.get(scheme) or proxies.get("all") or ""


def _certificates() -> str:
    """Return the certificates that this machine trusts: a sidecar's image may have none."""
    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, found))
