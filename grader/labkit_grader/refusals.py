"""What pytest says when it cannot start, in a sentence that also says how to mend it.

Most often the project's settings use a plugin that is not there, or is there and was not asked for:
the plugins of an environment are loaded only by name, so that none acts on grading by accident.
"""

import re
from collections.abc import Callable

_LONGEST = 300
_PLUGINS = {
    "--cov": "pytest_cov",
    "--timeout": "pytest_timeout",
    "--reruns": "rerunfailures",
    "--asyncio": "asyncio",
    "--benchmark": "benchmark",
    "--ds": "django",
    "--reuse-db": "django",
    "--hypothesis": "hypothesispytest",
    "--randomly": "randomly",
    "--snapshot": "syrupy",
    "--html": "html",
    "--mypy": "mypy",
}
"""The name to load a well-known plugin by, for the beginning of its options."""


def refusal(log: str) -> str:
    """Return why pytest refused to start, by what it printed; empty when it does not say."""
    for pattern, tell in _TOLD:
        found = pattern.search(log)
        if found:
            return tell(found[1].strip()[:_LONGEST])
    return ""


def _unknown_options(words: str) -> str:
    options = [word for word in words.split() if word.startswith("-")] or words.split()
    names = {
        plugin
        for option in options
        for beginning, plugin in _PLUGINS.items()
        if option.startswith(beginning)
    }
    wanted = " ".join(f"-p {name}" for name in sorted(names)) or "-p and the plugin's name"
    return (
        f"it does not know {' '.join(options)}; where a plugin of the environment has such options,"
        f' add {wanted} to the grading command, else take them away with -o "addopts="'
    )


def _missing_plugin(complaint: str) -> str:
    return (
        f"{complaint}; add the plugin to the environment of the task, or take it out of the "
        'grading command or, with -o "addopts=", of the project\'s settings'
    )


def _required_plugins(names: str) -> str:
    return (
        f"the project requires the plugins {names}; add them to the environment of the task and "
        'load each with -p in the grading command, or set -o "required_plugins="'
    )


def _other_version(text: str) -> str:
    return f"{text}; give the task an environment with that version of pytest"


def _unknown_setting(text: str) -> str:
    return (
        f"{text}, and the project is strict about its settings; the plugin that has it is loaded "
        "with -p and its name in the grading command"
    )


_TOLD: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"error: unrecognized arguments: (.+)"), _unknown_options),
    (re.compile(r"(Error importing plugin .+)"), _missing_plugin),
    (re.compile(r"Missing required plugins: (.+)"), _required_plugins),
    (re.compile(r"('?minversion'? requires .+)"), _other_version),
    (re.compile(r"(requires pytest-\S+, actual pytest-.+)"), _other_version),
    (re.compile(r"(Unknown config (?:option|ini key)s?: .+)"), _unknown_setting),
    (re.compile(r"(?:ERROR|error): (?!usage: )(.+)"), str),
)
