"""`labkit summary`: every form is written, and words are explained."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.labs import Lab, labkit
from defusedxml.ElementTree import fromstring

At = Callable[[str], Lab]
ENDINGS = ("md", "json", "csv", "junit.xml", "html")


@pytest.mark.bubblewrap
def test_every_form_is_written_and_twice_the_same(lab_at: At) -> None:
    lab = lab_at("unblinded")
    printed = lab.done("summary")
    first = {ending: lab.workspace.summary(ending).read_bytes() for ending in ENDINGS}
    assert printed.encode() == first["md"]
    assert first["html"].startswith(b"<!DOCTYPE html>")
    assert first["csv"].startswith(b"task,category,slices,configuration,")
    assert [suite.attrib["tests"] for suite in fromstring(first["junit.xml"])] == ["2", "2"]
    assert lab.done("summary", "--json").encode() == first["json"]
    assert {ending: lab.workspace.summary(ending).read_bytes() for ending in ENDINGS} == first


def explained(word: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Ask for a word in a folder without a lab."""
    words = labkit("summary", "--explain", word)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def test_a_word_is_explained_without_a_lab(tmp_path: Path) -> None:
    done = explained("mde", tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("MDE (also: ")
    assert not list(tmp_path.iterdir())


def test_an_unknown_word_is_2_with_near_ones(tmp_path: Path) -> None:
    done = explained("covrage", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'labkit: error: "covrage" is not a word of the reports' in done.stderr
    assert "labkit: hint: did you mean: coverage?" in done.stderr
