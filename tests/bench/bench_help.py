"""What `labkit --help` costs against an empty typer app with as many commands.

Prints the median times and their ratio; the aim is 1.3 or less.
Run: python tests/bench/bench_help.py
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from labkit.cli.app import app

ROUNDS = 20


def commands() -> list[str]:
    """Return the names of labkit's commands, groups flattened."""
    names = [command.callback.__name__ for command in app.registered_commands if command.callback]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands if group.typer_instance else []
        names += [f"{group.name}_{one.callback.__name__}" for one in inner if one.callback]
    return names


def empty_app(names: list[str]) -> str:
    """Return the source of a typer app whose commands do nothing."""
    lines = [
        "import typer",
        "app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)",
    ]
    for name in names:
        lines += ["@app.command()", f"def {name}() -> None:", '    """Do nothing."""']
    return "\n".join([*lines, "app()"]) + "\n"


def seconds(argv: list[str]) -> float:
    """Return the wall-clock time of one start."""
    start = time.perf_counter()
    subprocess.run(argv, capture_output=True, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure both, interleaved, and print the ratio."""
    names = commands()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(empty_app(names), encoding="utf-8")
        ours = [sys.executable, "-m", "labkit", "--help"]
        reference = [sys.executable, str(script), "--help"]
        pairs = [(seconds(ours), seconds(reference)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(
        f"labkit --help {mine * 1e3:.0f} ms, empty app of {len(names)} commands "
        f"{theirs * 1e3:.0f} ms: ratio {mine / theirs:.2f} (aim: at most 1.3)"
    )


if __name__ == "__main__":
    main()
