"""A review as leaks.json, and back."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from labkit.errors import IntegrityError, LabkitError
from labkit.fields import json_text, read_json
from labkit.model import Member, RunId, TaskId
from labkit_grader.leaks.hits import Hit, Rule
from labkit_grader.leaks.review import Choice, Decision, Review
from labkit_grader.leaks.rules import Checked

SCHEMA = 1


def review_text(review: Review) -> str:
    """Return a review as JSON text."""
    return json_text(
        {
            "schema": SCHEMA,
            "suite_version": review.suite_version,
            "checked": {
                str(check.run): {key: value for key, value in asdict(check).items() if key != "run"}
                for check in review.checked
            },
            "hits": [_hit_values(hit) for hit in review.hits],
            "decisions": [_decision_values(decision) for decision in review.decisions],
            "vanished": [_decision_values(decision) for decision in review.vanished],
        }
    )


def load_review(path: Path) -> Review:
    """Read leaks.json; raises IntegrityError when it is damaged."""
    values = read_json(path, schema=SCHEMA)
    try:
        return Review(
            suite_version=values["suite_version"],
            checked=tuple(
                Checked(**(entry | {"run": RunId.parse(run), "gaps": tuple(entry["gaps"])}))
                for run, entry in values["checked"].items()
            ),
            hits=tuple(map(_hit, values["hits"])),
            decisions=tuple(map(_decision, values["decisions"])),
            vanished=tuple(map(_decision, values["vanished"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, LabkitError) as error:
        raise IntegrityError(
            f"{path} is damaged: {error}", hint="restore it from git, then run: labkit leaks"
        ) from error


def _hit_values(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "rule": hit.rule.value,
        "severity": hit.severity.value,
        "runs": [str(run) for run in hit.runs],
        "tasks": [str(task) for task in hit.tasks],
        "file": hit.file,
        "line": hit.line,
        "path": hit.path,
        "excerpt": hit.excerpt,
        "explanation": hit.explanation,
    }


def _hit(values: dict[str, Any]) -> Hit:
    return Hit(
        id=values["id"],
        rule=Rule(values["rule"]),
        runs=tuple(map(RunId.parse, values["runs"])),
        tasks=tuple(map(TaskId, values["tasks"])),
        file=values["file"],
        line=values["line"],
        path=values["path"],
        excerpt=values["excerpt"],
        explanation=values["explanation"],
    )


def _decision_values(decision: Decision) -> dict[str, str]:
    return {
        "hit": decision.hit,
        "decision": decision.choice.value,
        "by": str(decision.by),
        "at": decision.at,
        "reason": decision.reason,
    }


def _decision(values: dict[str, str]) -> Decision:
    return Decision(
        hit=values["hit"],
        choice=Choice(values["decision"]),
        by=Member(values["by"]),
        at=values["at"],
        reason=values["reason"],
    )
