"""leaks.md: what was checked, what was found and what people decided, in a reader's words."""

from collections.abc import Iterator

from labkit_grader.leaks.hits import Hit, Rule, Severity
from labkit_grader.leaks.review import Choice, Decision, Review
from labkit_grader.leaks.rules import Checked

_TITLES = {
    Rule.CANARY: "A word planted in the hidden files came out of a run",
    Rule.PROTECTED_READ: "A protected path was read",
    Rule.PROTECTED_SEARCH: "A search above the work folder found something protected",
    Rule.CANARY_IN_PROMPT: "A word planted in the hidden files stands in the prompt",
    Rule.ATTEMPT: "A protected path was tried",
    Rule.OUTSIDE: "A path outside the work folder",
    Rule.UNDECIDABLE: "A command that cannot be judged without running it",
    Rule.HISTORY: "A look into the history",
    Rule.NETWORK: "A request to the network",
    Rule.PROBE: "A look at the sandbox itself",
    Rule.COVERAGE: "A transcript that was not understood whole",
    Rule.CANARY_IN_WORDS: "The agent says a planted word that no output showed it",
}
_LONGEST_GAPS = 3


def render(review: Review) -> str:
    """Return the whole report as Markdown; it never shows a canary."""
    return "\n".join(_lines(review)) + "\n"


def _lines(review: Review) -> Iterator[str]:
    waiting = review.open_hits()
    yield "# Leak check"
    yield ""
    yield f"Suite version: {review.suite_version}"
    yield ""
    yield (
        f"{len(review.checked)} runs checked, {len(review.hits)} hits, "
        f"{len(waiting)} still to be decided, {len(review.leaked_runs())} runs count as leaked."
    )
    yield ""
    yield (
        "A hard hit counts as a leak unless a person clears it. A hit for review counts only once "
        "a person confirms it. Clear what was harmless, confirm what was really read; both need a "
        "reason. A confirmed leak voids the run and retires its task for every configuration."
    )
    yield from _retired(review)
    yield from _hits("To be decided", waiting, review)
    yield from _hits("Counted as leaks", tuple(filter(review.counts, review.hits)), review)
    settled = {hit.id for hit in waiting} | {hit.id for hit in review.hits if review.counts(hit)}
    cleared = tuple(hit for hit in review.hits if hit.id not in settled)
    yield from _hits("Cleared", cleared, review)
    yield from _vanished(review.vanished)
    yield from _checked(review.checked)


def _retired(review: Review) -> Iterator[str]:
    yield from ("", "## Retired tasks", "")
    retired = review.retired_tasks()
    if not retired:
        yield "None."
    for task, reason in retired.items():
        yield f"- {task}: {_plain(reason)}"


def _hits(title: str, hits: tuple[Hit, ...], review: Review) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    if not hits:
        yield "None."
    for count, hit in enumerate(hits):
        yield from [""] * bool(count)
        yield from _hit(hit, review.decision(hit))


def _hit(hit: Hit, decision: Decision | None) -> Iterator[str]:
    kind = "hard" if hit.severity is Severity.HARD else "for review"
    yield f"### {hit.id}: {_TITLES[hit.rule]} ({hit.rule.value}, {kind})"
    yield ""
    where = hit.file if hit.line is None else f"{hit.file}, line {hit.line}"
    yield f"- Where: {', '.join(map(str, hit.runs))}: {where}"
    if hit.path:
        yield f"- Path: {_plain(hit.path)}"
    yield f"- Why: {hit.explanation}"
    if decision:
        verb = "Confirmed" if decision.choice is Choice.CONFIRMED else "Cleared"
        yield f"- {verb} by {decision.by}, {decision.at}: {_plain(decision.reason)}"
    if hit.excerpt:
        # Indented: nothing that an agent printed can be read as Markdown.
        yield from ("", f"      {hit.excerpt}")


def _vanished(decisions: tuple[Decision, ...]) -> Iterator[str]:
    if not decisions:
        return
    yield from ("", "## Decisions about hits that are no longer found", "")
    for decision in decisions:
        what = f"{decision.hit} {decision.choice} by {decision.by}, {decision.at}"
        yield f"- {what}: {_plain(decision.reason)}"


def _checked(checked: tuple[Checked, ...]) -> Iterator[str]:
    yield from ("", "## What was checked", "")
    yield "| Run | Format | Calls read | End mark | Not understood | Transcript (SHA-256) |"
    yield "|---|---|---:|---|---|---|"
    for check in checked:
        gaps = "; ".join(check.gaps[:_LONGEST_GAPS]) or "nothing"
        more = len(check.gaps) - _LONGEST_GAPS
        gaps += f"; {more} more" if more > 0 else ""
        ended = "yes" if check.ended else "no"
        cells = (check.run, check.format, check.calls, ended, gaps, check.digest[:12])
        yield f"| {' | '.join(map(str, cells))} |"


def _plain(text: str) -> str:
    """Return a text in which Markdown and HTML have no meaning."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|!" else char for char in text)
