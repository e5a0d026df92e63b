"""What people type and write wrong: one clear error, its exit code, and nothing changed on disk."""

import shutil
from collections.abc import Callable

import pytest
from cli.labs import (
    ANA,
    BEN,
    GREET,
    RUNS,
    TARA,
    Answer,
    Lab,
    Stages,
    assigned,
    fill_in,
    require_clear,
)

from labkit.seal import new_identity

At = Callable[[str], Lab]
NEW = ("task", "new", "bug-new", "--category", "bugfix")


def merge(lab: Lab) -> str:
    """Give the project a commit of two parents and return its id."""
    words = ("commit-tree", "HEAD^{tree}", "-p", "HEAD~1", "-p", "HEAD", "-m", "Merge")
    return lab.project.git(*words)


def test_a_folder_without_a_repository(lab_at: At) -> None:
    lab = lab_at("joined")
    shutil.rmtree(lab.workspace.evals)
    shutil.rmtree(lab.project.folder / ".git")
    lab.refused("init", code=2, says=(f"{lab.project.folder} is not in a git repository",))
    assert not lab.workspace.evals.exists()


def test_a_project_whose_repository_is_gone(lab_at: At) -> None:
    lab = lab_at("joined")
    shutil.rmtree(lab.project.folder / ".git")
    lab.refused(*NEW, "--commit", "HEAD", me=ANA, code=2, says=("not in a git repository",))


def test_a_folder_without_a_lab(lab_at: At) -> None:
    lab = lab_at("joined")
    shutil.rmtree(lab.workspace.evals)
    lab.refused("status", code=2, says=("no evals/labkit.yaml", "labkit init"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--commit", "deadbeef"), ("no commit 'deadbeef'", "git log")),
        (("--commit", "--all"), ("no commit '--all'",)),
        (("--commit", "HEAD~2"), ("is the first commit", "a later commit")),
        (("--commit", "HEAD", "--parent", "3"), ("has no parent 3", "from 1 to 1")),
        ((), ("a task starts from one commit", "--commit SHA")),
        (("--commit", "HEAD", "--base", "HEAD"), ("a task starts from one commit",)),
        (("--base", "HEAD"), ("a bugfix task needs the commit that solved it",)),
        (("--commit", "HEAD", "--category", "bug"), ("no category 'bug'", "bugfix, feature")),
    ],
    ids=["unknown", "option", "root", "parent", "none", "both", "no solution", "category"],
)
def test_a_commit_that_makes_no_task(
    stages: Stages, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    stages.original("joined").refused(*NEW, *words, me=ANA, code=2, says=says)


def test_a_merge_needs_a_parent(lab_at: At) -> None:
    lab = lab_at("joined")
    commit = merge(lab)
    says = (f"{commit[:10]} is a merge commit with 2 parents", "--parent 1")
    lab.refused(*NEW, "--commit", commit, me=ANA, code=2, says=says)
    lab.done(*NEW, "--commit", commit, "--parent", "2", me=ANA)


@pytest.mark.parametrize(
    "name",
    ["a/b", "..", "../up", "a__b", "Bug", "con", "", "a" * 61],
    ids=["slash", "dots", "up", "underscores", "capital", "windows", "empty", "long"],
)
def test_an_id_that_cannot_be_a_file_name(stages: Stages, name: str) -> None:
    words = ("task", "new", name, "--category", "bugfix", "--commit", "HEAD")
    stages.original("joined").refused(*words, me=ANA, code=2, says=(f"task id {name!r}",))


def test_an_id_that_is_taken(stages: Stages) -> None:
    lab = stages.original("drafted")
    words = ("task", "new", str(GREET), "--category", "bugfix", "--commit", "HEAD")
    says = (f"there is a task {GREET} already: {lab.workspace.task(GREET)}", "choose another id")
    lab.refused(*words, me=ANA, code=2, says=says)


def _unknown_field(lab: Lab) -> None:
    lab.edit(lab.workspace.task(GREET), "title:", "titel:")


def _double_key(lab: Lab) -> None:
    lab.edit(lab.workspace.task(GREET), "title:", "title: x\ntitle:")


def _tab(lab: Lab) -> None:
    lab.edit(lab.workspace.task(GREET), "title:", "notes:\n\t- x\ntitle:")


def _same_commit(lab: Lab) -> None:
    solution = lab.commit("Greet strangers")
    base = lab.project.git("rev-parse", f"{solution}^")
    lab.edit(lab.workspace.task(GREET), base, solution)


def _empty_prompt(lab: Lab) -> None:
    lab.workspace.prompt(GREET).write_text(" \n", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_unknown_field, ('line 2: unknown field "titel", did you mean "title"?', "mend /")),
        (_double_key, ("line 3: 'title' is written twice (first on line 2)",)),
        (_tab, ("line 3: a tab where YAML wants spaces", "indent with spaces")),
        (_same_commit, ("base and solution are the same commit",)),
        (_empty_prompt, (f"evals/prompts/{GREET}.txt is empty", f"/prompts/{GREET}.txt")),
    ],
    ids=["unknown field", "double key", "tab", "base is solution", "empty prompt"],
)
def test_a_task_file_that_is_wrong(
    lab_at: At, spoil: Callable[[Lab], None], says: tuple[str, ...]
) -> None:
    lab = lab_at("drafted")
    spoil(lab)
    lab.refused("task", "validate", str(GREET), code=2, says=(str(GREET), *says))


