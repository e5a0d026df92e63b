import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from cli.labs import ANA, BEN, Lab, Stages, heed_interrupts, labkit, planned, wait_for
from persons import Person, at_a_terminal
from runner.test_givenup import write_session
from sandboxes import BOTH

from labkit.declarations import is_signed
from labkit.evidence import load_intact
from labkit.model import Ended, Ending, Member, RunId
from labkit.records import load_missing, load_run
from labkit.settings import read_person
from labkit.suite import read_suite

PROMISES = (
    "no_hidden_tests", "no_evals", "fresh_session", "model_network_only", "same_prompt"
)  # fmt: skip
FORM_LACKS = dict.fromkeys(
    ("machine", "isolated_by", "network", "agent_version", "model", "began", "ended"), '""'
) | dict.fromkeys(PROMISES, "false")
MEND = 'sed -i \'s/"Hello " + name/"Hello " + (name or "stranger")/\' words.py'


@contextmanager
def seated(lab: Lab, *words: str, me: str = ANA, **env: str) -> Iterator[tuple[Person, object]]:
    """Start a command at a person's terminal."""
    with at_a_terminal() as person:
        program = subprocess.Popen(
            [*labkit(*words), "--me", me],
            cwd=lab.project.folder,
            env=lab.environment(**env),
            stdin=person.own,
            stdout=person.own,
            stderr=person.own,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - no thread yet
        )
        try:
            yield person, program
        finally:
            program.kill()
            program.wait(30)


def ended(program: object) -> int:
    assert isinstance(program, subprocess.Popen)
    return program.wait(60)


def own_run(lab: Lab, me: str = ANA) -> str:
    return planned(lab, me)[0]


def intact(lab: Lab, run: str) -> None:
    version = read_suite(lab.workspace.suite).version
    load_intact(lab.workspace, [RunId.parse(run)], suite_version=version)


def exported(lab: Lab, run: str, me: str = ANA, name: str = "out") -> Path:
    folder = lab.folder / name
    lab.done("task", "run", "--manual", run, "--export", str(folder), me=me)
    note = lab.workspace.by_hand / f"{run}.json"
    began = json.loads(note.read_text())["started"]
    lab.edit(note, began, ago(60))
    return folder


@pytest.fixture(scope="module")
def out_once(stages: Stages, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lab, str, Path]:
    """Give one lab with one exported run, for tests that are refused and so change nothing."""
    lab = stages.at("frozen", tmp_path_factory.mktemp("out") / "lab")
    run = own_run(lab)
    return lab, run, exported(lab, run)


def ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(timespec="seconds")


def fill_in_form(folder: Path, **changes: str) -> None:
    told = {
        "machine": '"a VM"',
        "isolated_by": '"a VM of its own"',
        "network": '"only the model"',
        "agent_version": '"1"',
        "model": '"model-A"',
        "began": f'"{ago(40)}"',
        "ended": f'"{ago(10)}"',
        **dict.fromkeys(PROMISES, "true"),
        **changes,
    }
    path = folder / "declaration.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        name = line.partition(":")[0]
        if name in told:
            lines[at] = f"{name}: {told[name]}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", BOTH)
