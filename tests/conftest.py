"""Fixtures for every test."""

from cli.labs import lab_at, stages
from gitrepo import project
from sandboxes import bubblewrap_sandbox, docker_sandbox, sandbox

__all__ = ["bubblewrap_sandbox", "docker_sandbox", "lab_at", "project", "sandbox", "stages"]
