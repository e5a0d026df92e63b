"""The key of an environment, what setup says of itself, and the machine's own indexes."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.archive import Entry, Kind
from labkit.process import run
from labkit.sandbox.indexes import exports, read_indexes
from labkit.sandbox.making import Making, SetupError, Told

words = st.text("ab ", min_size=1, max_size=3)
files = st.builds(
    Entry,
    path=st.sampled_from([b"a", b"b", b"c/d"]),
    kind=st.sampled_from([Kind.FILE, Kind.EXECUTABLE]),
    data=st.binary(max_size=2),
)


@st.composite
def makings(draw: st.DrawFn) -> dict[str, Any]:
    chosen = draw(st.lists(files, max_size=3, unique_by=lambda entry: entry.path))
    pairs = draw(st.dictionaries(words, words, max_size=2))
    return {
        "image": draw(words),
        "dockerfile": draw(st.binary(max_size=2)),
        "setup": tuple(draw(st.lists(words, max_size=3))),
        "variables": tuple(pairs.items()),
        "files": tuple(chosen),
    }


@given(parts=makings(), data=st.data())
def test_the_key_does_not_depend_on_the_order_of_files_and_variables(
    parts: dict[str, Any], data: st.DataObject
) -> None:
    mixed = parts | {
        "files": tuple(data.draw(st.permutations(parts["files"]))),
        "variables": tuple(data.draw(st.permutations(parts["variables"]))),
        "image": "another name of the same foundation",
    }
    assert Making(**mixed).key("docker", "f") == Making(**parts).key("docker", "f")


@given(one=makings(), other=makings())
def test_everything_that_setup_sees_is_in_the_key(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    def seen(parts: dict[str, Any]) -> object:
        found = frozenset((e.path, e.kind, e.data) for e in parts["files"])
        variables = frozenset(parts["variables"])
        return parts["dockerfile"], parts["setup"], variables, found

    same = seen(one) == seen(other)
    assert (Making(**one).key("docker", "f") == Making(**other).key("docker", "f")) is same


@given(parts=makings(), field=st.sampled_from(["dockerfile", "setup", "variables", "files"]))
def test_a_changed_field_gives_another_key(parts: dict[str, Any], field: str) -> None:
    more: dict[str, Any] = {
        "dockerfile": parts["dockerfile"] + b"!",
        "setup": (*parts["setup"], "!"),
        "variables": (*parts["variables"], ("!", "")),
        "files": (*parts["files"], Entry(path=b"!", kind=Kind.FILE)),
    }
    changed = Making(**parts | {field: more[field]})
    assert changed.key("docker", "f") != Making(**parts).key("docker", "f")


def test_sandbox_and_foundation_are_in_the_key() -> None:
    making = Making(image="x", setup=("a",))
    keys = {making.key(kind, base) for kind in ("docker", "bubblewrap") for base in ("1", "2")}
    assert len(keys) == 4


def test_marks_are_read_in_any_pieces() -> None:
    lines: list[str] = []
    told = Told(("one", "two"), lines.append)
    for piece in (b"begin 1\nbeg", b"in 2", b"\nfinish\n", b"rubbish\ndo", b"ne\n"):
        assert told.write(piece) == len(piece)
    assert lines == ["  setup 1 of 2: one", "  setup 2 of 2: two"]
    told.check(b"")


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (b"begin 1\nfailed 1 2\n", "the setup command 'one' ended in 2"),
        (b"venv\n", "no virtual environment could be made"),
        (b"begin 1\nfinish\nbroken\n", "the environment could not be finished"),
        (b"begin 1\n", "setup was ended from outside"),
        (b"", "setup was ended from outside"),
    ],
)
def test_setup_that_did_not_get_to_its_end_is_an_error(marks: bytes, says: str) -> None:
    told = Told(("one",), lambda _: None)
    told.write(marks)
    with pytest.raises(SetupError, match=says) as caught:
        told.check("\n".join(f"line {n}" for n in range(50)).encode())
    assert caught.value.problems[1].startswith("the last it said:\n    line 38\n")
    assert "labkit env build" in (caught.value.hint or "")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_settings_files_and_the_files_they_name_are_brought(home: Path, tmp_path: Path) -> None:
    packages = tmp_path / "my packages"
    packages.mkdir()
    mirror = tmp_path / "mirror"
    (mirror / "simple").mkdir(parents=True)
    (tmp_path / "ca.pem").write_text("ca")
    (tmp_path / "limits.txt").write_text("x<2")
    own = home / ".config" / "pip" / "pip.conf"
    own.parent.mkdir(parents=True)
    own.write_text(
        f"[global]\ncert = {tmp_path}/ca.pem\nextra-index-url = file://{mirror}/simple\n"
        f"  file://{mirror}/\nconstraint = {tmp_path}/limits.txt\n"
    )
    found = read_indexes(
        {
            "PIP_CERT": f"{tmp_path}/ca.pem",
            "HTTPS_PROXY": "http://proxy.invalid:1",
            "PIP_FIND_LINKS": str(mirror),
            "PIP_TARGET": "/x",
            "SECRET": "s",
        }
    )
    by_name = {entry.path: entry.data for entry in found.files}
    assert found.variables["PIP_CERT"] == "/labkit/files/0-ca.pem"
    assert by_name[b"labkit/files/0-ca.pem"] == b"ca"
    settings = by_name[b"labkit/pip.conf"].decode()
    assert "cert = /labkit/files/0-ca.pem" in settings
    assert "constraint = /labkit/files/1-limits.txt" in settings
    assert found.variables["PIP_CONFIG_FILE"] == "/labkit/pip.conf"
    assert found.variables["HTTPS_PROXY"] == "http://proxy.invalid:1"
    assert not {"SECRET", "PIP_TARGET"} & set(found.variables)
    assert found.folders == (mirror,)


def test_what_the_pages_of_a_local_index_point_to_comes_along(tmp_path: Path, home: Path) -> None:
    assert home.is_dir()
    for name in ("simple", "files", "packages", "other"):
        (tmp_path / "mirror" / name).mkdir(parents=True)
    found = read_indexes({"PIP_INDEX_URL": f"file://{tmp_path}/mirror/simple"})
    assert [path.name for path in found.folders] == ["files", "packages", "simple"]
    assert not read_indexes({"PIP_FIND_LINKS": f"{tmp_path}/mirror/other"}).folders[1:]


def test_pips_own_word_for_no_settings_is_heeded(home: Path) -> None:
    (home / ".pip").mkdir()
    (home / ".pip" / "pip.conf").write_text("[global]\nindex-url = https://x.invalid\n")
    assert not read_indexes({"PIP_CONFIG_FILE": "/dev/null"}).files
    assert read_indexes({}).files


def test_npms_own_settings_come_without_places_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("ca")
    (tmp_path / "npmrc").write_text(
        f"; a note\nregistry = https://npm.invalid/\n@own:registry=https://own.invalid/\n"
        f"//npm.invalid/:_authToken=${{TOKEN}}\ncafile={tmp_path}/ca.pem\n"
        "prefix=/home/me\ncache=/home/me/.npm\nfund=false\n"
    )
    found = read_indexes(
        {
            "NPM_CONFIG_USERCONFIG": f"{tmp_path}/npmrc",
            "npm_config_cache": "/home/me/.npm",
            "npm_config_fetch_retries": "1",
            "TOKEN": "sesame",
        }
    )
    by_name = {entry.path: entry.data for entry in found.files}
    assert by_name[b"labkit/npmrc"].decode() == (
        "registry=https://npm.invalid/\n@own:registry=https://own.invalid/\n"
        "//npm.invalid/:_authToken=sesame\ncafile=/labkit/files/0-ca.pem\n"
    )
    assert by_name[b"labkit/files/0-ca.pem"] == b"ca"
    assert found.variables["NPM_CONFIG_USERCONFIG"] == "/labkit/npmrc"
    assert found.variables["npm_config_fetch_retries"] == "1"
    assert "npm_config_cache" not in found.variables


def test_long_commands_of_setup_are_told_shortly() -> None:
    lines: list[str] = []
    told = Told(("set -e\n" + "echo word; " * 40,), lines.append)
    told.write(b"begin 1\nfailed 1 3\n")
    assert lines[0].startswith("  setup 1 of 1: set -e echo word; echo")
    assert lines[0].endswith(" ...")
    with pytest.raises(SetupError) as caught:
        told.check(b"")
    assert len(caught.value.message) < 160


@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_variables_reach_a_shell_as_they_are(value: str) -> None:
    script = exports({"A": value}) + b'printf %s "$A"'
    assert run(["/bin/sh", "-c", script.decode()]).stdout == value.encode()
