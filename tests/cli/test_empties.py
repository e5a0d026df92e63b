"""Many runs without a change: said once, at grading."""

from collections.abc import Callable

from cli.labs import TARA, Lab


def test_grading_warns_when_many_runs_changed_nothing(lab_at: Callable[[str], Lab]) -> None:
    answer = lab_at("checked").labkit("grade", me=TARA)
    assert answer.code == 0, answer.err
    said = "warning: 2 of 4 runs handed in no change (2 empty): look whether the agent could work"
    assert said in answer.out + answer.err
