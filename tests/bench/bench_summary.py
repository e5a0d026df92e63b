"""What a summary costs: 10,000 tasks of two configurations and two attempts, and nine tasks.

The reference of the first is Python's own json reading the 40,000 records that it is made of and
writing the document that comes of them; of the second a bare interpreter.
Run: PYTHONPATH=tests python tests/bench/bench_summary.py
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from studies import results, study

from labkit.fields import json_text
from labkit.model import Category, RunId, Verdict
from labkit.report import to_json
from labkit.study import RunResult, Study
from labkit.summary import summarise

TASKS = 10_000
ROUNDS = 5
NINE = (
    "import sys; sys.path.insert(0, 'tests'); from studies import typical; "
    "from labkit.report import render; from labkit.summary import summarise; "
    "render(summarise(typical()))"
)


def records() -> list[str]:
    """Return the records of a study as lines of JSON, some of them missing."""
    draw = random.Random(1)  # noqa: S311 - an example, not a secret
    marks = {
        f"task-{number}": " ".join(
            "".join(draw.choice("++--?") for _ in range(2)) for _ in range(2)
        )
        for number in range(TASKS)
    }
    return [
        json.dumps(
            {
                "run": str(found.run),
                "verdict": found.verdict,
                "category": draw.choice(list(Category)),
                "minutes": draw.uniform(1, 30),
                "tokens": draw.randrange(100_000),
                "cost": draw.random(),
            }
        )
        for found in results(marks)
    ]


def read(lines: list[str]) -> Study:
    """Read records into a study."""
    found = []
    for line in lines:
        values = json.loads(line)
        verdict = values["verdict"]
        found.append(
            RunResult(
                run=RunId.parse(values["run"]),
                verdict=Verdict(verdict) if verdict else None,
                category=Category(values["category"]),
                minutes=values["minutes"],
                tokens=values["tokens"],
                cost=values["cost"],
            )
        )
    return study(found)


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the median processor time of a few rounds, after one to warm up."""
    took = []
    for _ in range(ROUNDS + 1):
        began = clock()
        work()
        took.append(clock() - began)
    return statistics.median(took[1:])


def program(*words: str) -> float:
    """Return the median time of a program from start to finish, on the clock on the wall."""
    return seconds(
        lambda: subprocess.run([sys.executable, *words], check=True), clock=time.perf_counter
    )


def main() -> None:
    """Print times, memory and ratios."""
    lines = records()
    whole = read(lines)
    document = to_json(summarise(whole))
    ours = seconds(lambda: json_text(to_json(summarise(whole))))
    all_of_it = seconds(lambda: json_text(to_json(summarise(read(lines)))))
    theirs = seconds(lambda: [*map(json.loads, lines), json.dumps(document, indent=2)])
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{TASKS:,} tasks x 2 x 2, study to JSON   {ours:6.2f} s (aim: under 2)")
    print(f"the same from {len(lines):,} records      {all_of_it:6.2f} s")
    print(f"json alone, the same reading and writing {theirs:6.2f} s, ratio {ours / theirs:.1f}")
    print(f"most memory                              {megabytes:6.0f} MB (aim: under 300)")
    nine, bare = program("-c", NINE), program("-c", "pass")
    print(f"nine tasks to Markdown, start to finish  {nine:6.2f} s (aim: under 0.5)")
    print(f"a bare interpreter                       {bare:6.2f} s, ratio {nine / bare:.1f}")


if __name__ == "__main__":
    main()
