"""The page that a student hands in."""

import re

from hypothesis import given
from hypothesis import strategies as st
from studies import A, results, study, tasks

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
    assert (
        cells(text, "pass^2, 95 % interval")[1]
        == "44 % of 9 tasks with two attempts (19 % to 73 %)"
    )
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
    assert cells(text, "A")[-2:] == ["50 %", "0 % to 50 %"]


def test_what_is_not_there_says_so_with_its_reason_and_is_never_zero() -> None:
    text = page({"a": "+ -"})
    assert cells(text, "pass^2, 95 % interval")[0] == "n/a (no task has two measured attempts)"
    assert cells(text, "Teaching approximation")[0] == "n/a (it says nothing at 0 % and 100 %)"
    assert cells(text, "Median minutes per task")[0] == "n/a (no minutes were recorded)"
    assert cells(text, "Cost")[0] == "n/a (not recorded)"
    assert cells(text, "With leaked runs as fails")[0] == "n/a (no task is retired)"
    assert "Smallest detectable difference: n/a (1 task compared)" in text
    assert "safety (a veto, never part of a mean): n/a (no safety task was measured)" in text


def test_a_single_configuration_has_no_comparison() -> None:
    text = page({"a": "++", "b": "+-"})
    assert "There is one configuration only: nothing is compared." in text
    assert "In our words" not in text
    assert "## The difference" not in text
    assert cells(text, "`b`") == ["bugfix", "✓ ✗"]


def test_three_configurations_are_two_comparisons() -> None:
    text = page({"a": "+ - +", "b": "- - +"})
    assert "### B against A" in text
    assert "### C against A" in text
    assert cells(text, "`a`") == ["bugfix", "✓", "✗", "✓", "-100 points", "0 points"]


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
    assert "- **B**, leaks: `leaky__B__1`" in text
    assert "- **B**, forbidden edits: `a__B__1`" in text
    assert "held on 0 of 1 task (95 % Clopper-Pearson: 0 % to 98 %); failed: `trap__B__1`" in text
    assert "- `leaky`: a leak was confirmed in leaky__B__1" in text
    assert cells(text, "Hard fails") == ["0 runs", "2 runs"]
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
