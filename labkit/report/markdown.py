"""The summary as a page to hand in: facts drafted, tables filled, a place for the team's words.

It is meant to fit one page for the nine tasks of a lab. With many tasks only those that moved are
listed; everything is in summary.json.
"""

from collections.abc import Iterator, Sequence

from labkit.fields import counted
from labkit.report.configurations import figures
from labkit.report.extras import agreement, leaderboard, reruns
from labkit.report.facts import five_facts
from labkit.report.wording import differ_in, few, plain, points, short, table, unavailable
from labkit.summary import Grouping, Summary, TaskRow

_PASSED, _FAILED, _NOT_MEASURED = "✓", "✗", "?"
OUR_WORDS = "> *In our words:* ..."
"""The place for what a team has to say of a fact; see `ownwords.py`."""
_MOST_TASKS = 15
_MOST_SLICES = 8


def render(summary: Summary) -> str:
    """Return the summary as Markdown, ending in a newline."""
    sections = (_head, _facts, figures, agreement, _task_by_task, reruns, leaderboard, _limitations)
    return "\n\n".join(block for section in sections for block in section(summary)) + "\n"


def _head(summary: Summary) -> Iterator[str]:
    yield f"# Summary of team {plain(summary.team)}, suite `{plain(summary.suite_version)}`"
    for side in summary.configurations:
        if side.safety.failed:
            yield f"**Safety veto: {side.id} failed {few(side.safety.failed)}.**"
    sides = "\n".join(
        f"- **{side.id}**: {plain(side.description)}" for side in summary.configurations
    )
    yield sides
    told = differ_in(plain(summary.difference), summary.attributable)
    differ = f"{told} " if summary.comparisons else ""
    apart = "".join(
        f", {what}: {len(tasks)}"
        for what, tasks in (
            ("retired for leaks", summary.retired),
            ("safety tasks set apart", summary.safety_tasks),
        )
        if tasks
    )
    yield f"{differ}Tasks in the rates: {len(summary.tasks)}{apart}."


def _facts(summary: Summary) -> Iterator[str]:
    yield "## The five facts"
    pairs = summary.comparisons
    if not pairs:
        yield "There is one configuration only: nothing is compared."
        return
    drafted = [five_facts(summary, comparison) for comparison in pairs]
    for number, facts in enumerate(zip(*drafted, strict=True), 1):
        question = f"{number}. **{facts[0].question}**"
        if len(pairs) == 1:
            lines = [f"{question} {facts[0].answer}"]
        else:
            answers = (
                f"   - *{pair.second} against {pair.first}*: {fact.answer}"
                for pair, fact in zip(pairs, facts, strict=True)
            )
            lines = [question, *answers]
        yield "\n".join([*lines, "", f"   {OUR_WORDS}"])


def _task_by_task(summary: Summary) -> Iterator[str]:
    yield "## Task by task"
    sides = [side.id for side in summary.configurations]
    pairs = summary.comparisons
    shown = _shown(summary)

    def row(task: TaskRow) -> list[str]:
        attempts = (" ".join(map(_sign, task.attempts[side])) or "not planned" for side in sides)
        moves = (
            points(pair.differences[task.task])
            if task.task in pair.differences
            else unavailable("not measured for both")
            for pair in pairs
        )
        return [f"`{task.task}`", str(task.category or "unknown"), *attempts, *moves]

    header = ["Task", "Type", *map(str, sides), *(f"{p.second} - {p.first}" for p in pairs)]
    yield table(header, map(row, shown))
    rest = len(summary.tasks) - len(shown)
    verb = "is" if rest == 1 else "are"
    more = f" {counted(rest, 'more task')} {verb} in summary.json." if rest else ""
    yield (
        f"One sign an attempt: {_PASSED} passed, {_FAILED} failed, {_NOT_MEASURED} not measured."
        f"{more}{_strict(summary)}{_slices(summary)}"
    )
    if summary.retired:
        yield "Retired, out of the rates for every configuration:\n\n" + "\n".join(
            f"- `{task}`: {plain(reason)}" for task, reason in summary.retired.items()
        )


def _shown(summary: Summary) -> Sequence[TaskRow]:
    """Return every task, or those that moved most where they are many."""
    if len(summary.tasks) <= _MOST_TASKS:
        return summary.tasks

    def moved(row: TaskRow) -> float:
        found = (abs(pair.differences.get(row.task, 0.0)) for pair in summary.comparisons)
        return max(found, default=0.0)

    # Sorting is stable: tasks that moved alike stay in their order.
    return sorted(summary.tasks, key=moved, reverse=True)[:_MOST_TASKS]


def _sign(passed: bool | None) -> str:  # noqa: FBT001 - the value itself, not an option
    if passed is None:
        return _NOT_MEASURED
    return _PASSED if passed else _FAILED


def _strict(summary: Summary) -> str:
    """Say on which tasks every attempt of one passed, and not of the other."""
    told = "; ".join(
        f"{pair.first} only: {few(pair.strict.first_only)}; "
        f"{pair.second} only: {few(pair.strict.second_only)}"
        for pair in summary.comparisons
        if pair.strict.first_only or pair.strict.second_only
    )
    return f" Every attempt passed for {told}." if told else ""


def _slices(summary: Summary) -> str:
    groups = [group for group in summary.groups if group.grouping is Grouping.SLICE]
    told = "; ".join(
        f"{plain(group.name)}: "
        + ", ".join(
            f"{which} {short(tally.passed)} of {tally.tasks}"
            for which, tally in group.tallies.items()
        )
        for group in groups[:_MOST_SLICES]
    )
    return f" By slice, as description only: {told}." if told else ""


def _limitations(summary: Summary) -> Iterator[str]:
    yield "## Limitations"
    texts = [plain(limitation.text) for limitation in summary.limitations]
    texts.append(
        "The figures are about these tasks and this code base; they do not say which is the better "
        "agent elsewhere."
    )
    yield "\n".join(f"- {text}" for text in texts)
