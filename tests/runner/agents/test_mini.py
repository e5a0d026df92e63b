"""mini-swe-agent itself, played against a scripted model."""

import json
from pathlib import Path

import pytest
from realagents import Rehearsed, configured, rehearse

from labkit.model import Api
from labkit_runner.agents.interface import Said
from labkit_runner.agents.mini import MiniSweAgent
from labkit_runner.rehearsal.script import Script, ToolCall, Turn, Usage

AGENT = MiniSweAgent()
CODE = "def add(a, b):\n    return a - b\n"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo mended add"


def shell(command: str, text: str = "") -> Turn:
    call = ToolCall(name="bash", input={"command": command})
    return Turn(text=text, calls=(call,), usage=Usage(input=1000, output=50))


SCRIPT = Script(
    turns=(
        shell("cat calc.py", "I will look."),
        shell("sed -i 's/a - b/a + b/' calc.py && env > seen.txt"),
        shell(SUBMIT),
    )
)


def workspace(folder: Path, **files: str) -> Path:
    place = folder / "workspace"
    for name, text in {"calc.py": CODE, **files}.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def play(folder: Path, api: Api = Api.CHAT, model: str = "m1", **changes: object) -> Rehearsed:
    return rehearse(AGENT, configured(AGENT, model=model, **changes), SCRIPT, folder, api=api)


@pytest.mark.registry
def test_it_mends_a_file_and_obeys_nothing_of_the_workspace(tmp_path: Path) -> None:
    hostile = "open('/workspace/ran-{}', 'w')\n"
    names = ("minisweagent.py", "litellm/__init__.py", "sitecustomize.py", "uuid.py")
    files = {name: hostile.format(name.replace("/", "-")) for name in names}
    files["mini.yaml"] = "agent: {system_template: EVIL, instance_template: EVIL}\n"
    files[".env"] = "OPENAI_BASE_URL=http://127.0.0.1:1/v1\nMSWEA_MODEL_NAME=evil\n"
    played = play(workspace(tmp_path, **files), effort="low")
    place = tmp_path / "workspace"
    assert (place / "calc.py").read_text() == CODE.replace("-", "+")
    assert not list(place.glob("ran-*"))
    bodies = [each.body for each in played.main]
    assert [each["model"] for each in bodies] == ["m1"] * 3
    assert (bodies[0]["seed"], bodies[0]["reasoning_effort"]) == (7, "low")
    assert [each["function"]["name"] for each in bodies[0]["tools"]] == ["bash"]
    assert "EVIL" not in json.dumps(bodies)
    assert "- Mend add() in calc.py" in json.dumps(bodies[0])
    # The packages of the agent are not those that the project's tests are run with.
    assert "PYTHONPATH" not in (place / "seen.txt").read_text()
    told = played.account
    assert (told.said, told.version, told.turns, told.tokens) == (
        Said.COMPLETED,
        AGENT.usual_version,
        3,
        3150,
    )
    assert (told.final_message, told.model) == ("mended add", "m1")


@pytest.mark.registry
@pytest.mark.parametrize(
    ("api", "model", "path"),
    [
        (Api.ANTHROPIC, "claude-sonnet-4-5", "/v1/messages"),
        (Api.RESPONSES, "gpt-5.5", "/v1/responses"),
        (Api.GEMINI, "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:generateContent"),
    ],
    ids=["anthropic", "responses", "gemini"],
)
def test_it_speaks_other_apis(tmp_path: Path, api: Api, model: str, path: str) -> None:
    played = play(workspace(tmp_path), api, model, effort="low")
    assert {each.path.split("?")[0] for each in played.main} == {path}
    assert (played.account.said, played.account.turns) == (Said.COMPLETED, 3)
    body = played.main[0].body
    efforts = {
        Api.ANTHROPIC: body.get("thinking"),
        Api.RESPONSES: body.get("reasoning"),
        Api.GEMINI: body.get("generationConfig", {}).get("thinkingConfig"),
    }
    assert efforts[api]  # it reached the wire, in the API's own words


@pytest.mark.registry
def test_a_turn_cap_ends_it(tmp_path: Path) -> None:
    looping = Script(turns=SCRIPT.turns[:1], loop=True)
    configuration = configured(AGENT, model="m1", turn_cap=2)
    played = rehearse(AGENT, configuration, looping, workspace(tmp_path))
    assert played.account.said is Said.TURN_CAP
    assert len(played.main) == 2
