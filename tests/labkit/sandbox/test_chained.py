"""Environments on top of others: what the lower one has stays, and is not changed."""

import os
from pathlib import Path

import pytest
from environs import SOURCE, Workplace, wheel
from sandboxes import IMAGE

from labkit.errors import InfrastructureError
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.making import LEFT, Making

AGENT = "pip install --target /opt/labkit/env/agent tool"


@pytest.fixture(autouse=True)
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of packages as the machine's only index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "wheels"
    wheel(folder, "tiny", "3.0", {"tiny.py": "SIZE = 3\n"})
    wheel(folder, "tiny", "4.0", {"tiny.py": "SIZE = 4\n"})
    wheel(folder, "tool", "1.0", {"tool.py": "print('tool runs')\n"})
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize("how", ["pip install .", "pip install -e ."])
def test_everything_of_the_lower_one_is_there(workplace: Workplace, how: str) -> None:
    lower = workplace.make(how, "pip install tiny==3.0", "echo v > made.txt", files=SOURCE)
    upper = workplace.make(AGENT, image=lower.image, keeps=False)
    look = (
        "words; python -c 'import tiny, pytest, words; print(tiny.SIZE, words.__file__)'; "
        f"python /opt/labkit/env/agent/tool.py; cat {LEFT}/made.txt"
    )
    graded = {**SOURCE, "src/words/__init__.py": "def say():\n    return 2\n"}
    _, said = workplace.run(upper, look, graded)
    assert said == "says 2\n3 /workspace/src/words/__init__.py\ntool runs\nv\n"
    assert workplace.workshop.left(upper.key)
    _, said = workplace.run(lower, "ls /opt/labkit/env/agent", graded)
    assert "No such file" in said


def test_the_lower_one_is_not_changed(workplace: Workplace) -> None:
    lower = workplace.make("pip install tiny==3.0")
    upper = workplace.make("pip install tiny==4.0", image=lower.image)
    look = "python -c 'import tiny, pytest; print(tiny.SIZE)'"
    assert workplace.run(upper, look)[1] == "4\n"
    assert workplace.run(lower, look)[1] == "3\n"


def test_what_the_upper_one_leaves_in_the_project_is_not_kept(workplace: Workplace) -> None:
    lower = workplace.make("echo one > one.txt")
    upper = workplace.make("echo two > two.txt", image=lower.image, keeps=False)
    assert workplace.run(upper, f"ls {LEFT}")[1] == "one.txt\n"
    alone = workplace.make("echo two > two.txt", keeps=False)
    assert not workplace.workshop.left(alone.key)


def test_a_chain_of_three_holds(workplace: Workplace) -> None:
    first = workplace.make("pip install tiny==3.0", "echo one > one.txt")
    second = workplace.make(AGENT, image=first.image, keeps=False)
    third = workplace.make("pip install --target /opt/labkit/env/more tiny", image=second.image)
    look = "cd /; python -c 'import tiny, pytest; print(tiny.SIZE)'; ls /opt/labkit/env"
    words = workplace.run(third, look)[1].split()
    assert words[0] == "3"
    assert {"agent", "more", "labkit-left"} <= set(words)
    assert workplace.workshop.left(third.key)


def test_the_key_depends_on_what_it_is_made_on(workplace: Workplace) -> None:
    one, two = workplace.make("echo one"), workplace.make("echo two")
    keys = {
        workplace.key(Making(image=image, setup=(AGENT,), keeps=keeps))
        for image in (one.image, two.image, IMAGE)
        for keeps in (True, False)
    }
    assert len(keys) == 6


def test_a_lower_one_that_is_not_there_is_named(workplace: Workplace) -> None:
    with pytest.raises(InfrastructureError, match="the environment 0123456789abcdef is not there"):
        workplace.make("true", image="labkit-env:0123456789abcdef")


def test_npms_own_notes_of_where_packages_came_from_go(workplace: Workplace) -> None:
    place = "/opt/labkit/env/agent/node_modules"
    write = f"mkdir -p {place} && echo https://u:sesame@index/ > {place}/.package-lock.json"
    upper = workplace.make(write, keeps=False)
    assert workplace.run(upper, f"ls -A {place}")[1] == ""


@pytest.mark.docker
def test_a_lower_one_can_go_first(docker_workplace: Workplace) -> None:
    assert isinstance(docker_workplace.sandbox, DockerSandbox)
    lower = docker_workplace.make("pip install tiny==3.0 # goes")
    upper = docker_workplace.make("echo upper", image=lower.image)
    docker_workplace.run(lower, "true")
    docker_workplace.workshop.remove(lower.key)
    assert docker_workplace.run(upper, "python -c 'import tiny; print(tiny.SIZE)'")[1] == "3\n"
    docker_workplace.workshop.remove(upper.key)
    names = [name for each in docker_workplace.sandbox.api.images() for name in each["RepoTags"]]
    assert not {lower.image, upper.image} & set(names)
