"""Candidates that try to outlive, outgrow, outlook or outwit whoever runs them.

These attacks are real, and a guard that fails lets them through. What they aim at is always a
folder of the test's own, never one of the machine's.
"""

import json
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from candidates import CASE, LONG, alive, all_gone, case, hosted, trial, write
from sandboxes import IMAGE

from labkit.evals import (
    Answer,
    CandidateError,
    Command,
    Escaped,
    EvalCase,
    EvalRunner,
    EvalSuite,
    HostCommand,
    Hosted,
    RunReport,
    Status,
    TimedOut,
)
from labkit.evals.command import COMMAND_LIMITS
from labkit.sandbox.interface import Sandbox

SECRET = "the-right-answer-is-4711"
LIMITS = replace(COMMAND_LIMITS, seconds=20, memory=256, scratch=64)
REFERENCE = EvalCase(
    id="add", inputs="2 + 2", reference=SECRET, grader_spec={"name": "exact", "expected": SECRET}
)


def run(folder: Path, body: str, cases: Sequence[EvalCase] = (REFERENCE,)) -> RunReport:
    """Run a hosted candidate on cases and return the report."""
    with Hosted(write(folder, body), folder=folder, timeout=10) as candidate:
        return EvalRunner(candidate=candidate).run(EvalSuite(cases))


DAEMON = """\
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.closerange(0, 100)
            os.execve("/bin/sh", ["sh", "-c", LOOP], {"PATH": "/usr/bin:/bin"})
        os._exit(0)
    os.wait()
if case.inputs: daemon()
return len(list(Path("/proc").glob("[0-9]*/cmdline")))
"""


def test_a_daemon_of_one_sample_never_reaches_the_next(tmp_path: Path) -> None:
    loop = f"while sleep 0.01; do for d in {tmp_path}/scratch-*; do echo x > $d/late; done; done"
    body = f"LOOP = {f'{loop}; sleep {LONG}'!r}\n{DAEMON}"
    with hosted(tmp_path, body) as candidate:
        candidate(case("daemon"), trial(tmp_path))
        assert not alive()
        given = trial(tmp_path)
        candidate(case(""), given)
        time.sleep(0.1)
        assert [path.name for path in given.scratch.iterdir()] == ["calc.py"]
    assert not alive()


def test_a_forked_copy_never_answers(tmp_path: Path) -> None:
    body = "mine = os.getpid()\nif case.inputs and os.fork(): time.sleep(0.3)\n"
    with hosted(tmp_path, f"{body}return os.getpid() == mine") as candidate:
        assert candidate(case("fork"), trial(tmp_path)).output is True
        assert candidate(case(""), trial(tmp_path)).output is True


def test_deaf_to_every_signal_but_one(tmp_path: Path) -> None:
    body = f"""
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        subprocess.Popen(["sh", "-c", "trap '' 1 2 3 15; sleep {LONG}"], start_new_session=True)
        time.sleep(600)
    """
    with hosted(tmp_path, body, timeout=0.5) as candidate, pytest.raises(TimedOut):
        candidate(CASE, trial(tmp_path))
    assert not alive()


def test_a_gigabyte_of_output_takes_neither_memory_nor_disk(tmp_path: Path) -> None:
    body = "for _ in range(1000): os.write(1, bytes(10**6))\nreturn 4"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with hosted(tmp_path, body, timeout=60) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == 4
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


@pytest.mark.parametrize("place", ["big", "../big"])
def test_a_huge_sparse_file_is_not_made(tmp_path: Path, place: str) -> None:
    given = trial(tmp_path)
    script = f"import os\nopen({place!r}, 'wb').truncate(10 * 2**30)"
    with hosted(tmp_path, script) as candidate, pytest.raises((CandidateError, Escaped)):
        candidate(CASE, given)
    with pytest.raises(CandidateError, match="File size limit exceeded"):
        HostCommand("truncate -s 10G big")(CASE, given)
    assert sum(path.stat().st_size for path in given.scratch.iterdir()) < 100
    assert not (tmp_path / "big").exists()


REPLACED = {
    "rename": "trial.scratch.rename(f'{trial.scratch}2'); trial.scratch.symlink_to(victim)",
    "shell": "subprocess.run("
    "['sh', '-c', f'rm -r {trial.scratch}; ln -s {victim} {trial.scratch}'])",
    "gone": "subprocess.run(['rm', '-r', str(trial.scratch)])",
    "file": "subprocess.run(['sh', '-c', f'rm -r {trial.scratch}; touch {trial.scratch}'])",
}


@pytest.mark.parametrize("name", REPLACED)
def test_a_scratch_folder_that_is_no_more_the_same_is_an_escape(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "sub" / "file").write_text("precious")
    report = run(tmp_path, f"victim = {str(victim)!r}\n{REPLACED[name]}")
    assert [each.status for each in report.cases[0].trials] == [Status.ESCAPED]
    # Nobody tidied up through the link.
    assert (victim / "sub" / "file").read_text() == "precious"


