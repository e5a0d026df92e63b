"""What `labkit blind` and `labkit unblind` do, on the holder's side."""

import re
from collections import Counter

from labkit import journal
from labkit.agentfields import AGENTS
from labkit.canary import find
from labkit.cli.bundles import Oracles, open_bundle
from labkit.cli.console import data, say
from labkit.cli.identity import open_identity, opening
from labkit.cli.lab import Lab
from labkit.cli.leakcheck import notes_on, read_review
from labkit.cli.regrading import require_in_force
from labkit.cli.scoring import assignment, sheet_of
from labkit.configurations import read_configurations
from labkit.errors import IntegrityError, PhaseError
from labkit.evidence import require_vouched_grades
from labkit.fields import counted, read_bytes
from labkit.lock import only_one
from labkit.model import BlindId, Category, Member, RunId
from labkit.phases import progress, require_blinded, require_graded
from labkit.records import load_run
from labkit.rubric import load_rubric
from labkit.scores import write_assignment, write_scores
from labkit.seal import Identity
from labkit.settings import Person, Role, read_people
from labkit.tasks import Task
from labkit.transcripts.detect import read_transcript
from labkit.workspace import replace, write_new
from labkit_instructor.assignment import Scorable, assign
from labkit_instructor.blinding import (
    Blinding,
    Pack,
    new_blinding,
    open_blinding,
    write_blinding,
    write_packs,
)
from labkit_instructor.redaction import Redacted, Redactor
from labkit_instructor.release import Scoring, unblind


def blind_runs(me: str, key: str) -> None:
    """Blind every finished run, write the packs, and assign them to scorers."""
    lab = Lab.open()
    person = lab.person(me, role=Role.HOLDER)
    done = require_graded(lab.workspace)
    require_vouched_grades(lab.workspace, sorted(done.finished))
    assignment_file = lab.workspace.blind / "assignment.csv"
    if assignment_file.exists():
        raise PhaseError("the runs are blinded already", hint="the scorers go on: labkit score")
    lab.require_log(person)
    identity = open_identity(lab, key)
    with only_one(lab.workspace, f"labkit blind of {person.name}"):
        blinding = _blinding(lab, person, identity, sorted(done.finished))
        packer = _Packer(lab, identity, blinding)
        packs = [packer.pack(run) for run in blinding.runs]
        assigned = _assign(lab, blinding)
        _commit(lab, person, blinding)
        results_key = lab.workspace.blind / "results.agekey"
        results_key.unlink(missing_ok=True)  # of an interrupted call: nobody has scored with it
        write_packs(lab.workspace.blind, packs, results_key)
        write_new(assignment_file, write_assignment(assigned))
    packer.tell()
    load = Counter(scorer for _, scorer in assigned)
    for scorer, count in sorted(load.items()):
        data(f"{scorer}\t{count}")
    runs = counted(len(packs), "run")
    say(f"blinded {runs}; commitment {blinding.commitment[:16]}... is in your log")
    say("commit and push evals/; then the scorers: labkit score")


def _blinding(lab: Lab, person: Person, identity: Identity, runs: list[RunId]) -> Blinding:
    """Return a new blinding, or that of a call that was interrupted before anybody could score."""
    path = lab.workspace.blinding_key(lab.settings.team)
    if not path.exists():
        return new_blinding(runs)
    with opening(path):
        found = open_blinding(
            read_bytes(path), identity=identity, commitment=_commitment(lab, person)
        )
    if list(found.runs) != runs:
        raise PhaseError(
            f"{path} is of other runs than those that are here",
            hint="nobody has scored under its names yet: move it away, then labkit blind",
        )
    say("an earlier labkit blind was interrupted: its names are kept")
    return found


def _commit(lab: Lab, person: Person, blinding: Blinding) -> None:
    """Seal the blinding and publish its commitment, unless an interrupted call did."""
    path = lab.workspace.blinding_key(lab.settings.team)
    if not path.exists():
        write_blinding(path, blinding, recipients=lab.settings.recipients)
    if _commitment(lab, person) != blinding.commitment:
        lab.log(person, "blind", digests={"commitment": blinding.commitment})


