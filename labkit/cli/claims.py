"""What `labkit summary check` does: holds what a page says against the numbers."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from labkit.cli.console import data, say
from labkit.errors import InputError, PhaseError, refuse
from labkit.fields import counted, json_text, read_bytes, read_json
from labkit.overclaim import Facts, Finding, check, facts_of
from labkit.summary.earlier import SCHEMA as SUMMARY_SCHEMA
from labkit.workspace import Workspace

SCHEMA = 1
_STANDARD_INPUT = "-"


def check_claims(names: tuple[str, ...], *, as_json: bool) -> int:
    """Check pages, print what was found, and return the exit code."""
    workspace = Workspace.find(Path.cwd())
    facts = _facts(workspace)
    pages = _pages(workspace, names)
    found = {name: check(text, facts) for name, text in pages.items()}
    data(_as_json(found) if as_json else _as_text(found))
    meant = {(name, each.line, each.sentence) for name in found for each in found[name]}
    if meant:
        say(
            f"{counted(len(meant), 'sentence')} to look at in {', '.join(found)}: rules found "
            "them, people decide (docs/overclaim.md)"
        )
    return 1 if meant else 0


def _facts(workspace: Workspace) -> Facts:
    path = workspace.summary("json")
    if not path.exists():
        raise PhaseError(f"no file {path}", hint="write it first: labkit summary")
    return facts_of(read_json(path, schema=SUMMARY_SCHEMA), str(path))


def _pages(workspace: Workspace, names: tuple[str, ...]) -> Mapping[str, str]:
    """Read the pages to check; tells of every one that cannot be read at once."""
    problems: list[str] = []
    pages: dict[str, str] = {}
    for name in names or map(str, _usual(workspace)):
        try:
            pages[name] = _read(name)
        except InputError as error:
            problems.extend(error.problems)
    refuse(problems, hint="give Markdown files, in UTF-8")
    return pages


def _usual(workspace: Workspace) -> tuple[Path, ...]:
    usual = (workspace.summary("md"), *workspace.reviews())
    found = tuple(path for path in usual if path.exists())
    if not found:
        raise PhaseError(f"no file {usual[0]}", hint="write it first: labkit summary")
    return found


def _read(name: str) -> str:
    typed = name == _STANDARD_INPUT
    content = sys.stdin.buffer.read() if typed else read_bytes(Path(name))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}, line {line}: not UTF-8") from error


def _as_json(found: Mapping[str, tuple[Finding, ...]]) -> str:
    return json_text(
        {
            "schema": SCHEMA,
            "files": list(found),
            "findings": [
                {"file": name, **asdict(finding)}
                for name, findings in found.items()
                for finding in findings
            ],
        }
    )


def _as_text(found: Mapping[str, tuple[Finding, ...]]) -> str:
    told = [_told(name, finding) for name, findings in found.items() for finding in findings]
    return "\n\n".join(told) if told else f"nothing found in {', '.join(found)}"


def _told(name: str, finding: Finding) -> str:
    return (
        f"{name}:{finding.line}: {finding.rule}: {finding.sentence}\n"
        f'  "{finding.words}": {finding.data}\n'
        f"  better: {finding.instead}"
    )