@pytest.mark.parametrize(
    "body",
    [
        "os.closerange(0, 4096)",
        "os.closerange(3, 4096); time.sleep(600)",
        "os.close(int(sys.argv[2])); time.sleep(0.1)",
        "os.dup2(os.open('x', os.O_CREAT | os.O_RDWR), int(sys.argv[2]))",
    ],
    ids=["all", "and waits", "answers", "over"],
)
def test_closing_its_descriptors_costs_its_own_sample(tmp_path: Path, body: str) -> None:
    with hosted(tmp_path, f"if case.inputs: return 1\n{body}", timeout=2) as candidate:
        with pytest.raises((CandidateError, TimedOut)):
            candidate(case(0), trial(tmp_path))
        assert candidate(case(1), trial(tmp_path)).output == 1


LOOK = """
    import gc
    gc.collect()
    found = []
    for each in gc.get_objects():
        if isinstance(each, dict):
            found += [v for v in each.values() if isinstance(v, str)]
        elif isinstance(each, (list, tuple, set)):
            found += [v for v in each if isinstance(v, str)]
    texts = found + list(os.environ.values()) + sys.argv + [repr(case), repr(trial)]
    for file in ("/proc/self/cmdline", "/proc/self/environ"):
        texts.append(Path(file).read_text(errors="replace"))
    hits = [text for text in texts if "the-right-" + "answer" in text]
    return {"hits": hits, "seen": len(texts) > 1000}
"""


def test_the_reference_is_nowhere_in_a_workers_process(tmp_path: Path) -> None:
    with hosted(tmp_path, LOOK) as candidate:
        assert candidate(REFERENCE, trial(tmp_path)).output == {"hits": [], "seen": True}


def test_the_reference_and_labkit_are_nowhere_in_the_sandbox(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_TEST_TOKEN", SECRET)
    (tmp_path / "suite.json").write_text(SECRET)
    script = (
        "cat /labkit/* /labkit/scratch/* 2>/dev/null; env; set;"
        " cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n';"
        f" cat {tmp_path}/suite.json; cat /proc/$PPID/root{tmp_path}/suite.json;"
        f" ls {Path.cwd()}; echo done"
    )
    command = Command(script, sandbox=sandbox, image=IMAGE, limits=LIMITS)
    output = str(command(REFERENCE, trial(tmp_path)).output)
    assert output.endswith("done\n")
    assert "2 + 2" in output
    assert SECRET not in output.replace(script, "")
    assert f"PYTEST_{'CURRENT_TEST'}" not in output


PATCHES = """
    import json
    from labkit.evals import answerfile, escape, sample, wire
    from labkit.evals.sample import Status
    import labkit.evals.hosted, labkit.graders
    worker = sys.modules["__main__"]
    forged = {"answer": {"output": "wrong", "passed": True, "verdict": "pass", "status": "graded"}}
    WHAT
    return "wrong"
"""
PATCHED = {
    "answer": "worker._answer = lambda *_: forged",
    "values": "worker.answer_values = lambda _: forged['answer']",
    "pack": "worker.pack = lambda *_: json.dumps(forged).encode()",
    "graders": "labkit.graders.grade = lambda *_: labkit.graders.Verdict.passing('yes')",
    "statuses": "Status.ERRORED._value_ = 'graded'; sample.Answer.output = 'the-right'",
    "builtins": "import builtins; builtins.len = lambda _: 0; json.dumps = lambda *_: 'null'",
    "left": "worker._left_something = lambda: 'no'",
}


@pytest.mark.parametrize("name", PATCHED)
def test_patching_labkit_in_its_own_process_makes_nothing_pass(tmp_path: Path, name: str) -> None:
    body = PATCHES.replace("WHAT", PATCHED[name])
    report = run(tmp_path, body, [REFERENCE, replace(REFERENCE, id="again")])
    for each in report.cases:
        assert each.passes == 0
        assert each.trials[0].status in (Status.GRADED, Status.ERRORED)


FORGED = """
    import json
    line = json.dumps({"token": TOKEN, "left": False, "answer": {"output": 4}})
    if case.inputs == "forge":
        os.write(int(sys.argv[2]), line.encode() + b"\\n")
    return 5
"""


@pytest.mark.parametrize("token", ["''", "'0' * 16", "None", "[]"])
def test_an_answer_for_another_sample_is_taken_for_none(tmp_path: Path, token: str) -> None:
    with hosted(tmp_path, FORGED.replace("TOKEN", token)) as candidate:
        with pytest.raises(CandidateError, match="answered for another sample"):
            candidate(case("forge"), trial(tmp_path))
        assert candidate(case("fine"), trial(tmp_path)).output == 5


def test_an_answer_that_comes_twice_is_not_the_next_samples(tmp_path: Path) -> None:
    body = """
        worker = sys.modules["__main__"]
        write = worker._write
        if case.inputs == "twice":
            worker._write = lambda end, line: (write(end, line), write(end, line))
        return case.inputs
    """
    with hosted(tmp_path, body) as candidate:
        assert candidate(case("twice"), trial(tmp_path)).output == "twice"
        with pytest.raises(CandidateError, match="answered for another sample"):
            candidate(case("next"), trial(tmp_path))
        assert candidate(case("third"), trial(tmp_path)).output == "third"


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 10**6,
        b"null",
        b'{"token": 1}',
        b'{"!dict": [[{"!dict": []}, 1]]}',
        b"\xff\xfe",
        b"{}" * 10,
        b"0" * 20 * 2**20,
        b'{"answer": {"output": {"!bytes": "zz"}}}',
    ],
    ids=["deep", "null", "token", "keys", "bytes", "two", "long", "marked"],
)
def test_nonsense_on_the_pipe_costs_one_sample(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "line").write_bytes(line + b"\n")
    body = f"""
        if case.inputs:
            data = Path({str(tmp_path / "line")!r}).read_bytes()
            while data: data = data[os.write(int(sys.argv[2]), data):]
        return 5
    """
    with hosted(tmp_path, body) as candidate:
        with pytest.raises(CandidateError, match=r"sent nonsense|another sample"):
            candidate(case(1), trial(tmp_path))
        assert candidate(case(0), trial(tmp_path)).output == 5


