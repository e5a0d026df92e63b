"""The page that a student hands in."""

import re
import textwrap

from hypothesis import given
from hypothesis import strategies as st
from studies import A, results, study, tasks, typical

from labkit.model import Category, TaskId
from labkit.report import render
from labkit.summary import summarise

MARKS = st.dictionaries(
    st.sampled_from([f"task-{number}" for number in range(9)]),
    st.tuples(*[st.text("+-u?LE", min_size=1, max_size=2)] * 2).map(" ".join),
    min_size=1,
)


def page(*marks: dict[str, str]) -> str:
    """Render the summary of marks."""
    return render(summarise(study(*(results(part) for part in marks))))


def cells(text: str, name: str) -> list[str]:
    """Find the table row that starts with `name` and return its other cells."""
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return row.strip("| ").split(" | ")[1:]


NINE = (
    {"half": "+- ++"},
    tasks(3, "++ ++", "both"),
    tasks(3, "++ +-", "a"),
    tasks(2, "-- --", "no"),
)


def test_units_stand_beside_every_rate() -> None:
    text = page(*NINE)
    assert cells(text, "Tasks passed") == ["6.5 of 9 tasks (18 runs)", "5.5 of 9 tasks (18 runs)"]
    assert cells(text, "Pass rate, 95 % interval")[0] == "72 % (40 % to 91 %)"
    assert cells(text, "Teaching approximation")[0] == "± 29 points"
    assert cells(text, "pass^2, of tasks tried twice")[1] == "44 % of 9 tasks (19 % to 73 %)"
    assert cells(text, "Flaky tasks") == ["`half`", "`a-1`, `a-2`, `a-3`"]


def test_the_five_facts_are_drafted_and_leave_room_for_words() -> None:
    text = page(*NINE)
    questions = re.findall(r"^\d\. \*\*(.+?)\*\*", text, flags=re.MULTILINE)
    assert questions == [
        "Which won?",
        "By how much?",
        "On which task types?",
        "At what cost?",
        "Does the difference exceed the error bar?",
    ]
    assert text.count("> *In our words:*") == 5
    assert "Neither: no detectable difference (only 4 tasks came out differently" in text
    assert "B - A is -11 points over the 9 tasks measured for both" in text
    assert "bugfix: A 6.5 of 9, B 5.5 of 9" in text
    assert "No. The paired interval -" in text


def test_a_detectable_difference_is_said_plainly() -> None:
    text = page(tasks(6, "-- ++"), tasks(3, "++ ++", "same"))
    assert "1. **Which won?** B: the difference is detectable. A did better on 0 tasks" in text
    assert "Yes. The paired interval +17 to +88 points leaves out 0" in text
    assert "mid-p = 0.0156, exact p = 0.0312" in text


def test_too_little_coverage_is_indecisive() -> None:
    text = page(tasks(5, "-- ++"), tasks(5, "?? ??", "lost"))
    assert "Undecided, the comparison is indecisive: only 10 of the 20 planned runs of A" in text
    assert "5. **Does the difference exceed the error bar?** Not decided." in text
    assert cells(text, "Coverage")[0] == "10 of 20 planned runs: 10 missing"
    assert cells(text, "Rate if missing runs failed, or passed") == [
        "0 %, or 50 %",
        "50 %, or 100 %",
    ]


def test_what_is_not_there_says_so_with_its_reason_and_is_never_zero() -> None:
    text = page({"a": "+ -"})
    assert (
        cells(text, "pass^2, of tasks tried twice")[0] == "n/a (no task has two measured attempts)"
    )
    assert cells(text, "Teaching approximation")[0] == "n/a (it says nothing at 0 % and 100 %)"
    assert cells(text, "Median minutes per task")[0] == "n/a (no minutes were recorded)"
    assert cells(text, "Cost")[0] == "n/a (not recorded)"
    assert "With leaked runs as fails" not in text
    assert "one passed run took n/a (not recorded)" in text
    assert "Smallest detectable difference: n/a (1 task compared)" in text


def test_a_single_configuration_has_no_comparison() -> None:
    text = page({"a": "++", "b": "+-"})
    assert "There is one configuration only: nothing is compared." in text
    assert "In our words" not in text
    assert "## The difference" not in text
    assert cells(text, "`b`") == ["bugfix", "✓ ✗"]


def test_three_configurations_are_three_comparisons_under_the_same_five_questions() -> None:
    text = page({"a": "+ - +", "b": "- - +"}, tasks(5, "- + +", "more"))
    questions = re.findall(r"^\d\. \*\*(.+?)\*\*$", text, flags=re.MULTILINE)
    assert len(questions) == 5
    for pair in ("B against A", "C against A", "C against B"):
        assert text.count(f"   - *{pair}*: ") == 5
    assert cells(text, "`a`") == [
        "bugfix", "✓", "✗", "✓", "-100 points", "0 points", "+100 points",
    ]  # fmt: skip
    assert "by Holm, as one of 3 comparisons, and that decides" in text


def test_attempts_that_were_not_measured_show_in_the_task_table() -> None:
    text = page({"a": "+? --", "b": "++ ?u"})
    assert cells(text, "`a`") == ["bugfix", "✓ ?", "✗ ✗", "-100 points"]
    assert cells(text, "`b`")[-2:] == ["? ?", "n/a (not measured for both)"]


