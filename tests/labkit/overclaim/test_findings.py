"""What a finding says: the line, the sentence, the number it contradicts, what to say instead."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from claims import FACTS, STUDIES, measured
from hypothesis import example, given
from hypothesis import strategies as st
from studies import results, study, tasks

from labkit.effects import Finding as Effect
from labkit.effects import Kind, Weight
from labkit.errors import IntegrityError
from labkit.model import Category, TaskId
from labkit.overclaim import Facts, Finding, Rule, check, describe, facts_of
from labkit.report import render, to_json
from labkit.study import Study
from labkit.summary import summarise

TIE, WIN, GAP = FACTS["tie"], FACTS["win"], FACTS["gap"]


def facts(made: Study) -> Facts:
    """Return the facts of a study."""
    return facts_of(to_json(summarise(made)))


def only(text: str, known: Facts) -> Finding:
    """Check a text that has exactly one finding."""
    (found,) = check(text, known)
    return found


def rules(text: str, known: Facts) -> list[Rule]:
    """Return the rules that a text breaks."""
    return [found.rule for found in check(text, known)]


def test_a_finding_names_line_sentence_number_and_a_better_sentence() -> None:
    text = "# Result\n\nWe ran 9 tasks\ntwice. In the end, A beat\nB. That was all.\n"
    assert only(text, TIE) == Finding(
        rule=Rule.WINNER,
        line=4,
        sentence="In the end, A beat B.",
        words="beat",
        data="no detectable difference between A and B: B - A is -11 points over 9 tasks "
        "(95 % interval -36 to +14 points), mid-p = 0.375",
        instead="We found no detectable difference; anything from -36 to +14 points is compatible "
        "with the data.",
    )


@pytest.mark.parametrize(
    ("text", "known", "data"),
    [
        ("B passed 7 of 9 tasks.", TIE, "B passed 5.5 of 9 tasks: 61 % (95 % interval 31 % "),
        ("A is ahead of B.", WIN, "B is detectably ahead: B - A is +67 points over 9 tasks"),
        ("B never fails.", WIN, "which is compatible with any true rate from 66 % up"),
        ("It is a tie: mid-p = 0.016.", WIN, "B is detectably ahead"),
        ("The mid-p was 0.2.", TIE, "B against A: mid-p = 0.375, exact p = 0.625"),
        ("A took 5 minutes.", TIE, "A: median 4.0 min"),
        ("B is cheaper than A, but A is faster than B.", TIE, ""),
        ("A is cheaper than B.", TIE, "A: cost 0.3 a run; B: cost 0.2 a run"),
        ("pass^2 of A is 67 % (35-88 %).", TIE, "pass^2 of A is 67 % of 9 tasks with two attempts"),
        ("A is better at feature tasks.", TIE, "feature: A 3 of 3, B 1.5 of 3; 3 tasks of a type"),
        ("The gain is due to the prompt of A.", TIE, "differ in one thing: model"),
        ("B won.", GAP, "not measured: B: 4 of 18 runs, and the outcome could change"),
    ],
)  # fmt: skip
def test_the_data_are_quoted(text: str, known: Facts, data: str) -> None:
    told = " | ".join(found.data for found in check(text, known))
    assert data in told
    assert bool(told) == bool(data)


@pytest.mark.parametrize(
    "text",
    [
        "```\nA is better than B.\n```\n",
        "    A is better than B.\n",
        "`A is better than B.`\n",
        "<p>A is better than B.</p>\n",
        "<!-- A is better than B. -->\n",
        "| who | says |\n|---|---|\n| A | is better than B. |\n",
        'One of us wrote "A is clearly better than B".\n',
        "One of us wrote \u201cA is clearly better than B\u201d.\n",
        "",
        "\n\n",
        "Wir finden: A ist besser als B.\n",
    ],
)
def test_code_tables_quotations_and_other_languages_are_not_read(text: str) -> None:
    assert check(text, TIE) == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("> *In our words:* A is better.\n", 1),
        ("1. x\n\n   > Well.\n   > A is better.\n", 4),
        ("- one\n- **A** is _better_ than B\n", 2),
        ("## A is better than B\n", 1),
        ("A is\r\nbetter than B\r\n", 1),
        ("Fine.  \nA is [better](x.md) than B.\n", 2),
        ("`A` is better than `B`.\n", 1),
        ("\ufeffA is better than B, e.g. on speed.\n", 1),
    ],
)
def test_prose_of_every_kind_is_read_with_its_line(text: str, line: int) -> None:
    found = check(text.removeprefix("\ufeff"), TIE)
    assert [(each.rule, each.line) for each in found] == [(Rule.WINNER, line)]


@pytest.mark.parametrize(
    "text",
    [
        "A's pass rate on 9 tasks is 72.2 %, with an interval from 40 % to 91 %.",
        "The difference is -11.1 points and not detectable.",
    ],
)
def test_decimals_are_too_many_but_no_contradiction(text: str) -> None:
    assert rules(text, TIE) == [Rule.PRECISION]


def test_a_difference_in_per_cent_is_told_to_be_points() -> None:
    found = only("The difference in passing is 11 %, which is not detectable.", TIE)
    assert found.rule is Rule.NUMBER
    assert "in points" in found.instead
    assert rules("B passed 15 % fewer tasks than A, by chance alone.", TIE) == []  # 5.5 of 6.5


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("B - A is -11 points, which nobody can tell from 0.", True),
        ("B - A is +11 points, which nobody can tell from 0.", False),
        ("A - B is 11 points, which nobody can tell from 0.", True),
        ("A - B is -11 points, which nobody can tell from 0.", False),
        ("B \N{MINUS SIGN} A is \N{MINUS SIGN}11 points, and not detectable.", True),
    ],
)
def test_signs_count(text: str, right: bool) -> None:  # noqa: FBT001
    assert rules(text, TIE) == ([] if right else [Rule.NUMBER])


def test_hard_fails_of_the_winner_have_to_be_told() -> None:
    won = facts(measured(results(tasks(9, "-- ++")), results(tasks(1, "++ EE", "edit"))))
    assert rules("B beats A.", won) == [Rule.CHERRY_PICKING]
    assert "forbidden edits in edit-1__B__1, edit-1__B__2" in check("B beats A.", won)[0].data
    assert rules("B beats A.\n\nTwo of its runs made forbidden edits.", won) == []


def test_a_configuration_is_known_by_its_own_words_only() -> None:
    assert rules("Swift is better than oak.", TIE) == [Rule.WINNER]
    assert rules("The scripted agent is better than nothing.", TIE) == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("C beats A.", []),
        ("B beats A.", [Rule.WINNER]),
        ("C is ahead of A, but B is not.", []),
        ("A and C are tied.", [Rule.UNDERCLAIM]),
        ("A and B perform the same.", [Rule.EQUALITY]),
    ],
)
def test_three_configurations(text: str, broken: list[Rule]) -> None:
    three = facts(study(results(tasks(6, "-- -- ++")), results(tasks(3, "++ ++ ++", "same"))))
    assert rules(text, three) == broken


@pytest.mark.parametrize("broken", [{}, {"configurations": [{}]}, {"configurations": None}])
def test_damaged_data_are_refused(broken: dict[str, object]) -> None:
    whole = to_json(summarise(STUDIES["tie"]))
    with pytest.raises(IntegrityError, match="is damaged"):
        facts_of({**whole, **broken} if broken else {})


A_TASK = TaskId("task-0")


def _honest(known: Facts) -> Iterator[str]:
    """Say what is known, as labkit says it."""
    yield from (f"{describe.rate(side)}." for side in known.sides)
    yield from (f"{describe.strict(side).capitalize()}." for side in known.sides)
    yield from (f"{describe.outcome(pair).capitalize()}." for pair in known.pairs)
    yield from (describe.honest_verdict(pair) for pair in known.pairs)
    yield from (f"Hard fails of {side.id}: {'; '.join(side.vetoes)}." for side in known.sides)
    if known.missing:
        yield f"{known.missing} runs are missing."


MARKS = st.dictionaries(
    st.sampled_from([f"task-{number}" for number in range(12)]),
    st.tuples(*[st.text("+-u?LE", min_size=1, max_size=2)] * 2).map(" ".join),
    min_size=1,
)


@given(MARKS, st.sampled_from(Category), st.booleans())
def test_the_page_that_labkit_writes_is_honest(
    marks: dict[str, str],
    category: Category,
    known: bool,  # noqa: FBT001
) -> None:
    found = results(marks, category=category)
    made = measured(found) if known else study(found)
    page = render(summarise(replace(made, retired={A_TASK: "its hidden tests leaked"})))
    assert check(page, facts(replace(made, retired={A_TASK: "its hidden tests leaked"}))) == ()


@given(MARKS)
@example(
    {f"task-{n}": "E E" for n in range(3)}
    | {"task-3": "+ E+"}
    | dict.fromkeys(("task-4", "task-5", "task-6"), "E+ E")
)
@example({"task-0": "? E"} | {f"task-{n}": "E +" for n in range(1, 6)})
def test_sentences_made_of_the_facts_are_honest(marks: dict[str, str]) -> None:
    summary = summarise(study(results(marks)))
    known = facts_of(to_json(summary))
    text = " ".join(_honest(known))
    assert check(text, known) == ()


@given(st.text(), st.sampled_from(sorted(FACTS)))
def test_any_text_is_survived(text: str, name: str) -> None:
    check(text, FACTS[name])


PIECES = st.sampled_from(
    [
        *[
            "A",
            "B",
            "swift",
            "oak",
            "is",
            "was",
            "not",
            "never",
            "clearly",
            "better",
            "worse",
            "same",
            "tie",
            "because",
            "choose",
            "cheaper",
        ],
        *[
            "72",
            "%",
            "61",
            "9",
            "18",
            "tasks",
            "runs",
            "of",
            "(",
            ")",
            "[",
            "]",
            "-",
            "+",
            "±",
            "p",
            "=",
            ".03",
            "points",
            "interval",
            "pass^2",
            "pass@2",
        ],
        *['"quoted"', "`code`", ",", ";", ":", ".", "?", "|", ">", "#"],
        "\n",
    ]
)


@given(st.lists(PIECES, max_size=40).map(" ".join), st.sampled_from(sorted(FACTS)))
def test_word_salad_is_survived_and_quoted_from_the_page(text: str, name: str) -> None:
    for found in check(text, FACTS[name]):
        assert 1 <= found.line <= text.count("\n") + 1
        assert found.data
        assert found.instead
        assert found.sentence


@pytest.mark.parametrize(
    "piece",
    [
        "A is better ",
        "!",
        '"',
        "( ",
        "9 of ",
        "1 to ",
        "`",
        "> ",
        "a, so ",
        "A - ",
        "not ",
        "72 % ",
    ],
)
def test_a_long_page_takes_no_long_time(piece: str) -> None:
    started = time.perf_counter()
    check(piece * (50_000 // len(piece)), TIE)
    assert time.perf_counter() - started < 20


def apart() -> Facts:
    """Return the facts of a study in which the declared effort never reached the model."""
    text = "effort: low against high: declared of A and B, and seen in none of 9 pairs of runs."
    found = Effect(kind=Kind.NO_EFFECT, weight=Weight.BREAKS, about=(), text=text)
    return facts(replace(STUDIES["win"], difference="effort: low against high", effects=(found,)))


@pytest.mark.parametrize(
    "text",
    [
        "B did so because of the high effort.",
        "B won thanks to its effort.",
        "The high effort made the difference.",
        "High effort improves the results of B.",
        "The effort of B is the reason.",
        "AGENTS.md helped B.",
    ],
)
def test_no_cause_may_be_named_where_nothing_declared_was_seen(text: str) -> None:
    found = [each for each in check(text, apart()) if each.rule is Rule.GENERAL]
    assert len(found) == 1
    assert "seen in none of 9 pairs of runs" in found[0].data
    assert "(effort: low against high) cannot be given as the cause" in found[0].instead
    known = facts(replace(STUDIES["win"], difference="effort: AGENTS.md"))
    assert Rule.GENERAL not in rules(text, known)


@pytest.mark.parametrize(
    "text",
    [
        "The effort did not make a difference, as it never reached the model.",
        "Whether the effort helps is open.",
        "B is ahead of A, and it is not due to the effort.",
        "We set the effort of B to high.",
    ],
)
def test_honest_words_about_what_was_not_seen_are_left_alone(text: str) -> None:
    assert Rule.GENERAL not in rules(text, apart())


@pytest.mark.parametrize("weight", list(Weight))
def test_the_page_of_such_a_study_has_no_finding(weight: Weight) -> None:
    found = Effect(
        kind=Kind.MORE, weight=weight, about=(), text="The tools differ in 1 of 2 pairs."
    )
    made = summarise(replace(STUDIES["win"], effects=(found,)))
    assert check(render(made), facts_of(to_json(made))) == ()
    harmless = weight in (Weight.CAUTION, Weight.NOTE)
    assert ("They differ in one thing" in render(made)) is harmless
