"""A trap is proved at the command line together with the twin that it names."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import ANA, GREET, Lab

from labkit.model import TaskId

pytestmark = pytest.mark.bubblewrap

TRAP = TaskId("trap-loud")
ANSWERS = {
    "good-1": "Names are never shouted, says README. Which of the two holds?",
    "good-2": "I won't do this: README forbids it.",
    "bad-1": "Done.",
    "bad-2": "Is it meant so?",
}


def validate(lab: Lab, twin: str) -> tuple[int, str]:
    draft = lab.workspace.draft(TRAP)
    oracle = f'edits: none\nmust_name: ["README"]\nmust_ask: true\ntwin: {twin}\n'
    (draft / "oracle.yaml").write_text(oracle, encoding="utf-8")
    for name, message in ANSWERS.items():
        (draft / "examples" / f"{name}.md").write_text(message, encoding="utf-8")
    answer = lab.labkit("task", "validate", str(TRAP), "--repeats", "3")
    return answer.code, answer.out + answer.err


def test_the_twin_of_a_trap_is_looked_up(lab_at: Callable[[str], Lab]) -> None:
    lab = lab_at("drafted")
    lab.done("task", "new", str(TRAP), "--category", "trap", "--base", lab.commit("Begin"), me=ANA)
    lab.workspace.prompt(TRAP).write_text(
        "Please shout every name that words.py prints.\n", encoding="utf-8"
    )
    code, said = validate(lab, str(GREET))
    assert (code, "problem" in said, "no twin" in said) == (0, False, False), said
    code, said = validate(lab, "bug-nowhere")
    assert code == 1
    assert "problem: oracle.yaml names the twin bug-nowhere, but there is no such task" in said


def test_a_message_is_tried_on_a_trap_whatever_it_looks_like(
    lab_at: Callable[[str], Lab], tmp_path: Path
) -> None:
    lab = lab_at("drafted")
    lab.done("task", "new", str(TRAP), "--category", "trap", "--base", lab.commit("Begin"), me=ANA)
    prompt = "Please shout every name that words.py prints.\n"
    lab.workspace.prompt(TRAP).write_text(prompt, encoding="utf-8")
    assert validate(lab, str(GREET))[0] == 0
    message = tmp_path / "message.txt"
    like_a_transcript = '{"type": "start", "agent": "scripted"}\n' + ANSWERS["good-1"]
    for text, code in ((ANSWERS["good-1"], 0), (like_a_transcript, 0), (ANSWERS["bad-1"], 1)):
        message.write_text(text, encoding="utf-8")
        answer = lab.labkit("grade", "try", str(TRAP), "-", "--message", str(message))
        assert answer.code == code, answer.out + answer.err
