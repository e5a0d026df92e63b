import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from candidates import CASE, LONG, alive, case, hosted, trial, write

from labkit.errors import InputError
from labkit.evals import Answer, Escaped, Replacement, TimedOut
from labkit.evals.answerfile import CandidateError
from labkit.evals.hosted import Hosted


def test_the_function_sees_the_case_but_nothing_of_how_it_is_judged(tmp_path: Path) -> None:
    shown = replace(CASE, slices=("easy",), tags=("safety",), forbidden=("a",), folder=tmp_path)
    body = "return [case, trial] and {name: getattr(case, name) for name in case.__slots__}"
    with hosted(tmp_path, body.replace("[case, trial] and ", "")) as candidate:
        answer = (
            candidate(replace(shown, folder=None), trial(tmp_path)),
            candidate(shown, trial(tmp_path)),
        )
    for each in answer:
        assert isinstance(each.output, dict)
        assert each.output.pop("split") == "val"
        assert each.output == {
            "id": "add",
            "inputs": {"a": 1},
            "reference": None,
            "grader_spec": {},
            "slices": ("easy",),
            "tags": ("safety",),
            "folder": None,
            "forbidden": ("a",),
            "problem": "",
        }


def test_its_code_is_the_file_that_it_came_from(tmp_path: Path) -> None:
    with hosted(tmp_path, "return 4") as candidate:
        code = sha256((tmp_path / "agent.py").read_bytes()).hexdigest()
        assert candidate.code == code
    with Hosted("agent:answer", folder=tmp_path) as candidate:
        assert candidate.code == code
    with Hosted("itertools:combinations", folder=tmp_path) as candidate:
        assert candidate.code == "", "it is built in"


def test_a_file_that_is_changed_meanwhile_answers_no_more(tmp_path: Path) -> None:
    with hosted(tmp_path, "os._exit(3)") as candidate:
        with pytest.raises(CandidateError, match="ended in 3"):
            candidate(CASE, trial(tmp_path))
        write(tmp_path, "return 4")
        with pytest.raises(CandidateError, match=r"agent\.py:answer was changed while samples"):
            candidate(CASE, trial(tmp_path))


def test_it_works_in_the_scratch_folder_with_its_number_and_seed(tmp_path: Path) -> None:
    body = """
        Path("new.txt").write_text(case.inputs)
        return trial.number, trial.seed, trial.scratch == Path.cwd(), os.listdir()
    """
    with hosted(tmp_path, body) as candidate:
        for number in (1, 2):
            given = trial(tmp_path, number=number, seed=number + 6)
            found = candidate(case("text"), given).output
            assert found == (number, number + 6, True, ["calc.py", "new.txt"]) or found == (
                number, number + 6, True, ["new.txt", "calc.py"],
            )  # fmt: skip
            assert (given.scratch / "new.txt").read_text() == "text"


def test_values_come_and_go_as_they_are(tmp_path: Path) -> None:
    values = {"a": (1, 2.5, None, True), 3: b"\x00", "!x": ["\ud800", {}]}
    with hosted(tmp_path, "return case.inputs") as candidate:
        assert candidate(case(values), trial(tmp_path)).output == values


def test_an_answer_is_given_whole(tmp_path: Path) -> None:
    body = """
        edits = (Replacement("calc.py", "1", "2"), Replacement("b", "", "x"))
        return Answer(output=4, trace=[{"step": (1, 2)}], latency_ms=5, cost=0.25,
                      success_self_reported=True, replacements=edits)
    """
    with hosted(tmp_path, body) as candidate:
        assert candidate(CASE, trial(tmp_path)) == Answer(
            output=4,
            trace=({"step": (1, 2)},),
            latency_ms=5,
            cost=0.25,
            success_self_reported=True,
            replacements=(
                Replacement("calc.py", "1", "2"),
                Replacement("b", "", "x"),
            ),
        )
    with hosted(tmp_path, "return Answer(diff='--- a')") as candidate:
        answer = candidate(CASE, trial(tmp_path))
    assert (answer.diff, answer.replacements) == ("--- a", None)
    assert answer.latency_ms is not None
    assert 0 <= answer.latency_ms < 1000


def test_one_process_answers_sample_after_sample(tmp_path: Path) -> None:
    with hosted(tmp_path, "return os.getpid()") as candidate:
        assert len({candidate(CASE, trial(tmp_path)).output for _ in range(5)}) == 1


