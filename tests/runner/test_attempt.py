import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from gitrepo import Project
from runs import A, Lab, a_configuration
from sandboxes import IMAGE
from workfolder import act, snapshot, unpack

from labkit.errors import InputError, ToolError
from labkit.model import Ended, RunId, TaskId
from labkit.records import RunRecord, load_run
from labkit.sandbox.docker import DockerSandbox
from labkit.sandbox.interface import Sandbox
from labkit.transcripts.detect import read_transcript
from labkit_runner.attempt import perform
from labkit_runner.voided import Voided

MIB = 1024 * 1024
RUN = RunId(TaskId("bug-a"), A, 1)
FILES = {
    "diff.patch", "minutes.txt", "run.json", "stderr.txt", "test-diff-stat.txt", "transcript.jsonl"
}  # fmt: skip
IDENTITY = (
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n"
)
COMMITS = """\
echo 'x = 2' > a.py
git add -A; git commit -qm mine; git commit -q --amend -m other; git checkout -qb elsewhere
"""
LEAVES_TRAPS = """\
printf '#!/bin/sh\\necho HOOK >> mark\\n' > .git/trap; chmod 755 .git/trap; mkdir -p .git/hooks
cp .git/trap .git/hooks/post-index-change; cp .git/trap .git/hooks/pre-commit
git config core.fsmonitor .git/trap; git config filter.evil.clean .git/trap
git config diff.external .git/trap; git config core.worktree /etc
echo '*.py filter=evil' > .gitattributes; echo '*' > .gitignore
"""
ODD_FILES = """\
mkdir nested; git init -q nested; echo n > nested/n.py
ln -s /etc/passwd out; ln -s ../../.. up; rm -rf tests; ln -s /tmp tests
mkdir private; echo p > private/p; chmod 700 private
mkdir locked; echo l > locked/l; chmod 000 locked/l; chmod 000 locked
echo n > $'new\\nline'; echo l > $'lat\\xe9n'; echo h > h1; ln h1 h2; ln a.py h3
mkfifo pipe; echo s > setuid; chmod 6755 setuid; chmod 1777 lib
"""
EDIT = "echo 'x = 2' > a.py; echo 'y = 1' > new.py\n"
# The ways to leave one and the same change: none may show in the difference.
WAYS = {
    "edit": EDIT,
    "add": EDIT + "git add -A",
    "commit": EDIT + "git add -A; git commit -qm mine",
    "amend": EDIT + "git add -A; git commit -q --amend -m other",
    "commit and undo": EDIT + "git add -A; git commit -qm mine; git reset -q HEAD~",
    "stash": EDIT + "git add -A; git stash -q; git stash pop -q",
    "no git": EDIT + "rm -rf .git",
}
HOSTILE = IDENTITY + COMMITS + ODD_FILES + LEAVES_TRAPS


def played(lab: Lab, *steps: dict[str, object]) -> RunRecord:
    lab.steps(RUN, steps)
    return perform(lab.bench, lab.job(a_configuration(), RUN), lab.workspace.run(RUN))


def scripted(lab: Lab, script: str) -> RunRecord:
    write = {"path": "/tmp/act.sh", "text": script}  # noqa: S108 - inside the sandbox
    return played(lab, {"write": write}, {"run": "bash -e /tmp/act.sh"}, {"finish": "Done."})


def commanded(lab: Lab, script: str) -> RunRecord:
    configuration = a_configuration(agent="command", command=("sh", "-c", script), steps="")
    return perform(lab.bench, lab.job(configuration, RUN), lab.workspace.run(RUN))


def fresh(lab: Lab, folder: Path) -> Path:
    """Return the base with the run's patch applied, as a checkout."""
    lab.project.git("worktree", "add", "--quiet", "--detach", str(folder), "base")
    patch = (lab.workspace.run(RUN) / "diff.patch").read_bytes()
    if patch:
        Project(folder).git("apply", "--index", "--binary", "-", stdin=patch)
    return folder


