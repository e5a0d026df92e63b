"""Control groups: what enters one is limited and counted, and the group goes away."""

from collections.abc import Iterator

import pytest

from labkit import process
from labkit.sandbox.cgroup import Cgroup, find_cgroup, make_cgroup
from labkit.sandbox.interface import Limits

NAME = "labkit-test-group"
HOG = "held = [bytes([1]) * 2**20 for _ in range(200)]"


@pytest.fixture
def group() -> Iterator[Cgroup]:
    """Give a group with small limits, where this user may make one."""
    find_cgroup(NAME).remove()
    made = make_cgroup(NAME, Limits(memory=64, processes=8))
    if made is None:
        pytest.skip("control groups cannot be made here")
    yield made
    made.remove()


def test_what_joins_is_in_the_group(group: Cgroup) -> None:
    done = process.run(group.join(["cat", "/proc/self/cgroup"]))
    assert done.stdout.decode().count(NAME) == len(group.folders)
    assert not group.ran_out_of_memory()


def test_running_out_of_memory_is_seen(group: Cgroup) -> None:
    done = process.run(group.join(["/usr/bin/python3", "-c", HOG]), check=False)
    assert done.code == -9
    assert group.ran_out_of_memory()


def test_too_many_processes_fail(group: Cgroup) -> None:
    script = "for n in 1 2 3 4 5 6 7 8 9; do sleep 0.3 & done; wait"
    done = process.run(group.join(["sh", "-c", script]), check=False)
    assert "fork" in done.complaint


def test_the_group_goes_away(group: Cgroup) -> None:
    process.run(group.join(["true"]))
    group.remove()
    assert not [folder for folder in group.folders if folder.exists()]
    group.remove()


def test_what_cannot_join_does_not_start() -> None:
    gone = find_cgroup("labkit-test-no-such-group")
    done = process.run(gone.join(["echo", "started"]), check=False)
    assert (done.code != 0, done.stdout) == (True, b"")
