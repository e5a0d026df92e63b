"""One summary in every form in which it is written."""

from collections.abc import Iterator

from labkit.fields import json_text
from labkit.report.data import to_json
from labkit.report.facts import five_facts
from labkit.report.htmlpage import Facts, to_html
from labkit.report.junit import to_junit
from labkit.report.markdown import render
from labkit.report.reading import read_sheet
from labkit.report.table import to_csv
from labkit.summary import Summary


def reports(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield the ending and the content of each form, from the quickest to the slowest.

    All but the first are made of the JSON alone. Drawing takes most of the time, so it comes last.
    """
    values = to_json(summary)
    yield "md", render(summary)
    yield "json", json_text(values)
    sheet = read_sheet(values)
    yield "csv", to_csv(sheet)
    yield "junit.xml", to_junit(sheet)
    yield "html", to_html(sheet, _facts(summary))


def _facts(summary: Summary) -> Facts:
    return {
        f"{comparison.second} against {comparison.first}": tuple(
            (fact.question, fact.answer) for fact in five_facts(summary, comparison)
        )
        for comparison in summary.comparisons
    }
