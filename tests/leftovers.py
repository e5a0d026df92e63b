"""What could be left of many grades: in the engine, on the disk, and in this process."""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker

Things = dict[str, frozenset[str]]
"""Names by kind."""


def engine_things(api: docker.APIClient) -> Things:
    """Name what an engine keeps, layers without a name included."""
    return {
        "containers": frozenset(
            f"{each['Id'][:12]} of {each['Labels'].get('labkit.run')}"
            for each in api.containers(all=True)
        ),
        "volumes": frozenset(each["Name"] for each in api.volumes()["Volumes"] or ()),
        "images": frozenset(
            f"{each['Id'][7:19]} {' '.join(each['RepoTags'] or ())}"
            for each in api.images(all=True)
        ),
        "networks": frozenset(each["Id"] for each in api.networks()),
    }


def local_things(*folders: Path) -> Things:
    """Name what there is below some folders, and what this process holds."""
    own = Path("/proc/self")
    return {
        "files": frozenset(str(path) for folder in folders for path in folder.rglob("*")),
        "descriptors": frozenset(_descriptors()),
        "threads": frozenset(path.name for path in (own / "task").iterdir()),
        "children": frozenset(
            number for path in (own / "task").iterdir() for number in _children(path)
        ),
    }


def control_groups() -> frozenset[str]:
    """Name the groups of all sandboxes on this machine, while others come and go."""
    folders = (each for each, _, _ in os.walk("/sys/fs/cgroup"))
    return frozenset(each for each in folders if "/labkit-" in each)


def soon_empty(things: Callable[[], frozenset[str]]) -> frozenset[str]:
    """Return what is still there after a while: others here tidy up by themselves."""
    limit = time.monotonic() + 60
    while (left := things()) and time.monotonic() < limit:
        time.sleep(1)
    return left


def _descriptors() -> Iterator[str]:
    """Yield the open descriptors; the one that lists them is gone by the time it is looked up.

    Of sockets and pipes only how many there are matters: a client opens its connections anew.
    """
    seen = Counter[str]()
    for path in Path("/proc/self/fd").iterdir():
        try:
            name = str(path.readlink())
        except FileNotFoundError:
            continue
        kind = name.partition(":[")[0]
        seen[kind] += 1
        yield f"{kind} {seen[kind]}"


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


@contextmanager
def own_temporary_folder(folder: Path) -> Iterator[Path]:
    """Let everything temporary of this process go to one folder."""
    before = tempfile.tempdir
    folder.mkdir()
    tempfile.tempdir = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
