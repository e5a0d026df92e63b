"""Summaries as documents for the tests of what is drawn and listed from them."""

from typing import Any

from studies import results, study, tasks

from labkit.report.data import to_json
from labkit.report.reading import read_sheet
from labkit.report.sheet import Sheet
from labkit.summary import Summary, summarise

NINE = (
    {"half": "+- ++"},
    tasks(3, "++ ++", "both"),
    tasks(3, "-- ++", "gained"),
    tasks(2, "-- --", "no"),
)
HOSTILE = (
    "</script><script>alert(1)</script>",
    '" onload="alert(1)',
    "\u202eevil\u2066",
    "{{ 7 * 7 }} $\\frac{1}{2}$ &amp;",
    "=cmd|' /C calc'!A0",
    "nul\x00bell\x07escape\x1b[31m",
    "修正-时区-错误",
    "مهمة-إصلاح-الخطأ",
    "x" * 200,
)
"""What people might call things: markup, marks that turn text, formulas, controls, any script."""


def nine(**more: Any) -> Summary:
    """Summarise nine tasks, two configurations, two attempts; `more` are fields of the results."""
    return summarise(study(*(results(part, **more) for part in NINE)))


def document(summary: Summary) -> dict[str, Any]:
    """Return the document of a summary with what only some studies have: agreement, an outlook."""
    values = to_json(summary)
    values["agreement"] = [
        {
            "dimension": "scope",
            "runs": 12,
            "alpha": {"value": 0.62, "interval": {"low": 0.31, "high": 0.84}, "why": ""},
        }
    ]
    for side in values["configurations"]:
        side["slowest"] = {"value": 9.5, "runs": 18, "why": ""}
        side["noise"] = {
            "tasks": 9,
            "moved": ["half"],
            "difference": {
                "value": -0.1,
                "interval": {"low": -0.3, "high": 0.2},
                "tasks": 9,
                "why": "",
            },
            "typical": 0.1,
            "largest": 0.22,
        }
        side["per_pass"] = {name: {"value": 12.5} for name in ("minutes", "tokens", "cost")}
    for row in values["tasks"]:
        row["minutes"] = dict.fromkeys(row["attempts"], 3.0)
    for pair in values["comparisons"]:
        pair.update(p_adjusted=0.2, comparisons=3, survives_missing=False)
        pair["difference_bounds"] = {"low": -0.1, "high": 0.5}
        pair["outlook"] = {
            "here": {"tasks": 9, "attempts": 2, "smallest": 0.46},
            "more_tasks": [
                {"tasks": n, "attempts": 2, "smallest": 1.38 / n**0.5} for n in (4, 12, 18, 36, 900)
            ],
            "more_attempts": {"tasks": 9, "attempts": 3, "smallest": None},
            "powers": [{"effect": n / 10, "power": min(1, n / 5)} for n in range(7)],
        }
    return values


def rich(**more: Any) -> Sheet:
    """Return the sheet of nine tasks with everything that there can be."""
    given = {"minutes": 3.0, "tokens": 1500, "cost": 0.02, "scores": {"scope": 3.0}} | more
    return read_sheet(document(nine(**given)))


def named(names: tuple[str, ...]) -> dict[str, Any]:
    """Return a document in which everything that people name is named by one of `names`."""
    values = document(nine(minutes=3.0, scores={"scope": 3.0}))
    values["team"] = values["difference"] = names[0]
    for number, row in enumerate(values["tasks"]):
        name = names[number % len(names)]
        for pair in values["comparisons"]:
            pair["differences"][name] = pair["differences"].pop(row["task"])
        row.update(task=name, slices=[name])
    for side in values["configurations"]:
        side["description"] = names[-1]
        side["rubric"] = {names[0]: side["rubric"]["scope"]}
    values["groups"] = [{**group, "name": names[1 % len(names)]} for group in values["groups"]]
    values["retired"] = {names[0]: names[-1]}
    values["limitations"] = [{"topic": "solo", "text": names[0]}]
    return values
