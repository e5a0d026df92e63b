import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from candidates import CASE, trial, write
from sandboxes import IMAGE

from labkit.errors import InputError
from labkit.evals import (
    Answer,
    CandidateError,
    EvalCase,
    EvalRunner,
    EvalSuite,
    Recorded,
    Replacement,
    Status,
    TimedOut,
    open_candidate,
)
from labkit.evals.named import Options
from labkit.sandbox.interface import Sandbox


def answer(text: str, options: Options, folder: Path) -> object:
    with open_candidate(text, options) as candidate:
        found = candidate(CASE, trial(folder))
    assert isinstance(found, Answer)
    return found.output


def test_functions_are_found_in_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "return trial.seed")
    options = Options(folder=tmp_path)
    for text in ("agent.py:answer", "agent:answer", f"{tmp_path}/agent.py:answer"):
        assert answer(text, options, tmp_path) == 7
        with open_candidate(text, options) as candidate:
            assert (candidate.name, candidate.description) == (text, f"the function {text}")
            assert not candidate.deterministic


def test_commands_run_in_the_sandbox_or_here(sandbox: Sandbox, tmp_path: Path) -> None:
    options = Options(sandbox=lambda: sandbox, image=IMAGE)
    assert answer("cmd: echo a:b; pwd", options, tmp_path) == "a:b\n/labkit/scratch\n"
    with open_candidate("cmd:echo 4", options) as candidate:
        assert candidate.description == f"the command echo 4 in {sandbox.name}"
    with open_candidate("host:echo $LABKIT_SEED", options) as candidate:
        assert candidate.description == "the command echo $LABKIT_SEED on this machine"
        found = candidate(CASE, trial(tmp_path))
    assert isinstance(found, Answer)
    assert found.output == "7\n"


def test_options_reach_the_candidate(sandbox: Sandbox, tmp_path: Path) -> None:
    short = Options(folder=tmp_path, timeout=1, sandbox=lambda: sandbox, image=IMAGE)
    write(tmp_path, "time.sleep(60)")
    for text in ("agent.py:answer", "cmd:sleep 60", "host:sleep 60"):
        with pytest.raises(TimedOut, match="had not ended after 1 s"):
            answer(text, short, tmp_path)
    any_exit = Options(any_exit=True, sandbox=lambda: sandbox, image=IMAGE)
    for text in ("cmd:echo 4; exit 1", "host:echo 4; exit 1"):
        assert answer(text, any_exit, tmp_path) == "4\n"
    (tmp_path / "out").mkdir()
    write(tmp_path, f"return Path({str(tmp_path)!r}, 'out', 'x').write_text('x')")
    for allow in (None, (tmp_path / "out",)):
        assert answer("agent.py:answer", Options(folder=tmp_path, allow=allow), tmp_path) == 1


def test_no_sandbox_is_opened_for_what_needs_none(tmp_path: Path) -> None:
    def fails() -> Sandbox:
        raise AssertionError

    write(tmp_path, "return 4")
    assert answer("agent.py:answer", Options(folder=tmp_path, sandbox=fails), tmp_path) == 4
    assert answer("host:echo 4", Options(sandbox=fails), tmp_path) == "4\n"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "'' is no candidate", "FILE.py:FUNCTION"),
        ("agent.py", "'agent.py' is no candidate", "FILE.py:FUNCTION"),
        ("known-fix", "'known-fix' is no candidate; did you mean \"known-fixes\"?", "nothing"),
        ("cmd:", "'cmd:' has nothing after the colon", "cmd:COMMAND"),
        ("host:  ", "has nothing after the colon", "host:COMMAND"),
        ("patches:", "has nothing after the colon", "patches:FILE"),
        ("cmd:echo", "cmd: needs a sandbox, and none is given", "labkit doctor"),
        ("patches:none.jsonl", "no file .*none.jsonl", None),
        ("none.py:x", "no file .*none.py", "name a Python file"),
    ],
)
def test_what_names_no_candidate_is_refused(
    tmp_path: Path, text: str, message: str, hint: str | None
) -> None:
    with (
        pytest.raises(InputError, match=message) as caught,
        open_candidate(text, Options(folder=tmp_path)),
    ):
        pass
    assert hint is None or hint in (caught.value.hint or "")


def recorded(folder: Path, *lines: object) -> Path:
    path = folder / "answers.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def asked(path: Path, name: str, number: int = 1) -> Answer:
    scratch = path.parent
    found = Recorded.read(path)
    return found(EvalCase(id=name), trial(scratch / "s", number=number))


