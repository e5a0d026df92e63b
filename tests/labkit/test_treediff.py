import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from gitrepo import BASE_FILES, Project, make_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workfolder import act, applied, difference, snapshot, unpack

from labkit.archive import Entry, Kind
from labkit.export import read_base
from labkit.git import Repository
from labkit.treediff import diff_returned, nothing_read

EDIT = "echo 'x = 3' > a.py; echo new > new.py; "
# What an agent does, and nothing of it may be lost.
CASES: Mapping[str, str] = {
    "edit": EDIT,
    "add": EDIT + "git add -A",
    "commit": EDIT + "git add -A; git commit -qm mine",
    "commit elsewhere": EDIT + "git checkout -qb fix; git commit -qam wip; git checkout -q -",
    "amend": EDIT + "git add -A; git commit -q --amend -m other",
    "delete dot git": EDIT + "rm -rf .git",
    "own repository": EDIT + "rm -rf .git; git init -q; git add -A; git commit -qm mine",
    "dot git is a file": EDIT + "mv .git /tmp/gone$$; rm -rf /tmp/gone$$; echo gitdir: /x > .git",
    "dot git is a link": EDIT + "rm -rf .git; ln -s /etc .git",
    "stale lock": EDIT + "touch .git/index.lock",
    "info exclude": EDIT + "mkdir -p .git/info; echo '*' > .git/info/exclude; echo h > hidden.py",
    "assume unchanged": "git update-index --assume-unchanged a.py; " + EDIT,
    "skip worktree": "git update-index --skip-worktree a.py; " + EDIT,
    "own ignore rules": "echo '*' > .gitignore; echo '*' > lib/.gitignore; echo h > hidden.py",
    "ignore rules gone": "rm .gitignore; echo h > hidden.py",
    "odd names": "echo n > $'new\\nline.py'; echo q > $' \"q\" \\t.py'; echo b > 'back\\slash'",
    "unicode names": "echo u > 'ünï-日本.py'; echo l > $'lat\\xe9n1.txt'",
    "names like options": "echo 1 > ./-n; echo 2 > ':(exclude)x'; echo 3 > ':!y'; echo 4 > '*'",
    "binary": "head -c 500 /dev/zero | tr '\\0' '\\377' > img.bin; printf '\\211PNG\\0\\1' > b.png",
    "modes": "chmod 755 run.sh; chmod 4755 a.py; chmod 400 del.me; chmod 1777 lib",
    "links": "ln -s /etc/passwd abs; ln -s a.py rel; ln -s ../../.. up; ln -s nowhere dangling",
    "folder to link": "rm -rf tests; ln -s /tmp tests",
    "file to link": "ln -sf /etc/passwd a.py",
    "file to folder": "rm a.py; mkdir a.py; echo x > a.py/x",
    "folder to file": "rm -rf lib; echo lib > lib",
    "empty and no last newline": "> empty.py; printf 'x = 1' > a.py",
    "delete": "rm del.me; rm -rf lib tests",
    "delete everything": "rm -rf -- * .gitignore",
    "line ends": "printf 'a\\r\\nB\\r\\n' > crlf.txt; printf 'q\\r\\n' > new; printf 'x\\r' > r",
    "eol attribute": "echo '* text=auto eol=crlf' > .gitattributes; printf 'x\\r\\n' > a.py",
    "ident attribute": "echo '*.py ident' > .gitattributes; echo '$Id: me $' > a.py",
    "encoding attribute": "echo '* working-tree-encoding=UTF-16' > .gitattributes; echo x > a.py",
    "hard links": "echo hh > h1; ln h1 h2; ln a.py h3; ln -s t s1; ln s1 s2",
    "mode 000": "echo s > s.py; chmod 0 s.py; mkdir locked; echo l > locked/f; chmod 0 locked",
    "rename": "mv img.bin img2.bin; mv lib other",
    "white space": "printf 'a  \\n\\t \\nb\\n\\n\\n' > w.py; printf ' \\n' > a.py",
    "looks like a patch": "printf -- '--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b\\n' > p.diff",
    "deep": "mkdir -p $(printf 'd/%.0s' $(seq 60)); echo x > $(printf 'd/%.0s' $(seq 60))f",
    "long name": "echo x > $(printf 'n%.0s' $(seq 250))",
    "nothing": ":",
}


@pytest.mark.parametrize("script", CASES.values(), ids=CASES)
def test_the_patch_gives_the_returned_tree(project: Project, tmp_path: Path, script: str) -> None:
    work = unpack(project, tmp_path / "work")
    act(work, script)
    found = difference(project, work)
    assert applied(project, tmp_path / "fresh", found) == found.result_tree
    assert snapshot(tmp_path / "fresh") == snapshot(work)
    assert found.left_out == ()
    assert bool(found.patch) == bool(found.changed) == (script != ":")


