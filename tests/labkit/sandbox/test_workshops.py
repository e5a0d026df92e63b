"""Environments made for real, in both sandboxes, without any index beyond a local folder."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from environs import SOURCE, Workplace, entries, wheel
from sandboxes import IMAGE

from labkit.building import Surroundings
from labkit.errors import InfrastructureError, ToolError
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.making import Making, SetupError

OLD_PYTEST = {"pytest.py": "VERSION = 'pinned'\n", "tiny.py": "SIZE = 3\n"}


@pytest.fixture(autouse=True)
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of packages as the machine's only index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "wheels"
    wheel(folder, "tiny", "3.0", {"tiny.py": "SIZE = 3\n"})
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_packages_of_setup_are_there_offline_and_the_kits_pytest_serves(
    workplace: Workplace,
) -> None:
    place = workplace.make("pip install tiny", "python -m pip --version", "echo done")
    outcome, said = workplace.run(
        place, "python -c 'import tiny, pytest; print(tiny.SIZE, pytest.__file__)'; env; ls -A"
    )
    assert said.startswith("3 /opt/labkit/site/pytest/")
    assert "tiny" not in os.environ.get("PYTHONPATH", "")
    assert place.key in outcome.image_digest or outcome.image_digest.startswith("sha256:")
    told = [line for line in workplace.told if line.startswith("  setup")]
    assert told == [
        "  setup 1 of 3: pip install tiny",
        "  setup 2 of 3: python -m pip --version",
        "  setup 3 of 3: echo done",
    ]


def test_a_pinned_pytest_is_found_instead_of_the_kits(
    workplace: Workplace, own_index: Path
) -> None:
    wheel(own_index, "pytest", "6.0", OLD_PYTEST)
    place = workplace.make("pip install pytest==6.0")
    _, said = workplace.run(place, "python -c 'import pytest; print(pytest.VERSION)'")
    assert said == "pinned\n"


@pytest.mark.parametrize("how", ["pip install .", "pip install -e ."])
def test_an_installed_project_is_the_tree_that_is_there(workplace: Workplace, how: str) -> None:
    place = workplace.make(how, files=SOURCE)
    graded = {
        **SOURCE,
        "src/words/__init__.py": "def say():\n    return 2\n",
    }
    look = (
        "words; python -c 'import words, importlib.metadata as m; "
        'print(words.__file__, m.version("words"))\''
    )
    _, said = workplace.run(place, look, graded)
    assert said == "says 2\n/workspace/src/words/__init__.py 1.5\n"
    # The version file that an installed copy had is no longer there: build has to make it.
    _, said = workplace.run(place, "python -c 'import words'", SOURCE)
    assert "No module named 'words._version'" in said


def test_an_older_copy_in_the_project_is_not_taken_for_it(workplace: Workplace) -> None:
    older = {"a/words/__init__.py": "old = True\n", "a/words/cli.py": "old = True\n"}
    place = workplace.make("pip install .", files={**SOURCE, **older})
    look = "python -c 'import words.cli; print(words.cli.__file__)'"
    graded = {**SOURCE, **older, "src/words/__init__.py": ""}
    _, said = workplace.run(place, look, graded)
    assert said == "/workspace/src/words/cli.py\n"


def test_an_installed_copy_that_is_nowhere_in_the_tree_is_refused(workplace: Workplace) -> None:
    moved = {name.replace("src/words", "lib"): text for name, text in SOURCE.items()}
    moved["tools/backend.py"] = (
        moved["tools/backend.py"]
        .replace('os.walk("src")', 'os.walk("lib")')
        .replace('os.path.relpath(path, "src")', '"words/" + os.path.relpath(path, "lib")')
    )
    with pytest.raises(SetupError) as caught:
        workplace.make("pip install .", files=moved)
    assert "words is nowhere in it under that name" in caught.value.problems[-1]
    assert "install it with pip install -e . instead" in caught.value.problems[-1]


@pytest.mark.parametrize("how", ["pip install .", "pip install -e ."])
def test_an_installed_script_is_the_trees(workplace: Workplace, how: str) -> None:
    with_script = {**SOURCE, "bin/old-words": "#!/usr/bin/env python3\nprint('old')\n"}
    backend = with_script["tools/backend.py"]
    line = '    rows = "".join('
    more = '    files[f"{NAME}-{VERSION}.data/scripts/old-words"] = open("bin/old-words").read()\n'
    with_script["tools/backend.py"] = backend.replace(line, more + line)
    place = workplace.make(how, files=with_script)
    graded = {**with_script, "bin/old-words": "#!/usr/bin/env python3\nprint('new')\n"}
    _, said = workplace.run(place, "old-words", graded)
    assert said == "new\n"


def test_nothing_of_the_machine_stays(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate = tmp_path / "own-ca.pem"
    certificate.write_text("our own authority\n")
    monkeypatch.setenv("PIP_CERT", str(certificate))
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:sesame@index.invalid/simple")
    checks = (
        'test "$(cat $PIP_CERT)" = "our own authority"',
        "test ${#PIP_INDEX_URL} = 40",
        "echo x > /tmp/rubbish; echo x > left-in-the-tree",
    )
    place = workplace.make(*checks, files={"a.py": "x = 1\n"})
    _, said = workplace.run(place, "env; grep -rs sesame / -l --exclude-dir=proc; ls -A")
    assert "sesame" not in said
    assert "left-in-the-tree" not in said
    if isinstance(workplace.sandbox, DockerSandbox):
        api = workplace.sandbox.api
        kept = [api.inspect_image(place.image), api.history(place.image)]  # type: ignore[no-untyped-call] # its stubs lack it
        assert "sesame" not in str(kept)
        assert "own-ca" not in str(kept)


def test_a_setup_command_that_fails_is_told_with_its_last_words(workplace: Workplace) -> None:
    with pytest.raises(SetupError) as caught:
        workplace.make("true", "echo about to fail; echo very wrong >&2; exit 3", "echo never")
    assert caught.value.message == (
        "the setup command 'echo about to fail; echo very wrong >&2; exit 3' ended in 3"
    )
    assert caught.value.problems[1].endswith("    very wrong")
    assert not workplace.workshop.has(workplace.made[-1])
    assert not [line for line in workplace.sandbox.leftovers() if workplace.made[-1] in line]
    assert not any("never" in line for line in workplace.told)


def test_environments_are_listed_and_removed(workplace: Workplace) -> None:
    place = workplace.make("echo listed")
    (found,) = [each for each in workplace.workshop.made() if each.key == place.key]
    assert found.bytes > 0
    assert found.created.startswith("20")
    workplace.workshop.remove(place.key)
    workplace.workshop.remove(place.key)
    assert place.key not in [each.key for each in workplace.workshop.made()]
    with pytest.raises(InfrastructureError, match=r"[Nn]o such image|is not there"):
        workplace.run(place, "true")


@pytest.mark.docker
def test_an_environment_is_in_use_as_long_as_something_runs_in_it(workplace: Workplace) -> None:
    place = workplace.make("echo used")
    assert not workplace.workshop.in_use(place.key)
    with ThreadPoolExecutor() as pool:
        ran = pool.submit(workplace.run, place, "sleep 4")
        seen = False
        while not ran.done():
            seen = seen or workplace.workshop.in_use(place.key)
            time.sleep(0.1)
    assert seen
    assert not workplace.workshop.in_use(place.key)


def test_an_environment_that_was_used_goes_with_what_was_made_of_it(
    docker_workplace: Workplace,
) -> None:
    assert isinstance(docker_workplace.sandbox, DockerSandbox)
    api = docker_workplace.sandbox.api
    place = docker_workplace.make("echo used")
    docker_workplace.run(place, "true")
    made = {each["Id"] for each in api.images(filters={"label": f"labkit.environment={place.key}"})}
    assert len(made) == 2
    docker_workplace.workshop.remove(place.key)
    assert made & {each["Id"] for each in api.images(all=True)} == set()


def test_an_environment_that_was_made_anew_is_used_by_who_used_the_old_one(
    docker_workplace: Workplace,
) -> None:
    for _ in range(2):
        place = docker_workplace.make("echo again")
        outcome, _ = docker_workplace.run(place, "true")
        assert outcome.exit_code == 0
        docker_workplace.workshop.remove(place.key)


def test_setup_gets_the_files_of_the_base_and_a_variable(workplace: Workplace) -> None:
    making = Making(
        image=IMAGE,
        setup=('test "$(cat sub/req.txt)" = "$WANTED"', "test ! -e other"),
        variables=(("WANTED", "it's $HOME"),),
        files=entries({"sub/req.txt": "it's $HOME"}),
    )
    key = workplace.key(making)
    workplace.made.append(key)
    workplace.workshop.make(key, making, workplace.told.append)
    assert workplace.workshop.has(key)


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    "command",
    ["apt-get install -y gcc", "true && sudo apt install gcc", "A=1 dpkg -i x.deb", "(apk add x)"],
)
def test_what_needs_the_superuser_is_refused_before_anything_starts(
    bubblewrap_workplace: Workplace, command: str
) -> None:
    with pytest.raises(ToolError, match="needs the superuser") as caught:
        bubblewrap_workplace.key(Making(image=IMAGE, setup=("true", command)))
    assert "container engine" in (caught.value.hint or "")


@pytest.mark.bubblewrap
@pytest.mark.parametrize("command", ["pip install apt-get-wrapper", "echo apt-get is not run"])
def test_only_a_command_needs_the_superuser(bubblewrap_workplace: Workplace, command: str) -> None:
    assert bubblewrap_workplace.key(Making(image=IMAGE, setup=(command,)))


@pytest.mark.bubblewrap
def test_a_dockerfile_needs_an_engine(bubblewrap_workplace: Workplace) -> None:
    with pytest.raises(ToolError, match="a Dockerfile needs a container engine"):
        bubblewrap_workplace.key(Making(image="", dockerfile=b"FROM x\n"))


@pytest.mark.bubblewrap
def test_the_system_of_this_machine_cannot_be_written_to(bubblewrap_workplace: Workplace) -> None:
    bubblewrap_workplace.make("! touch /usr/labkit-was-here", "! touch /etc/labkit-was-here")


@pytest.mark.docker
def test_a_dockerfile_and_setup_on_top_of_it(docker_workplace: Workplace) -> None:
    making = Making(
        image="",
        dockerfile=f"FROM {IMAGE}\nCOPY req.txt /opt/req.txt\nENV FLAVOUR=sour\n".encode(),
        setup=("pip install -r /opt/req.txt",),
        files=entries({"req.txt": "tiny\n"}),
    )
    key = docker_workplace.key(making)
    docker_workplace.made.append(key)
    docker_workplace.workshop.make(key, making, docker_workplace.told.append)
    place = Surroundings(image=f"labkit-env:{key}", key=key)
    _, said = docker_workplace.run(place, "python -c 'import tiny, pytest'; echo $FLAVOUR")
    assert said == "sour\n"


@pytest.mark.docker
def test_a_dockerfile_that_fails_tells_its_last_words(docker_workplace: Workplace) -> None:
    making = Making(
        image="", dockerfile=f"FROM {IMAGE}\nRUN echo so far; echo wrong; exit 7\n".encode()
    )
    key = docker_workplace.key(making)
    with pytest.raises(SetupError, match="the Dockerfile could not be built") as caught:
        docker_workplace.workshop.make(key, making, docker_workplace.told.append)
    assert "wrong" in caught.value.problems[1]
    assert not docker_workplace.workshop.has(key)


def test_a_container_of_an_environment_is_no_leftover_of_setup(workplace: Workplace) -> None:
    place = workplace.make("echo no leftover")
    seen: list[str] = []
    running = threading.Thread(target=lambda: seen.append(workplace.run(place, "sleep 2")[1]))
    running.start()
    while running.is_alive():
        assert workplace.sandbox.clean() == ()
        running.join(0.3)
    assert seen == [""]