def test_a_person_does_a_run_in_its_sandbox(
    lab_at: Callable[[str], Lab], name: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(f"{name}_sandbox")
    lab = lab_at("frozen")
    run = own_run(lab)
    env = {"LABKIT_SANDBOX": name}
    with seated(lab, "task", "run", "--manual", run, **env) as (person, program):
        person.waits_for("/labkit/prompt.txt")
        person.waits_for("$ ")
        person.types("test -s /labkit/prompt.txt && ls / && echo seen\r")
        person.waits_for("workspace\r\n")
        person.waits_for("seen\r\n")
        person.types("echo '# by hand' >> words.py; echo '{\"said\": 1}' > ~/transcript.jsonl\r")
        person.types("exit\r")
        person.waits_for("how often did you step in")
        person.types("many\r")
        person.waits_for("is not a number")
        person.types("1\r")
        person.waits_for("intervention 1 of 1")
        person.types("told it to stop\r")
        person.waits_for("notes")
        person.types("slow machine\r")
        person.waits_for("is done")
        assert ended(program) == 0
    require_done_by_hand(lab, run)
    intact(lab, run)
    assert not list(lab.workspace.by_hand.glob("*__*"))
    lab.refused("task", "run", "--manual", run, me=ANA, code=2, says=("is done already",))


def require_done_by_hand(lab: Lab, run: str) -> None:
    record = load_run(lab.workspace.run(RunId.parse(run)) / "run.json")
    assert (record.ended, record.ending, record.interventions) == (
        Ended.EXITED, Ending.COMPLETED, 1
    )  # fmt: skip
    assert record.manual["way"] == "container"
    assert record.manual["interventions"] == ["told it to stop"]
    assert (record.manual["notes"], record.manual["transcript"]) == (
        "slow machine", "transcript.jsonl"
    )  # fmt: skip
    folder = lab.workspace.run(RunId.parse(run))
    assert b"+# by hand" in (folder / "diff.patch").read_bytes()
    assert (folder / "transcript.jsonl").read_bytes() == b'{"said": 1}\n'
    assert b"seen" in (folder / "terminal.txt").read_bytes()
    assert record.digests["transcript.jsonl"] == sha256(b'{"said": 1}\n').hexdigest()


def test_what_was_not_answered_is_told_later(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    with seated(lab, "task", "run", "--manual", run) as (person, program):
        person.waits_for("exit ends the run")
        person.waits_for("$ ")
        person.types("echo x > new.txt; exit 1\r")
        person.waits_for("transcript file of this machine")
        person.types("\x04")
        person.waits_for(f"labkit task run --finish {run}")
        assert ended(program) == 2
    assert f"{run} (container" in lab.done("status")
    lab.refused(
        "task", "run", "--manual", run, me=ANA, code=2, says=("begun by hand already", "--finish")
    )
    transcript = lab.folder / "said.txt"
    transcript.write_text("I made a file.\n", encoding="utf-8")
    words = ("--transcript", str(transcript), "--interventions", "0")
    lab.done("task", "run", "--finish", run, *words, me=ANA)
    folder = lab.workspace.run(RunId.parse(run))
    assert (folder / "transcript.txt").read_text() == "I made a file.\n"
    assert b"new.txt" in (folder / "diff.patch").read_bytes()
    intact(lab, run)


def test_a_run_without_a_transcript_says_so(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    with seated(lab, "task", "run", "--manual", run) as (person, program):
        person.waits_for("exit ends the run")
        person.waits_for("$ ")
        person.types("exit\r")
        person.waits_for("transcript file of this machine")
        person.types("/no/such/file\r")
        person.waits_for("there is no file /no/such/file")
        person.types("\r")
        person.waits_for("step in")
        person.types("0\r")
        person.waits_for("notes")
        person.types("\r")
        assert ended(program) == 0
    record = load_run(lab.workspace.run(RunId.parse(run)) / "run.json")
    assert record.manual["transcript"] == "unread: there is none"
    assert record.turns is None


def test_a_session_whose_labkit_is_killed_leaves_nothing_running(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    mark = f"sleep 98{os.getpid() % 1000}.5"
    with seated(lab, "task", "run", "--manual", run) as (person, program):
        person.waits_for("exit ends the run")
        person.waits_for("$ ")
        person.types(f"{mark}\r")
        wait_for(lambda: _runs(mark))
        assert isinstance(program, subprocess.Popen)
        program.send_signal(signal.SIGKILL)
        program.wait(30)
        wait_for(lambda: not _runs(mark))
    assert f"{run} (container" in lab.done("status")
    answer = lab.labkit("task", "run", run, me=ANA)
    assert answer.code == 1
    assert f"the session of {run} was interrupted" in answer.err
    assert "evals/voided/" in answer.err
    assert f"labkit task run --manual {run} goes on" in answer.err
    assert (lab.workspace.voided / f"{run}__1" / "voided.json").is_file()
    answer = lab.labkit("task", "run", "--finish", run, "--interventions", "0", me=ANA)
    assert answer.code == 2
    assert "it was interrupted" in answer.err
    lab.done("task", "run", "--abandon", run, "--because", "the machine died", me=ANA)
    lab.done("task", "run", run, me=ANA)
    record = load_run(lab.workspace.run(RunId.parse(run)) / "run.json")
    assert [str(each["kind"]) for each in record.voided] == ["interrupted", "abandoned"]
    assert any("the machine died" in each for each in record.earlier_failures)


def _runs(mark: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        if words.strip() == mark.encode():
            return True
    return False


def test_a_run_by_hand_needs_a_terminal(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    says = ("needs a terminal", "--export")
    lab.refused("task", "run", "--manual", own_run(lab), me=ANA, code=2, says=says)


def test_without_a_sandbox_the_way_out_is_named(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    env = {"LABKIT_SANDBOX": "docker", "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    with seated(lab, "task", "run", "--manual", own_run(lab), **env) as (person, program):
        person.waits_for("without any isolation no run can be done here")
        assert ended(program) == 3
    assert not list(lab.workspace.by_hand.glob("*"))


def test_a_run_goes_out_and_comes_back(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    folder = exported(lab, run)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.txt", "declaration.yaml", "prompt.txt", "workspace"
    ]  # fmt: skip
    work = folder / "workspace"
    log = subprocess.run(
        ["git", "-C", work, "log", "--format=%s"], capture_output=True, text=True, check=True
    )
    assert log.stdout == "base\n"
    status = subprocess.run(
        ["git", "-C", work, "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert status.stdout == ""
    assert f"{run} (export" in lab.done("status")
    subprocess.run(["sh", "-c", MEND + "; echo n > new.txt"], cwd=work, check=True)
    (folder / "said.jsonl").write_text('{"type": "x"}\n', encoding="utf-8")
    fill_in_form(folder)
    words = ("--transcript", str(folder / "said.jsonl"), "--minutes", "9.5", "--interventions", "2")
    more = ("--intervention", "told it where", "--notes", "by me")
    lab.done("task", "run", "--finish", run, *words, *more, me=ANA)
    found = lab.workspace.run(RunId.parse(run))
    record = load_run(found / "run.json")
    assert (record.sandbox, record.interventions, record.seconds) == ("declared", 2, 570)
    declared = record.manual["declared"]
    assert isinstance(declared, dict)
    assert (declared["machine"], declared["no_evals"]) == ("a VM", True)
    assert b"+n" in (found / "diff.patch").read_bytes()
    assert (found / "minutes.txt").read_text() == "9.50\n"
    public = read_person(lab.workspace, Member(ANA)).signing_key
    assert is_signed(record, public)
    intact(lab, run)
    assert f"{run} (" not in lab.done("status")
    refused = lab.labkit("task", "run", "--finish", run, *words, me=ANA)
    assert "is done already" in refused.err


def test_the_declaration_stands_as_it_was_signed(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    folder = exported(lab, run)
    fill_in_form(folder)
    lab.done("task", "run", "--finish", run, "--minutes", "1", "--interventions", "0", me=ANA)
    path = lab.workspace.run(RunId.parse(run)) / "run.json"
    public = read_person(lab.workspace, Member(ANA)).signing_key
    for change in ("interventions", "result_tree", "seconds", "runner"):
        values = json.loads(path.read_text())
        values[change] = "x"
        other = path.with_name("other.json")
        other.write_text(json.dumps(values), encoding="utf-8")
        assert not is_signed(load_run(other), public), change
    assert is_signed(load_run(path), public)
    assert not is_signed(load_run(path), read_person(lab.workspace, Member(BEN)).signing_key)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--minutes", "45"), "more than lies between the declared times: 30.0"),
        (("--minutes", "nan"), "'--minutes'"),
        (("--transcript", "/no/such"), "--transcript /no/such"),
        (("--workspace", "/no/such"), "declaration.yaml"),
        (("--intervention", "a", "--intervention", "b"), "2 interventions are described"),
    ],
)
def test_what_does_not_fit_is_refused(
    out_once: tuple[Lab, str, Path], words: tuple[str, ...], says: str
) -> None:
    lab, run, folder = out_once
    fill_in_form(folder)
    told = ("--interventions", "1", *(() if "--minutes" in words else ("--minutes", "5")))
    lab.refused("task", "run", "--finish", run, *told, *words, me=ANA, code=2, says=(says,))


def test_all_that_a_form_lacks_is_told_at_once(out_once: tuple[Lab, str, Path]) -> None:
    lab, run, folder = out_once
    fill_in_form(folder, **FORM_LACKS)
    words = ("--finish", run, "--minutes", "5", "--interventions", "0")
    said = lab.refused("task", "run", *words, me=ANA, code=2, says=("declaration.yaml",))
    assert said.count("labkit: error: ") == 5 + 2 + len(PROMISES)


def test_an_abandoned_run_is_recorded(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    exported(lab, run)
    lab.refused("task", "run", "--abandon", run, me=ANA, code=2, says=("without a reason",))
    lab.done("task", "run", "--abandon", run, "--because", "the VM broke", me=ANA)
    missing = load_missing(lab.workspace.missing(RunId.parse(run)))
    assert "abandoned by ana: the VM broke" in missing.reasons[-1]
    assert missing.voided[0]["kind"] == "abandoned"
    events = [
        json.loads(line)["action"]
        for line in lab.workspace.log(Member(ANA)).read_text().splitlines()
    ]
    assert events[-2:] == ["begin by hand", "abandon by hand"]
    says = ("is not begun by hand",)
    words = ("task", "run", "--abandon", run, "--because", "again")
    lab.refused(*words, me=ANA, code=2, says=says)
    fill_in_form(exported(lab, run, name="again"))
    lab.done("task", "run", "--finish", run, "--minutes", "5", "--interventions", "0", me=ANA)
    record = load_run(lab.workspace.run(RunId.parse(run)) / "run.json")
    assert "the VM broke" in record.earlier_failures[0]
    assert [each["kind"] for each in record.voided] == ["abandoned"]
    assert not lab.workspace.missing(RunId.parse(run)).exists()
    intact(lab, run)


def test_runs_begun_by_hand_are_left_to_their_person(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("frozen")
    run, other = planned(lab, ANA)[:2]
    exported(lab, run)
    answer = lab.labkit("task", "run", me=ANA)
    assert answer.code == 1
    assert f"left out: {run} is begun by hand (export" in answer.err
    assert f"labkit task run --finish {run} goes on, --abandon {run}" in answer.err
    assert not lab.workspace.run(RunId.parse(run)).exists()
    assert lab.workspace.run(RunId.parse(other)).exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--manual", "nonsense"), "is not a run"),
        (("--manual", "greet-empty__A__7"), "is not a run of ana"),
        (("--manual", "greet-empty__A__1", "--finish", "greet-empty__A__1"), "one run"),
        (("--finish", "greet-empty__A__1", "shout-loud__A__1"), "one run"),
    ],
)
def test_what_makes_no_sense_is_refused(
    out_once: tuple[Lab, str, Path], words: tuple[str, ...], says: str
) -> None:
    out_once[0].refused("task", "run", *words, me=ANA, code=2, says=(says,))


def test_the_checks_of_scripted_runs_hold_for_runs_by_hand(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("frozen")
    run, other = planned(lab, ANA)[:2]
    path = lab.workspace.evals / "configs" / f"{RunId.parse(run).configuration}.yaml"
    kept = path.read_text()
    paid = re.sub(r"(?m)^steps: .*$", "login: subscription", kept)
    path.write_text(paid.replace("agent: scripted", "agent: claude-code"))
    words = ("task", "run", "--manual", run)
    says = ("it runs for its owner, not in CI",)
    out = ("--export", str(lab.folder / "o"))
    lab.refused(*words, *out, me=ANA, code=2, says=says, CI="true")
    path.write_text(kept)
    session = lab.workspace.by_hand / other
    write_session(session)
    lab.workspace.settings.write_text(
        lab.workspace.settings.read_text() + "\nbudget:\n  cost: 0.25\n"
    )
    says = ("of the budget of 0.25 0.25 is spent",)
    lab.refused(*words, me=ANA, code=2, says=says)


def test_an_export_never_lies_in_the_project_or_over_something(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("frozen")
    run = own_run(lab)
    inside = str(lab.project.folder / "out")
    words = ("task", "run", "--manual", run, "--export")
    lab.refused(*words, inside, me=ANA, code=2, says=("lies in the project",))
    lab.refused(*words, str(lab.home), me=ANA, code=2, says=("is already there",))
    says = (f"{own_run(lab, BEN)} is not a run of ana",)
    other = ("task", "run", "--manual", own_run(lab, BEN), "--export", str(lab.folder / "o"))
    lab.refused(*other, me=ANA, code=2, says=says)
