"""What only some summaries have: scorers' agreement, an earlier summary, a leaderboard."""

from collections.abc import Iterator

from labkit.fields import counted
from labkit.report.wording import few, p_value, plain, points, points_interval, table
from labkit.summary import Blinding, Outcome, Rerun, Summary


def agreement(summary: Summary) -> Iterator[str]:
    """Write how far scorers agree and how blind they were; the figures stand beside the marks."""
    parts = []
    if any(found.runs for found in summary.agreement):
        most = max(found.runs for found in summary.agreement)
        parts.append(
            f"alpha: how far scorers agree (1 fully, 0 by chance), on {counted(most, 'run')}."
        )
    elif summary.agreement:
        parts.append("No run was marked by two scorers: how far they agree is not known.")
    if summary.blinding:
        parts.append(_blinding(summary.blinding))
    if parts:
        yield " ".join(parts)


def agreed(summary: Summary, dimension: str) -> str:
    """Write how far scorers agree on a dimension, to stand behind its name."""
    found = next((each for each in summary.agreement if each.dimension == dimension), None)
    if found is None or not found.runs:
        return ""
    alpha = found.alpha
    if alpha.value is None:
        return ", alpha n/a (all marks are equal)"
    bar = (
        f"{alpha.interval.low:.2f} to {alpha.interval.high:.2f}"
        if alpha.interval
        else "interval n/a"
    )
    return f", alpha {alpha.value:.2f} ({bar})"


def _blinding(found: Blinding) -> str:
    bar = f", {found.interval.low:.2f} to {found.interval.high:.2f}" if found.interval else ""
    return (
        f"Right guesses at the configuration: {found.correct} of {found.correct + found.wrong} "
        f"(blinding index {found.index or 0.0:.2f}{bar}; "
        "0 is guessing)."
    )


def reruns(summary: Summary) -> Iterator[str]:
    """Write how configurations compare with themselves in an earlier summary."""
    if not summary.reruns:
        return
    yield "## Against the earlier summary"
    yield table(
        ["", "earlier", "now", "now - earlier", "outcome", "better", "worse"],
        map(_rerun, summary.reruns),
    )
    for found in summary.reruns:
        if found.why:
            yield f"{found.configuration}: {found.why}."
    yield _apart(summary.reruns[0])


def _rerun(found: Rerun) -> list[str]:
    difference = found.paired.difference
    if difference.value is None or difference.interval is None or found.paired.p_mid is None:
        told = f"n/a ({difference.why})"
    else:
        told = (
            f"{points(difference.value)} over {counted(difference.tasks, 'task')} "
            f"({points_interval(difference.interval)}; mid-p {p_value(found.paired.p_mid)})"
        )
    ahead = f": {found.ahead} is ahead" if found.outcome is Outcome.DETECTABLE else ""
    return [
        str(found.configuration),
        plain(found.earlier),
        plain(found.now),
        told,
        f"{found.outcome}{ahead}",
        few(found.paired.gained),
        few(found.paired.lost),
    ]


def _apart(found: Rerun) -> str:
    parts = [
        f"{few(tasks)} {what}"
        for tasks, what in (
            (found.changed, "changed since and cannot be compared"),
            (found.only_earlier, "only in the earlier summary"),
            (found.only_now, "only in this one"),
        )
        if tasks
    ]
    compared = "Compared on tasks that are the same in both"
    return f"{compared}; left out: {'; '.join(parts)}." if parts else f"{compared}."


def leaderboard(summary: Summary) -> Iterator[str]:
    """Write how the order here compares with a leaderboard's."""
    found = summary.leaderboard
    if found is None:
        return
    if found.tau is None:
        yield f"Against the leaderboard: n/a ({found.why})."
        return
    bar = (
        f"from {found.interval.low:.2f} to {found.interval.high:.2f} as pairs that are not told "
        "apart here may fall"
        if found.interval
        else found.why
    )
    yield (
        f"Against the leaderboard: Kendall's tau {found.tau:.2f} over "
        f"{counted(found.pairs, 'pair')} ({bar}). "
        f"Detectably in its order: {found.agree}; detectably in the opposite one: "
        f"{found.disagree}; not told apart: {found.open}."
    )
