"""What `labkit suite` does: starting, checking, listing and sealing suites."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.cli.console import complain, data, say
from labkit.cli.evalruns import needs_sandbox
from labkit.cli.identity import ALONE, own_identity
from labkit.cli.lab import holder_key_path, now
from labkit.cli.sandboxes import open_sandbox
from labkit.errors import InputError, LabkitError
from labkit.evals.bundled import write_bundled
from labkit.evals.case import EvalCase, EvalSuite, Split
from labkit.evals.sealedsplit import Places
from labkit.evals.sealing import Sealer, Sealing, seal_split
from labkit.evals.suitecheck import SuiteCheck, check_suite
from labkit.evals.suitefile import read_suite
from labkit.fields import counted, first_words, json_text
from labkit.graders import Tools
from labkit.scaffold import copy_out, template
from labkit.seal import check_recipient
from labkit.workspace import user_folder

SCHEMA = 1
_KEYS = f"{ALONE}; --to AGE1... seals to somebody else's key, --key PATH names one elsewhere"


def begin(folder: Path, *, fixtures: bool) -> None:
    """Write a suite to start from into a new folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is already there, and not empty", hint="name a new folder")
    if fixtures:
        write_bundled(folder)
        say(f"{folder} has five fixture tasks: each a goal, a broken folder, and a mended one")
    else:
        copy_out(template("suite"), folder)
        say(f"{folder}/suite.yaml has nine cases, {folder}/slug.py answers them, more or less")
    say(f"next: labkit suite check {folder}")
    candidate = "known-fixes" if fixtures else f"{folder}/slug.py:solve"
    say(f"then: labkit evaluate --suite {folder} --candidate {candidate}")


def check(path: Path, sandbox: str, image: str, *, as_json: bool) -> int:
    """Check a suite, print what it is, and return the exit code."""
    suite = read_suite(path, image=image)
    found = check_suite(suite, _tools(suite.suite, sandbox))
    data(_check_json(found) if as_json else _check_text(found))
    for problem in found.problems:
        say(f"labkit: problem: {problem}")
    if found.problems:
        say(f"labkit: {counted(len(found.problems), 'problem')}: such a case is never run")
    return 1 if found.problems else 0


def _tools(suite: EvalSuite, sandbox: str) -> Tools:
    """Return what the graders of a suite need; a sandbox that is not there is told."""
    if not needs_sandbox(suite):
        return Tools()
    try:
        return Tools(sandbox=open_sandbox(sandbox))
    except InputError:
        raise
    except LabkitError as error:
        complain(error)
        return Tools()


def _check_text(found: SuiteCheck) -> str:
    suite = found.found.suite
    lines = [f"{suite.name}: {counted(len(suite.cases), 'case')} in {found.found.path}"]
    for split, version in found.versions().items():
        count = counted(len(suite.only(split).cases), "case")
        lines.append(f"  {split}: {count}, version {version}")
    if found.sealed:
        count = counted(found.sealed.cases, "case")
        lines.append(
            f"  test: {count}, sealed on {found.sealed.sealed_at[:10]}, "
            f"commitment {found.sealed.commitment[:16]}"
        )
    lines.append("slices:")
    for name, counts in found.slices().items():
        each = ", ".join(f"{split} {count}" for split, count in sorted(counts.items()))
        lines.append(f"  {name or '(none)'}: {each}")
    return "\n".join(lines)


def _check_json(found: SuiteCheck) -> str:
    sealed = found.sealed
    return json_text(
        {
            "schema": SCHEMA,
            "suite": found.found.suite.name,
            "file": str(found.found.path),
            "splits": {
                str(split): {
                    "cases": len(found.found.suite.only(split).cases),
                    "version": version,
                }
                for split, version in found.versions().items()
            },
            "sealed": {"cases": sealed.cases, "commitment": sealed.commitment} if sealed else None,
            "slices": {
                name: {str(split): count for split, count in counts.items()}
                for name, counts in found.slices().items()
            },
            "problems": list(found.problems),
        }
    )


def list_cases(suite: Path, *, as_json: bool) -> None:
    """Print one line a case."""
    rows = [_row(case) for case in read_suite(suite).suite.cases]
    if as_json:
        data(json_text({"schema": SCHEMA, "cases": rows}))
        return
    data("\n".join("\t".join(_shown(value) for value in row.values()) for row in rows))


def _row(case: EvalCase) -> dict[str, Any]:
    return {
        "id": case.id,
        "split": str(case.split),
        "grader": str(case.grader_spec.get("name", "")),
        "slices": list(case.slices),
        "tags": list(case.tags),
        "problem": case.problem,
    }


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def seal(suite: Path, to: Sequence[str], key: str) -> None:
    """Seal the test split and tell what there is now."""
    found = read_suite(suite)
    recipients = tuple(dict.fromkeys(check_recipient(text) for text in to))
    identity = own_identity(key, hint=_KEYS) if key or not to else None
    if identity and recipients and identity.recipient not in recipients:
        raise InputError(
            f"{holder_key_path(key)} opens nothing that is sealed to {first_words(recipients)}",
            hint="leave --key out, or add --to with its public half",
        )
    sealer = Sealer(
        recipients=recipients or (identity.recipient if identity else "",),
        backups=user_folder() / "suites",
        identity=identity,
    )
    done = seal_split(found, sealer, now=now().isoformat(timespec="seconds"))
    _tell_sealed(found.path, done)


def _tell_sealed(suite: Path, done: Sealing) -> None:
    places = Places(suite)
    count = counted(done.record.cases, f"{Split.TEST} case")
    say(f"sealed {count} into {places.sealed}, commitment {done.record.commitment[:16]}")
    where = f"in the folder {suite.name}" if suite.is_dir() else f"beside {suite.name}"
    say(f"keep {places.record.name} and {places.sealed.name} in git, {where}")
    if not done.commented:
        say(f"{suite} was written anew: its comments are gone")
    for path in done.kept:
        say(f"warning: {path} is not as it was sealed, so it is still here in plain text")
    if done.backup:
        say(f"nobody could read it back without the key: a plain copy is in {done.backup}")
        say("delete that copy once the key's owner has the sealed file")
    say("what git already has of these cases stays in its history: whoever has that can read them")
