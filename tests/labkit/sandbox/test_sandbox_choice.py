"""Which sandbox is taken, and what is said when none works."""

import os
from pathlib import Path

import pytest
from sandbox_specs import run_spec, shell

from labkit.errors import ToolError
from labkit.sandbox import debian
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.choose import Choice, choose, find_bwrap, installed_bwraps
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.environment import prepare_environment


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")


@pytest.mark.docker
def test_an_engine_is_preferred(docker_sandbox: DockerSandbox, tmp_path: Path) -> None:
    assert docker_sandbox.name == "docker"
    chosen = choose(Choice.AUTO, cache=tmp_path)
    assert isinstance(chosen, DockerSandbox)
    chosen.close()


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("bubblewrap_sandbox", "no_engine")
def test_without_an_engine_bubblewrap_is_taken(tmp_path: Path) -> None:
    assert choose(Choice.AUTO, cache=tmp_path).name == "bubblewrap"


@pytest.mark.usefixtures("no_engine")
def test_when_nothing_works_every_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("labkit.sandbox.choose.installed_bwraps", lambda: ())
    with pytest.raises(ToolError, match="no sandbox works here") as raised:
        choose(Choice.AUTO, cache=tmp_path)
    told = " ".join(raised.value.problems)
    assert "docker: the container engine did not answer" in told
    assert "bubblewrap: bubblewrap is not installed" in told
    assert "apt-get install bubblewrap" in str(raised.value.hint)


def test_a_bubblewrap_that_cannot_make_namespaces_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(ToolError, match="No permissions to create namespace") as raised:
        find_bwrap([broken])
    assert "user namespaces" in str(raised.value.hint)


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("bubblewrap_sandbox")
def test_the_first_bubblewrap_that_works_is_taken(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    working = installed_bwraps()[-1]
    assert find_bwrap([broken, working]) == working


def test_the_environment_is_made_once(tmp_path: Path) -> None:
    first = prepare_environment(tmp_path)
    made = first.prepared.stat().st_ino
    again = prepare_environment(tmp_path)
    assert (again, again.prepared.stat().st_ino) == (first, made)
    assert [path.name for path in tmp_path.iterdir()] == [first.prepared.name]
    names = {path.name for path in (first.prepared / "site").iterdir()}
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"} <= names
    assert "labkit" not in names
    assert list((first.prepared / "site" / "pytest").glob("__pycache__/*.pyc"))


def test_a_site_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="does not exist"):
        prepare_environment(tmp_path, site=tmp_path / "none")


@pytest.mark.bubblewrap
def test_the_teams_packages_are_found_first(
    bubblewrap_sandbox: BubblewrapSandbox, tmp_path: Path
) -> None:
    assert bubblewrap_sandbox.name == "bubblewrap"
    site = tmp_path / "site"
    site.mkdir()
    (site / "iniconfig.py").write_text("WHOSE = 'the team'\n")
    chosen = choose(Choice.BUBBLEWRAP, cache=tmp_path / "cache", site=site)
    ran = run_spec(chosen, shell("python -c 'import iniconfig; print(iniconfig.WHOSE)'"))
    assert ran.stdout == b"the team\n"


def test_the_closure_follows_dependencies_and_leaves_out_the_unwanted() -> None:
    packages = {
        "git": ("libc6", "perl", "libcurl"),
        "libcurl": ("libc6", "ring"),
        "ring": ("libcurl",),
        "libc6": (),
        "perl": ("perl-base",),
        "perl-base": (),
        "other": ("libc6",),
    }
    assert debian.closure(packages, ["git", "absent"]) == ["git", "libc6", "libcurl", "ring"]


@pytest.mark.skipif(not Path("/var/lib/dpkg/status").exists(), reason="no Debian machine")
def test_only_files_of_packages_go_into_the_image() -> None:
    files = debian.package_files()
    assert Path("/usr/bin/git") in files
    assert all(not path.is_dir() or path.is_symlink() for path in files)
    assert {path.parts[1] for path in files} <= {"usr", "bin", "lib", "lib64", "sbin"}
    assert not [path for path in files if path.is_relative_to("/usr/local")]
    assert os.path.lexists(files[0])
