"""`labkit summary` on a real lab, beside an earlier one, a leaderboard, and other teams'."""

import json
from collections.abc import Callable
from pathlib import Path

from cli.labs import Lab, Stages


def told(lab: Lab) -> dict[str, object]:
    read: dict[str, object] = json.loads(lab.workspace.summary("json").read_text(encoding="utf-8"))
    return read


def test_a_small_lab_is_called_a_pilot_with_what_its_records_say(
    lab_at: Callable[[str], Lab],
) -> None:
    lab = lab_at("unblinded")
    text = lab.done("summary")
    assert text == lab.workspace.summary("md").read_text(encoding="utf-8")
    assert "- A pilot: the suite was frozen with less than a course asks for." in text
    values = told(lab)
    assert values["pilot"] is True
    sides = values["configurations"]
    assert isinstance(sides, list)
    assert [side["sandboxes"] for side in sides] == [{"bubblewrap": 2}, {"bubblewrap": 2}]
    rows = values["tasks"]
    assert isinstance(rows, list)
    assert len({row["digest"] for row in rows}) == 2
    assert all(len(row["digest"]) == 16 for row in rows)
    agreed = values["agreement"]
    assert isinstance(agreed, list)
    assert {each["dimension"] for each in agreed} >= {"scope", "correctness"}


def test_against_an_earlier_summary_and_a_leaderboard(stages: Stages, tmp_path: Path) -> None:
    lab = stages.at("summarised", tmp_path / "lab")
    earlier = tmp_path / "earlier.json"
    values = told(lab)
    rows = values["tasks"]
    assert isinstance(rows, list)
    for row in rows:
        row["attempts"]["A"] = [False]
    earlier.write_text(json.dumps(values), encoding="utf-8")
    board = tmp_path / "board.csv"
    board.write_text("configuration,score\nA,40\nB,50\n", encoding="utf-8")
    text = lab.done("summary", "--against", str(earlier), "--leaderboard", str(board))
    assert "## Against the earlier summary" in text
    assert "+100 points over 2 tasks" in text
    assert "Kendall's tau -1.00 over 1 pair" in text


def test_bad_files_beside_a_summary_change_nothing(
    lab_at: Callable[[str], Lab], tmp_path: Path
) -> None:
    lab = lab_at("summarised")
    board = tmp_path / "board.csv"
    board.write_text("configuration,score\nA,many\nZ,1\n", encoding="utf-8")
    says = ("board.csv, row 2, column score: 'many' is not a number", "there is no configuration Z")
    lab.refused("summary", "--leaderboard", str(board), code=2, says=says)
    lab.refused("summary", "--leaderboard", "none.csv", code=2, says=("no file none.csv",))
    lab.refused("summary", "--against", "none.json", code=2, says=("no file none.json",))
    lab.refused("summary", "--against", str(board), code=3, says=("board.csv is damaged",))


def test_a_pool_needs_no_lab_and_refuses_one_team_twice(stages: Stages, tmp_path: Path) -> None:
    lab = stages.at("summarised", tmp_path / "lab")
    mine = lab.workspace.summary("json")
    other = tmp_path / "red.json"
    other.write_text(json.dumps(told(lab) | {"team": "red"}), encoding="utf-8")
    text = lab.done("summary", "pool", str(mine), str(other))
    assert text.startswith("# 2 teams together")
    assert "2 tasks are in the sets of several teams" in text
    assert json.loads(lab.done("summary", "pool", str(mine), str(other), "--json"))["shared"] == 2
    lab.refused("summary", "pool", str(mine), str(mine), code=2, says=("team blue is there 2",))


def test_options_before_the_word_pool_are_refused(stages: Stages) -> None:
    answer = stages.original("joined").labkit("summary", "--json", "pool", "a.json")
    assert answer.code == 2
    assert "unexpected extra argument" in answer.err