def test_a_prompt_that_nobody_wrote(lab_at: At) -> None:
    lab = lab_at("joined")
    lab.done(*NEW, "--commit", "HEAD", me=ANA)
    lab.refused("task", "validate", code=2, says=("bug-new.txt is as labkit made it",))


def test_a_task_without_hidden_tests_is_not_sound(lab_at: At) -> None:
    lab = lab_at("drafted")
    draft = lab.workspace.draft(GREET)
    shutil.rmtree(draft / "hidden")
    (draft / "hidden").mkdir()
    answer = lab.labkit("task", "validate", str(GREET), "--repeats", "3")
    assert answer.code == 1
    assert f"{GREET} (bugfix): NOT SOUND" in answer.err
    assert "problem: hidden/ holds no test file" in answer.err
    assert f"its draft: {draft}" in answer.err
    lab.refused("task", "seal", str(GREET), me=ANA, code=2, says=("not proven sound",))


@pytest.mark.parametrize(
    ("command", "me"), [(("task", "validate"), ""), (("grade",), TARA)], ids=["validate", "grade"]
)
def test_an_engine_that_does_not_run(stages: Stages, command: tuple[str, ...], me: str) -> None:
    lab = stages.original("drafted" if command == ("task", "validate") else "checked")
    dead = f"unix://{lab.folder}/no.sock"
    says = ("the container engine did not answer", "start the engine", "DOCKER_HOST")
    lab.refused(*command, "--sandbox", "docker", me=me, DOCKER_HOST=dead, code=3, says=says)


@pytest.mark.docker
@pytest.mark.usefixtures("docker_sandbox")
def test_an_image_that_is_not_there(lab_at: At) -> None:
    lab = lab_at("frozen")
    lab.edit(lab.workspace.settings, "labkit-base:local", "no-such-image:1")
    changed = ("changed since the suite was frozen: rubric.yaml, environment: in labkit.yaml",)
    lab.refused("task", "run", "--sandbox", "docker", me=ANA, code=3, says=changed)
    lab.done("task", "freeze", "--again", "--pilot", me=ANA)
    says = ("no image no-such-image:1", "pull or build it")
    lab.refused("task", "run", "--sandbox", "docker", me=ANA, code=3, says=says)


def test_no_git_on_the_path(stages: Stages) -> None:
    says = ("git could not be started", "install git")
    words = (*NEW, "--commit", "HEAD")
    stages.original("joined").refused(*words, me=ANA, PATH="/nonexistent", code=3, says=says)


