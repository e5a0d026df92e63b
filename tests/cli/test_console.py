"""What labkit tells people never acts on their terminal."""

import pytest

from labkit.cli.console import say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é, ☃\n\tindented", "plain é, ☃\n\tindented"),
        ("\x1b]0;title\x07\x1b[31m", "\\x1b]0;title\\x07\\x1b[31m"),
        ("nul\0 back\b carriage\r", "nul\\x00 back\\x08 carriage\\r"),
        ("half \ud83d, turned \u202e", "half \\ud83d, turned \\u202e"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(
    capsys: pytest.CaptureFixture[str], text: str, shown: str
) -> None:
    say(text)
    assert capsys.readouterr().err == f"{shown}\n"
