"""What an agent can reach from inside its sandbox, with the real gateway beside it: the model."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateways import MESSAGE, SECRET, Upstream, question, sse, upstream
from sandbox_specs import Ran, run_in
from sandboxes import BOTH

import labkit_runner.agents.start
from labkit.bounds import Caps
from labkit.model import Api, Ended
from labkit.providers import Provider
from labkit.sandbox.interface import Halt, SidecarSandbox
from labkit_runner.gateway.host import Gateway, Terms, gateway

PROBES = r"""
import http.client
import json
import os
import socket
import subprocess
import urllib.request

PORT = 8790


def connect(family, kind, place):
    with socket.socket(family, kind) as one:
        one.settimeout(3)
        one.connect(place)
        one.send(b"\0\x1d\0\1\1\0\0\1\0\0\0\0\0\0\7example\3org\0\0\1\0\1")
        return one.recv(100)


def tcp(host, port=443):
    return lambda: connect(socket.AF_INET, socket.SOCK_STREAM, (host, port))


def asked(method, target, headers={}):
    def ask():
        one = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        one.putrequest(method, target, skip_host="Host" in headers)
        for name, value in headers.items():
            one.putheader(name, value)
        one.endheaders()
        answer = one.getresponse()
        answer.read()
        if answer.status >= 400:
            raise OSError(answer.status)
        return answer.status
    return ask


def through(url):
    def ask():
        proxy = urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{PORT}",
                                             "https": f"http://127.0.0.1:{PORT}"})
        return urllib.request.build_opener(proxy).open(url, timeout=10).read(10)
    return ask


def program(*argv, **variables):
    def run():
        return subprocess.run(argv, check=True, timeout=5, capture_output=True,
                              env={**os.environ, **variables})
    return run


PROXY = {name: f"http://127.0.0.1:{PORT}" for name in ("http_proxy", "https_proxy")}
probes = {
    "names": lambda: socket.getaddrinfo("example.org", 443),
    "DNS over UDP": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)),
    "DNS over TCP": tcp("8.8.8.8", 53),
    "DNS of the engine": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.11", 53)),
    "DNS over HTTPS": through("https://1.1.1.1/dns-query?name=example.org"),
    "raw address": tcp("93.184.216.34"),
    "IPv6": lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700::1111", 443)),
    "metadata": tcp("169.254.169.254", 80),
    "the engine's host": tcp("172.17.0.1", 80),
    "ICMP": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "raw packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "metadata through the gateway": asked("GET", "/latest/", {"Host": "169.254.169.254"}),
    "proxy": through("http://example.org/"),
    "tunnel": through("https://example.org/"),
    "relay": through("https://r.jina.ai/https://example.org/fix.patch"),
    "relay in the path": asked("GET", "/https://example.org/fix.patch"),
    "another path": asked("GET", "/v1/files"),
    "climbing": asked("GET", "/v1/models/../files"),
    "pip": program("python3", "-m", "pip", "download", "--retries=0", "--timeout=3", "six"),
    "pip by the gateway": program("python3", "-m", "pip", "download", "--retries=0",
                                  "--timeout=3", "six", **PROXY),
    "git": program("git", "ls-remote", "https://github.com/python/cpython"),
    "git by the gateway": program("git", "-c", f"http.proxy=http://127.0.0.1:{PORT}",
                                  "ls-remote", "https://github.com/python/cpython"),
    "apt": program("apt-get", "download", "hello"),
    "npm": program("npm", "view", "left-pad"),
    "curl": program("curl", "-sS", "--max-time", "3", "https://example.org"),
}
found = {}
for name, probe in probes.items():
    try:
        found[name] = f"reached: {probe()!r}"
    except Exception as error:
        found[name] = f"no: {type(error).__name__}"
one = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
one.request("POST", "/v1/messages", open("/labkit/question.json", "rb").read())
found["the model"] = one.getresponse().read().decode()
secret = open("/labkit/needle", "rb").read()[::-1]
seen = []
for root in ("/proc", "/run", "/labkit", "/tmp", "/home", "/workspace", "/etc", "/root"):
    for folder, folders, names in os.walk(root, onerror=None):
        folders[:] = [each for each in folders if each not in ("task", "fd", "fdinfo", "map_files")]
        for name in names:
            place = os.path.join(folder, name)
            if root == "/proc" and name not in ("environ", "cmdline", "mountinfo"):
                continue
            try:
                if os.path.isfile(place) and secret in open(place, "rb").read(1 << 22):
                    seen.append(place)
            except OSError:
                pass
found["the key"] = seen
print(json.dumps(found))
"""
GATEWAY_SEES = {
    "GET /latest/",
    "GET http://example.org/",
    "CONNECT example.org:443",
    "CONNECT r.jina.ai:443",
    "CONNECT 1.1.1.1:443",
    "GET /https://example.org/fix.patch",
    "GET /v1/files",
    "GET /v1/models/../files",
}


@pytest.fixture(params=BOTH)
def sandbox(request: pytest.FixtureRequest) -> SidecarSandbox:
    made: SidecarSandbox = request.getfixturevalue(f"{request.param}_sandbox")
    return made


@pytest.fixture
def server() -> Iterator[Upstream]:
    with upstream() as found:
        yield found


def terms(url: str, caps: Caps, turn_cap: int | None = None) -> Terms:
    provider = Provider(name="here", api=Api.ANTHROPIC, url=url, key="LABKIT_TEST_KEY")
    return Terms(provider=provider, key=SECRET, caps=caps, turn_cap=turn_cap)


def run_with(
    sandbox: SidecarSandbox, asked: Terms, program: str, sink: io.BytesIO, *, grace: float = 10.0
) -> tuple[Ran, Gateway]:
    """Run a Python program in a sandbox, the forwarder and the gateway beside it."""
    halt = Halt()
    files = {
        "labkit/start.py": Path(labkit_runner.agents.start.__file__).read_bytes(),
        "labkit/program.py": program.encode(),
        "labkit/question.json": json.dumps(question()).encode(),
        "labkit/needle": SECRET[::-1].encode(),
    }
    start = "python3 /labkit/start.py 8790 /run/labkit/gateway.sock python3 /labkit/program.py"
    with gateway(sandbox, asked, sink, halt, grace=grace) as found:
        ran = run_in(sandbox, start, streamed=files, channel=found.channel, halt=halt)
    return ran, found


def test_the_model_is_all_that_can_be_reached(sandbox: SidecarSandbox, server: Upstream) -> None:
    sink = io.BytesIO()
    ran, found = run_with(sandbox, terms(server.url, Caps()), PROBES, sink)
    told = json.loads(ran.stdout)
    assert told.pop("the model").encode() == sse(*MESSAGE)
    assert told.pop("the key") == []
    assert {name: said for name, said in told.items() if not said.startswith("no: ")} == {}
    assert [each.path for each in server.requests] == ["/v1/messages"]
    assert server.requests[0].headers["x-api-key"] == SECRET
    wire = found.wire
    assert (wire.answered, wire.ended) == (1, True)
    assert {each.partition(": ")[0] for each in wire.refused} >= GATEWAY_SEES
    assert SECRET.encode() not in sink.getvalue()


LOOPING = """
import http.client
import time
while True:
    one = http.client.HTTPConnection("127.0.0.1", 8790, timeout=20)
    one.request("POST", "/v1/messages", open("/labkit/question.json", "rb").read())
    print(one.getresponse().status, flush=True)
    one.close()
    time.sleep(0.05)
"""


def test_an_agent_that_never_ends_is_stopped_at_its_turns(
    sandbox: SidecarSandbox, server: Upstream
) -> None:
    asked = terms(server.url, Caps(), turn_cap=3)
    ran, found = run_with(sandbox, asked, LOOPING, io.BytesIO(), grace=0.3)
    assert ran.outcome.ended is Ended.STOPPED
    assert ran.stdout.split()[:4] == [b"200", b"200", b"200", b"400"]
    assert (found.wire.cap, found.wire.answered) == ("requests", 3)
    assert len(server.requests) == 3
