"""Fixtures for the tests of the command line."""

from cli.labs import lab_at, stages

__all__ = ["lab_at", "stages"]
