"""What the forms of a summary cost, and how long until its Markdown and JSON are there.

Prints the time of each form, and the page beside a bare start of Matplotlib with as many pictures.
Run: python tests/bench/bench_reports.py [TASKS]
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from studies import results, study

from labkit.report import reports
from labkit.summary import summarise

ROUNDS = 5
BARE = """
import io
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
for _ in range(6):
    figure = Figure(figsize=(7, 4))
    FigureCanvasSVG(figure)
    figure.subplots().plot([0, 1], [0, 1])
    figure.savefig(io.BytesIO(), format="svg")
"""


def forms(tasks: int) -> None:
    """Print the seconds that each form takes, in this process."""
    signs = ("++ +-", "+- ++", "-- ++", "-- --", "++ ++")
    marks = {f"task-{number}": signs[number % len(signs)] for number in range(tasks)}
    found = results(marks, minutes=3.0, tokens=1500, cost=0.02, scores={"scope": 3.0})
    summary = summarise(study(found))
    before = time.perf_counter()
    for ending, _ in reports(summary):
        now = time.perf_counter()
        print(f"{ending} {now - before:.3f}")
        before = now


def main() -> None:
    """Run the forms in fresh processes, in turn with the reference."""
    tasks = sys.argv[1] if len(sys.argv) > 1 else "9"
    taken: dict[str, list[float]] = {"bare": []}
    for _ in range(ROUNDS):
        words = [sys.executable, __file__, tasks, "inside"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            ending, seconds = line.split()
            taken.setdefault(ending, []).append(float(seconds))
        before = time.perf_counter()
        subprocess.run([sys.executable, "-c", BARE], check=True)
        taken["bare"].append(time.perf_counter() - before)
    median = {name: statistics.median(each) for name, each in taken.items()}
    told = ", ".join(f"{name} {1000 * each:.0f} ms" for name, each in median.items())
    print(f"{tasks} tasks: {told}: the page is {median['html'] / median['bare']:.2f} of bare")


if __name__ == "__main__":
    if sys.argv[2:] == ["inside"]:
        forms(int(sys.argv[1]))
    else:
        main()
