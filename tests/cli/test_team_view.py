"""`labkit task list` and `labkit task check` agree with freezing and with `labkit status`."""

import json
import shutil
from collections.abc import Callable

import pytest
from cli.labs import ANA, BEN, GREET, SHOUT, TARA, Answer, Lab, Stages

from labkit.cli.mix import mix_problems
from labkit.cli.starter import starter_ids
from labkit.model import Member
from labkit.scaffold import template
from labkit.settings import Person, Role, read_settings
from labkit.workspace import Workspace


def check(lab: Lab) -> Answer:
    answer = lab.labkit("task", "check")
    assert "Traceback" not in answer.err
    return answer


def states(lab: Lab) -> dict[str, str]:
    listed = json.loads(lab.done("task", "list", "--json"))
    return {task["id"]: task["state"] for task in listed["tasks"]}


@pytest.mark.parametrize(
    ("stage", "state"),
    [("drafted", "draft"), ("proven", "proven"), ("sealed", "sealed"), ("frozen", "frozen")],
)
def test_every_task_has_a_state(stages: Stages, stage: str, state: str) -> None:
    lab = stages.original(stage)
    before = lab.snapshot()
    assert states(lab) == {str(GREET): state, str(SHOUT): state}
    head, first, second = lab.done("task", "list").splitlines()
    assert head.split() == ["task", "category", "author", "state", "tests", "changes", "title"]
    assert first.split()[:4] == [str(GREET), "bugfix", ANA, state]
    assert second.endswith("1 line, 1 file  Shout aloud")
    if stage != "drafted":
        assert "1 new, 1 kept" in first
    if stage != "frozen":
        assert f"{GREET}: {state}" in lab.done("status")
    assert lab.snapshot() == before


def test_json_says_the_same(stages: Stages) -> None:
    listed = json.loads(stages.original("sealed").done("task", "list", "--json"))
    assert listed["schema"] == 1
    assert len(listed["version"]) == 16
    assert listed["tasks"][0] == {
        "id": str(GREET),
        "category": "bugfix",
        "author": ANA,
        "state": "sealed",
        "changed": [],
        "tests": {"fail_to_pass": 1, "pass_to_pass": 1, "unstable": 0, "guarded": 2},
        "lines": 1,
        "files": 1,
        "title": "Greet strangers",
    }


def test_a_lab_without_tasks(stages: Stages) -> None:
    lab = stages.original("joined")
    assert lab.done("task", "list").split()[0] == "task"
    answer = check(lab)
    assert answer.code == 1
    assert "there are no tasks\n    labkit task new, or labkit task starter" in answer.out


@pytest.mark.parametrize("stage", ["drafted", "proven", "sealed"])
def test_freezing_refuses_what_the_check_says(stages: Stages, stage: str) -> None:
    lab = stages.original(stage)
    found = json.loads(lab.labkit("task", "check", "--json").out)["findings"]
    errors = [each["what"] for each in found if each["weight"] == "error"]
    mix = [each["what"] for each in found if each["weight"] == "mix"]
    refused = lab.labkit("task", "freeze", me=ANA).err.splitlines()
    told = [line.removeprefix("labkit: error: ") for line in refused if "error: " in line]
    assert told == [*errors, *mix]
    assert "0 trap tasks: 1 or more are asked" in mix


