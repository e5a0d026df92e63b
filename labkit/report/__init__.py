"""What is written of a summary: pages for people, data for machines, and what the words mean."""

from labkit.report.data import to_json
from labkit.report.forms import reports
from labkit.report.markdown import render
from labkit.report.terms import explain

__all__ = ["explain", "render", "reports", "to_json"]
