"""Instances as cases: the whole loop, with the gold patch, with nothing, and with a wrong diff."""

from pathlib import Path
from typing import Any

import pytest
from gitrepo import Project
from instances import solved_project, write_instances
from sandboxes import IMAGE

from labkit.errors import InputError
from labkit.evals import Answer, EvalCase, EvalRunner, Status, Trial
from labkit.evals.swebench import read_swebench
from labkit.evals.sweinstances import read_instances
from labkit.graders import Tools
from labkit.sandbox.interface import Limits, Sandbox

LIMITS = Limits(seconds=60, memory=512, processes=64, scratch=64)


@pytest.fixture
def repository(tmp_path: Path) -> Project:
    """Return a project with one solved commit."""
    return solved_project(tmp_path / "words")


def test_the_gold_patch_passes_and_nothing_else(sandbox: Sandbox, repository: Project) -> None:
    path = write_instances(repository, {})
    suite = read_instances(path, repository.repository, cache=repository.folder.parent / "cache")
    (case,) = suite.cases
    assert (case.problem, case.slices) == ("", ("blue/words",))
    assert case.inputs == {"instruction": "Greet nobody.", "workdir": "/workspace"}
    tools = Tools(sandbox=sandbox, image=IMAGE, limits=LIMITS)

    def graded(candidate: Any) -> Any:
        report = EvalRunner(candidate=candidate, tools=tools).run(suite)
        (sample,) = report.cases[0].samples
        return sample

    (instance,) = read_swebench(path).found

    def reference(case: EvalCase, trial: Trial) -> Answer:
        del case, trial
        return Answer(diff=instance.patch)

    gold = graded(reference)
    assert gold.passed is True, gold.verdict
    assert gold.edits == ("words.py",)

    def idle(case: EvalCase, trial: Trial) -> str:
        del case, trial
        return "done"

    def own_tests(case: EvalCase, trial: Trial) -> str:
        del case
        (trial.scratch / "tests" / "test_words.py").write_text("def test_empty(): pass\n")
        return "done"

    def stale(case: EvalCase, trial: Trial) -> Answer:
        del case, trial
        return Answer(diff=instance.patch.replace("Hello", "Hullo"))

    assert graded(idle).verdict.detail.startswith("reward 0")
    assert graded(own_tests).passed is False
    assert graded(stale).status is Status.NOT_APPLIED


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"base_commit": "ab" * 20}, "no commit"),
        ({"FAIL_TO_PASS": []}, "names no test that begins to pass"),
        ({"FAIL_TO_PASS": None}, "names no test that begins to pass"),
        ({"PASS_TO_PASS": ["test_a (m.C)"]}, "'test_a (m.C)' is no test as pytest names them"),
        ({"FAIL_TO_PASS": ["-p::x"]}, "'-p::x' is no test"),
        ({"test_patch": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"},
         "its test_patch does not apply"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_a_case_with_its_problem(
    repository: Project, change: dict[str, Any], says: str
) -> None:
    path = write_instances(repository, {"instance_id": "good"}, change)
    cache = repository.folder.parent / "cache"
    wrong, good = read_instances(path, repository.repository, cache=cache).cases
    assert (good.id, good.problem) == ("good", "")
    assert says in wrong.problem


def test_a_base_with_links_and_a_file_with_other_lines(repository: Project) -> None:
    (repository.folder / "link").symlink_to("words.py")
    base = repository.commit({})
    cache = repository.folder.parent / "cache"
    path = write_instances(repository, {"base_commit": base, "test_patch": ""})
    (case,) = read_instances(path, repository.repository, cache=cache).cases
    assert "its base has a link, link" in case.problem
    path.write_text("{}\n[]\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_instances(path, repository.repository, cache=cache)
    assert len(caught.value.problems) == 5