def test_recorded_answers_are_given(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": "--- a/x"},
        "",
        {"id": "add", "output": {"sum": [1, 2]}, "cost": 0.5, "trace": [{"s": 1}]},
        {"id": "none", "model_patch": None},
        {"id": "edits", "edits": [{"path": "x", "search": "a", "replace": "b"}]},
        {"id": "blocks", "edits": "x\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"},
        {"id": "both", "output": 1, "diff": "", "success_self_reported": True, "latency_ms": 3},
    )
    assert asked(path, "a__b-1") == Answer(diff="--- a/x")
    assert asked(path, "add") == Answer(output={"sum": [1, 2]}, cost=0.5, trace=({"s": 1},))
    assert asked(path, "none") == Answer()
    assert asked(path, "edits") == Answer(replacements=(Replacement("x", "a", "b"),))
    assert [edit.path for edit in asked(path, "blocks").replacements or ()] == ["x"]
    assert asked(path, "both") == Answer(
        output=1, diff="", success_self_reported=True, latency_ms=3
    )


def test_samples_are_told_apart_by_number(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"id": "a", "number": 2, "output": "second"},
        {"id": "a", "number": 1, "output": "first"},
        {"id": "b", "output": "only"},
    )
    assert [asked(path, "a", number).output for number in (1, 2)] == ["first", "second"]
    assert asked(path, "b").output == "only"
    for name, number in (("a", 3), ("b", 2), ("c", 1)):
        with pytest.raises(CandidateError, match=f"^no answer is recorded for sample {number}$"):
            asked(path, name, number)
    assert Recorded.read(path).most == 2


def test_every_line_that_cannot_be_used_is_told_at_once(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        {"id": "a", "output": 1},
        "{",
        [1],
        {"output": 1},
        {"id": 5, "output": 1},
        {"id": "a", "instance_id": "b", "output": 1},
        {"id": "b", "ouput": 1},
        {"id": "a", "output": 2},
        {"id": "c", "number": 0, "output": 2},
        {"id": "d", "number": True, "output": 2},
        {"id": "e", "diff": "x", "model_patch": "y"},
        {"id": "f", "output": 1, "cost": "free"},
    )
    with pytest.raises(InputError) as caught:
        Recorded.read(path)
    place = f"{path}, line"
    assert caught.value.problems == (
        f"{place} 2: is not JSON (JSONDecodeError)",
        f"{place} 3: is no mapping",
        f'{place} 4: has no "id" (or "instance_id"), a text',
        f'{place} 5: has no "id" (or "instance_id"), a text',
        f'{place} 6: has an "id" and another "instance_id"',
        f"{place} 7: has no answer: one of model_patch, diff, edits, replacements, output",
        f"{place} 8: sample 1 of a is also on line 1",
        f'{place} 9: "number" must be a whole number from 1',
        f'{place} 10: "number" must be a whole number from 1',
        f'{place} 11: has "model_patch" and "diff", which mean the same',
        f'{place} 12: "cost" must be a number from 0',
    )
    assert '"number": 1, 2' in (caught.value.hint or "")


def test_an_empty_file_is_refused_and_windows_lines_are_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"answers.jsonl holds no answer"):
        Recorded.read(recorded(tmp_path, ""))
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "output": 1}\r\n')
    assert asked(path, "a").output == 1
    path.write_bytes(b'{"id": "\xff", "output": 1}\n')
    with pytest.raises(InputError, match="line 1: is not JSON"):
        Recorded.read(path)


def suite(ids: Sequence[str]) -> EvalSuite:
    grader = {"name": "exact", "expected": "4"}
    return EvalSuite([EvalCase(id=name, grader_spec=grader) for name in ids])


def test_what_is_missing_or_unknown_is_said(tmp_path: Path) -> None:
    recorded(tmp_path, *({"id": name, "output": "4"} for name in ("a", "b", "x")))
    with open_candidate("patches:answers.jsonl", Options(folder=tmp_path)) as candidate:
        assert candidate.deterministic
        assert candidate.description == "answers recorded in answers.jsonl"
        assert candidate.notes(suite(["a", "b", "x"])) == ()
        assert candidate.notes(suite(["a", "c", "d"])) == (
            "2 recorded cases not asked for: b, x.",
            "2 cases without a recorded answer, which count as missing: c, d.",
        )
        with pytest.raises(InputError, match="no recorded answer belongs to a case") as caught:
            candidate.notes(suite(["c"]))
        assert caught.value.hint == "its cases are c"
    with open_candidate("host:echo", Options()) as candidate:
        assert candidate.notes(suite(["c"])) == ()


def test_a_missing_answer_is_missing_data(tmp_path: Path) -> None:
    recorded(tmp_path, {"id": "a", "output": "4"}, {"id": "b", "output": "5"})
    with open_candidate("patches:answers.jsonl", Options(folder=tmp_path)) as candidate:
        report = EvalRunner(candidate=candidate, n=2).run(suite(["a", "b", "c"]))
    found = {each.id: [trial.status for trial in each.trials] for each in report.cases}
    assert found == {
        "a": [Status.GRADED, Status.ERRORED],
        "b": [Status.GRADED, Status.ERRORED],
        "c": [Status.ERRORED, Status.ERRORED],
    }
    assert report.reward is not None
    assert float(report.reward) == 0.5
    detail = report.case("c").samples[0].verdict.detail
    assert detail == "not graded: no answer is recorded for sample 1"
