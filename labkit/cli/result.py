"""What `labkit summary` does: summarises a finished study, and puts studies together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.cli.console import data, say
from labkit.cli.finished import finished_study
from labkit.cli.lab import Lab
from labkit.configurations import read_configurations
from labkit.errors import InputError
from labkit.fields import json_text, read_bytes
from labkit.model import ConfigurationId
from labkit.phases import require_graded, require_unblinded
from labkit.report import explain, reports
from labkit.report.data import pool_json
from labkit.report.ownwords import with_words
from labkit.report.pooled import render_pool
from labkit.summary import summarise
from labkit.summary.earlier import read_earlier
from labkit.summary.leaderboard import against as against_leaderboard
from labkit.summary.leaderboard import read_scores
from labkit.summary.pool import pool
from labkit.summary.rerun import rerun
from labkit.workspace import replace as replace_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What a summary is put beside, as typed."""

    against: Path | None = None
    """An earlier summary.json."""
    leaderboard: Path | None = None
    """A CSV file of scores."""


def summarise_lab(beside: Beside, *, as_json: bool) -> None:
    """Write the summary in every form, and print its Markdown or its JSON."""
    lab = Lab.open()
    done = require_graded(lab.workspace)
    require_unblinded(lab.workspace)
    earlier = read_earlier(beside.against) if beside.against else None
    scores = _scores(lab, beside.leaderboard) if beside.leaderboard else None
    summary = summarise(finished_study(lab, done))
    if earlier is not None:
        summary = replace(summary, reruns=rerun(summary, earlier))
    if scores is not None:
        summary = replace(summary, leaderboard=against_leaderboard(summary, scores))
    written = []
    for ending, made in reports(summary):
        path = lab.workspace.summary(ending)
        content = _with_words(path, made) if ending == "md" else made
        replace_file(path, content)
        written.append(path.name)
        if ending == ("json" if as_json else "md"):
            data(content)
    say(f"written to {lab.workspace.evals}: {', '.join(written)}")


def _with_words(path: Path, page: str) -> str:
    """Return a page with what people wrote into the one that it replaces."""
    if not path.is_file():
        return page
    return with_words(page, path.read_text(encoding="utf-8", errors="replace"))


def explain_term(word: str) -> None:
    """Print what a word of the reports means."""
    data(explain(word))


def _scores(lab: Lab, path: Path) -> Mapping[ConfigurationId, float]:
    if not path.is_file():
        raise InputError(f"no file {path}", hint="give a CSV file with columns configuration,score")
    known = [found.id for found in read_configurations(lab.workspace)]
    return read_scores(read_bytes(path), path.name, known)


def pool_files(files: Sequence[Path], *, as_json: bool) -> None:
    """Print what the summaries of several teams say together."""
    pooled = pool([read_earlier(path) for path in files])
    data(json_text(pool_json(pooled)) if as_json else render_pool(pooled))
