"""Hidden tests that turn out wrong after the freeze are corrected, and nobody can miss it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import (
    ANA,
    BEN,
    EARLY,
    GREET,
    RUNS,
    SHOUT,
    STUDENTS,
    TARA,
    Lab,
    Stages,
    fill_in,
    wait_for,
)
from cli.test_grade_runs import digest, graded_with, told

from labkit.records import load_grade

pytestmark = pytest.mark.bubblewrap
ONE = f"{GREET}-1.json"
WHY = "a missing name counts as empty too"
LENIENT = '"Hello " + (name or ("stranger" if name == "" else "nobody"))'
STRICTER = '\n\ndef test_nobody():\n    assert greet(None) == "Hello stranger"\n'
At = Callable[[], Lab]


@pytest.fixture(scope="module")
def originals(stages: Stages, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lab]:
    """Give a graded lab whose run A of greet-empty is right by too lenient a test, and on from it.

    `opened`: the holder has laid the hidden tests out, and they are mended and proven.
    """
    graded = graded_with(stages.at("frozen", tmp_path_factory.mktemp("lenient") / "lab"), LENIENT)
    graded.done("grade", me=TARA)
    opened = copy(graded, tmp_path_factory.mktemp("opened") / "lab")
    opened.done("holder", "open", str(GREET), me=TARA)
    mend(opened)
    opened.done("task", "validate", str(GREET), "--repeats", "3")
    corrected = copy(opened, tmp_path_factory.mktemp("corrected") / "lab")
    correct(corrected)
    return {"graded": graded, "opened": opened, "corrected": corrected}


def copy(lab: Lab, target: Path) -> Lab:
    shutil.copytree(lab.folder, target, symlinks=True)
    return Lab(target, lab.cache)


@pytest.fixture
def at(originals: dict[str, Lab], tmp_path: Path) -> Callable[[str], Lab]:
    return lambda stage: copy(originals[stage], tmp_path / "lab")


def mend(lab: Lab, more: str = STRICTER) -> None:
    """Make the hidden test of greet-empty stricter."""
    path = lab.workspace.draft(GREET) / "hidden" / "tests" / "test_greet.py"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")


def correct(lab: Lab, *words: str, me: str = ANA) -> str:
    """Seal the mended draft as a correction."""
    return lab.labkit("task", "seal", str(GREET), "--correct", WHY, *words, me=me).err


def frozen_files(lab: Lab) -> dict[str, str]:
    """Return the digests of what a correction must leave alone."""
    kept = (
        lab.workspace.suite,
        lab.workspace.seal(GREET),
        lab.workspace.bundle("blue", GREET),
        lab.workspace.task(GREET),
        lab.workspace.prompt(GREET),
    )
    return {str(path.relative_to(lab.folder)): digest(path) for path in kept}


def verdicts(lab: Lab) -> list[str]:
    return [
        (lab.workspace.raw / run / "result.txt").read_text(encoding="ascii").strip() for run in RUNS
    ]


def test_a_correction_leaves_the_suite_and_stops_what_comes_next(at: Callable[[str], Lab]) -> None:
    lab = at("opened")
    before = frozen_files(lab)
    assert verdicts(lab) == ["PASS", "FAIL", "PASS", "FAIL"]
    err = correct(lab)
    assert f"{GREET}: correction 1, commitment " in err
    assert frozen_files(lab) == before
    assert not lab.workspace.draft(GREET).exists()
    path = lab.workspace.evals / "corrections" / ONE
    made = json.loads(path.read_text(encoding="utf-8"))
    suite = json.loads(lab.workspace.suite.read_text(encoding="utf-8"))
    assert made["replaces"] == suite["tasks"][str(GREET)]["commitment"]
    assert (made["by"], made["because"]) == (ANA, WHY)
    assert lab.workspace.corrected_bundle("blue", GREET, 1).is_file()

    says = (f"the hidden tests of {GREET} were corrected after 2 runs of it were graded",)
    lab.refused("blind", me=TARA, code=2, says=(*says, f"labkit grade --regrade {GREET}"))
    assert f"the holder: labkit grade --regrade {GREET}" in lab.done("status")
    plain = lab.labkit("grade", me=TARA)
    assert plain.code == 1
    assert says[0] in plain.err


def test_corrected_tests_grade_every_run_of_their_task(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    path = lab.workspace.evals / "corrections" / ONE
    made = json.loads(path.read_text(encoding="utf-8"))
    again = lab.labkit("grade", "--regrade", RUNS[1], me=TARA)
    assert again.code == 0, again.err
    assert "with them 1 run of the same tasks" in again.err
    rows = [line.split() for line in again.out.splitlines()]
    assert rows == [
        ["run", "before", "now"],
        [RUNS[0], "pass", "fail", "changed"],
        [RUNS[1], "fail", "fail"],
    ]
    grade = load_grade(lab.workspace.raw / RUNS[0] / "grade.json")
    old = lab.workspace.raw / RUNS[0] / "grade-1.json"
    assert grade.commitment == made["seal"]["commitment"]
    assert grade.because == f"correction 1 of its hidden tests: {WHY}"
    assert grade.supersedes == digest(old)
    assert load_grade(old).commitment == made["replaces"]
    assert told(lab).count(RUNS[0]) == 2
    assert "FLAKY" not in again.err
    assert "graded already" in lab.labkit("grade", "--regrade", me=TARA).err


def test_the_summary_tells_of_a_correction(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    lab.done("grade", "--regrade", str(GREET), me=TARA)
    _finish(lab)
    text = lab.workspace.summary("md").read_text(encoding="utf-8")
    assert (
        f"The hidden tests of {GREET} were corrected after the freeze ({WHY}), and all its runs "
        f"are graded by the corrected ones. Verdicts that changed: {RUNS[0]} from pass to fail."
    ) in text
    assert "Scorers may have seen" not in text


def _finish(lab: Lab) -> None:
    if not (lab.workspace.blind / "assignment.csv").exists():
        lab.done("blind", me=TARA)
    for scorer in STUDENTS:
        for marks in (EARLY, {"correctness": "2"}):
            lab.done("score", "--from", str(fill_in(lab, scorer, marks)), me=scorer)
    lab.done("unblind", me=TARA)
    lab.done("summary")


def test_a_correction_after_blinding_leaves_the_packs_and_is_told(
    originals: dict[str, Lab], at: Callable[[str], Lab]
) -> None:
    lab = at("graded")
    lab.done("blind", me=TARA)
    packs = {name: sha for name, sha in lab.snapshot().items() if "/blind/" in name}
    shutil.copytree(originals["opened"].workspace.draft(GREET), lab.workspace.draft(GREET))
    correct(lab)
    again = lab.labkit("grade", "--regrade", str(GREET), me=TARA)
    assert again.code == 0, again.err
    assert "scorers see the earlier grade; their marks stay as they are" in again.err
    assert packs.items() <= lab.snapshot().items()
    _finish(lab)
    text = lab.workspace.summary("md").read_text(encoding="utf-8")
    assert f"{RUNS[0]} from pass to fail. Scorers may have seen the earlier verdicts." in text


def test_unblinding_closes_corrections(originals: dict[str, Lab], at: Callable[[str], Lab]) -> None:
    lab = at("graded")
    _finish(lab)
    shutil.copytree(originals["opened"].workspace.draft(GREET), lab.workspace.draft(GREET))
    says = ("the lab is unblinded", "whom it helps")
    lab.refused("task", "seal", str(GREET), "--correct", WHY, me=ANA, code=2, says=says)


def test_the_summary_refuses_a_mix(originals: dict[str, Lab], at: Callable[[str], Lab]) -> None:
    lab = at("graded")
    lab.done("blind", me=TARA)
    shutil.copytree(originals["opened"].workspace.draft(GREET), lab.workspace.draft(GREET))
    correct(lab)
    for scorer in STUDENTS:
        for marks in (EARLY, {"correctness": "2"}):
            lab.done("score", "--from", str(fill_in(lab, scorer, marks)), me=scorer)
    lab.done("unblind", me=TARA)
    says = (f"the hidden tests of {GREET} were corrected after 2 runs", "labkit grade --regrade")
    lab.refused("summary", code=2, says=says)
    lab.done("grade", "--regrade", str(GREET), me=TARA)
    lab.done("summary")


def test_a_killed_regrade_goes_on_with_what_is_left(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    words = ("grade", "--regrade", str(GREET), "--jobs", "1")
    count = len(told(lab))
    with lab.start(*words, me=TARA) as program:
        wait_for(lambda: len(told(lab)) > count)
        program.kill()
        program.communicate()
    assert program.returncode == -9
    assert RUNS[0] in told(lab)[count:]
    first = digest(lab.workspace.raw / RUNS[0] / "grade.json")
    again = lab.labkit(*words, me=TARA)
    assert again.code == 0, again.err
    assert digest(lab.workspace.raw / RUNS[0] / "grade.json") == first
    for run in RUNS[:2]:
        kept = lab.workspace.raw / run / "grade-1.json"
        grade = load_grade(lab.workspace.raw / run / "grade.json")
        assert grade.supersedes == digest(kept)
        assert not kept.with_name("grade-2.json").exists()
    assert not (lab.workspace.raw / RUNS[2] / "grade-1.json").exists()


def test_a_correction_that_was_cut_short_goes_on(at: Callable[[str], Lab]) -> None:
    lab = at("opened")
    draft = lab.workspace.draft(GREET)
    kept = lab.folder / "kept"
    shutil.copytree(draft, kept)
    correct(lab)
    path = lab.workspace.evals / "corrections" / ONE
    text = path.read_bytes()
    shutil.copytree(kept, draft)  # killed before the draft was deleted
    assert f"{GREET}: correction 1 has this content already" in correct(lab)
    assert not draft.exists()
    assert path.read_bytes() == text
    shutil.copytree(kept, draft)
    path.unlink()  # killed before the record was written: the log tells of a file that never was
    assert f"{GREET}: correction 1, commitment" in correct(lab)
    lab.done("grade", "--regrade", str(GREET), me=TARA)


def test_a_second_correction_follows_the_first(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    lab.done("grade", "--regrade", str(GREET), me=TARA)
    lab.done("holder", "open", str(GREET), me=TARA)
    mend(lab, "\n\ndef test_zero():\n    assert greet(0) == 'Hello stranger'\n")
    lab.done("task", "validate", str(GREET), "--repeats", "3")
    assert "correction 2, commitment" in correct(lab, me=TARA)
    lab.done("grade", "--regrade", me=TARA)
    folder = lab.workspace.raw / RUNS[0]
    assert load_grade(folder / "grade.json").supersedes == digest(folder / "grade-2.json")
    assert load_grade(folder / "grade-2.json").supersedes == digest(folder / "grade-1.json")
    gap = lab.workspace.evals / "corrections" / ONE
    gap.unlink()
    says = ("correction 2 of task", "it does not follow what was in force before it")
    lab.refused("grade", me=TARA, code=3, says=says)


@pytest.mark.parametrize(
    ("why", "says"),
    [
        (" ", ("a correction needs a reason", "--correct")),
        ("a\nb", ("line ends or control characters",)),
        ("test_nobody was missing", ("the reason names what is hidden: test_nobody",)),
        ("see test_greet.py", ("the reason names what is hidden: test_greet.py",)),
    ],
)
def test_a_reason_says_why_and_not_what(
    originals: dict[str, Lab], why: str, says: tuple[str, ...]
) -> None:
    lab = originals["opened"]
    lab.refused("task", "seal", str(GREET), "--correct", why, me=ANA, code=2, says=says)


def _other_prompt(lab: Lab) -> tuple[str, ...]:
    lab.edit(lab.workspace.prompt(GREET), "please", "quickly")
    return ("has changed since it was frozen: a correction is of hidden tests only", "undo")


def _unproven(lab: Lab) -> tuple[str, ...]:
    mend(lab, "\n")
    return (f"task {GREET} is not proven sound as it is now", "labkit task validate")


def _no_draft(lab: Lab) -> tuple[str, ...]:
    shutil.rmtree(lab.workspace.draft(GREET))
    return (f"task {GREET} has no draft",)


@pytest.mark.parametrize("spoil", [_other_prompt, _unproven, _no_draft])
def test_what_is_no_correction_is_refused(
    at: Callable[[str], Lab], spoil: Callable[[Lab], tuple[str, ...]]
) -> None:
    lab = at("opened")
    says = spoil(lab)
    lab.refused("task", "seal", str(GREET), "--correct", WHY, me=ANA, code=2, says=says)


def test_who_corrects_and_how_many_at_once(originals: dict[str, Lab]) -> None:
    lab = originals["opened"]
    says = ("is ana's: its author or a holder corrects it", "--me")
    lab.refused("task", "seal", str(GREET), "--correct", WHY, me=BEN, code=2, says=says)
    words = ("task", "seal", "--correct", WHY)
    lab.refused(*words, me=ANA, code=2, says=("a correction is of one task",))
    lab.refused(*words, str(GREET), str(SHOUT), me=ANA, code=2, says=("of one task",))
    says = ("--replace and --correct exclude each other", "after it")
    lab.refused(*words, str(GREET), "--replace", me=ANA, code=2, says=says)


def test_validation_of_other_tasks_stays_closed(at: Callable[[str], Lab]) -> None:
    lab = at("opened")
    lab.edit(lab.workspace.prompt(GREET), "please", "quickly")
    says = ("a correction is of hidden tests only",)
    lab.refused("task", "validate", str(GREET), code=2, says=says)


def test_tests_that_are_as_they_were_are_no_correction(at: Callable[[str], Lab]) -> None:
    lab = at("graded")
    folder = lab.workspace.draft(SHOUT)
    lab.done("holder", "open", str(SHOUT), me=TARA)
    assert (folder / "hidden" / "tests" / "test_shout.py").is_file()
    lab.refused("holder", "open", str(SHOUT), me=TARA, code=2, says=(f"{folder} is already there",))
    lab.refused("holder", "open", "nothing", me=TARA, code=2, says=("no task nothing",))
    says = (f"nothing is corrected: the draft of {SHOUT} is what was frozen", "mend")
    lab.done("task", "validate", str(SHOUT), "--repeats", "3")
    lab.refused("task", "seal", str(SHOUT), "--correct", WHY, me=BEN, code=2, says=says)


def _signed_by_nobody(lab: Lab) -> str:
    lab.edit(lab.workspace.correction(GREET, 1), WHY, "no reason at all")
    return "is not signed by ana"


def _not_logged(lab: Lab) -> str:
    log = lab.workspace.evals / "log" / f"{ANA}.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    assert b'"action":"correct"' in lines[-1]
    log.write_bytes(b"".join(lines[:-1]))
    return "the log of ana does not tell of it"


def _renamed(lab: Lab) -> str:
    path = lab.workspace.correction(GREET, 1)
    path.rename(path.with_name(f"{SHOUT}-1.json"))
    return f"correction 1 of task {SHOUT} does not count: it is that of {GREET}"


def _torn(lab: Lab) -> str:
    lab.workspace.correction(GREET, 1).write_text('{"schema": 1}\n', encoding="utf-8")
    return f"{ONE} is damaged"


@pytest.mark.parametrize("touch", [_signed_by_nobody, _not_logged, _renamed, _torn])
@pytest.mark.parametrize("command", ["grade", "leaks"])
def test_a_correction_that_somebody_touched_is_found(
    at: Callable[[str], Lab], touch: Callable[[Lab], str], command: str
) -> None:
    lab = at("corrected")
    says = touch(lab)
    lab.refused(command, me=TARA if command == "grade" else "", code=3, says=(says,))


def test_another_bundle_than_the_corrected_one_is_found(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    vault = lab.workspace.corrected_bundle("blue", GREET, 1)
    vault.write_bytes(lab.workspace.bundle("blue", GREET).read_bytes())
    words = ("grade", "--regrade", str(GREET))
    lab.refused(*words, me=TARA, code=3, says=("is not the file that was sealed",))
    vault.unlink()
    lab.refused(*words, me=TARA, code=2, says=("no sealed bundle", "get it from ana"))


def test_a_file_that_is_no_correction_is_named(at: Callable[[str], Lab]) -> None:
    lab = at("corrected")
    (lab.workspace.evals / "corrections" / "notes.json").write_text("{}", encoding="utf-8")
    says = ("corrections/notes.json is not called <task>-<number>.json",)
    lab.refused("grade", me=TARA, code=2, says=says)
