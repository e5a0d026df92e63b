"""What is written of a summary: Markdown for people, JSON for machines."""

from labkit.report.data import to_json
from labkit.report.markdown import render

__all__ = ["render", "to_json"]
