"""Environments for tests: a workshop of one's own, and packages that need no index."""

import io
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sandboxes import BOTH, IMAGE, make_docker, missing, or_skip

from labkit.archive import Entry, Kind, write_tar
from labkit.building import Surroundings
from labkit.sandbox import debian
from labkit.sandbox.choose import bubblewrap_sandbox as make_bubblewrap
from labkit.sandbox.choose import workshop_of
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Limits, Outcome, Sandbox, Spec, Streams
from labkit.sandbox.making import NAME, Making, Workshop

PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["tools"]
"""
BACKEND = '''\
"""Builds wheels of this project with nothing but the standard library, as setuptools would."""
import os, zipfile

NAME, VERSION = "words", "1.5"


def _wheel(folder, files):
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    about = f"{NAME}-{VERSION}.dist-info"
    files = dict(files)
    files[f"{about}/METADATA"] = f"Metadata-Version: 2.1\\nName: {NAME}\\nVersion: {VERSION}\\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[f"{about}/entry_points.txt"] = "[console_scripts]\\nwords = words.cli:main\\n"
    rows = "".join(f"{path},,\\n" for path in [*files, f"{about}/RECORD"])
    files[f"{about}/RECORD"] = rows
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name


def build_wheel(folder, config_settings=None, metadata_directory=None):
    found = {}
    for base, _, names in os.walk("src"):
        for one in names:
            path = os.path.join(base, one)
            if path.endswith(".py"):
                found[os.path.relpath(path, "src")] = open(path).read()
    found["words/_version.py"] = f"version = {VERSION!r}\\n"
    return _wheel(folder, found)


def build_editable(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, {"words.pth": os.path.abspath("src") + "\\n"})
'''
SOURCE = {
    "pyproject.toml": PROJECT,
    "tools/backend.py": BACKEND,
    "tools/write_version.py": (
        "open('src/words/_version.py', 'w').write('version = \"1.5\"\\n')\n"
    ),
    "src/words/__init__.py": "from words._version import version\n\n\ndef say():\n    return 1\n",
    "src/words/cli.py": "import words\n\n\ndef main():\n    print('says', words.say())\n",
}
"""A project that has to be installed, with a source layout, a script and a written version."""


def entries(files: Mapping[str, str]) -> tuple[Entry, ...]:
    """Return files as a base has them."""
    return tuple(
        Entry(path=path.encode(), kind=Kind.FILE, data=text.encode())
        for path, text in files.items()
    )


def wheel(folder: Path, name: str, version: str, files: Mapping[str, str]) -> Path:
    """Write a wheel into a folder that `pip --find-links` reads."""
    about = f"{name}-{version}.dist-info"
    whole = {
        **files,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    whole[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in [*whole, f"{about}/RECORD"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in whole.items():
            archive.writestr(place, text)
    return path


@dataclass(slots=True)
class Workplace:
    """A sandbox with a workshop of its own; what it makes is removed at the end."""

    sandbox: Sandbox
    workshop: Workshop
    told: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    def key(self, making: Making) -> str:
        """Return the key of an environment here."""
        return making.key(self.workshop.kind, self.workshop.foundation(making))

    def make(
        self,
        *setup: str,
        files: Mapping[str, str] | None = None,
        image: str = IMAGE,
        keeps: bool = True,
    ) -> Surroundings:
        """Make an environment and return it."""
        making = Making(image=image, setup=setup, files=entries(files or {}), keeps=keeps)
        key = self.key(making)
        self.made.append(key)
        self.workshop.remove(key)
        self.workshop.make(key, making, self.told.append)
        return Surroundings(image=f"{NAME}:{key}", key=key)

    def run(
        self, place: Surroundings, command: str, files: Mapping[str, str] | None = None
    ) -> tuple[Outcome, str]:
        """Run a shell command offline in a tree, as tests are; return its end and its output."""
        tree = [Entry(path=b"workspace", kind=Kind.FOLDER)]
        tree += [
            Entry(path=b"workspace/" + each.path, kind=each.kind, data=each.data)
            for each in entries(files or {})
        ]
        spec = Spec(
            argv=("/bin/sh", "-c", f"({command}) 2>&1"),
            image=place.image,
            returned="/report",
            returned_file="nothing",
            memory_folders=("/workspace",),
            streamed_tar=write_tar(tree),
            workdir="/workspace",
            environment=place.variables,
            limits=Limits(seconds=60, memory=512, processes=64, scratch=64),
        )
        out = io.BytesIO()
        outcome, _ = self.sandbox.run(spec, Streams(stdout=out, stderr=out), lambda _: None)
        return outcome, out.getvalue().decode()


@pytest.fixture(scope="session")
def bubblewrap_workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Return bubblewrap with a cache of its own."""
    cache = tmp_path_factory.mktemp("environments")
    sandbox = or_skip("bubblewrap", lambda: make_bubblewrap(cache=cache))
    return Workplace(sandbox, workshop_of(sandbox, lambda _: None))


@pytest.fixture(scope="session")
def docker_workplace() -> Iterator[Workplace]:
    """Give Docker; the images that were made go at the end."""
    sandbox = or_skip("docker", make_docker)
    place = Workplace(sandbox, workshop_of(sandbox, lambda _: None))
    yield place
    for key in place.made:
        place.workshop.remove(key)
    sandbox.close()


@pytest.fixture(scope="session")
def compiler_image(docker_workplace: Workplace) -> Iterator[str]:
    """Give an image with this machine's compiler in it; skip where there is none."""
    wanted = {"gcc", "libc6-dev", "libpython3-dev"}
    if not debian.available() or not wanted <= debian.installed_packages().keys():
        missing("compiler", "this machine has no packages of one")
    assert isinstance(docker_workplace.sandbox, DockerSandbox)
    api = docker_workplace.sandbox.api
    with tempfile.TemporaryDirectory() as site, tempfile.TemporaryFile() as root:
        with tarfile.open(fileobj=root, mode="w") as archive:
            debian.write_root(archive, site=Path(site), more=sorted(wanted))
        root.seek(0)
        pieces = iter(lambda: root.read(1 << 20), b"")
        api.import_image_from_stream(pieces, repository="labkit-test-compiler", tag="local")
    yield "labkit-test-compiler:local"
    for key in docker_workplace.made:
        docker_workplace.workshop.remove(key)
    api.remove_image("labkit-test-compiler:local", force=True)


@pytest.fixture(params=BOTH)
def workplace(request: pytest.FixtureRequest) -> Workplace:
    """Return each sandbox in turn."""
    made: Workplace = request.getfixturevalue(f"{request.param}_workplace")
    made.told.clear()
    return made
