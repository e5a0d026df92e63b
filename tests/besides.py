"""A program for sidecars of tests, and short ways to start it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from labkit.sandbox.interface import Sidecar, SidecarSandbox, SidecarSpec

PROGRAM = '''\
"""Answers every connection to a socket; does and says what it is told."""

import json
import os
import socket
import sys
import threading

settings = json.loads(sys.stdin.readline())
if settings.get("complain"):
    sys.exit(settings["complain"])
place = os.path.join(settings["folder"], settings.get("name", "test.sock"))
server = socket.socket(socket.AF_UNIX)
server.bind(place)
os.chmod(place, 0o666)
server.listen()


def answer():
    while True:
        connection, _ = server.accept()
        asked = connection.recv(1000).decode()
        print(json.dumps({"asked": asked}), flush=True)
        connection.sendall(("you said " + asked).encode())
        connection.close()


threading.Thread(target=answer, daemon=True).start()
print(json.dumps({"ready": os.getpid(), "uid": os.getuid()}), flush=True)
for line in sys.stdin:
    told = json.loads(line)
    if "print" in told:
        print("x" * told["print"], flush=True)
    if "run" in told:
        exec(told["run"])
if settings.get("stubborn"):
    threading.Event().wait()
print("end", flush=True)
'''
ASK = (
    "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/labkit/{name}'); "
    "s.sendall(b'{word}'); print(s.recv(1000).decode())"
)
"""A Python text that says a word to the program, from a sandbox."""


def ask(word: str, name: str = "test.sock") -> str:
    """Return a shell command that says a word to the program."""
    return f'python3 -c "{ASK.format(word=word, name=name)}"'


def sidecar_spec(folder: Path, *packages: str, **labels: str) -> SidecarSpec:
    """Return a spec of the program, written below a folder."""
    package = folder / "labkit_test_beside"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "program.py").write_text(PROGRAM, encoding="utf-8")
    return SidecarSpec(
        module="labkit_test_beside.program",
        packages=packages,
        folders={"labkit_test_beside": package},
        labels=labels,
    )


@dataclass(slots=True)
class Talk:
    """A started program and what it has said."""

    sidecar: Sidecar
    lines: list[bytes] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    ready: threading.Event = field(default_factory=threading.Event)

    def take(self) -> None:
        """Take its lines, in a thread."""
        for line in self.sidecar.stdout:
            self.lines.append(line)
            self.ready.set()
        self.over.set()
        self.ready.set()

    def tell(self, **what: object) -> None:
        """Tell it a line."""
        self.sidecar.tell(json.dumps(what).encode() + b"\n")


@contextmanager
def beside(sandbox: SidecarSandbox, spec: SidecarSpec, **settings: object) -> Iterator[Talk]:
    """Start the program and wait until it listens, or has ended."""
    with sandbox.sidecar(spec) as sidecar:
        talk = Talk(sidecar)
        taker = threading.Thread(target=talk.take, daemon=True)
        taker.start()
        talk.tell(folder=sidecar.folder, **settings)
        assert talk.ready.wait(30)
        yield talk
    taker.join(20)
    assert talk.over.is_set()
