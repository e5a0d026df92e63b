"""A trap is proved at the command line together with the twin that it names."""

from collections.abc import Callable

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
