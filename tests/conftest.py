"""Fixtures for every test."""

import os

from cli.labs import lab_at, stages
from environs import bubblewrap_workplace, compiler_image, docker_workplace, workplace
from foreign import foreign
from gitrepo import project
from hypothesis import settings
from nodejs import node, with_node
from sandboxes import bubblewrap_sandbox, docker_sandbox, sandbox

# How long an example takes is the machine's business; a benchmark tells of speed.
# CI draws the same examples every time: what it says is about the change, not about the draw.
# At a desk they are new ones each time, which is where rare faults are found.
settings.register_profile("labkit", deadline=None, derandomize=os.environ.get("CI") == "true")
settings.load_profile("labkit")

__all__ = [
    "bubblewrap_sandbox",
    "bubblewrap_workplace",
    "compiler_image",
    "docker_sandbox",
    "docker_workplace",
    "foreign",
    "lab_at",
    "node",
    "project",
    "sandbox",
    "stages",
    "with_node",
    "workplace",
]
