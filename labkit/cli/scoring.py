"""What `labkit score` does: marks from the terminal or from a sheet, in the right order."""

from collections import Counter
from pathlib import Path

from labkit.cli.console import ask, data, say
from labkit.cli.lab import Lab
from labkit.errors import InputError, PhaseError
from labkit.fields import counted, first_words, read_bytes
from labkit.model import BlindId, Member
from labkit.phases import require_blinded
from labkit.rubric import Dimension, Rubric, load_rubric, mark
from labkit.scores import (
    Assignment,
    Score,
    Sheet,
    assigned_to,
    early_done,
    missing_marks,
    parse_guess,
    read_assignment,
    read_sheet,
    record,
    write_sheet,
)
from labkit.settings import Person
from labkit.suite import digest
from labkit.workspace import replace, write_new
from labkit_instructor.blinding import open_results


class Desk:
    """One scorer's desk: what is assigned, what is marked, and the rubric."""

    def __init__(self, me: str) -> None:
        self.lab = Lab.open()
        require_blinded(self.lab.workspace)
        self.person: Person = self.lab.person(me)
        self.rubric: Rubric = load_rubric(self.lab.workspace.rubric)
        self.assignment = assignment(self.lab)
        self.assigned = assigned_to(self.assignment, self.person.name)
        if not self.assigned:
            raise PhaseError(
                f"nothing is assigned to {self.person.name} to score",
                hint="another scorer? use --me; evals/blind/assignment.csv says who scores what",
            )
        if self.lab.workspace.all_scores.exists():
            raise PhaseError("the lab is unblinded: marks are closed", hint="labkit summary")
        self.sheet = sheet_of(self.lab, self.person.name, self.assignment, self.rubric)

    def keep(self, new: Sheet, what: str) -> None:
        """Record new marks in the scorer's file, and in the signed log."""
        self.sheet = record(self.sheet, new, self.rubric)
        text = write_sheet(self.sheet, self.rubric)
        replace(self.lab.workspace.scores(self.person.name), text)
        self.lab.log(self.person, "score", subject=what, digests={"scores": digest(text.encode())})

    def left(self) -> str:
        """Return what is still to do, as a sentence."""
        missing = missing_marks(self.sheet, self.assigned, self.rubric)
        if not missing:
            return "all marks are in"
        early = [blind for blind in self.assigned if not early_done(self.sheet, blind, self.rubric)]
        if early:
            return f"first marks missing: {len(early)} of {counted(len(self.assigned), 'run')}"
        late = ", ".join(sorted(self.rubric.late))
        first = missing[0].partition(":")[0]
        return f"{late} is open for {counted(len(missing), 'run')}: labkit score --show {first}"


def assignment(lab: Lab) -> Assignment:
    """Read who scores what."""
    return read_assignment(read_bytes(lab.workspace.blind / "assignment.csv"))


def sheet_of(lab: Lab, scorer: Member, assigned: Assignment, rubric: Rubric) -> Sheet:
    """Read what a scorer has recorded so far."""
    path = lab.workspace.scores(scorer)
    if not path.is_file():
        return ()
    return read_sheet(
        read_bytes(path), path.name, scorer=scorer, assignment=assigned, rubric=rubric
    )


def outstanding_scores(lab: Lab) -> Counter[str]:
    """Return how many runs each scorer still has to mark; only those with some left."""
    rubric = load_rubric(lab.workspace.rubric)
    assigned = assignment(lab)
    left: Counter[str] = Counter()
    for scorer in sorted({who for _, who in assigned}):
        sheet = sheet_of(lab, scorer, assigned, rubric)
        left[str(scorer)] = len(missing_marks(sheet, assigned_to(assigned, scorer), rubric))
    return +left