def test_threads_have_processes_of_their_own(tmp_path: Path) -> None:
    body = """
        time.sleep(0.2)
        return os.getpid(), case.inputs, os.getcwd() == str(trial.scratch)
    """
    with hosted(tmp_path, body) as candidate, ThreadPoolExecutor(4) as pool:
        given = [(case(count), trial(tmp_path)) for count in range(12)]
        found = [answer.output for answer in pool.map(candidate, *zip(*given, strict=True))]
    assert [output[1:] for output in found] == [(count, True) for count in range(12)]  # type: ignore[index]
    assert len({output[0] for output in found}) == 4  # type: ignore[index]


BREAKS = {
    "exception": (
        "raise KeyError('no such word')",
        r"KeyError: 'no such word' \(agent.py, line 7\)",
    ),
    "own class": ("class MyError(Exception): ...\nraise MyError('a\\nb')", "MyError: a\nb"),
    "exit": ("sys.exit('gone')", "SystemExit: gone"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "code": (
        "print('last', 'words'); os._exit(4)",
        "process ended in 4; it said last:\nlast words",
    ),
    "exit 0": ("os._exit(0)", "its process ended in 0"),
    "segfault": ("ctypes.string_at(0)", "its process was killed by SIGSEGV"),
    "kill": ("os.kill(os.getpid(), 9)", "killed by SIGKILL: the machine may be out of memory"),
    "memory": (
        "return bytearray(10**10)",
        r"MemoryError \(agent.py, line 7\) \(at most 4096 MiB\)",
    ),
    "set": ("return {1, 2}", "the answer holds a value of type set: use texts"),
    "long": ("return 'a' * 17 * 2**20", "the answer takes .* bytes, and at most 16,777,216 are"),
    "deep": ("a = []\nfor _ in range(200): a = [a]\nreturn a", "nested more than 100 deep"),
    "lazy": ("return (i for i in ())", "holds a value of type generator"),
    "upset": (
        "class Upset(dict):\n    def items(self): raise ValueError('no')\nreturn Upset({1: 1})",
        "the answer cannot be read: ValueError: no",
    ),
    "trace": ("return Answer(trace=5)", "the answer cannot be read: TypeError"),
    "cost": ("return Answer(cost='free')", '"cost" must be a number from 0'),
    "negative": ("return Answer(latency_ms=-1)", '"latency_ms" must be a number from 0'),
    "diff": ("return Answer(diff=5)", '"diff" must be a text, not a value of type int'),
    "claim": ("return Answer(success_self_reported=1)", '"success_self_reported" must be true or'),
    "steps": ("return Answer(trace=['a'])", '"trace" must be a list of mappings'),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_breaks_costs_one_sample_and_says_why(tmp_path: Path, name: str) -> None:
    body, words = BREAKS[name]
    with hosted(tmp_path, f"if case.inputs == 'fine': return 1\n{body}") as candidate:
        for _ in range(2):
            assert candidate(case("fine"), trial(tmp_path)).output == 1
            with pytest.raises(CandidateError, match=words):
                candidate(CASE, trial(tmp_path))


def test_outcomes_of_its_own_are_passed_on(tmp_path: Path) -> None:
    body = "raise TimedOut('late') if case.inputs else Escaped('out')"
    with hosted(tmp_path, body) as candidate:
        with pytest.raises(TimedOut, match=r"^late$"):
            candidate(case(1), trial(tmp_path))
        with pytest.raises(Escaped, match=r"^out$"):
            candidate(case(0), trial(tmp_path))


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(600)",
        "while True: pass",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "while True: print('x' * 10**6)",
        f"subprocess.run(['sleep', '{LONG}'])",
    ],
    ids=["sleep", "loop", "deaf", "stopped", "flood", "child"],
)
def test_a_hang_is_ended_in_time(tmp_path: Path, body: str) -> None:
    script = f"if case.inputs == 'fine': return 1\n{body}"
    with hosted(tmp_path, script, timeout=0.5) as candidate:
        for _ in range(2):
            with pytest.raises(TimedOut, match=r"^had not ended after 0.5 s$"):
                candidate(CASE, trial(tmp_path))
            assert candidate(case("fine"), trial(tmp_path)).output == 1
    assert not alive()


def test_what_it_prints_is_no_part_of_the_answer(tmp_path: Path) -> None:
    body = """
        for _ in range(10**4): print("x" * 1000)
        sys.stderr.write('{"answer": {"output": 2}}')
        return sys.stdin.read()
    """
    with hosted(tmp_path, body) as candidate:
        assert candidate(CASE, trial(tmp_path)).output == ""