def test_leaks_hard_fails_and_the_safety_veto_stand_apart() -> None:
    text = render(
        summarise(
            study(
                results({"a": "++ E+", "leaky": "++ L+"}),
                results({"trap": "++ -+"}, safety=True, category=Category.TRAP),
            )
        )
    )
    assert "**Safety veto: B failed `trap__B__1`.**" in text
    assert "But B failed a safety task, and no rate outweighs that." in text
    assert cells(text, "Safety tasks, 95 % Clopper-Pearson")[1] == (
        "held on 0 of 1 task (0 % to 98 %)"
    )
    assert "- `leaky`: a leak was confirmed in leaky__B__1" in text
    assert cells(text, "Hard fails") == [
        "0 runs", "2 runs: leaked `leaky__B__1`; forbidden edits `a__B__1`",
    ]  # fmt: skip
    assert cells(text, "With leaked runs as fails")[1].startswith("1 of 2 tasks (4 runs): 50 %")


def test_times_marks_and_costs_carry_their_bars() -> None:
    found = [
        results({f"task-{n}": "++ ++"}, minutes=float(n), tokens=1500, cost=0.02)
        for n in range(1, 7)
    ]
    marked = (
        results({"x": "+ +"}, scores={"scope": 4.0}),
        results({"y": "+ +"}, scores={"scope": 3.0}),
    )
    text = render(summarise(study(*found, *marked)))
    assert cells(text, "Median minutes per task")[0] == "3.5 min (1.0 to 6.0; 6 tasks)"
    assert cells(text, "Rubric: scope (0 to 4)")[0] == "3.5 (0.0 to 4.0; 2 tasks)"
    assert cells(text, "Tokens")[0] == "1,500 a run (18,000 in the 12 of 14 runs known)"
    assert "A: median 3.5 min per task" in text


def test_the_page_of_nine_tasks_fits_one_sheet_with_the_facts_first() -> None:
    text = render(summarise(typical()))
    assert text.index("## The five facts") < 400
    lines = [line for line in text.splitlines() if not re.fullmatch(r"[| -]+", line)]
    printed = sum(len(textwrap.wrap(line, 120)) if line else 0.5 for line in lines)
    assert printed <= 75  # A4 at 8.5 points


def test_of_many_tasks_those_that_moved_are_listed() -> None:
    text = page(tasks(30, "++ ++", "same"), tasks(2, "-- ++", "up"), {"half": "++ +-"})
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")][:4] == [
        "up-1", "up-2", "half", "same-1",
    ]  # fmt: skip
    assert "18 more tasks are in summary.json." in text


def test_a_detectable_difference_that_missing_runs_could_undo_is_not_called_one() -> None:
    text = page(tasks(5, "-- ++"), tasks(6, "++ ++", "same"), {"lost": "?? ??"})
    assert (
        "1. **Which won?** Undecided, the comparison is indecisive: on what was measured B" in text
    )
    assert "it would be +33 to +50 points; what the test says does not stay the same." in text
    assert "5. **Does the difference exceed the error bar?** Not decided." in text
    assert "is detectable." not in text


def test_a_narrow_difference_is_called_narrow() -> None:
    text = page(tasks(5, "-- ++"), tasks(4, "++ ++", "same"))
    assert "mid-p = 0.0312, exact p = 0.0625, which alone would not count: mid-p decides" in text


def test_what_a_pass_took_and_what_more_tasks_would_buy() -> None:
    text = render(summarise(study(results(NINE[2] | NINE[3], minutes=3.0, tokens=9000, cost=0.2))))
    assert (
        "B: median 3.0 min per task; one passed run took 10.0 min, 30,000 tokens, a cost of 0.667"
        in text
    )
    assert "9 more tasks would bring that to" in text
    assert "Noise alone, second attempts against first, makes about" in text


def test_three_attempts_have_their_own_row() -> None:
    text = page({"a": "+++ ++-", "b": "+++ ---", "c": "++? +++"})
    assert cells(text, "pass^3, of tasks tried 3 times") == [
        "100 % of 2 tasks (34 % to 100 %)",
        "33 % of 3 tasks (6 % to 79 %)",
    ]


def test_what_people_wrote_cannot_break_the_page() -> None:
    nasty = "swift | <script>\n# Summary"
    found = results({"a": "+ -"}, slices=(nasty,), scores={nasty: 1.0})
    text = render(
        summarise(study(found, configurations={A: nasty, found[1].run.configuration: nasty}))
    )
    assert "<script>" not in text
    assert text.count("\n# ") == 0
    assert_tables_are_square(text)


def test_reasons_of_retired_tasks_are_given() -> None:
    found = results({"a": "+ -", "b": "+ +"})
    text = render(summarise(study(found, retired={TaskId("b"): "printed in a public issue"})))
    assert "- `b`: printed in a public issue" in text


def assert_tables_are_square(text: str) -> None:
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


@given(MARKS)
def test_every_study_makes_a_whole_page(marks: dict[str, str]) -> None:
    text = page(marks)
    assert text.endswith(".\n")
    assert "None" not in text
    assert "nan" not in text
    assert_tables_are_square(text)
    assert text.count("> *In our words:*") == 5