def test_a_run_leaves_every_file_and_a_whole_record(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    record = played(
        lab,
        {"say": "I look."},
        {"run": "cat a.py; echo to-stderr >&2"},
        {"edit": {"path": "a.py", "find": "x = 1", "replace": "x = 2"}},
        {"write": {"path": "tests/test_new.py", "text": "def test_new(): pass\n"}},
        {"delete": "del.me"},
        {"finish": "Done."},
    )
    folder = lab.workspace.run(RUN)
    assert {path.name for path in folder.iterdir()} == FILES
    assert load_run(folder / "run.json") == record
    assert (record.ended, record.exit_code, record.agent_failed) == (Ended.EXITED, 0, False)
    assert record.digests == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in FILES - {"run.json"}
    }
    assert (record.sandbox, record.suite_version, record.seed) == (sandbox.name, "v1", 7)
    assert record.started == "2026-01-02T03:04:05+00:00"
    assert record.base_tree == project.git("rev-parse", "base^{tree}")
    assert record.image_digest
    assert record.turns is not None
    assert float((folder / "minutes.txt").read_text()) == pytest.approx(
        record.seconds / 60, abs=0.01
    )
    assert (folder / "test-diff-stat.txt").read_text().split()[0] == "tests/test_new.py"
    transcript = read_transcript((folder / "transcript.jsonl").read_bytes())
    assert (transcript.final_message, transcript.ended) == ("Done.", True)
    assert oct(folder.stat().st_mode & 0o777) == "0o755"
    assert [path.name for path in folder.parent.iterdir()] == [str(RUN)]


