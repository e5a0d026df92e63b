"""How a session is told to begin nothing new, and to stop what it has begun."""

import threading


class Stop:
    """Says that nothing new is to be begun, and why; on insisting, that what runs is to end too."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.why = ""
        """Why nothing new is begun; empty while the session goes on."""
        self.by_person = False
        self.at_once = False
        """Whether what runs is to be ended as well."""

    def ask(self, why: str) -> None:
        """Ask for a stop; the first reason stays."""
        self.why = self.why or why
        self._asked.set()

    def interrupt(self) -> None:
        """Heed a person: the first time what runs may come to its end, the second time not."""
        self.at_once = self.by_person
        self.by_person = True
        self.ask("interrupted")

    def wait(self, seconds: float) -> None:
        """Wait so long, or until somebody asks for a stop."""
        self._asked.wait(seconds)
