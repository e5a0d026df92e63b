"""What `labkit task list` and `labkit task check` do: the team's tasks at a glance."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from labkit.cli.console import data
from labkit.cli.freezing import frozen_tasks
from labkit.cli.lab import Lab
from labkit.cli.sizes import solution_size
from labkit.cli.states import Standing, State
from labkit.cli.survey import Finding, Survey, Weight, survey
from labkit.fields import counted, json_text
from labkit.model import Category, TaskId
from labkit.suite import version
from labkit.tasks import Task

SCHEMA = 1
_HEAD = ("task", "category", "author", "state", "tests", "changes", "title")
_SHORT = {
    "fail_to_pass": "new",
    "pass_to_pass": "kept",
    "mutations": "faults",
    "examples": "examples",
}


def list_tasks(*, as_json: bool) -> None:
    """Write a table of every task, or the same as JSON."""
    found = survey(Lab.open())
    ids = found.read(found.lab.workspace.task_ids) or ()
    if as_json:
        tasks = [_plain(found, task) for task in ids]
        data(json_text({"schema": SCHEMA, "version": version_now(found), "tasks": tasks}))
        return
    data(table([_HEAD, *(_row(found, task) for task in ids)]))


def _plain(found: Survey, name: TaskId) -> dict[str, object]:
    task, state = found.tasks.get(name), found.standings.get(name)
    if task is None or state is None:
        return {"id": str(name), "state": str(State.BROKEN)}
    size = solution_size(found.lab.repository, task)
    return {
        "id": str(name),
        "category": str(task.category),
        "author": task.author,
        "state": str(state.state),
        "changed": list(state.changed),
        "tests": dict(state.counts),
        "lines": size.lines if size else None,
        "files": size.files if size else None,
        "title": task.title,
    }


def _row(found: Survey, name: TaskId) -> tuple[str, ...]:
    task, state = found.tasks.get(name), found.standings.get(name)
    if task is None or state is None:
        return (str(name), "", "", str(State.BROKEN), "", "", "labkit task check says why")
    return (
        *(str(name), str(task.category), task.author, str(state.state)),
        *(_tests(state), _changes(found, task), task.title),
    )


def _tests(state: Standing) -> str:
    told = [f"{state.counts[name]} {word}" for name, word in _SHORT.items() if name in state.counts]
    return ", ".join(told) or "-"


def _changes(found: Survey, task: Task) -> str:
    size = solution_size(found.lab.repository, task)
    return f"{counted(size.lines, 'line')}, {counted(size.files, 'file')}" if size else "-"


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows with their columns below each other; the last one is as long as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )  # fmt: skip


def check(*, as_json: bool) -> int:
    """Tell everything that is to be done; return 1 when there is something."""
    found = survey(Lab.open())
    to_do = found.of(Weight.ERROR, Weight.MIX)
    if as_json:
        data(json_text(_report(found)))
    else:
        data("\n".join(_lines(found, to_do)))
    return 1 if to_do else 0


def _report(found: Survey) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "version": version_now(found),
        "frozen": found.suite.version if found.suite else None,
        "findings": [
            {"weight": str(each.weight), "what": each.what, "mend": each.mend}
            for each in found.findings
        ],
    }


def _lines(found: Survey, to_do: list[Finding]) -> Iterator[str]:
    kinds = Counter(task.category for task in found.tasks.values())
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in Category if kinds[kind])
    yield f"{counted(len(found.tasks), 'task')}{f': {told}' if told else ''}"
    owners = Counter(task.author for task in found.tasks.values())
    told = ", ".join(f"{who} {count}" for who, count in sorted(owners.items()))
    yield f"owners: {told or 'nobody'}"
    yield _version_line(found)
    for title, findings in (("to do", to_do), ("worth a look", found.of(Weight.ADVICE))):
        if findings:
            yield f"{title}:"
        # Findings in a row that have one mend tell it once, behind the last of them.
        for mend, alike in groupby(findings, key=lambda finding: finding.mend):
            yield from (f"  {finding.what}" for finding in alike)
            if mend:
                yield f"    {mend}"
    if not to_do:
        yield "nothing is to be done" + ("" if found.suite else ": labkit task freeze")


def version_now(found: Survey) -> str | None:
    """Return the version that the suite would have if it were frozen now; None: not all sealed."""
    if not found.tasks or found.rubric is None or found.seals.keys() != found.tasks.keys():
        return None
    environment = found.lab.pinned_environment(found.tasks)
    return version(frozen_tasks(found), found.rubric.facts(), environment)


def _version_line(found: Survey) -> str:
    now = version_now(found)
    sealed = f"{len(found.seals)} of {counted(len(found.tasks), 'task')} sealed"
    if found.suite is None:
        return f"suite version: {now or f'none yet, {sealed}'}"
    if now == found.suite.version:
        return f"suite version: {now}, as it was frozen"
    return f"suite version: frozen as {found.suite.version}, now {now or f'none, {sealed}'}"