def test_an_agent_that_does_nothing_has_an_empty_diff(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    record = played(lab, {"run": "git status --porcelain; git log --oneline"}, {"finish": "No."})
    assert (lab.workspace.run(RUN) / "diff.patch").read_bytes() == b""
    assert (record.result_tree, record.left_out) == (record.base_tree, ())
    events = (lab.workspace.run(RUN) / "transcript.jsonl").read_text().splitlines()
    output = json.loads(events[1])["output"].splitlines()
    assert [line.partition(" ")[2] for line in output] == ["base"]


def test_a_change_has_one_diff_whichever_way_it_was_left(
    project: Project, sandbox: Sandbox
) -> None:
    lab = Lab(project, sandbox)
    patches, trees = {}, {}
    for attempt, (way, script) in enumerate(WAYS.items(), start=1):
        run = replace(RUN, attempt=attempt)
        configuration = a_configuration(
            agent="command", command=("sh", "-ec", IDENTITY + script), steps=""
        )
        record = perform(lab.bench, lab.job(configuration, run), lab.workspace.run(run))
        assert (record.exit_code, record.left_out) == (0, ()), way
        patches[way] = (lab.workspace.run(run) / "diff.patch").read_bytes()
        trees[way] = record.result_tree
    assert b"+x = 2" in patches["edit"]
    assert b"+y = 1" in patches["edit"]
    assert patches == dict.fromkeys(WAYS, patches["edit"])
    assert trees == dict.fromkeys(WAYS, trees["edit"])


@pytest.mark.parametrize("end", ["", "rm -rf .git\n"], ids=["with .git", "without .git"])
def test_the_diff_of_a_hostile_agent_is_the_true_difference(
    project: Project, sandbox: Sandbox, tmp_path: Path, end: str
) -> None:
    lab = Lab(project, sandbox)
    record = scripted(lab, HOSTILE + end)
    assert record.exit_code == 0
    wanted = unpack(project, tmp_path / "work")
    act(wanted, HOSTILE + end)
    expected = {path: state for path, state in snapshot(wanted).items() if path != b"pipe"}
    assert snapshot(fresh(lab, tmp_path / "fresh")) == expected
    assert set(record.left_out) == {
        "nested/.git: git keeps nothing of that name",
        "pipe: special file",
    }
    assert not (tmp_path / "fresh" / "mark").exists()


def test_a_file_cannot_be_given_to_somebody_else(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    commanded(lab, "chown 0 a.py; chown 1001 a.py; mknod dev c 1 3; ls -ln a.py; ls")
    output = (lab.workspace.run(RUN) / "transcript.txt").read_text()
    assert output.split()[2:4] == ["1000", "1000"]
    assert "dev" not in output.split()
    assert (lab.workspace.run(RUN) / "diff.patch").read_bytes() == b""


def test_an_agent_that_fails_is_a_result(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    record = commanded(lab, "echo 'x = 9' > a.py; echo sorry >&2; exit 3")
    assert (record.ended, record.exit_code, record.agent_failed) == (Ended.EXITED, 3, True)
    assert b"+x = 9" in (lab.workspace.run(RUN) / "diff.patch").read_bytes()
    assert (lab.workspace.run(RUN) / "stderr.txt").read_text() == "sorry\n"


def test_an_agent_out_of_time_is_a_result_and_does_nothing_later(
    project: Project, sandbox: Sandbox
) -> None:
    lab = Lab(project, sandbox)
    lab.limits = replace(lab.limits, seconds=1.0)
    record = commanded(
        lab, "echo 1 > early; (setsid sh -c 'sleep 2; echo 1 > late' &); trap '' TERM; sleep 60"
    )
    assert (record.ended, record.exit_code) == (Ended.TIMEOUT, None)
    patch = (lab.workspace.run(RUN) / "diff.patch").read_bytes()
    assert b"b/early" in patch
    assert b"late" not in patch


def test_an_agent_that_leaves_too_much_is_a_result(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    lab.limits = replace(lab.limits, returned_bytes=16 * 1024 * 1024)
    began = time.monotonic()
    record = commanded(lab, "for n in 1 2 3 4 5 6; do truncate -s 8M part$n; done; exit 4")
    assert time.monotonic() - began < 20
    assert (record.ended, record.exit_code) == (Ended.EXITED, 4)
    assert record.result_tree == record.base_tree
    assert len(record.left_out) == 1
    assert record.left_out[0].startswith("everything: the folder is larger than 16777216 bytes")
    assert (lab.workspace.run(RUN) / "diff.patch").read_bytes() == b""


def test_output_is_cut_and_counted(project: Project, sandbox: Sandbox) -> None:
    lab = Lab(project, sandbox)
    lab.limits = replace(lab.limits, output_bytes=1000)
    record = commanded(lab, "head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2")
    assert record.cut_bytes == 8000
    assert (lab.workspace.run(RUN) / "transcript.txt").stat().st_size == 1000


def test_half_a_gigabyte_on_one_line_is_cut_and_still_read(
    project: Project, sandbox: Sandbox
) -> None:
    lab = Lab(project, sandbox)
    assert lab.limits.output_bytes < 500 * MIB
    record = commanded(
        lab, "echo 'x = 2' > a.py; head -c 500M /dev/zero | tr '\\0' A; printf '\\377'"
    )
    kept = lab.workspace.run(RUN) / "transcript.txt"
    assert (record.ended, record.exit_code) == (Ended.EXITED, 0)
    assert kept.stat().st_size == lab.limits.output_bytes
    assert record.cut_bytes == 500 * MIB + 1 - lab.limits.output_bytes
    assert b"+x = 2" in (lab.workspace.run(RUN) / "diff.patch").read_bytes()
    assert len(read_transcript(kept.read_bytes()).final_message) < MIB


def test_a_run_is_never_overwritten(project: Project, bubblewrap_sandbox: Sandbox) -> None:
    lab = Lab(project, bubblewrap_sandbox)
    commanded(lab, "true")
    before = (lab.workspace.run(RUN) / "run.json").read_bytes()
    with pytest.raises(InputError, match="is already there"):
        commanded(lab, "false")
    assert (lab.workspace.run(RUN) / "run.json").read_bytes() == before


@pytest.mark.docker
def test_an_image_that_is_missing_leaves_what_the_try_wrote_and_no_run(
    project: Project, docker_sandbox: DockerSandbox
) -> None:
    lab = Lab(project, docker_sandbox, image="labkit-test-no-such-image:none")
    with pytest.raises(Voided) as broken:
        commanded(lab, "true")
    assert list(lab.workspace.raw.iterdir()) == [broken.value.folder]
    lab.image = IMAGE
    assert commanded(lab, "true").exit_code == 0


def test_evidence_that_cannot_be_kept_stops_the_session(
    project: Project, bubblewrap_sandbox: Sandbox
) -> None:
    lab = Lab(project, bubblewrap_sandbox)
    lab.workspace.evals.mkdir()
    lab.workspace.raw.write_text("a file where the folder of runs should be")
    with pytest.raises(ToolError, match="could not be kept"):
        commanded(lab, "true")