@pytest.mark.parametrize(
    ("me", "words", "says"),
    [
        ("zoe", ("task", "run"), ("zoe has not joined", "labkit init --me zoe")),
        ("Ana B", ("task", "run"), ("member name 'Ana B'",)),
        (TARA, ("task", "run"), ("tara is a holder: this step is the student's", "--me")),
        (ANA, ("grade",), ("ana is a student: this step is the holder's", "--me")),
        (ANA, ("task", "run", "x"), ("the plan is called 'x'", "plan.csv lists")),
        (ANA, ("task", "run", RUNS[0]), (f"{RUNS[0]} is not a run of ana",)),
        (ANA, ("task", "run", "--sandbox", "jail"), ("no sandbox is called 'jail'", "bubblewrap")),
        (ANA, ("init",), ("ana has joined already",)),
        ("cy", ("init", "--role", "boss"), ("there is no role 'boss'", "student, holder")),
        ("", ("init", "--team", "red"), ("is already there", "edit ")),
        ("", ("demo", "."), ("is not empty", "labkit demo FOLDER")),
        (TARA, ("holder", "seal", "nope"), ("no draft in nope", "one folder per task")),
    ],
    ids=[
        "unknown member", "member name", "holder runs", "student grades", "no run", "another's run",
        "sandbox", "joined", "role", "team", "demo", "handed over",
    ],
)  # fmt: skip
def test_who_and_what(
    stages: Stages, me: str, words: tuple[str, ...], says: tuple[str, ...]
) -> None:
    stages.original("frozen").refused(*words, me=me, code=2, says=says)


def _other_key(lab: Lab) -> None:
    (lab.home / "holder.agekey").write_text(new_identity().secret, encoding="ascii")


def _no_key(lab: Lab) -> None:
    (lab.home / "holder.agekey").unlink()


def _open_key(lab: Lab) -> None:
    (lab.home / "holder.agekey").chmod(0o644)


def _open_passphrase(lab: Lab) -> None:
    (lab.home / "passphrase").chmod(0o640)


def _no_passphrase(lab: Lab) -> None:
    (lab.home / "passphrase").unlink()


def _binary_passphrase(lab: Lab) -> None:
    (lab.home / "passphrase").write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_other_key, ("holder.agekey is not the key that the team seals to", "labkit.yaml")),
        (_no_key, ("no holder's key in", "--key PATH")),
        (_open_key, ("holder.agekey can be read by others", "chmod 600")),
        (_open_passphrase, ("passphrase can be read by others", "chmod 600")),
        (_no_passphrase, ("with a passphrase", "LABKIT_PASSPHRASE_FILE")),
        (_binary_passphrase, ("passphrase is not UTF-8",)),
    ],
    ids=["other", "none", "open", "open passphrase", "no passphrase", "binary passphrase"],
)
def test_a_holder_s_key_that_does_not_do(
    lab_at: At, spoil: Callable[[Lab], None], says: tuple[str, ...]
) -> None:
    lab = lab_at("checked")
    spoil(lab)
    lab.refused("grade", me=TARA, code=2, says=says)


def test_a_passphrase_without_a_terminal(stages: Stages) -> None:
    says = ("there is no terminal to ask for the passphrase", "LABKIT_PASSPHRASE_FILE")
    lab = stages.original("checked")
    lab.refused("grade", me=TARA, LABKIT_PASSPHRASE_FILE="", code=2, says=says)


def test_a_holder_s_key_is_made_under_a_passphrase(lab_at: At) -> None:
    lab = lab_at("checked")
    key = lab.home / "second.agekey"
    assert lab.done("holder", "keygen", "--key", str(key)).startswith("age1")
    assert key.stat().st_mode & 0o777 == 0o600
    says = (f"{key} is already there", "--key PATH")
    lab.refused("holder", "keygen", "--key", str(key), code=2, says=says)
    (lab.home / "passphrase").write_text("other words than before", encoding="ascii")
    says = (f"{key} does not open with this passphrase", "keyboard layout")
    lab.refused("grade", "--key", str(key), me=TARA, code=3, says=says)
    (lab.home / "passphrase").write_text("short", encoding="ascii")
    says = ("at least 8 characters", "a few words")
    lab.refused("holder", "keygen", "--key", str(lab.home / "third"), code=2, says=says)


