"""Everything that makes git run a program in a work folder: none of it runs when labkit looks.

Each plant is first shown to be live where plain git commands, as a person would type them in the
agent's folder, do run it; then labkit reads the same folder.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
from gitrepo import Project
from workfolder import act, applied, difference, unpack

from labkit.git import git_environment
from labkit.process import run

SECRET = b"HOST-SECRET"
# How a program is planted. $MARK is a command that leaves a mark; `program PATH` makes a script.
PROGRAM = """\
program() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\\n%s\\n%s\\n' "$MARK" "$2" > "$1"
chmod 755 "$1"; }
nested() { mkdir sub; cd sub; git init -q; echo 1 > m.py; git add -A; git commit -qm i; }
"""
FSMONITOR = "program .git/fsm 'exit 1'; git config core.fsmonitor .git/fsm"
CLEAN = "git config filter.evil.clean \"sh -c '$MARK; cat'\""
# name: (plant, whether plain git runs it)
PLANTS: Mapping[str, tuple[str, bool]] = {
    "fsmonitor in .git": (FSMONITOR, True),
    "fsmonitor in the tree": (
        "program fsm 'exit 1'; git config core.fsmonitor ./fsm",
        True,
    ),
    "fsmonitor by include": (
        "program .git/fsm 'exit 1'; printf '[core]\\n\\tfsmonitor=.git/fsm\\n' > inc; "
        "git config include.path ../inc",
        True,
    ),
    "git file elsewhere": (
        "mv .git gd; echo 'gitdir: gd' > .git; program gd/fsm 'exit 1'; "
        "git config core.fsmonitor gd/fsm",
        True,
    ),
    "bare repository at the top": (
        "rm -rf .git; git init -q --bare b; mv b/* .; rmdir b; program fsm 'exit 1'; "
        "for s in 'core.bare false' 'core.worktree .' 'core.fsmonitor ./fsm'; do "
        "git --git-dir=. config $s; done",
        True,
    ),
    "hook post-index-change": ("program .git/hooks/post-index-change", True),
    "hook pre-commit": ("program .git/hooks/pre-commit", True),
    "hook reference-transaction": ("program .git/hooks/reference-transaction", True),
    "hooks path": ("program h/pre-commit; git config core.hooksPath h", True),
    "filter clean": (f"echo '*.py filter=evil' > .gitattributes; {CLEAN}", True),
    "filter clean by info": (
        f"mkdir -p .git/info; echo '*.py filter=evil' > .git/info/attributes; {CLEAN}",
        True,
    ),
    "filter process": (
        "echo '*.py filter=evil' > .gitattributes; "
        "git config filter.evil.process \"sh -c '$MARK'\"",
        True,
    ),
    "filter smudge": (
        "echo '*.py filter=evil' > .gitattributes; "
        "git config filter.evil.smudge \"sh -c '$MARK; cat'\"",
        False,
    ),
    "textconv": (
        "echo '*.py diff=evil' > .gitattributes; "
        "git config diff.evil.textconv \"sh -c '$MARK' --\"",
        True,
    ),
    "diff driver": (
        "echo '*.py diff=evil' > .gitattributes; git config diff.evil.command \"sh -c '$MARK'\"",
        True,
    ),
    "external diff": ("program .git/x; git config diff.external .git/x", True),
    "merge driver": (
        "echo '*.py merge=evil' > .gitattributes; git config merge.evil.driver \"$MARK\"",
        False,
    ),
    "pager": ("git config core.pager \"sh -c '$MARK; cat'\"; git config pager.diff true", False),
    "signature program": (
        'program .git/g; git config gpg.program "$PWD/.git/g"; git config commit.gpgSign true; '
        "git config user.signingKey x",
        True,
    ),
    "alias": ('git config alias.add "!$MARK"; git config alias.diff "!$MARK"', False),
    "nested fsmonitor": (f"(nested; {FSMONITOR}; echo dirty > m.py)", True),
    "nested filter": (
        f"(nested; echo '* filter=evil' > .gitattributes; {CLEAN}; echo 2 > m.py)",
        True,
    ),
    "registered submodule": (
        f"(nested); git add sub; git commit -qm sub; (cd sub; {FSMONITOR}; echo dirty > m.py)",
        True,
    ),
    "alternates": (
        "mkdir -p .git/objects/info; echo $SECRETS > .git/objects/info/alternates",
        False,
    ),
    "work tree elsewhere": ('git config core.worktree "$SECRETS"', False),
}
EDIT = "echo 'x = 2' > a.py; echo n > new.txt; "


def planted(project: Project, tmp_path: Path, plant: str) -> Path:
    """Return a work folder in which an agent planted something and edited two files."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "id_rsa").write_bytes(SECRET + b"\n")
    work = unpack(project, tmp_path / "work")
    names = f"MARK='echo x >> {tmp_path}/mark'; SECRETS={secrets}; "
    act(work, f"{PROGRAM}{names}{plant}; {EDIT}")
    (tmp_path / "mark").unlink(missing_ok=True)
    return work


@pytest.mark.parametrize("plant", [p for p, _ in PLANTS.values()], ids=PLANTS)
def test_nothing_that_an_agent_left_runs_or_leaks(
    project: Project, tmp_path: Path, plant: str
) -> None:
    work = planted(project, tmp_path, plant)
    found = difference(project, work)
    assert {b"a.py", b"new.txt"} <= set(found.changed)
    assert applied(project, tmp_path / "fresh", found) == found.result_tree
    assert not (tmp_path / "mark").exists()
    assert SECRET not in found.patch


@pytest.mark.parametrize(
    "plant",
    [pytest.param(plant, id=name) for name, (plant, live) in PLANTS.items() if live],
)
def test_the_plants_are_live_for_plain_git(project: Project, tmp_path: Path, plant: str) -> None:
    work = planted(project, tmp_path, plant)
    user = ["-c", "user.name=u", "-c", "user.email=u@example.org"]
    for words in (["add", "-A"], ["diff", "--cached"], ["status"], ["commit", "-qm", "snap"]):
        run(["git", *user, *words], cwd=work, env=git_environment(), check=False)
    assert (tmp_path / "mark").exists()


def test_a_work_tree_elsewhere_does_leak_through_plain_git(
    project: Project, tmp_path: Path
) -> None:
    work = planted(project, tmp_path, PLANTS["work tree elsewhere"][0])
    run(["git", "add", "-A"], cwd=work, env=git_environment())
    assert SECRET in run(["git", "diff", "--cached"], cwd=work, env=git_environment()).stdout


def test_a_filter_of_the_user_that_the_agent_names_does_not_run(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    clean = f"sh -c 'echo x >> {tmp_path}/mark; cat'"
    (home / ".gitconfig").write_text(f'[filter "lfs"]\n\tclean = "{clean}"\n')
    monkeypatch.setenv("HOME", str(home))
    work = planted(project, tmp_path, "echo '*.py filter=lfs' > .gitattributes")
    assert b"a.py" in difference(project, work).changed
    assert not (tmp_path / "mark").exists()
    user = git_environment() | {"GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}
    run(["git", "add", "-A"], cwd=work, env=user)
    assert (tmp_path / "mark").exists()  # plain git does run it