def test_words_of_an_earlier_sample_are_not_said_again(tmp_path: Path) -> None:
    body = "print(case.inputs, flush=True); case.inputs == 'second' and os._exit(1)"
    with hosted(tmp_path, body) as candidate:
        candidate(case("first"), trial(tmp_path))
        with pytest.raises(CandidateError) as caught:
            candidate(case("second"), trial(tmp_path))
    assert caught.value.message == "its process ended in 1; it said last:\nsecond"


def test_inputs_that_cannot_be_sent_are_told_and_harm_nothing(tmp_path: Path) -> None:
    with hosted(tmp_path, "return 1") as candidate:
        with pytest.raises(CandidateError, match="the case holds a value of type object"):
            candidate(case(object()), trial(tmp_path))
        assert candidate(CASE, trial(tmp_path)).output == 1


def test_closing_ends_what_still_runs(tmp_path: Path) -> None:
    candidate = Hosted(write(tmp_path, "time.sleep(600)"), folder=tmp_path)
    found: list[BaseException] = []

    def ask() -> None:
        try:
            candidate(CASE, trial(tmp_path))
        except CandidateError as error:
            found.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(0.3)
    candidate.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(found) == 1
    with pytest.raises(CandidateError, match="the candidate was closed"):
        candidate(CASE, trial(tmp_path))
    candidate.close()


def test_a_temporary_folder_of_its_own_is_removed(tmp_path: Path) -> None:
    body = """
        import tempfile
        Path(tempfile.gettempdir(), "a").write_text("a")
        return tempfile.mkdtemp()
    """
    with hosted(tmp_path, body) as candidate:
        made = Path(str(candidate(CASE, trial(tmp_path)).output))
        assert made.is_dir()
    assert not made.parent.exists()


FUNCTIONS = """\
def good(case, trial): return 1
def one(case): return 1
async def later(case, trial): return 1
value = 1
class Agent:
    def __call__(self, case, trial): return 2
    @staticmethod
    def method(case, trial): return 3
agent = Agent()
"""
REFUSED = {
    "agent": ("'agent' names no function", "write FILE.py:FUNCTION"),
    ":good": ("names no function", "write FILE.py:FUNCTION"),
    "agent.py:": ("names no function", "write FILE.py:FUNCTION"),
    "other.py:good": ("no file .*/other.py", "name a Python file"),
    "other:good": ("there is no module other", "a file is written other.py:FUNCTION"),
    "agent.py:god": ("agent.py has no god", 'good, one, later; did you mean "good"'),
    "agent.py:one": ("agent.py:one cannot be called with two arguments", "case and trial"),
    "agent.py:value": ("agent.py:value is not a function", "case and trial"),
    "agent.py:later": ("agent.py:later is async", "case and trial"),
    "agent.py:Agent.missing": ("has no Agent.missing", "its functions"),
    "broken.py:good": ("broken.py cannot be imported: SyntaxError: .*line 2", "mend it"),
    "needs.py:good": ("ModuleNotFoundError: .*'no_such_module'.*needs.py, line 1", "install what"),
    "raises.py:good": (r"ZeroDivisionError: division by zero \(raises.py, line 2\)", "mend it"),
    "exits.py:good": ("SystemExit: 3", "mend it"),
    "dies.py:good": (
        "dies.py:good could not be imported: its process ended in 7",
        "must not run any",
    ),
}


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    texts = {
        "agent.py": FUNCTIONS,
        "broken.py": "x = 1\ndef good(:\n",
        "needs.py": "import no_such_module\n",
        "raises.py": "x = 0\n1 / x\n",
        "exits.py": "raise SystemExit(3)\n",
        "dies.py": "import os\nos._exit(7)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("target", REFUSED)
def test_what_cannot_be_imported_is_refused_at_once(functions: Path, target: str) -> None:
    message, hint = REFUSED[target]
    with pytest.raises(InputError, match=message) as caught:
        Hosted(target, folder=functions)
    assert hint in (caught.value.hint or "") or hint.replace("not run any", "must not") in (
        caught.value.hint or ""
    )


@pytest.mark.parametrize(
    ("target", "output"),
    [
        ("agent.py:good", 1),
        ("agent:good", 1),
        ("agent.py:agent", 2),
        ("agent.py:Agent.method", 3),
    ],
)
def test_functions_and_objects_that_can_be_called_are_candidates(
    functions: Path, target: str, output: int
) -> None:
    with Hosted(target, folder=functions) as candidate:
        assert candidate(CASE, trial(functions / "scratch")).output == output
