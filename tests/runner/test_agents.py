import json
from pathlib import Path

import pytest
from runs import A, a_configuration

from labkit.errors import InputError
from labkit.model import RunId, TaskId
from labkit.nodes import dump_yaml
from labkit.workspace import Workspace, replace
from labkit_runner.agents.command import CommandAgent
from labkit_runner.agents.interface import Agent, Request
from labkit_runner.agents.registry import agent_named
from labkit_runner.agents.scripted import ScriptedAgent
from labkit_runner.agents.steps import read_steps, steps_path

PROMPT = 'it\'s "done" $(x)\n{prompt}'


def request(attempt: int = 1, **changes: object) -> Request:
    run = RunId(TaskId("bug-a"), A, attempt)
    configuration = a_configuration(A, **changes)
    return Request(run=run, configuration=configuration, prompt=PROMPT, seed=7)


@pytest.mark.parametrize(("name", "kind"), [("scripted", ScriptedAgent), ("command", CommandAgent)])
def test_agents_are_found_by_name(tmp_path: Path, name: str, kind: type[Agent]) -> None:
    assert isinstance(agent_named(name, Workspace(tmp_path)), kind)


def test_an_unknown_agent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no agent is called 'clippy'"):
        agent_named("clippy", Workspace(tmp_path))


def test_a_command_gets_the_prompt_as_one_word() -> None:
    command = ("agent", "--ask={prompt}", "{prompt_file}", "plain")
    launch = CommandAgent().launch(request(command=command, settings={"KEY": "v"}, effort="low"))
    assert launch.argv == ("agent", f"--ask={PROMPT}", "/labkit/prompt.txt", "plain")
    assert [(item.path, item.data) for item in launch.inputs] == [(b"prompt.txt", PROMPT.encode())]
    assert launch.environment["KEY"] == "v"
    assert launch.environment["LABKIT_SEED"] == "7"
    assert launch.environment["LABKIT_EFFORT"] == "low"
    assert (launch.version, launch.transcript) == ("1", "transcript.txt")


def test_the_scripted_agent_brings_its_player_steps_and_seed(tmp_path: Path) -> None:
    replace(tmp_path / "steps" / "A" / "bug-a.yaml", dump_yaml({"steps": [{"say": "hi"}]}))
    launch = ScriptedAgent(tmp_path).launch(request())
    inputs = {item.path: item.data for item in launch.inputs}
    assert set(inputs) == {b"player.py", b"steps.json", b"prompt.txt"}
    assert json.loads(inputs[b"steps.json"]) == {"seed": 7, "steps": [{"say": "hi"}]}
    assert launch.argv == ("python3", "/labkit/player.py", "/labkit/steps.json")


def test_an_attempts_own_steps_win(tmp_path: Path) -> None:
    for name in ("bug-a.yaml", "bug-a__2.yaml"):
        (tmp_path / name).touch()
    found = [steps_path(tmp_path, request(attempt).run).name for attempt in (1, 2)]
    assert found == ["bug-a.yaml", "bug-a__2.yaml"]


def test_every_kind_of_step_is_read(tmp_path: Path) -> None:
    steps: list[dict[str, object]] = [
        {"say": "no"},
        {"run": "true"},
        {"edit": {"path": "a", "find": "b", "replace": ""}},
        {"write": {"path": "a", "text": "all:\n\tmake\n"}},
        {"delete": "a"},
        {"wait": 0.5},
        {"exit": 3},
        {"finish": "x"},
    ]
    replace(tmp_path / "s.yaml", dump_yaml({"steps": steps}))
    assert list(read_steps(tmp_path / "s.yaml")) == steps


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("steps: []\n", "line 1: there are no steps"),
        ("other: 1\n", 'unknown field "other"'),
        ("steps:\n  - sing: la\n", 'steps 1, line 2: unknown field "sing"'),
        ("steps:\n  - {say: a, run: b}\n", "steps 1, line 2: a step does exactly one thing"),
        ("steps:\n  - say: x\n  - {}\n", "steps 2: a step does exactly one thing"),
        ("steps:\n  - say: 5\n", 'must be a text: put it in quotes: "5"'),
        ("steps:\n  - wait: -1\n", '"wait" must be a number, 0 or more'),
        ("steps:\n  - edit: {path: a, find: b}\n", 'no "replace:"'),
        ("steps:\n  - write: {path: a, text: b, mode: c}\n", 'unknown field "mode"'),
        ("steps:\n  - say\n", '"steps" must be a list of mappings'),
    ],
    ids=lambda text: text[10:40].strip(),
)
def test_a_bad_step_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_steps(tmp_path / "s.yaml")
    assert any(told in problem for problem in caught.value.problems)


def test_a_missing_step_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no step file .*s\.yaml"):
        read_steps(tmp_path / "s.yaml")