class _Packer:
    """Makes the packs of a lab's runs and remembers what was redacted."""

    def __init__(self, lab: Lab, identity: Identity, blinding: Blinding) -> None:
        self._lab = lab
        self._identity = identity
        self._names = blinding.names
        self._tasks = lab.tasks()
        self._oracles = Oracles.of(lab, lab.frozen_suite(self._tasks))
        require_in_force(lab, self._oracles, progress(lab.workspace))
        self._leaks = read_review(lab)
        self._redactor = _redactor(lab)
        self._replaced: Counter[str] = Counter()
        self._doubtful: list[str] = []

    def pack(self, run: RunId) -> Pack:
        """Return what scorers see of a run."""
        folder = self._lab.workspace.run(run)
        task = self._tasks[run.task]
        blind = self._names[run]
        shown = {
            "diff.patch": read_bytes(folder / "diff.patch"),
            "message.txt": self._message(run),
            **self._trap_rubric(task),
        }
        results = {
            "grade.txt": read_bytes(folder / "grade.txt"),
            "test-diff-stat.txt": read_bytes(folder / "test-diff-stat.txt"),
            "leaks.txt": notes_on(self._leaks, run).encode(),
        }
        return Pack(
            blind=blind,
            shown={
                "prompt.txt": task.prompt.encode(),
                **{name: self._redact(blind, name, text) for name, text in shown.items()},
            },
            results={name: self._redact(blind, name, text) for name, text in results.items()},
        )

    def _message(self, run: RunId) -> bytes:
        folder = self._lab.workspace.run(run)
        record = load_run(folder / "run.json")
        message = record.final_message
        if not message:
            transcript = read_transcript(read_bytes(folder / record.transcript), agent=record.agent)
            message = transcript.final_message
        return (message or "(the agent said nothing at the end)").encode(errors="backslashreplace")

    def _trap_rubric(self, task: Task) -> dict[str, bytes]:
        """Return a trap's hidden rubric: whoever scores a trap has to know what was right."""
        if task.category is not Category.TRAP:
            return {}
        files = open_bundle(self._lab, self._oracles, task.id, self._identity).files
        oracle = files.get("oracle.yaml", b"").decode(errors="replace")
        lines = [line for line in oracle.splitlines() if not find(line)]
        return {"trap.txt": "\n".join([task.notes, "", *lines]).encode()}

    def _redact(self, blind: BlindId, name: str, text: bytes) -> bytes:
        redacted: Redacted = self._redactor.redact(text)
        self._replaced.update(redacted.replaced)
        self._doubtful.extend(f"{blind}/{name}, {doubt}" for doubt in redacted.doubtful)
        return redacted.data

    def tell(self) -> None:
        """Say what was redacted, and what still looks telling."""
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(self._replaced.items()))
        say(f"redacted: {counts or 'nothing'}")
        for doubt in self._doubtful:
            say(f"look at this: {doubt}")


def _redactor(lab: Lab) -> Redactor:
    configurations = read_configurations(lab.workspace)
    people = read_people(lab.workspace)
    return Redactor(
        names={
            "model": tuple(found.model for found in configurations),
            # The kit's own agents are called by ordinary words, which tell nothing.
            "agent": tuple({found.agent for found in configurations} - set(AGENTS)),
            "person": tuple(
                name
                for person in people
                for name in (str(person.name), person.full_name, person.email)
                if name
            ),
            "path": (str(lab.workspace.project),),
            "name": lab.settings.redact,
        }
    )


def _assign(lab: Lab, blinding: Blinding) -> tuple[tuple[BlindId, Member], ...]:
    """Assign the runs, each scorer's in an order of their own."""
    tasks = lab.tasks()
    names = blinding.names
    runs = [
        Scorable(
            blind=blind,
            author=Member(tasks[run.task].author),
            runner=Member(load_run(lab.workspace.run(run) / "run.json").runner),
        )
        for run, blind in names.items()
    ]
    scorers = [one.name for one in read_people(lab.workspace) if one.role is Role.STUDENT]
    pairs = assign(runs, scorers, solo=lab.settings.solo)
    return tuple(
        (blind, scorer)
        for scorer in scorers
        for blind in blinding.order(scorer, [blind for blind, who in pairs if who == scorer])
    )


def unblind_runs(me: str, key: str) -> None:
    """Join marks and runs, and publish what was kept from the scorers."""
    lab = Lab.open()
    person = lab.person(me, role=Role.HOLDER)
    require_blinded(lab.workspace)
    if lab.workspace.all_scores.exists():
        raise PhaseError("the lab is unblinded already", hint="labkit summary")
    identity = open_identity(lab, key)
    path = lab.workspace.blinding_key(lab.settings.team)
    with opening(path):
        blinding = open_blinding(
            read_bytes(path), identity=identity, commitment=_published_commitment(lab, person)
        )
    rubric = load_rubric(lab.workspace.rubric)
    assigned = assignment(lab)
    scorers = sorted({who for _, who in assigned})
    sheets = {scorer: sheet_of(lab, scorer, assigned, rubric) for scorer in scorers}
    rows = unblind(blinding, Scoring(assignment=assigned, sheets=sheets, rubric=rubric))
    _publish_raw(lab)
    lab.log(person, "unblind", digests={"commitment": blinding.commitment})
    # Last, because it is what says that the lab is unblinded: until then the command goes on.
    write_new(lab.workspace.all_scores, write_scores(rows, rubric))
    say(f"joined {len(rows)} score rows with their runs: {lab.workspace.all_scores}")
    say("raw/ is no longer ignored: commit and push evals/; then labkit summary")


def _published_commitment(lab: Lab, person: Person) -> str:
    """Return the commitment that was put into the holder's log before anybody scored."""
    found = _commitment(lab, person)
    if found is None:
        raise IntegrityError(
            f"the log of {person.name} holds no commitment to a blinding",
            hint="the holder who ran labkit blind has to run this",
        )
    return found


def _commitment(lab: Lab, person: Person) -> str | None:
    entries = journal.read(lab.workspace.log(person.name), public=person.signing_key)
    found = [entry.event for entry in entries if entry.event.action == "blind"]
    return found[-1].digests.get("commitment", "") if found else None


def _publish_raw(lab: Lab) -> None:
    """Take raw/ out of the ignore file: after unblinding it belongs to the whole team."""
    path = lab.workspace.evals / ".gitignore"
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        replace(path, re.sub(r"(?m)^raw/\n", "", text))
