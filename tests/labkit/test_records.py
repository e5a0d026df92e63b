import json
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.errors import InputError, IntegrityError
from labkit.model import Ended, Ending, Flag, RunId, Verdict
from labkit.records import (
    GradeRecord,
    MissingRecord,
    RunRecord,
    load_grade,
    load_missing,
    load_run,
    record_text,
    save,
)

RUN = RunId.parse("bug-a__A__1")
RECORD = RunRecord(
    environment="e" * 16,
    run=RUN, runner="ana", suite_version="v", seed=1, ended=Ended.TIMEOUT, exit_code=None,
    started="2026", seconds=1.5, sandbox="docker", image_digest="i", agent="scripted",
    agent_version="1", model="m", turns=None, base_tree="b", result_tree="r",
    digests={"diff.patch": "d"}, left_out=("lat\\xe9n: special file",), earlier_failures=("why",),
)  # fmt: skip
GRADE = GradeRecord(
    run=RUN, suite_version="v", commitment="c", verdict=Verdict.FAIL, reason="no",
    flags=(Flag.TAMPERED,), tests={"t[a b ]": "passed"},
)  # fmt: skip


def test_records_read_back(tmp_path: Path) -> None:
    missing = MissingRecord(run=RUN, runner="ana", reasons=("a", "b"))
    save(tmp_path / "0.json", RECORD)
    save(tmp_path / "1.json", GRADE)
    save(tmp_path / "2.json", missing)
    assert load_run(tmp_path / "0.json") == RECORD
    assert load_grade(tmp_path / "1.json") == GRADE
    assert load_missing(tmp_path / "2.json") == missing


def test_what_was_not_measured_is_null_not_zero() -> None:
    values = json.loads(record_text(RECORD))
    assert (values["exit_code"], values["tokens"], values["interventions"]) == (None, None, 0)
    assert values["schema"] == 1


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    save(tmp_path / "run.json", RECORD)
    with pytest.raises(InputError, match="is already there"):
        save(tmp_path / "run.json", RECORD)


@pytest.mark.parametrize(
    ("name", "value"),
    [("run", "nonsense"), ("run", None), ("ended", "asleep"), ("more", 1), ("seed", ...)],
    ids=["run", "no run", "ended", "more", "less"],
)
def test_a_damaged_record_is_noticed(tmp_path: Path, name: str, value: object) -> None:
    values = json.loads(record_text(RECORD)) | {name: value}
    if value is ...:
        del values[name]
    (tmp_path / "run.json").write_text(json.dumps(values))
    with pytest.raises(IntegrityError, match="is damaged"):
        load_run(tmp_path / "run.json")


@pytest.mark.parametrize("ending", Ending)
def test_an_agent_failed_unless_it_said_that_it_was_done(ending: Ending) -> None:
    record = replace(RECORD, ending=ending)
    assert record.agent_failed is (ending is not Ending.COMPLETED)