def _altered(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("damage", [_altered, _cut], ids=["altered", "truncated"])
@pytest.mark.parametrize(
    ("name", "stage", "command", "says"),
    [
        (f"blue-{GREET}", "checked", "grade", (f"the vault of {GREET} is not the file", "author")),
        ("blue-raw-ana", "checked", "grade", ("blue-raw-ana.age: the sealed file does not open",)),
        ("blue-blind", "scored", "unblind", ("blue-blind.age: the sealed file does not open",)),
    ],
    ids=["vault", "hand-in", "blinding"],
)
def test_a_sealed_file_that_is_damaged(
    lab_at: At,
    damage: Callable[[bytes], bytes],
    name: str,
    stage: str,
    command: str,
    says: tuple[str, ...],
) -> None:
    lab = lab_at(stage)
    path = lab.workspace.handover / f"{name}.age"
    path.write_bytes(damage(path.read_bytes()))
    lab.refused(command, me=TARA, code=3, says=says)


@pytest.mark.parametrize(
    ("name", "stage", "command", "says"),
    [
        (f"blue-{GREET}", "checked", "grade", ("no sealed bundle", "get it from ana")),
        ("blue-blind", "scored", "unblind", ("no sealed file", "backup")),
    ],
    ids=["vault", "blinding"],
)
def test_a_sealed_file_that_is_gone(
    lab_at: At, name: str, stage: str, command: str, says: tuple[str, ...]
) -> None:
    lab = lab_at(stage)
    (lab.workspace.handover / f"{name}.age").unlink()
    lab.refused(command, me=TARA, code=2, says=says)


def _hand_in_sheet(lab: Lab, text: str, blind: str) -> Answer:
    (lab.folder / "s.csv").write_text(text.replace("MINE", blind), encoding="utf-8")
    before = lab.snapshot()
    answer = lab.labkit("score", "--from", str(lab.folder / "s.csv"), me=ANA)
    assert lab.snapshot() == before
    return answer


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("blind_id,scope\nB9999x,3\n", ("row 2, column blind_id: there is no run 'B9999X'",)),
        ("blind_id,scope\nMINE,5\n", ("row 2, column scope: '5' is not a mark from 0 to 4",)),
        ("blind_id,scope\nMINE,-1\n", ("'-1' is not a mark",)),
        ("blind_id,scope\nMINE,2.25\n", ("'2.25' is not a mark from 0 to 4, whole or half",)),
        ("blind_id,correctness\nMINE,2\n", ("MINE: correctness comes after communication",)),
        ("blind_id,scop\nMINE,2\n", ('unknown column "scop"', "the columns are")),
        ("blind_id,scope\nMINE,2\nMINE,3\n", ("row 3: MINE is there a second time",)),
    ],
    ids=["unknown run", "range", "negative", "quarter", "too early", "column", "twice"],
)
def test_a_score_sheet_that_is_wrong(stages: Stages, text: str, says: tuple[str, ...]) -> None:
    lab = stages.original("blinded")
    mine = assigned(lab, ANA)[0]
    answer = _hand_in_sheet(lab, text, mine)
    require_clear(answer, code=2, says=tuple(word.replace("MINE", mine) for word in says))


def test_a_score_of_another_scorer_s_run(stages: Stages) -> None:
    lab = stages.original("blinded")
    theirs = next(blind for blind in assigned(lab, BEN) if blind not in assigned(lab, ANA))
    answer = _hand_in_sheet(lab, "blind_id,scope\nMINE,3\n", theirs)
    require_clear(answer, code=2, says=(f"row 2: {theirs} is not assigned to ana",))
    says = (f"{theirs} is not assigned to ana", "yours are: ")
    lab.refused("score", "--show", theirs, me=ANA, code=2, says=says)


def test_marks_are_closed_once_the_results_were_shown(stages: Stages) -> None:
    lab = stages.original("scored")
    answer = _hand_in_sheet(lab, "blind_id,scope\nMINE,0\n", assigned(lab, ANA)[0])
    require_clear(answer, code=2, says=("scope was closed when the results were shown", "stay"))


def test_a_sheet_that_is_not_there(stages: Stages) -> None:
    lab = stages.original("blinded")
    says = ("no sheet nope.csv", "labkit score --sheet FILE")
    lab.refused("score", "--from", "nope.csv", me=ANA, code=2, says=says)