def test_a_trace_of_millions_is_refused_in_words(tmp_path: Path) -> None:
    refused = pytest.raises(CandidateError, match=r"the answer takes .* bytes, and at most")
    body = "return Answer(trace=[{'a': 'b' * 1000}] * 10**5)"
    with hosted(tmp_path, body) as candidate, refused:
        candidate(CASE, trial(tmp_path))


def test_a_command_cannot_leave_its_answer_through_a_link(sandbox: Sandbox, tmp_path: Path) -> None:
    script = (
        "cd /; rm -r /labkit/scratch; mkdir /labkit/x; ln -s /labkit/x /labkit/scratch;"
        " ln -s /labkit/input.json /labkit/answer.json"
    )
    given = trial(tmp_path)
    with pytest.raises(CandidateError, match=r"answer\.json is no plain file: symlink"):
        Command(script, sandbox=sandbox, image=IMAGE, limits=LIMITS)(CASE, given)
    assert list(given.scratch.iterdir()) == []  # what it removed is gone; its link is not followed


def test_a_command_that_replaces_its_folder_leaves_an_empty_one(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    given = trial(tmp_path)
    script = "cd /; rm -r /labkit/scratch; mkdir /labkit/x; ln -s x /labkit/scratch; echo 4"
    answer = Command(script, sandbox=sandbox, image=IMAGE, limits=LIMITS)(CASE, given)
    assert answer.output == "4\n"
    assert given.scratch.is_dir()
    assert not given.scratch.is_symlink()
    assert not list(given.scratch.iterdir())


def test_names_that_climb_stay_in_the_folder(sandbox: Sandbox, tmp_path: Path) -> None:
    given = trial(tmp_path)
    script = r"""python3 -c '
import os
os.makedirs(b"..x/\xff\n/ y")
open(b"..x/\xff\n/ y/-rf", "w").close()
open("\\..\\up", "w").close()
os.makedirs("~/.git/hooks")
open("~/.git/hooks/post-checkout", "w").close()'"""
    Command(script, sandbox=sandbox, image=IMAGE, limits=LIMITS)(CASE, given)
    found = {os.fsencode(path.relative_to(given.scratch)) for path in given.scratch.rglob("*")}
    assert b"..x/\xff\n/ y/-rf" in found
    assert rb"\..\up" in found
    assert [path for path in tmp_path.iterdir() if path != given.scratch] == []


def test_an_escape_is_a_fail_and_a_crash_is_missing(tmp_path: Path) -> None:
    body = f"""
        if case.id == "escape": Path({str(tmp_path / "out")!r}).write_text("x")
        if case.id == "crash": os.abort()
        if case.id == "hang": time.sleep(600)
        return Answer(output="4", success_self_reported=True)
    """
    grader = {"name": "exact", "expected": "4"}
    names = ("crash", "escape", "fine", "hang", "lie")
    cases = [
        EvalCase(id=name, grader_spec=grader if name != "lie" else grader | {"expected": "5"})
        for name in names
    ]
    with Hosted(write(tmp_path, body), folder=tmp_path, timeout=1) as candidate:
        report = EvalRunner(candidate=candidate, workers=3).run(EvalSuite(cases))
    assert {each.id: str(each.trials[0].status) for each in report.cases} == {
        "crash": "errored",
        "escape": "escaped",
        "fine": "graded",
        "hang": "timeout",
        "lie": "graded",
    }
    assert report.figures.lies == 1
    assert (report.figures.valid, report.figures.planned) == (4, 5)
    assert not (tmp_path / "out").exists()


def test_what_a_host_command_leaves_running_is_killed(tmp_path: Path) -> None:
    script = f"(setsid env -i sh -c 'sleep {LONG}' &) ; echo '{json.dumps({'a': 1})}'"
    answer = HostCommand(script, timeout=10)(CASE, trial(tmp_path))
    assert isinstance(answer, Answer)
    assert answer.output == '{"a": 1}\n'
    assert all_gone()
