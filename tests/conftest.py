"""Fixtures for every test."""

from gitrepo import project
from sandboxes import bubblewrap_sandbox, docker_sandbox, sandbox

__all__ = ["bubblewrap_sandbox", "docker_sandbox", "project", "sandbox"]
