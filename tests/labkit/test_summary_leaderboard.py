"""The order of configurations against a public leaderboard's."""

from dataclasses import replace

import pytest
from studies import A, B, C, results, study, tasks

from labkit.errors import InputError
from labkit.model import ConfigurationId
from labkit.report import render, to_json
from labkit.summary import Leaderboard, Summary, summarise
from labkit.summary.leaderboard import against, read_scores


def summary(*parts: dict[str, str]) -> Summary:
    return summarise(study(*(results(part) for part in parts)))


def beside(scores: dict[ConfigurationId, float], *parts: dict[str, str]) -> Leaderboard:
    return against(summary(*parts), scores)


def test_pairs_that_are_not_told_apart_may_fall_either_way() -> None:
    found = beside({A: 1, B: 2, C: 3}, tasks(7, "- + +"), {"x": "- - +", "y": "+ + +"})
    assert found.tau == 1
    assert (found.agree, found.disagree, found.open, found.pairs) == (2, 0, 1, 3)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((1 / 3, 1))


def test_the_opposite_order_is_minus_one() -> None:
    found = beside({A: 2, B: 1}, tasks(3, "- +"))
    assert (found.tau, found.open) == (-1, 1)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (-1, 1)


def test_an_order_that_is_wholly_told_apart_has_a_sentence_for_a_bar() -> None:
    found = beside({A: 2, B: 1}, tasks(9, "- +"))
    assert (found.tau, found.disagree, found.interval) == (-1, 1, None)
    assert found.why.startswith("every pair is told apart")


def test_pairs_that_the_leaderboard_does_not_order_are_left_out() -> None:
    found = beside({A: 1, B: 1, C: 0}, tasks(3, "- + +"))
    assert found.pairs == 2


@pytest.mark.parametrize(
    ("scores", "marks"),
    [
        pytest.param({A: 1.0, B: 1.0}, {"a": "- +"}, id="a-tie-there"),
        pytest.param({A: 1.0, B: 2.0}, {"a": "? +"}, id="nothing-measured-here"),
        pytest.param({A: 1.0}, {"a": "- +"}, id="one-alone"),
    ],
)
def test_nothing_to_order_is_a_sentence(
    scores: dict[ConfigurationId, float], marks: dict[str, str]
) -> None:
    found = beside(scores, marks)
    assert (found.tau, found.interval) == (None, None)
    assert found.why


def test_page_and_document_tell_of_it() -> None:
    made = summary(tasks(3, "- +"))
    made = replace(made, leaderboard=against(made, {A: 70.5, B: 60.0}))
    assert "Against the leaderboard: Kendall's tau -1.00 over 1 pair (from -1.00 to 1.00" in render(
        made
    )
    assert to_json(made)["leaderboard"]["scores"] == {"A": 70.5, "B": 60.0}


def test_scores_are_read_as_spreadsheets_save_them() -> None:
    text = "configuration;score;name\nA;70,5 %;small\nB;60;large\n"
    assert read_scores(text.encode("utf-16"), "board.csv", [A, B]) == {A: 70.5, B: 60.0}


def test_every_problem_of_the_file_is_told() -> None:
    text = "configuration,score\nA,high\nZ,1\na,2\nA,nan\n"
    with pytest.raises(InputError) as caught:
        read_scores(text.encode(), "board.csv", [A, B])
    assert caught.value.problems == (
        "board.csv, row 2, column score: 'high' is not a number",
        "board.csv, row 3: there is no configuration Z in this study",
        "board.csv, row 4, column configuration: configuration 'a' is not one capital letter",
        "board.csv, row 5, column score: 'nan' is not a number",
    )
    with pytest.raises(InputError, match="fewer than two configurations"):
        read_scores(b"configuration,score\nA,1\n", "board.csv", [A, B])
