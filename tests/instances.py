"""A solved commit as SWE-bench has it, for tests to write and to spoil."""

import json
from pathlib import Path
from typing import Any

from gitrepo import Project, make_project

BEFORE = {
    "words.py": "def greet(name):\n    return 'Hello ' + name\n",
    "tests/test_words.py": "import words\n\n\ndef test_name():\n"
    "    assert words.greet('Bo') == 'Hello Bo'\n",
    "tests/old.py": "import gone\n",
    "run": "#!/bin/sh\n",
}  # fmt: skip
AFTER = {
    "words.py": BEFORE["words.py"].replace("name\n", "(name or 'you')\n"),
    "tests/test_words.py": BEFORE["tests/test_words.py"]
    + "\n\ndef test_empty():\n    assert words.greet('') == 'Hello you'\n",
    "tests/test_old.py": "",
    "tests/old.py": None,
}


def solved_project(folder: Path) -> Project:
    """Return a project with one solved commit."""
    made = make_project(folder)
    made.commit(BEFORE)
    made.commit(AFTER)
    return made


def write_instances(project: Project, *changes: dict[str, Any]) -> Path:
    """Write a file of instances beside a project, each its solved commit with changes."""

    def patch(*places: str) -> str:
        return project.git("diff", "HEAD~1", "HEAD", "--", *places) + "\n"

    whole = {
        "instance_id": "blue__words-1",
        "repo": "blue/words",
        "base_commit": project.git("rev-parse", "HEAD~1"),
        "patch": patch(":!tests"),
        "test_patch": patch("tests"),
        "problem_statement": "Greet nobody.",
        "FAIL_TO_PASS": ["tests/test_words.py::test_empty"],
        "PASS_TO_PASS": ["tests/test_words.py::test_name"],
    }
    path = project.folder.parent / "all.jsonl"
    path.write_text("\n".join(json.dumps(whole | each) for each in changes), encoding="utf-8")
    return path