# What a difference cannot or must not hold: named, and the rest of it is whole.
LEFT_OUT: Mapping[str, tuple[str, tuple[bytes, ...], tuple[str, ...]]] = {
    "ignored": (
        "mkdir build; echo o > build/out.py; echo l > x.log",
        (b"build/out.py", b"x.log"),
        (
            "build/out.py: ignored by the project's own rules",
            "x.log: ignored by the project's own rules",
        ),
    ),
    "rules changed": (
        "echo '!*.log' > .gitignore; echo l > x.log",
        (b"x.log",),
        ("x.log: ignored by the project's own rules",),
    ),
    "caches": (
        "mkdir -p lib/__pycache__ .pytest_cache; echo 1 > lib/__pycache__/m.pyc; > .pytest_cache/x",
        (b"lib/__pycache__/m.pyc", b".pytest_cache/x"),
        (),
    ),
    "fifo": ("mkfifo p", (b"p",), ("p: special file",)),
    "fifo for a file": ("rm a.py; mkfifo a.py", (b"a.py",), ("a.py: special file",)),
    "nested repository": (
        "mkdir sub; cd sub; git init -q; echo m > m.py; git add -A; git commit -qm i",
        (),
        ("sub/.git: git keeps nothing of that name",),
    ),
    "nested git file": (
        "mkdir sub; echo gitdir: /x > sub/.git; echo m > sub/m.py",
        (b"sub/.git",),
        ("sub/.git: git keeps nothing of that name",),
    ),
    "dot git in capitals": (
        "mkdir .GIT; echo 1 > .GIT/x",
        (b".GIT/x",),
        (".GIT: git keeps nothing of that name",),
    ),
    "dot git of another system": (
        "mkdir git~1; echo 1 > git~1/x; echo 2 > '.git .'; echo 3 > 'a\\.git'; echo 4 > .git:x:y",
        (b"git~1/x", b".git .", b"a\\.git", b".git:x:y"),
        (
            ".git .: git keeps nothing of that name",
            ".git:x:y: git keeps nothing of that name",
            "a\\.git: git keeps nothing of that name",
            "git~1: git keeps nothing of that name",
        ),
    ),
    "modules link": (
        "ln -s /etc/passwd .gitmodules",
        (b".gitmodules",),
        (".gitmodules: git refuses a link of that name",),
    ),
}


