"""The pictures: the same bytes everywhere, any script, any number of tasks."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given, settings
from hypothesis import strategies as st
from sheets import HOSTILE

from labkit.report.figures import (
    Amount,
    Bar,
    Dimension,
    End,
    Move,
    Panel,
    Picture,
    Plan,
    effort,
    forest,
    grid,
    marks,
    moves,
    power,
)
from labkit.report.figures.canvas import COLOURS, columns, fitted
from labkit.report.reading import visible
from labkit.stats import Interval

SVG = "{http://www.w3.org/2000/svg}"
A, B = End("A", 0), End("B", 1)
NAMES = tuple(map(visible, HOSTILE))


def parts(picture: Picture | None, tag: str) -> list[ET.Element]:
    """Return the elements of a picture, which must be sound XML."""
    assert picture is not None
    return list(fromstring(picture.svg.decode()).iter(f"{SVG}{tag}"))


def texts(picture: Picture | None) -> list[str]:
    return ["".join(element.itertext()).strip() for element in parts(picture, "text")]


def bars(*names: str) -> tuple[Bar, ...]:
    return tuple(
        Bar(label=name, value=0.5, interval=Interval(low=0.2, high=0.8), text="50 %")
        for name in names
    )


def every(names: tuple[str, ...]) -> list[Picture | None]:
    """Draw every kind of picture with these names."""
    dimension = Dimension(name=names[0], means=((3.0, None), (None, None)), agreement=names[-1])
    return [
        moves([Move(name, 0.5, 1.0) for name in names], A, B),
        grid([(name, {"A": (True, None), "B": (False,)}) for name in names]),
        forest(bars(*names), bars(names[0])),
        marks([dimension], ["A", "B"]),
        effort([Panel(title="minutes", amounts=(Amount(value=1, text=names[0]),))], ["A"]),
        power(Plan(9, 2, 0.46), [(0.0, 0.0), (0.5, 0.9)], [Plan(18, 2, 0.3)]),
    ]


def test_names_of_any_script_are_text_that_the_reader_s_fonts_draw() -> None:
    found = texts(moves([Move(name, 0.0, 1.0) for name in NAMES], A, B))
    assert {"修正-时区-错误", "مهمة-إصلاح-الخطأ"} <= set(found)
    assert f"{'x' * 22}…{'x' * 11}" in found
    assert "</script><script>alert(1)</script>" in found
    assert "{{ 7 * 7 }} $\\frac{1}{2}$ &amp;" in found


def test_nothing_in_a_picture_can_run_or_be_fetched() -> None:
    for picture in every(NAMES):
        assert picture is not None
        found = list(fromstring(picture.svg.decode()).iter())
        assert len(found) > 20
        assert not {f"{SVG}script", f"{SVG}image", f"{SVG}a"} & {each.tag for each in found}
        attributes = [pair for each in found for pair in each.attrib.items()]
        assert not [name for name, _ in attributes if name.lower().startswith("on")]
        assert all(link.startswith("#") for name, link in attributes if name.endswith("href"))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_text_makes_a_sound_picture(names: list[str]) -> None:
    shown = tuple(visible(name) for name in names)
    for picture in every(shown):
        assert parts(picture, "text")


def test_the_same_figures_give_the_same_bytes_whatever_the_user_has_set_up(
    tmp_path: Path,
) -> None:
    program = (
        "from labkit.report.figures import End, Move, moves;"
        "import sys;"
        "a, b = End('A', 0), End('B', 1);"
        "sys.stdout.buffer.write(moves([Move('a', 0.5, 1.0), Move('ä', 1, 0)], a, b).svg)"
    )
    (tmp_path / "matplotlibrc").write_text("axes.linewidth: 30\nsvg.fonttype: path\n")
    (tmp_path / "other").mkdir()
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"MPLCONFIGDIR": str(folder), "PYTHONHASHSEED": seed, "LC_ALL": "C.UTF-8"},
            cwd=folder,
            check=True,
            capture_output=True,
        ).stdout
        for folder, seed in ((tmp_path, "1"), (tmp_path / "other", "2"))
    }
    (output,) = outputs
    assert b"<dc:date>" not in output


@pytest.mark.parametrize(("count", "named"), [(1, True), (9, True), (36, True), (46, False)])
def test_few_tasks_have_a_line_each_and_many_are_counted(count: int, *, named: bool) -> None:
    tasks = [Move(f"task-{n}", 0.5, 1.0) for n in range(count)]
    picture = moves(tasks, A, B)
    assert ("task-0" in texts(picture)) is named
    assert named or str(count) in texts(picture)
    assert picture is not None
    assert ("are counted" in picture.caption) is not named
    cells = grid([(task.task, {"A": (True,), "B": (False,)}) for task in tasks])
    assert ("task-0" in texts(cells)) is named
    assert named or "tasks 1 to 46" in texts(cells)


def test_what_moved_is_said_in_words() -> None:
    picture = moves([Move("a", 0, 1), Move("b", 1, 0.5), Move("c", 1, 1)], A, B)
    assert picture is not None
    assert picture.alt == (
        "B passed more attempts than A on 1 task, fewer on 1 task, and as many on 1 task."
    )
    assert texts(picture)[:3] == ["0 %", "25 %", "50 %"]


def test_those_that_gained_most_stand_in_front() -> None:
    picture = moves([Move("lost", 1, 0), Move("level", 1, 1), Move("gained", 0, 1)], A, B)
    shown = [text for text in texts(picture) if text in ("lost", "level", "gained")]
    assert shown == ["gained", "level", "lost"]


def test_a_configuration_keeps_its_colour_in_every_pair() -> None:
    picture = moves([Move("a", 0, 1)], B, End("C", 2))
    assert picture is not None
    drawn = picture.svg.decode().lower()
    assert COLOURS[1].lower() in drawn
    assert COLOURS[2].lower() in drawn
    assert COLOURS[0].lower() not in drawn


def test_every_attempt_is_a_cell() -> None:
    picture = grid([("a", {"A": (True, False), "B": (None,)}), ("b", {"A": (True, True)})])
    assert picture is not None
    assert picture.alt == "3 attempts passed, 1 failed and 1 was not measured, on 2 tasks."
    # One marker is drawn for each: three squares, a cross, a dash.
    assert len(parts(picture, "use")) == 5
    assert [text for text in texts(picture) if re.fullmatch("[AB].", text)] == ["A1", "A2", "B1"]


def test_too_many_tasks_are_not_drawn_attempt_by_attempt() -> None:
    assert grid([(f"task-{n}", {"A": (True,)}) for n in range(601)]) is None


def test_what_is_not_there_is_not_drawn() -> None:
    assert moves([], A, B) is None
    assert grid([]) is None
    assert grid([("a", {})]) is None
    assert forest([], []) is None
    nothing = Dimension(name="scope", means=((None, None),), agreement="")
    assert marks([nothing], ["A"]) is None
    assert effort([Panel(title="cost", amounts=(Amount(value=None, text="n/a"),))], ["A"]) is None
    assert power(Plan(1, 1, None), [], []) is None


def test_a_rate_without_an_interval_has_a_point_and_no_bar() -> None:
    without = Bar(label="A", value=0.5, interval=None, text="50 %")
    (bar,) = bars("A")
    with_bar = forest([bar], [])
    alone = forest([without], [])
    assert alone is not None
    assert with_bar is not None
    assert len(parts(with_bar, "path")) > len(parts(alone, "path"))
    assert alone.title == "Rates"


def test_the_plan_is_marked_where_it_is_and_out_of_reach_is_said() -> None:
    picture = power(
        Plan(9, 2, 0.46),
        [(0.0, 0.0), (0.5, 0.9)],
        [Plan(18, 2, 0.3), Plan(4, 1, 1.2), Plan(1, 2, None)],
    )
    assert picture is not None
    assert "9 tasks x 2 attempts (you are here): 46 points" in picture.alt
    assert "18 tasks x 2 attempts: 30 points" in picture.alt
    assert "4 tasks x 1 attempt: out of reach" in picture.alt
    assert "1 task x 2 attempts: out of reach" in picture.alt
    assert "46 points: 9 tasks x 2 attempts" in texts(picture)
    assert "(you are here)" in texts(picture)


def test_agreement_and_marks_stand_in_one_picture() -> None:
    found = Dimension(
        name="scope",
        means=((3.0, Interval(low=2, high=4)), (None, None)),
        agreement="alpha 0.62 (0.31 to 0.84), 12 runs",
    )
    picture = marks([found], ["A", "B"])
    assert "alpha 0.62 (0.31 to 0.84), 12 runs" in texts(picture)
    assert picture is not None
    assert picture.alt == "scope: A 3.0, B n/a."


@given(st.text(), st.integers(4, 40))
def test_a_fitted_text_is_never_wider(text: str, most: int) -> None:
    assert columns(fitted(text, most)) <= max(most, 4)
    assert columns(text) > most or fitted(text, most) == text