def test_the_version_that_is_told_is_the_one_that_is_frozen(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    before = json.loads(lab.labkit("task", "check", "--json").out)
    frozen = lab.done("task", "freeze", "--pilot", me=ANA).strip()
    assert (before["version"], before["frozen"]) == (frozen, None)
    answer = check(lab)
    assert answer.code == 0, answer.out
    assert f"suite version: {frozen}, as it was frozen" in answer.out
    assert answer.out.endswith("nothing is to be done\n")


def test_a_whole_suite_has_nothing_to_do(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("joined")
    third = len(starter_ids()) // 2
    for name, ids in ((ANA, starter_ids()[:third]), (BEN, starter_ids()[third:])):
        lab.done("task", "starter", *map(str, ids), me=name)
    lab.done("task", "validate", "--repeats", "3")
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    answer = check(lab)
    assert answer.code == 0, answer.out
    assert answer.out.splitlines()[:2] == [
        "12 tasks: 5 bugfix, 3 feature, 1 refactor, 1 tests, 1 trap, 1 other",
        "owners: ana 6, ben 6",
    ]
    assert "task fizzbuzz-range: its solution is one changed line" in answer.out
    assert answer.out.endswith("nothing is to be done: labkit task freeze\n")
    lab.done("task", "freeze", me=ANA)


def test_a_task_that_changed_after_it_was_proven(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("proven")
    lab.edit(lab.workspace.prompt(GREET), "please", "now")
    (lab.workspace.draft(SHOUT) / "hidden" / "tests" / "more.py").write_text("x = 1\n")
    assert set(states(lab).values()) == {"stale"}
    out = check(lab).out
    assert f"{GREET} (ana) is not sealed, and changed after it was proven sound: prompt\n" in out
    assert f"    labkit task validate {GREET}, then labkit task seal {GREET}" in out
    assert f"{SHOUT} (ben) is not sealed, and changed after it was proven sound\n" in out


def test_the_way_out_of_a_change_after_sealing(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("proven")
    kept = lab.folder / "kept"
    shutil.copytree(lab.workspace.draft(GREET), kept)
    for name in (ANA, BEN):
        lab.done("task", "seal", me=name)
    lab.edit(lab.workspace.task(GREET), "Greet strangers", "Greet everybody")
    says = (f"task {GREET} (ana) changed after it was sealed: title", "undo the change")
    lab.refused("task", "freeze", "--pilot", me=ANA, code=2, says=says)
    assert f"next: labkit task check: {GREET}" in lab.done("status")
    mend = check(lab).out
    assert f"put the hidden tests back into {lab.workspace.draft(GREET)}" in mend
    # The second way, as it is told:
    shutil.copytree(kept, lab.workspace.draft(GREET))
    lab.done("task", "validate", str(GREET), "--repeats", "3")
    lab.done("task", "seal", "--replace", str(GREET), me=ANA)
    assert states(lab)[str(GREET)] == "sealed"
    lab.done("task", "freeze", "--pilot", me=ANA)
    # And the first one, after freezing:
    lab.edit(lab.workspace.prompt(GREET), "please", "now")
    answer = check(lab)
    assert answer.code == 1
    assert f"task {GREET} (ana) changed after it was frozen: prompt" in answer.out
    assert "then labkit task freeze --again" in answer.out
    told = lab.labkit("task", "run", me=BEN)
    assert f"changed since the suite was frozen: task {GREET} (prompt)" in told.err
    lab.edit(lab.workspace.prompt(GREET), "now", "please")
    assert check(lab).code == 0


def test_after_runs_only_undoing_is_left(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("run")
    lab.edit(lab.workspace.task(GREET), "Greet strangers", "Greet everybody")
    out = check(lab).out
    assert "there are runs of the task as it was frozen" in out
    assert "--replace" not in out


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda space: space.task(GREET).unlink(), f"task {GREET} is frozen, and its file is gone"),
        (
            lambda space: shutil.copy(space.task(GREET), space.task(SHOUT)),
            f"\"id\" is '{GREET}', but the file is called {SHOUT}",
        ),
        (
            lambda space: space.plan.write_text(space.plan.read_text() + "\n"),
            "changed since the suite was frozen: plan.csv",
        ),
        (
            lambda space: (space.evals / "configs" / "B.yaml").write_text(
                (space.evals / "configs" / "A.yaml")
                .read_text()
                .replace("id: A", "id: B")
                .replace("model-A", "model-C")
                .replace("steps/A", "steps/B")
            ),
            "changed since the suite was frozen: configuration B",
        ),
        (
            lambda space: space.rubric.write_text(
                space.rubric.read_text(encoding="utf-8").replace("weight: 1", "weight: 2"),
                encoding="utf-8",
            ),
            "changed since the suite was frozen: rubric.yaml",
        ),
    ],
    ids=["gone", "two of one id", "plan", "configuration", "rubric"],
)
def test_what_changed_since_the_freeze_is_told(
    lab_at: Callable[[str], Lab], spoil: Callable[[Workspace], object], says: str
) -> None:
    lab = lab_at("frozen")
    spoil(lab.workspace)
    answer = check(lab)
    assert answer.code == 1
    assert says in answer.out
    if "rubric" in says:
        lab.refused("task", "run", me=ANA, code=3, says=(says, "undo it"))


def test_another_version_s_runs_are_not_summed_up(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("unblinded")
    lab.edit(lab.workspace.rubric, "weight: 1", "weight: 2")
    lab.refused("summary", code=3, says=("changed since the suite was frozen: rubric.yaml",))


def test_every_broken_file_is_told_with_its_line(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("proven")
    space = lab.workspace
    lab.edit(space.task(GREET), "category", "categry")
    lab.edit(space.task(SHOUT), 'base: "', "base: 01")
    lab.edit(space.evals / "configs" / "A.yaml", "agent: scripted", "agent:\tscripted")
    lab.edit(space.rubric, "hard_fails:", "hard_fails: &all")
    lab.edit(space.evals / "members" / "ben.yaml", "name: ", "name: x\nname: ")
    answer = check(lab)
    assert answer.code == 1
    for says in (
        f'{GREET}.yaml, line 4: unknown field "categry", did you mean "category"?',
        f"{SHOUT}.yaml, line 5",
        "A.yaml, line 2: a tab where YAML wants spaces",
        "rubric.yaml, line 47: anchors and aliases (&all, *all) cannot be used here",
        "ben.yaml, line 2: 'name' is written twice (first on line 1)",
    ):
        assert says in answer.out
    assert "asked" not in answer.out
    assert "alone" not in answer.out
    assert states(lab) == {str(GREET): "broken", str(SHOUT): "broken"}


def test_untouched_templates_and_bad_keys_are_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    path = lab.workspace.evals / "configs" / "A.yaml"
    path.write_bytes(template("init", "configs", "A.yaml").read_bytes().replace(b"\n", b"\r\n"))
    key = lab.identity.recipient
    lab.edit(lab.workspace.settings, key, key[:-6])
    out = check(lab).out
    assert "configs/A.yaml is as labkit made it" in out
    assert "labkit.yaml, holder: " in out
    assert "is not an age public key" in out
    assert f"task {GREET} (ana) is sealed to another key than the holder's" in out
    lab.refused("task", "freeze", "--pilot", me=ANA, code=2, says=("configs/A.yaml is as labkit",))
    says = (
        "configs/A.yaml is as labkit",
        "0 feature tasks",
        "delete the file's first line",
        "--pilot",
    )
    lab.refused("task", "freeze", me=ANA, code=2, says=says)
    path.write_bytes(template("init", "configs", "A.yaml").read_bytes().partition(b"\n")[2])
    assert "configs/A.yaml is as labkit made it" not in check(lab).out


def test_a_forged_seal_record_is_damage(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("sealed")
    path = lab.workspace.seal(GREET)
    record = json.loads(path.read_text())
    record["files"] += 1
    path.write_text(json.dumps(record))
    says = (f"the seal record of {GREET} is not signed by ana",)
    lab.refused("task", "freeze", "--pilot", me=ANA, code=3, says=says)
    assert says[0] in check(lab).out


def test_owners_must_have_joined_and_not_hold(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    lab.edit(lab.workspace.task(GREET), '"ana"', '"zoe"')
    lab.edit(lab.workspace.task(SHOUT), '"ben"', f'"{TARA}"')
    out = check(lab).out
    assert f"task {GREET} (zoe): zoe has not joined\n    labkit init --me zoe" in out
    assert f"task {SHOUT} ({TARA}): its author is the holder" in out


def test_hidden_tests_that_are_the_commit_s_own_are_told(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    says = f"task {GREET}: its hidden tests are the commit's own, unchanged"
    assert says in check(lab).out
    path = lab.workspace.draft(GREET) / "hidden" / "tests" / "test_greet.py"
    path.write_text(path.read_text() + "\n\ndef test_more():\n    assert True\n")
    assert says not in check(lab).out


@pytest.mark.parametrize("command", ["validate", "seal"])
def test_an_unknown_task_is_guessed(stages: Stages, command: str) -> None:
    says = ('no task gret-empty; did you mean "greet-empty"?', "no task zzz", "labkit task list")
    stages.original("sealed").refused(
        "task", command, "gret-empty", "zzz", *(("--me", ANA) if command == "seal" else ()),
        code=2, says=says,
    )  # fmt: skip


def people(*names: str) -> tuple[Person, ...]:
    return tuple(
        Person(name=Member(n), role=Role.STUDENT, full_name="", email="", signing_key="")
        for n in names
    )


def test_the_mix_of_a_team_of_three_and_of_one(stages: Stages) -> None:
    settings = read_settings(stages.original("joined").workspace)
    assert list(mix_problems(settings, (), people("a", "b", "c")))[-1] == (
        "0 tasks in all: 9 or more are asked of a team of 3"
    )
    assert list(mix_problems(settings, (), people("a")))[-1] == (
        "0 tasks: a person alone writes 8 or more"
    )
