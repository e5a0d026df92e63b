"""Typing into a sandbox: what a person enters while a command runs, over its standard input."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from labkit.sandbox.interface import Keyboard


def typing(
    keyboard: Keyboard | None, send: Callable[[bytes], None]
) -> AbstractContextManager[None]:
    """Let the keyboard type while the context lasts; without one, nobody does."""
    if keyboard is None:
        return nullcontext()

    def typed(data: bytes) -> None:
        try:
            send(data)
        except OSError:  # the command is over; the engine or the machine says how
            return

    return keyboard.typing(typed)
