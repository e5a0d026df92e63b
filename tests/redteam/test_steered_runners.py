"""Diffs that change what a project's own runner does, not the code: none of them may pass."""

import json
from pathlib import Path

import pytest
from gradings import CALC, FIXED, Files, Set, bench_of, make_set, validated

from labkit.model import Flag, Verdict
from labkit.sandbox.bubblewrap import BubblewrapSandbox
from labkit_grader.execute import Bench

from .test_runner_attacks import HIDDEN, RUNNER

PASSING = "".join(
    f'<testcase name="tests.test_hidden.Adds.{name}"/>' for name in ("test_add", "test_double")
)
FORGE = f"echo '<testsuite>{PASSING}</testsuite>' > /results/junit.xml; exit 0\n"
BASE: Files = {
    "calc.py": CALC,
    "ci/run.sh": 'set -e\n. ci/env.sh\nsh ci/lint.sh\npython ci/checks.py "$@"\n',
    "ci/env.sh": "PYTHONPATH=lib\nexport PYTHONPATH\n",
    "ci/lint.sh": "true\n",
    "ci/checks.py": RUNNER,
    "lib/extra.py": "",
}
STARTUP = f"import os\nos.system({FORGE!r})\nos._exit(0)\n"
ATTACKS: dict[str, Files] = {
    "the script": {"ci/run.sh": FORGE},
    "what it sources": {"ci/env.sh": FORGE},
    "what it sources, as a link": {"ci/env.sh": "-> ../forge.sh", "forge.sh": FORGE},
    "what it runs": {"ci/checks.py": STARTUP},
    "what it runs first": {"ci/lint.sh": FORGE + "kill $PPID\n"},
    "its folder becomes a link": {
        **{path: None for path in BASE if path.startswith("ci/")},
        "ci": "-> mine", "mine/run.sh": FORGE,
    },
    "start-up hook on its path": {"lib/sitecustomize.py": STARTUP},
    "module on its path": {"lib/unittest/__init__.py": STARTUP},
    "module in the project": {"unittest.py": STARTUP},
    "module beside it": {"ci/unittest.py": STARTUP},
    "compiled module": {"calc.pyc": b"\0"},
}  # fmt: skip


@pytest.fixture
def bench(bubblewrap_sandbox: BubblewrapSandbox) -> Bench:
    return bench_of(bubblewrap_sandbox, seconds=20)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory, bubblewrap_sandbox: BubblewrapSandbox) -> Set:
    made = make_set(
        tmp_path_factory.mktemp("task"), base=BASE, draft={"hidden/tests/test_hidden.py": HIDDEN},
        grading="sh ci/run.sh {report} {tests}",
    )  # fmt: skip
    return validated(made, bench_of(bubblewrap_sandbox))


@pytest.mark.parametrize("name", ATTACKS)
def test_what_the_runner_starts_is_that_of_the_base(task: Set, bench: Bench, name: str) -> None:
    record = task.graded(bench, task.diff(ATTACKS[name]))
    assert (record.verdict, record.reason) == (
        Verdict.FAIL, "1 of 2 expected tests did not pass"
    )  # fmt: skip
    assert Flag.NEUTRALISED in record.flags
    both = task.graded(bench, task.diff({**ATTACKS[name], "calc.py": FIXED}))
    assert both.verdict is Verdict.PASS


def test_make_and_npm_scripts_are_those_of_the_base(tmp_path: Path, bench: Bench) -> None:
    """With `make` and `npm` as small programs of the project, which read what the real ones do."""
    program = (
        "import json, pathlib, subprocess, sys\n"
        "lines = [json.loads(pathlib.Path('package.json').read_text())['scripts']['test']]\n"
        "made = pathlib.Path('Makefile').read_text().splitlines()\n"
        "lines += [line[1:] for line in made if line[:1] == '\\t']\n"
        "for line in lines:\n"
        "    code = subprocess.run(['sh', '-c', line, 'sh', *sys.argv[1:]]).returncode\n"
        "sys.exit(code)\n"
    )
    base: Files = {
        **BASE,
        "tools/make": program,
        "Makefile": 'test:\n\tsh ci/run.sh "$@"\n',
        "package.json": json.dumps({"scripts": {"test": "true"}}),
    }
    made = make_set(
        tmp_path, base=base, draft={"hidden/tests/test_hidden.py": HIDDEN},
        grading="sh -c 'WITH=npm exec python tools/make \"$@\"' sh {report} {tests}",
    )  # fmt: skip
    sealed = validated(made, bench)
    for attack in (
        {"Makefile": f"test:\n\t{FORGE}"},
        {"package.json": json.dumps({"scripts": {"test": FORGE + "kill $PPID"}})},
        {"tools/make": STARTUP},
    ):
        record = sealed.graded(bench, made.diff(attack))
        assert record.verdict is Verdict.FAIL, attack
        assert Flag.NEUTRALISED in record.flags