def take_sheet(me: str, path: Path) -> None:
    """Record the marks of a CSV sheet: all of it, or nothing when something is wrong with it."""
    desk = Desk(me)
    if not path.is_file():
        raise InputError(f"no sheet {path}", hint="labkit score --sheet FILE writes one to fill in")
    new = read_sheet(
        read_bytes(path),
        path.name,
        scorer=desk.person.name,
        assignment=desk.assignment,
        rubric=desk.rubric,
    )
    desk.keep(new, path.name)
    say(f"recorded {path.name}: {desk.left()}")


def write_sheet_for(me: str, path: Path) -> None:
    """Write a scorer's sheet to fill in, with the marks that are recorded already."""
    desk = Desk(me)
    known = {score.blind: score for score in desk.sheet}
    rows = tuple(known.get(blind, Score(blind=blind, marks={})) for blind in desk.assigned)
    write_new(path, write_sheet(rows, desk.rubric))
    late = ", ".join(sorted(desk.rubric.late))
    runs = counted(len(rows), "run")
    say(f"wrote {path}: {runs}; leave {late} empty until the other marks are recorded")


def show_run(me: str, name: str) -> None:
    """Show what a scorer may see of a run: the results only after the other marks."""
    desk = Desk(me)
    blind = BlindId(name)
    if blind not in desk.assigned:
        raise InputError(
            f"{blind} is not assigned to {desk.person.name}",
            hint=f"yours are: {first_words(list(map(str, desk.assigned)))}",
        )
    data(_material(desk, blind))
    if early_done(desk.sheet, blind, desk.rubric):
        data(_results(desk, blind))
    else:
        early = ", ".join(name for name in desk.rubric.names if name in desk.rubric.early)
        say(f"the results are shown once you have recorded: {early}")


def _material(desk: Desk, blind: BlindId) -> str:
    """Return what lies open in a run's pack, as text."""
    folder = desk.lab.workspace.pack(blind)
    shown = [path for path in sorted(folder.iterdir()) if path.suffix in (".txt", ".patch", ".md")]
    return "\n".join(_section(path.name, read_bytes(path)) for path in shown)


def _results(desk: Desk, blind: BlindId) -> str:
    blind_folder = desk.lab.workspace.blind
    results = open_results(blind_folder, blind, blind_folder / "results.agekey")
    return "\n".join(_section(name, content) for name, content in sorted(results.items()))


def _section(title: str, content: bytes) -> str:
    text = content.decode(errors="backslashreplace")
    clean = "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)
    return f"===== {title} =====\n{clean or '(empty)'}"


def score_in_terminal(me: str) -> None:
    """Ask for each mark in turn; every run is recorded as soon as it has its marks."""
    desk = Desk(me)
    todo = [blind for blind in desk.assigned if missing_marks(desk.sheet, (blind,), desk.rubric)]
    say(f"{desk.person.name}: {desk.left()}; Ctrl-C stops, what is recorded stays")
    for place, blind in enumerate(todo, 1):
        data(f"\n[{place}/{len(todo)}] {blind}\n{_material(desk, blind)}")
        if not early_done(desk.sheet, blind, desk.rubric):
            desk.keep((_ask(desk, blind, desk.rubric.early),), str(blind))
        data(_results(desk, blind))
        desk.keep((_ask(desk, blind, desk.rubric.late),), str(blind))
    say(desk.left())


def _ask(desk: Desk, blind: BlindId, names: frozenset[str]) -> Score:
    asked = [dimension for dimension in desk.rubric.dimensions if dimension.name in names]
    marks = {dimension.name: _ask_mark(dimension) for dimension in asked}
    if names != desk.rubric.late:
        return Score(blind=blind, marks=marks)
    guess = ask("which configuration made this? (A, B, or Enter)", parse_guess)
    return Score(blind=blind, marks=marks, guess=guess, note=ask("a note (or Enter)", str))


def _ask_mark(dimension: Dimension) -> float:
    say("")
    for level, anchor in enumerate(dimension.levels):
        say(f"  {level}  {anchor}")
    return ask(f"{dimension.name} (0-4, halves allowed)", mark)
