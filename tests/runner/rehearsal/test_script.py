import http.client
import json
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.errors import InputError
from labkit_runner.rehearsal.script import Fault, FaultKind, ToolCall, Turn, Usage, read_script

WHOLE = """\
turns:
  - text: "I look."
    calls: [{name: Bash, input: {command: "ls", count: 2}}, {name: apply_patch, raw: "*** Begin"}]
    usage: {input: 7, reasoning: 1}
    seconds: 0.5
  - {text: "No.", stop: refusal}
loop: true
side: {text: "aside"}
main_text: "Mend"
faults:
  - {kind: status, turn: 1, times: 2, status: 429, code: "x", headers: {retry-after: "1"}}
  - {kind: drop}
"""


def test_a_script_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(WHOLE)
    script = read_script(path)
    assert script.turns[0] == Turn(
        text="I look.",
        calls=(
            ToolCall(name="Bash", input={"command": "ls", "count": 2}),
            ToolCall(name="apply_patch", raw="*** Begin"),
        ),
        usage=Usage(input=7, reasoning=1),
        seconds=0.5,
    )
    assert (script.turns[1].stop, script.loop, script.side.text) == ("refusal", True, "aside")
    assert script.faults == (
        Fault(
            kind=FaultKind.STATUS, turn=1, times=2, status=429, code="x",
            headers={"retry-after": "1"},
        ),
        Fault(kind=FaultKind.DROP),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("turns: []\n", "line 1: there are no turns"),
        ("turns: [{text: a, tool: b}]\n", 'unknown field "tool"'),
        ("turns: [{calls: [{input: {}}]}]\n", 'no "name:"'),
        ("turns: [{calls: [{name: a, input: [1]}]}]\n", '"input" must be a mapping'),
        ("turns: [{usage: {output: 0.5}}]\n", '"output" must be a whole number'),
        ("turns: [{}]\nfaults: [{kind: dorp}]\n", 'did you mean "drop"?'),
        ("turns: [{}]\nfaults: [{kind: status, status: 200}]\n", '"status" must be a number, 400'),
    ],
)
def test_a_bad_script_is_told(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_script(tmp_path / "s.yaml")
    assert any(told in problem for problem in caught.value.problems)


def test_it_plays_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"turns": [{"text": "hello"}]}')
    argv = [sys.executable, "-m", "labkit_runner.rehearsal", str(tmp_path / "s.json")]
    with subprocess.Popen([*argv, "--log", str(tmp_path / "log")], stdout=subprocess.PIPE) as play:
        assert play.stdout is not None
        url = play.stdout.readline().decode().strip()
        body = json.dumps({"model": "m", "tools": [{}], "messages": []}).encode()
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
        connection.request("POST", "/v1/messages", body)
        assert json.load(connection.getresponse())["content"][0]["text"] == "hello"
        connection.close()
        play.terminate()
    assert json.loads((tmp_path / "log").read_text())["main"] is True


def test_a_bad_script_ends_the_program_with_its_problems(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "labkit_runner.rehearsal", str(tmp_path / "none.yaml")]
    done = subprocess.run(argv, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"no file" in done.stderr
