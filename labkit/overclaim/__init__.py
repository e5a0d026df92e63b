"""The check against overclaiming: `check(text, facts)` holds English sentences against the data."""

from labkit.overclaim.check import check
from labkit.overclaim.facts import Facts, facts_of
from labkit.overclaim.findings import Finding, Rule

__all__ = ["Facts", "Finding", "Rule", "check", "facts_of"]
