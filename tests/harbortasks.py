"""A task as Harbor has it, for tests to write and to spoil."""

from pathlib import Path

CONFIG = """\
schema_version = "1.1"

[task]
name = "blue/add"

[metadata]
category = "programming"
difficulty = "easy"

[verifier]
timeout_sec = 30.0
env = { FLAVOUR = "sour" }

[agent]
timeout_sec = 120.0

[environment]
cpus = 1
memory = "512M"
"""
TASK = {
    "task.toml": CONFIG,
    "instruction.md": "# Add\n\nMake add() in /app/calc.py right.\n",
    "environment/Dockerfile": "FROM python:3.12-slim\nWORKDIR /app\nENV HOUSE=blue\nCOPY src/ .\n",
    "environment/src/calc.py": "def add(a, b):\n    return a - b\n",
    "environment/src/.keep/x": "1\n",
    "tests/test.sh": """\
#!/bin/sh
test "$FLAVOUR-$HOUSE" = sour-blue || exit 1
if python3 /tests/check.py; then echo 1; else echo 0.25; fi > /logs/verifier/reward.txt
""",
    "tests/check.py": "import sys\nsys.path.insert(0, '/app')\nfrom calc import add\n"
    "assert add(2, 3) == 5\n",
    "solution/solve.sh": "#!/bin/sh\nset -e\nsed -i 's/a - b/a + b/' /app/calc.py\n",
}  # fmt: skip


def write_task(folder: Path, **changes: str | None) -> Path:
    """Write a task into a folder; `changes` are files by name, None for none."""
    for name, text in {**TASK, **changes}.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return folder
