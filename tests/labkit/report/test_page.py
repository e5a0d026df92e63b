"""The page as a browser and a screen reader find it."""

import base64
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given, settings
from hypothesis import strategies as st
from sheets import HOSTILE, document, named, nine, rich
from studies import results, study, tasks

from labkit.report import reports
from labkit.report.htmlpage import to_html
from labkit.report.reading import read_sheet, visible
from labkit.summary import summarise

VOID = {"meta", "img", "br"}
FACTS = {"B against A": (("Which won?", "Neither."),)}


class Page(HTMLParser):
    """Reads a page strictly: whatever opens must close, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data.strip()))

    def tags(self, tag: str) -> list[dict[str, str]]:
        return [attributes for found, attributes in self.elements if found == tag]

    def told(self, *tags: str) -> list[str]:
        return [text for tag, text in self.texts if not tags or tag in tags]


def test_the_page_stands_alone() -> None:
    text = to_html(rich(), FACTS)
    page = Page(text)
    assert not page.tags("script")
    assert not page.tags("link")
    assert "http" not in text.replace("http-equiv", "")
    assert "url(" not in text
    assert "@import" not in text
    sources = [image["src"] for image in page.tags("img")]
    assert len(sources) == 6
    for source in sources:
        assert source.startswith("data:image/svg+xml;base64,")
        fromstring(base64.b64decode(source.partition(",")[2]).decode())
    (policy,) = [each["content"] for each in page.tags("meta") if "http-equiv" in each]
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_the_page_can_be_read_without_eyes() -> None:
    page = Page(to_html(rich(), FACTS))
    assert page.tags("html") == [{"lang": "en"}]
    assert all(len(image["alt"]) > 20 for image in page.tags("img"))
    assert len(page.tags("caption")) == len(page.tags("table")) > 5
    assert {cell["scope"] for cell in page.tags("th")} == {"col", "row"}
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for region in (each for each in page.tags("section") if "class" in each):
        assert region["aria-label"]
        assert region["tabindex"] == "0"


def test_the_facts_come_first() -> None:
    page = Page(to_html(rich(), FACTS))
    headings = page.told("h2")
    assert headings[:2] == ["The five facts", "Rates and the difference"]
    assert headings[-2:] == ["Limitations", "Words"]
    assert page.told("dt")[0] == "Which won?"


def test_figures_stand_with_their_units_and_bars() -> None:
    told = Page(to_html(rich(), FACTS)).told("bdi")
    assert "3.5 of 9 tasks (18 runs)" in told
    assert "39 % (15 % to 69 %; 9 tasks)" in told
    assert "alpha 0.62 (0.31 to 0.84), 12 runs" in told
    assert "1,500 a run (27,000 in 18 runs)" in told
    assert "9.5 min" in told
    assert "mid-p = 0.2 over 3 comparisons" in told
    assert "what was found could turn: -10 to +50 points" in told
    assert "-10 points, by chance alone, which stays within 22 points 19 times out of 20" in told


def test_what_people_wrote_is_text_and_nothing_else() -> None:
    text = to_html(read_sheet(named(HOSTILE)), {HOSTILE[0]: ((HOSTILE[1], HOSTILE[2]),)})
    page = Page(text)
    assert not page.tags("script")
    assert not [each for _, each in page.elements if any(name.startswith("on") for name in each)]
    told = page.told()
    for name in HOSTILE:
        assert visible(name) in told
    assert "49" not in told
    assert not set("\u202e\u2066\x1b\x00") & set(text.split("<main>")[0])


@pytest.mark.parametrize(
    "marks",
    [
        tasks(9, "++ ++"),
        tasks(9, "-- --"),
        tasks(1, "+ -"),
        tasks(3, "?? ??"),
        tasks(3, "?? ++"),
        tasks(3, "++"),
        {"a": "+? ??", "b": "?? +-"},
        tasks(3, "++ -- +-"),
        tasks(60, "+- ++"),
        {"leaky": "L+ ++"},
    ],
    ids=["all", "none", "one", "nothing", "one side", "alone", "apart", "three", "many", "leaked"],
)
def test_whatever_was_found_makes_a_whole_page(marks: dict[str, str]) -> None:
    forms = dict(reports(summarise(study(results(marks)))))
    page = Page(forms["html"])
    told = page.told()
    assert not [text for text in told if re.search(r"\b(?:nan|inf|None|Undefined)\b", text)]
    assert len(page.tags("caption")) == len(page.tags("table"))


@settings(max_examples=15, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.tuples(*[st.text("+-u?LE", min_size=1, max_size=2)] * 2).map(" ".join),
        min_size=1,
    )
)
def test_every_study_makes_every_form(marks: dict[str, str]) -> None:
    forms = dict(reports(summarise(study(results(marks)))))
    assert list(forms) == ["md", "json", "csv", "junit.xml", "html"]
    told = Page(forms["html"]).told()
    assert not [text for text in told if re.search(r"\b(?:nan|inf|None)\b", text)]
    fromstring(forms["junit.xml"])


def test_the_same_summary_gives_the_same_bytes() -> None:
    assert dict(reports(nine())) == dict(reports(nine()))


def test_a_comparison_that_could_see_nothing_says_why() -> None:
    values = document(nine())
    values["comparisons"][0]["outlook"] = None
    page = Page(to_html(read_sheet(values), FACTS))
    assert "n/a (this needs two tasks measured for both)" in page.told("p")


def test_plans_of_about_twice_the_tasks_are_drawn_and_no_smaller_ones() -> None:
    page = Page(to_html(rich(), FACTS))
    (alt,) = [image["alt"] for image in page.tags("img") if "you are here" in image["alt"]]
    plans = re.findall(r"(\d+) tasks? x (\d) attempts", alt)
    assert plans == [("9", "2"), ("18", "2"), ("36", "2"), ("9", "3")]


def test_a_long_table_says_what_it_leaves_out() -> None:
    forms = dict(reports(summarise(study(results(tasks(700, "+- ++"))))))
    page = Page(forms["html"])
    told = " ".join(page.told("p"))
    assert "The table has the first 500 of 700 tasks." in told
    assert "summary.csv has them all" in told
    assert forms["csv"].count("\n") == 1 + 2 * 700
    (flaky,) = [text for text in page.told("bdi") if "and 692 more" in text]
    assert flaky.startswith("task-1, ")