@pytest.mark.parametrize(("script", "absent", "told"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_left_out_is_named(
    project: Project, tmp_path: Path, script: str, absent: tuple[bytes, ...], told: tuple[str, ...]
) -> None:
    work = unpack(project, tmp_path / "work")
    act(work, f"{EDIT} ({script})")
    found = difference(project, work)
    assert applied(project, tmp_path / "fresh", found) == found.result_tree
    expected = {path: state for path, state in snapshot(work).items() if path not in absent}
    assert snapshot(tmp_path / "fresh") == expected
    assert tuple(sorted(found.left_out)) == told


def test_names_that_only_look_like_gits_are_kept(project: Project, tmp_path: Path) -> None:
    names = [".github", ".gitx", "git~2", "x.git", ".git-", "git", ".gitmodules", "..git"]
    work = unpack(project, tmp_path / "work")
    act(work, "; ".join(f"echo 1 > '{name}'" for name in names))
    found = difference(project, work)
    assert set(found.changed) == {os.fsencode(name) for name in names}
    assert applied(project, tmp_path / "fresh", found) == found.result_tree


def test_a_tracked_file_that_is_ignored_is_still_compared(project: Project, tmp_path: Path) -> None:
    commit = project.commit({"kept.log": "1\n", ".gitignore": "*.log\n"})
    work = unpack(project, tmp_path / "work", commit)
    act(work, "echo 2 > kept.log; echo 1 > other.log")
    assert difference(project, work, commit).changed == (b"kept.log",)


def test_rules_in_folders_of_the_base_hold(project: Project, tmp_path: Path) -> None:
    commit = project.commit({"lib/.gitignore": "*\n!.gitignore\n!keep.*\n"})
    work = unpack(project, tmp_path / "work", commit)
    act(work, "echo 1 > lib/out; echo 1 > lib/keep.me; echo 1 > out")
    assert difference(project, work, commit).changed == (b"lib/keep.me", b"out")


def test_thousands_of_ignored_files_are_counted_not_listed(project: Project) -> None:
    base = read_base(project.repository, "base")
    extra = [Entry(path=b"build/%d" % number, kind=Kind.FILE, data=b"") for number in range(1000)]
    found = diff_returned(project.repository, base, [*base.files(), *extra])
    assert (len(found.left_out), found.left_out[-1]) == (201, "and 800 more")
    assert found.patch == b""


def test_a_submodule_is_kept_as_it_was(project: Project) -> None:
    link = ("160000", b"1" * 40)
    commit = project.commit_tree({b"a": ("100644", b"a"), b"sub": link})
    base = read_base(project.repository, commit)
    inside = Entry(path=b"sub/x.py", kind=Kind.FILE, data=b"x")
    instead = Entry(path=b"sub", kind=Kind.FILE, data=b"x")
    for more in ([inside], [instead], []):
        kept = [entry for entry in base.files() if entry.path != b"sub"]
        found = diff_returned(project.repository, base, [*kept, *more])
        assert (found.patch, found.result_tree) == (b"", base.tree)
        assert found.left_out == (("sub: a submodule is kept as it was",) if more else ())


def test_a_file_too_large_to_read_stays_the_bases(project: Project) -> None:
    base = read_base(project.repository, "base")
    large = Entry(path=b"a.py", kind=Kind.OVERSIZED, note="too large: 99 bytes")
    rest = [entry for entry in base.files() if entry.path != b"a.py"]
    found = diff_returned(project.repository, base, [*rest, large])
    assert (found.patch, found.left_out) == (b"", ("a.py: too large: 99 bytes",))


def test_the_statistics_are_of_the_test_folders_alone(project: Project, tmp_path: Path) -> None:
    work = unpack(project, tmp_path / "work")
    act(work, EDIT + "echo more >> tests/test_a.py; mkdir test; echo 1 > test/x; rm lib/deep/m.py")
    stat = difference(project, work).stat.decode()
    assert [line.split()[0] for line in stat.splitlines()] == ["test/x", "tests/test_a.py", "2"]


def test_nothing_read_is_the_base_and_the_reason(project: Project) -> None:
    base = read_base(project.repository, "base")
    found = nothing_read(base, "everything: too large")
    assert (found.patch, found.result_tree) == (b"", base.tree)
    assert found.left_out == ("everything: too large",)


def test_the_projects_own_repository_is_not_written_to(project: Project, tmp_path: Path) -> None:
    before = sorted((project.folder / ".git").rglob("*"))
    work = unpack(project, tmp_path / "work")
    act(work, EDIT)
    difference(project, work)
    assert sorted((project.folder / ".git").rglob("*")) == before


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    made = make_project(tmp_path / "project", "--object-format=sha256")
    commit = made.commit(BASE_FILES)
    work = unpack(made, tmp_path / "work", commit)
    act(work, EDIT)
    found = difference(made, work, commit)
    assert applied(made, tmp_path / "fresh", found, commit) == found.result_tree
    assert snapshot(tmp_path / "fresh") == snapshot(work)


NAMES = st.sampled_from(
    [b"a", b"b", b"tests", b"\xe9\xff", b'q"\n\\', b"-x", b":!a", b"a b", b"ab"]
)
BLOBS = st.sampled_from([b"", b"1\n", b"1\n2\n", b"1\r\n", b"1", b"\0\xff", b"--- a/a\n+++ b/a\n"])
FILES = st.tuples(st.sampled_from(["100644", "100755"]), BLOBS)
LINKS = st.tuples(st.just("120000"), st.sampled_from([b"a", b"../..", b"/etc", b"\xe9"]))
TREES = st.recursive(
    st.one_of(FILES, LINKS),
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=4),
    max_leaves=8,
).filter(lambda tree: isinstance(tree, dict))
KINDS = {"100644": Kind.FILE, "100755": Kind.EXECUTABLE, "120000": Kind.SYMLINK}

Flat = dict[bytes, tuple[str, bytes]]


def flat(tree: object, above: bytes = b"") -> Flat:
    if not isinstance(tree, dict):
        return {above: tree}  # type: ignore[dict-item] # a leaf is (mode, content)
    found: Flat = {}
    for name, below in tree.items():
        found |= flat(below, above + b"/" + name if above else name)
    return found


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("trees"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=TREES, after=TREES)
def test_any_change_of_any_tree_round_trips(
    scratch: Project, before: object, after: object
) -> None:
    repository = scratch.repository
    base = read_base(repository, scratch.commit_tree(flat(before)))
    wanted = scratch.git("rev-parse", scratch.commit_tree(flat(after)) + "^{tree}")
    returned = [
        Entry(path=path, kind=KINDS[mode], data=data) for path, (mode, data) in flat(after).items()
    ]
    found = diff_returned(repository, base, returned)
    assert (found.result_tree, found.left_out) == (wanted, ())
    assert index_tree(repository, base.tree, found.patch) == wanted


def index_tree(repository: Repository, tree: str, patch: bytes) -> str:
    index = {"GIT_INDEX_FILE": str(repository.git_dir / "index-of-test")}
    repository.git("read-tree", tree, extra=index)
    if patch:
        repository.git("apply", "--cached", "--binary", "-", stdin=patch, extra=index)
    return repository.git("write-tree", extra=index).stdout.decode().strip()
