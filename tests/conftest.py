"""Fixtures for every test."""

from cli.labs import lab_at, stages
from environs import bubblewrap_workplace, compiler_image, docker_workplace, workplace
from gitrepo import project
from sandboxes import bubblewrap_sandbox, docker_sandbox, sandbox

__all__ = [
    "bubblewrap_sandbox",
    "bubblewrap_workplace",
    "compiler_image",
    "docker_sandbox",
    "docker_workplace",
    "lab_at",
    "project",
    "sandbox",
    "stages",
    "workplace",
]
