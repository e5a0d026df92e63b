"""`labkit suite`: starting, checking, listing and sealing suites, with the real command."""

import json
from pathlib import Path

import pytest
from cli.desk import CASES, Desk

from labkit.seal import new_identity


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk.at(tmp_path)


def test_a_new_suite_is_sound_and_is_never_written_over(desk: Desk) -> None:
    desk.done("suite", "new", "first")
    out = desk.done("suite", "check", "first").out
    assert "val: 6 cases, version" in out
    desk.refused("suite", "new", "first", says=("first is already there, and not empty",))


def test_check_tells_cases_by_split_and_slice_and_versions(desk: Desk) -> None:
    answer = desk.done("suite", "check", "suite.yaml")
    assert "mine: 8 cases in suite.yaml" in answer.out
    assert "  odd: val 1" in answer.out
    assert "  small: train 1, val 2" in answer.out
    assert "  (none): test 2, val 3" in answer.out
    values = json.loads(desk.done("suite", "check", "suite.yaml", "--json").out)
    assert {name: each["cases"] for name, each in values["splits"].items()} == {
        "train": 1,
        "val": 5,
        "test": 2,
    }
    assert values["sealed"] is None
    for each in values["splits"].values():
        assert f"version {each['version']}" in answer.out


def test_check_is_strict_and_tells_every_problem(desk: Desk) -> None:
    desk.write(
        "suite.yaml",
        CASES.replace("inputs: 2", "inputs: no")
        .replace("split: train", "split: tran")
        .replace('reference: "4"', 'reference: "4", grader: {name: exakt}')
        .replace('reference: "5"', 'reference: "5", grader: {name: regex_match, pattern: "("}'),
    )
    answer = desk.done("suite", "check", ".", code=1)
    assert "suite.yaml, cases 2, line 5: readers of YAML disagree about no" in answer.err
    assert 'did you mean "train"?' in answer.err
    assert "four: grader" in answer.err
    assert 'did you mean "exact"?' in answer.err
    assert "five: grader" in answer.err
    assert "4 problems: such a case is never run" in answer.err
    assert "mine: 8 cases" in answer.out
    assert len(json.loads(desk.done("suite", "check", ".", "--json", code=1).out)["problems"]) == 4


def test_what_is_no_suite_is_refused(desk: Desk) -> None:
    desk.refused("suite", "check", "gone.yaml", says=("no file gone.yaml",))
    desk.write("bad.yaml", "cases: [")
    desk.refused("suite", "check", "bad.yaml", says=("bad.yaml, line", "not YAML"))
    desk.write("bad.json", "{")
    desk.refused("suite", "list", "bad.json", says=("bad.json, line 1, column 2: not JSON",))


def test_list_has_one_line_a_case(desk: Desk) -> None:
    lines = desk.done("suite", "list", ".").out.splitlines()
    assert len(lines) == 8
    assert "three\tval\texact\tsmall odd\t\t" in lines
    assert json.loads(desk.done("suite", "list", ".", "--json").out)["cases"][0]["id"] == "eight"


def test_a_split_is_sealed_to_ones_own_key(desk: Desk) -> None:
    answer = desk.done("suite", "seal", "suite.yaml")
    assert "sealed 2 test cases into suite.test.age, commitment" in answer.err
    assert "stays in its history" in answer.err
    assert "copy" not in answer.err
    assert desk.holding("swordfish") == []
    assert not (desk.folder / "eight").exists()
    assert "test: 2 cases, sealed on" in desk.done("suite", "check", ".").out
    desk.refused("suite", "seal", ".", says=("the test split of mine is already sealed, since",))


def test_a_split_is_sealed_to_somebody_elses_key(desk: Desk) -> None:
    other = new_identity()
    answer = desk.done("suite", "seal", "suite.yaml", "--to", other.recipient)
    (copy,) = desk.holding("swordfish")
    assert copy.startswith("home/suites/suite-test-")
    assert f"a plain copy is in {desk.home.parent / copy}" in answer.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--to", "nonsense"), ("'nonsense' is not an age public key",)),
        (("--key", "gone.agekey"), ("no holder's key in gone.agekey",)),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(
    desk: Desk, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    desk.refused("suite", "seal", ".", *words, says=says)


def test_without_a_key_of_ones_own_it_is_said_how_to_make_one(desk: Desk) -> None:
    (desk.home / "holder.agekey").unlink()
    desk.refused(
        "suite",
        "seal",
        ".",
        says=("no holder's key in", "labkit holder keygen", "LABKIT_PASSPHRASE_FILE", "--to AGE1"),
    )


def test_what_was_sealed_is_kept_where_it_lies(desk: Desk) -> None:
    assert "in git, beside suite.yaml" in desk.done("suite", "seal", "suite.yaml").err
    desk.done("suite", "new", "five", "--fixtures")
    task = desk.folder / "five" / "server-port" / "task.yaml"
    task.write_text(task.read_text() + "split: test\n")
    assert "in git, in the folder five" in desk.done("suite", "seal", "five").err


def test_a_case_that_can_never_be_judged_is_told(desk: Desk) -> None:
    desk.write("suite.yaml", CASES.replace(', reference: "4"', ""))
    answer = desk.done("suite", "check", ".", code=1)
    assert "four: grader: the grader is given nothing to compare with" in answer.err


def test_an_unknown_case_is_answered_with_what_lists_them(desk: Desk) -> None:
    desk.refused(
        "evaluate", "--suite", ".", "--candidate", "mine.py:echo", "--ids", "tow",
        says=("no case is called 'tow'", "labkit suite list lists the cases"),
    )  # fmt: skip


def test_a_key_that_opens_nothing_of_it_is_refused(desk: Desk) -> None:
    key = str(desk.home / "holder.agekey")
    other = new_identity().recipient
    desk.refused("suite", "seal", ".", "--to", other, "--key", key, says=("opens nothing that is",))
    desk.done("suite", "seal", ".", "--to", other, "--to", desk.identity.recipient, "--key", key)


def test_without_test_cases_there_is_nothing_to_seal(desk: Desk) -> None:
    desk.write("suite.yaml", CASES.replace("split: test", "split: val"))
    desk.refused("suite", "seal", ".", says=("suite.yaml has no test case",))


def test_a_seal_that_was_touched_is_told(desk: Desk) -> None:
    desk.done("suite", "seal", ".")
    sealed = desk.folder / "suite.test.age"
    sealed.write_bytes(sealed.read_bytes()[:-1] + b"x")
    desk.refused("suite", "check", ".", code=3, says=("is not the file that was sealed on",))
