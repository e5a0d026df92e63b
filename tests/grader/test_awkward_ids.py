"""Ids of tests with everything in them that makes tools cut, trim or lose them, from end to end."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from gradings import bench_of, make_set, validated
from hypothesis import given
from hypothesis import strategies as st

from labkit.model import Category, Ended, RunId, Verdict
from labkit.records import GradeRecord, load_grade, save
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit.sandbox.interface import Outcome
from labkit_grader import reports
from labkit_grader.material import EVIDENCE, Expected, read_material
from labkit_grader.report import grade_text
from labkit_grader.testrun import Runner
from labkit_grader.validate import validate_task

VALUES = (
    *("two words", "a - b", "a PASSED", "x::y", "x]", "[x", "trail ", "trail", "", " ", 'q"', "q'"),
    *("nul\0", "\x1b[31m", "\ud800", "line\nline", "tab\t", "é", "long" * 2500, "a\\nb", "%s"),
)
HIDDEN = (
    "import pytest\nfrom calc import add\n\n\n"
    f"@pytest.mark.parametrize('text', {VALUES!r})\n"
    "def test_text(text):\n    assert add(len(text), 1) == len(text) + 1\n"
)
RAW = "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n"
TEST = "tests/test_text.py::test_text"
RUN = RunId.parse("bug-1__A__1")


@pytest.mark.parametrize("settings", ["", RAW], ids=["escaped", "as they are"])
def test_ids_stay_whole_from_the_run_to_the_record(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox, settings: str
) -> None:
    values = tuple(each for each in VALUES if not settings or each != "\ud800")
    base = {"calc.py": "def add(a, b):\n    return a - b\n", "pytest.ini": settings or "[pytest]\n"}
    made = make_set(
        tmp_path,
        base=base,
        draft={"hidden/tests/test_text.py": HIDDEN.replace(repr(VALUES), repr(values))},
    )
    bench = bench_of(bubblewrap_sandbox)
    task = validated(made, bench, repeats=2)
    found = task.case.material.evidence
    assert found is not None
    ids = found.fail_to_pass
    assert len(ids) == len(set(ids)) == len(values)
    assert {"tests/test_text.py::test_text[trail ]", "tests/test_text.py::test_text[trail]"} < {
        *ids
    }
    assert "tests/test_text.py::test_text[a PASSED]" in ids
    assert ("tests/test_text.py::test_text[nul\0]" in ids) is bool(settings)
    record = task.graded(bench, task.diff({"calc.py": "def add(a, b):\n    return a + b\n"}))
    assert record.verdict is Verdict.PASS
    assert tuple(sorted(record.tests)) == tuple(sorted(ids))
    save(tmp_path / "grade.json", record)
    assert load_grade(tmp_path / "grade.json") == record


ANY_ID = st.text(st.characters(codec="utf-8"), max_size=40)


def graded(tests: dict[str, str]) -> GradeRecord:
    return GradeRecord(
        run=RUN,
        suite_version="v",
        commitment="c",
        verdict=Verdict.FAIL,
        reason="no",
        tests=tests,
    )


@given(st.sets(ANY_ID, max_size=8))
def test_any_ids_survive_evidence_and_grade(ids: set[str]) -> None:
    expected = Expected(fail_to_pass=tuple(sorted(ids)))
    text = json.dumps(expected.values(), ensure_ascii=False)
    material = read_material({EVIDENCE: text.encode()}, Category.BUGFIX)
    assert material.evidence == expected
    lines = grade_text(graded(dict.fromkeys(ids, "failed"))).split("\n")
    assert sum(line.startswith("  failed") for line in lines) == len(ids)
    assert all(line.isprintable() for line in lines)


ANYTHING = st.text(st.sampled_from("a \ud800\udfff\0\x1b\né"), max_size=9)
LINE = st.fixed_dictionaries(
    {"kind": st.sampled_from(["test", "collected", "collect_error"]), "id": ANYTHING},
    optional={
        "outcome": st.sampled_from(["passed", "failed"]),
        "message": ANYTHING | st.integers(),
    },
)


def marked(lines: list[str], key: bytes) -> bytes:
    """Return a report as our plugin writes it."""
    mark = hmac.new(key, digestmod=hashlib.sha256)
    whole = b""
    for line in lines:
        mark.update(line.encode())
        whole += f"{line} {mark.hexdigest()}\n".encode()
    return whole


@given(st.lists(LINE, max_size=8))
def test_whatever_a_report_says_can_be_written_down(lines: list[dict[str, object]]) -> None:
    data = marked([json.dumps(line) for line in lines], b"key")
    outcome = Outcome(ended=Ended.EXITED, exit_code=1, seconds=0.1, cut_bytes=0, image_digest="")
    run = reports.test_run(Runner.PYTEST, outcome, (("report.jsonl", data),), b"key", "")
    assert not run.forged
    told = (run.outcomes, run.messages, run.collect_errors)
    words = [*run.collected, *(text for each in told for pair in each.items() for text in pair)]
    assert "".join(words).encode()[:0] == b""


def test_a_complaint_with_anything_in_it_ends_no_validation(
    tmp_path: Path, bubblewrap_sandbox: BubblewrapSandbox
) -> None:
    hidden = (
        "from calc import add, double\n\n\n"
        "def test_add():\n    if add(2, 3) != 5:\n"
        "        raise NameError('\\0 \\x1b[31m \\ud800 ' + 'long' * 200)\n\n\n"
        "def test_no():\n    raise OSError('\\ud800')\n\n\n"
        "def test_double():\n    assert double(2) == 4\n"
    )
    made = make_set(tmp_path, draft={"hidden/tests/test_new.py": hidden})
    evidence = validate_task(bench_of(bubblewrap_sandbox), made.case, repeats=1)
    told = "\n".join((*evidence.problems, *evidence.notes))
    assert "fails for the wrong reason" in told
    assert "OSError: \\ud800" in told
    assert told.encode()
    assert max(map(len, told.splitlines())) < 1000
