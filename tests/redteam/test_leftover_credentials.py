"""What an agent's installation must not leave: passwords of indexes, settings, caches."""

import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from environs import Workplace
from sandboxes import missing

from labkit.building import Surroundings
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.making import SetupError
from labkit_runner.agents.npm import npm_program

pytestmark = [pytest.mark.registry, pytest.mark.slow]

PASSWORD = "sesame-hidden-word"


def _package() -> bytes:
    made = io.BytesIO()
    about = json.dumps({"name": "tiny-agent", "version": "1.0.0"}).encode()
    files = {"package/package.json": about, "package/run.js": b"console.log('tiny agent runs')\n"}
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


class _Registry(http.server.BaseHTTPRequestHandler):
    """One package for those who know the password; the address of its archive holds it, too."""

    archive = _package()

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {PASSWORD}":
            self.send_error(401)
            return
        body = self.archive if self.path.endswith(".tgz") else self._about()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _about(self) -> bytes:
        digest = base64.b64encode(hashlib.sha512(self.archive).digest()).decode()
        place = f"http://{self.headers['Host']}/{PASSWORD}/tiny-agent-1.0.0.tgz"
        version = {
            "name": "tiny-agent",
            "version": "1.0.0",
            "dist": {"tarball": place, "integrity": f"sha512-{digest}"},
        }
        whole = {"name": "tiny-agent", "dist-tags": {"latest": "1.0.0"}}
        return json.dumps({**whole, "versions": {"1.0.0": version}}).encode()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the address of a registry of npm packages; the user's settings hold its password."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Registry)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    place = f"127.0.0.1:{server.server_address[1]}"
    settings = tmp_path / "npmrc"
    settings.write_text(f"registry=http://{place}/\n//{place}/:_authToken=${{TOKEN}}\n")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(settings))
    monkeypatch.setenv("TOKEN", PASSWORD)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield place
    server.shutdown()
    thread.join()
    server.server_close()


def test_nothing_of_a_private_registry_stays(workplace: Workplace, registry: str) -> None:
    """An npm program, by npm out of Python's index, on top of what a task has."""
    lower = workplace.make("echo lower")
    install = npm_program("tiny-agent@1.0.0", found="tiny-agent/run.js", place="run.js")
    try:
        upper = workplace.make(*install, image=lower.image, keeps=False)
    except SetupError as error:
        if any("No matching distribution" in line for line in error.problems):
            missing("registry", "pip found no Node")
        raise
    found = workplace.run(upper, "ls -A /opt/labkit/env/agent; cat /opt/labkit/env/agent/run.js")[1]
    assert found == "run.js\nconsole.log('tiny agent runs')\n"
    for secret in (PASSWORD, registry):
        search = f"grep -rsl '{secret}' / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr"
        assert workplace.run(upper, search)[1] == ""
    _look_into_the_engine(workplace, upper)


def _look_into_the_engine(workplace: Workplace, place: Surroundings) -> None:
    """Search the image as the superuser finds it, and all that the engine tells of it."""
    if not isinstance(workplace.sandbox, DockerSandbox):
        return
    api = workplace.sandbox.api
    told = [api.inspect_image(place.image), api.history(place.image)]  # type: ignore[no-untyped-call] # its stubs lack it
    assert PASSWORD not in str(told)
    made = api.create_container(place.image, ["true"])["Id"]
    try:
        whole = b"".join(api.export(made))
    finally:
        api.remove_container(made, v=True, force=True)
    assert PASSWORD.encode() not in whole
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        names = archive.getnames()
    kept = ("npmrc", "pip.conf", "_cacache", ".npm", "package-lock.json")
    assert [name for name in names if name.endswith(kept) and "usr/" not in name] == []
