from pathlib import Path

import pytest

from labkit.errors import InputError, PhaseError
from labkit.model import Member
from labkit.nodes import dump_yaml
from labkit.settings import Person, Role, read_people, read_person, read_settings, write_person
from labkit.spending import NOTHING, Spent, over_budget
from labkit.workspace import Workspace, replace

ANA = Person(
    name=Member("ana"), role=Role.STUDENT, full_name="Ana M", email="a@b.c", signing_key="key"
)


def settings_of(folder: Path, text: str) -> Workspace:
    workspace = Workspace(folder)
    replace(workspace.settings, text)
    return workspace


def problems(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_settings(settings_of(folder, text))
    return caught.value.problems


def test_a_team_alone_is_enough(tmp_path: Path) -> None:
    found = read_settings(settings_of(tmp_path, 'team: "blue"\n'))
    assert (found.team, found.attempts, found.solo) == ("blue", 2, False)
    assert (found.run_limits.seconds, found.grade_limits.seconds) == (600, 300)
    assert (found.image, found.protected) == ("labkit-base:local", ("evals",))
    with pytest.raises(PhaseError, match="no holder's key yet"):
        _ = found.recipients


def test_a_bound_of_nothing_is_taken_at_its_word(tmp_path: Path) -> None:
    text = "team: blue\nbudget: {tokens: 0, cost: 0}\n"
    budget = read_settings(settings_of(tmp_path, text)).budget
    assert (budget.tokens, budget.cost) == (0, 0)
    assert over_budget(budget, Spent(), NOTHING, "it") == (
        "of the budget of 0 tokens 0 tokens is spent"
    )
    text = "team: blue\nlimits: {tokens: 0, cost: 0}\n"
    (cost, tokens) = problems(tmp_path, text)
    assert 'line 2: "tokens" must be a number, 1 or more' in tokens
    assert 'line 2: "cost" must be above 0' in cost


def test_everything_can_be_set(tmp_path: Path) -> None:
    text = (
        "team: blue\nholder: age1x\nbackup: age1y\nsolo: true\nattempts: 5\nredact: [acme]\n"
        "protected: [evals, secret]\nenvironment: {image: mine, site: /s}\n"
        "limits: {minutes: 0.5, grade_minutes: 1, memory: 64, processes: 16}\n"
    )
    found = read_settings(settings_of(tmp_path, text))
    assert found.recipients == ("age1x", "age1y")
    assert (found.run_limits.seconds, found.run_limits.memory) == (30, 64)
    assert (found.grade_limits.seconds, found.grade_limits.processes) == (60, 16)
    assert (found.image, found.site, found.solo, found.attempts) == ("mine", "/s", True, 5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("solo: true\n", 'labkit.yaml: no "team:"'),
        ("team: Blue Team\n", "labkit.yaml, line 1: 'Blue Team' must be lower-case letters"),
        ('team: ""\n', 'labkit.yaml, line 1: "team" is empty'),
        ("team: no\n", 'line 1: "team" must be a text: put it in quotes: "no"'),
        ("team: b\nattempts: 0\n", 'line 2: "attempts" must be a number, 1 or more'),
        ("team: b\nattempts: -1\n", 'line 2: "attempts" must be a number, 1 or more'),
        ("team: b\nattempts: 10\n", "line 2: at most 9 attempts"),
        ("team: b\nattempts: .inf\n", 'line 2: "attempts" must be a number'),
        ("team: b\nsecond_attempts: [a-1]\n", 'goes with "attempts: 1", not with 2'),
        ("team: b\nsmoke: [a-1, a-1]\n", 'line 2: "smoke" names a-1 twice'),
        ("team: b\nsmoke: [A 1]\n", "line 2: \"smoke\": task id 'A 1' is not allowed"),
        ("team: b\nsolo: yes\n", 'line 2: "solo" must be true or false'),
        ("team: b\nlimits: {minutes: 1:30}\n", 'limits, line 2: "minutes" must be a number'),
        ("team: b\nlimits: {minutes: 0}\n", '"minutes" must be a number, 0.01 or more'),
        ("team: b\nlimits: {memory: 1}\n", '"memory" must be a number, 64 or more'),
        ("team: b\nlimits: {minuts: 1}\n", 'unknown field "minuts", did you mean "minutes"?'),
        ("team: b\nlimits: 5\n", '"limits" must be a mapping'),
        ("team: b\ntimeout: 60\ntimeout: 600\n", "'timeout' is written twice (first on line 2)"),
        ("team: b\nredact: acme\n", '"redact" must be a list'),
        ("team: b\nenvironment: {python: 3.10}\n", 'unknown field "python"'),
    ],
    ids=lambda text: text.replace("\n", ";")[8:40],
)
def test_a_bad_setting_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert any(told in problem for problem in problems(tmp_path, text))


def test_one_fault_is_one_problem(tmp_path: Path) -> None:
    assert len(problems(tmp_path, "solo: true\n")) == 1
    assert len(problems(tmp_path, "team: B\nsolo: 1\nattempts: x\nmore: 1\n")) == 4


def test_a_person_is_written_once_and_read(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    write_person(workspace.member(ANA.name), ANA)
    assert read_people(workspace) == (ANA,)
    with pytest.raises(InputError, match="is already there"):
        write_person(workspace.member(ANA.name), ANA)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"role": "boss"}, "\"role\" is 'boss': use one of student, holder"),
        ({"name": "ben"}, "\"name\" is 'ben', but the file is called ana"),
        ({"email": None}, 'ana.yaml: no "email:"'),
    ],
    ids=["role", "name", "email"],
)
def test_a_bad_member_file_is_told(
    tmp_path: Path, change: dict[str, str | None], told: str
) -> None:
    sound: dict[str, str | None] = {
        "name": "ana", "role": "student", "full_name": "A", "email": "e", "signing_key": "k"
    }  # fmt: skip
    workspace = Workspace(tmp_path)
    kept = {name: value for name, value in (sound | change).items() if value is not None}
    replace(workspace.member(ANA.name), dump_yaml(kept))
    with pytest.raises(InputError) as caught:
        read_person(workspace, ANA.name)
    assert len(caught.value.problems) == 1
    assert told in caught.value.problems[0]


def test_somebody_who_has_not_joined_is_told_how(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ben has not joined") as caught:
        read_person(Workspace(tmp_path), Member("ben"))
    assert caught.value.hint == "run: labkit init --me ben"