def test_unblinding_waits_for_the_last_mark(lab_at: At) -> None:
    lab = lab_at("blinded")
    says = ("4 scores are missing", "each scorer finishes with: labkit score")
    lab.refused("unblind", me=TARA, code=2, says=says)
    for marks in ({"scope": "1", "quality": "1", "tests": "1", "communication": "1"}, {}):
        for name in (ANA, BEN):
            path = fill_in(lab, name, marks or {"correctness": "1"})
            if marks or name == ANA:
                lab.done("score", "--from", str(path), me=name)
    err = lab.refused("unblind", me=TARA, code=2, says=("2 scores are missing: ben: ",))
    assert "ana" not in err


@pytest.mark.parametrize(
    ("stage", "command", "me"),
    [
        ("frozen", ("task", "run"), ANA),
        ("run", ("leaks",), ""),
        ("checked", ("grade",), TARA),
        ("graded", ("blind",), TARA),
        ("unblinded", ("summary",), ""),
    ],
    ids=["run", "leaks", "grade", "blind", "summary"],
)
def test_a_task_that_changed_after_freezing(
    lab_at: At, stage: str, command: tuple[str, ...], me: str
) -> None:
    lab = lab_at(stage)
    lab.edit(lab.workspace.prompt(GREET), "please", "at once")
    says = (f"changed since the suite was frozen: task {GREET}", "undo the change")
    lab.refused(*command, me=me, code=3, says=says)


@pytest.mark.parametrize("change", ["cut", "altered"])
def test_a_log_that_is_damaged_stops_what_it_should_record(lab_at: At, change: str) -> None:
    lab = lab_at("frozen")
    log = lab.workspace.log(next(iter(lab.workspace.member_names())))
    if change == "cut":
        log.write_bytes(log.read_bytes()[:-5])
    else:
        lab.edit(log, '"seal"', '"sael"')
    says = ("the log was changed or damaged: ana.jsonl, line ", "git -C evals")
    lab.refused("task", "run", me=ANA, code=3, says=says)


@pytest.mark.parametrize(
    "words",
    [("tsk",), ("task", "run", "--nope"), ("task", "new", "--parent", "x")],
    ids=["command", "option", "not a number"],
)
def test_typing_errors_are_told_as_all_errors_are_with_the_usage(
    stages: Stages, words: tuple[str, ...]
) -> None:
    answer = stages.original("frozen").labkit(*words)
    assert answer.code == 2
    assert answer.err.startswith("labkit: error: ")
    assert "labkit: hint: usage: labkit " in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("task", "says"),
    [
        ("a:b", "lower-case letters and digits"),
        ("a/b", "lower-case letters and digits"),
        ("..", "lower-case letters and digits"),
        ("CON", "lower-case letters and digits"),
        ("con", "cannot be a file name on Windows"),
        ("\u00e9", "lower-case letters and digits"),
        ("e\u0301", "lower-case letters and digits"),
        ("x" * 300, "at most 60 characters"),
    ],
    ids=["colon", "slash", "dots", "CON", "con", "composed", "decomposed", "long"],
)
def test_ids_that_cannot_be_used_are_refused_with_the_reason(
    stages: Stages, task: str, says: str
) -> None:
    lab = stages.original("joined")
    for words in (("--commit", "HEAD", "--category", "bugfix"), ("--fixture", ".")):
        lab.refused("task", "new", task, *words, me=ANA, code=2, says=("task id ", says))


def test_a_task_file_whose_name_is_no_id_is_named(lab_at: At) -> None:
    lab = lab_at("drafted")
    for name in ("CON.yaml", "a b.yaml", "good.yml"):
        shutil.copy(lab.workspace.task(GREET), lab.workspace.evals / "tasks" / name)
    says = ("tasks/CON.yaml: task id 'CON' is not allowed", "tasks/a b.yaml", "must be .yaml")
    lab.refused("task", "validate", code=2, says=(*says, "rename the file"))
    out = lab.labkit("task", "check").out
    assert all(words in out for words in says)
