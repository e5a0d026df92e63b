"""What `labkit gate` does: reads two reports, decides, and says so in every form asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from labkit.cli.console import complain, data, say
from labkit.errors import InputError, IntegrityError, LabkitError, did_you_mean, refuse
from labkit.evals.gate import GateDecision, RegressionGate
from labkit.evals.gatereport import to_text
from labkit.evals.gaterules import CaseRule, GateMode, Metric, Want, bar_height, share
from labkit.evals.overfitting import Overfitting, overfitting
from labkit.evals.report import RunReport
from labkit.evals.reportfile import read_report
from labkit.stats import Outcome
from labkit.workspace import replace as replace_file

EXIT_CODES = {Outcome.PASS: 0, Outcome.BLOCK: 1, Outcome.INDECISIVE: 3}
_STANDARD_OUTPUT = "-"
_WARN, _BLOCK = "warn", "block"
_WORDS: Mapping[str, tuple[str, ...]] = {
    "cases": tuple(CaseRule),
    "mode": tuple(GateMode),
    "want": tuple(Want),
}
_READERS: Mapping[str, Callable[[str], object]] = {
    "metric": Metric.parse,
    "tolerance": share,
    "bar": bar_height,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where the decision is written, and how it is printed."""

    markdown: Path | None = None
    junit: Path | None = None
    as_json: bool = False

    @property
    def prints_markdown(self) -> bool:
        """Whether the Markdown goes to standard output."""
        return str(self.markdown) == _STANDARD_OUTPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was typed beside the two reports."""

    settings: Mapping[str, str]
    dev: tuple[Path, Path] | None
    overfitting: str
    written: Written


def decide(baseline: Path, candidate: Path, asked: Asked) -> int:
    """Decide, print and write the decision, and return the exit code."""
    gate = _gate(asked)
    before, after, *dev = _reports(baseline, candidate, *(asked.dev or ()))
    decision = gate.decide(before, after)
    if dev:
        found = overfitting(dev[0], dev[1], before, after, bar=gate.rule.bar)
        decision = _with_overfitting(decision, found, blocks=asked.overfitting == _BLOCK)
    _print(decision, asked.written)
    code = EXIT_CODES[decision.outcome]
    try:
        _write(decision, asked.written)
    except LabkitError as error:
        complain(error)
        return code or error.exit_code  # a verdict is not lost for want of a file
    return code


def _gate(asked: Asked) -> RegressionGate:
    """Return the gate that was asked for; every word that it does not know is told at once."""
    problems, hints = [], []
    for name, value in asked.settings.items():
        known = _WORDS.get(name)
        if known and value not in known:
            problems.append(f"--{name} {value!r} is none{did_you_mean(value, known)}")
            hints.append(f"--{name}: {', '.join(known)}")
        elif not known:
            try:
                _READERS[name](value)
            except InputError as error:
                problems.extend(f"--{name}: {problem}" for problem in error.problems)
                hints.append(error.hint or "")
    if asked.overfitting not in (_WARN, _BLOCK):
        problems.append(f"--overfitting {asked.overfitting!r} is none: use {_WARN} or {_BLOCK}")
    elif asked.overfitting == _BLOCK and not asked.dev:
        problems.append("--overfitting block needs --dev with two reports to look at")
    if asked.written.as_json and asked.written.prints_markdown:
        problems.append("--json and --markdown - both want to be printed: give a file for one")
    refuse(problems, hint="; ".join(hints) or "see labkit gate --help")
    settings = asked.settings
    return RegressionGate(
        metric=settings["metric"],
        tolerance=settings["tolerance"],
        bar=settings["bar"],
        cases=CaseRule(settings["cases"]),
        mode=GateMode(settings["mode"]),
        want=Want(settings["want"]),
    )


def _reports(*paths: Path) -> list[RunReport]:
    """Read reports; raises one InputError, also for damaged ones: 3 says "indecisive" here."""
    found: list[RunReport] = []
    problems: list[str] = []
    hints: list[str] = []
    for path in paths:
        try:
            found.append(read_report(path))
        except (InputError, IntegrityError) as error:
            problems.extend(error.problems)
            hints.append(error.hint or "labkit evaluate writes reports")
    refuse(problems, hint="; ".join(dict.fromkeys(hints)))
    return found


def _with_overfitting(decision: GateDecision, found: Overfitting, *, blocks: bool) -> GateDecision:
    if blocks:
        return decision.with_check(found.check())
    return replace(decision, notes=(*decision.notes, f"{found.told}."))


def _print(decision: GateDecision, written: Written) -> None:
    """Print the decision in words, or in the form asked for and the words beside it."""
    if written.as_json:
        data(decision.to_json())
    elif written.prints_markdown:
        data(decision.to_markdown())
    else:
        data(to_text(decision))
        return
    say(to_text(decision).rstrip())


def _write(decision: GateDecision, written: Written) -> None:
    if written.markdown and not written.prints_markdown:
        replace_file(written.markdown, decision.to_markdown())
    if written.junit:
        replace_file(written.junit, decision.to_junit())
