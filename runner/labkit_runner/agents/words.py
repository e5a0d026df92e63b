"""What a configuration adds to an agent's own words and variables, and what it must not."""

import fnmatch
import re
from collections.abc import Mapping, Sequence

from labkit.configurations import Configuration
from labkit.errors import refuse
from labkit_runner.agents.interface import Request

_LONGEST_WORD = 120_000
"""Linux takes no longer word on a command line than 131,071 bytes."""

ENDPOINT = "would move the model's endpoint or its key, which are the gateway's"
LABKITS = "is set by labkit for every run"
PROTECTION = "would turn a protection of the run off"
_EVERYWHERE = {
    "*_proxy": ENDPOINT,
    "*_PROXY": ENDPOINT,
    "HOME": LABKITS,
    "PATH": "would hide the programs of the environment",
    "LD_*": PROTECTION,
    "NODE_OPTIONS": PROTECTION,
    "NODE_EXTRA_CA_CERTS": PROTECTION,
    "SSL_CERT_*": PROTECTION,
}


def check_words(
    configuration: Configuration, *, options: Mapping[str, str], variables: Mapping[str, str]
) -> None:
    """Raise InputError with every argument and every setting that must not be there.

    `options` and `variables` say why, by the option's name (`--model`) and by patterns of names.
    """
    place = f"configuration {configuration.id}"
    problems = [
        f"{place}: the argument {word[:80]!r} {why}"
        for word in configuration.arguments
        if (why := _refused_option(word, options))
    ]
    patterns = {**_EVERYWHERE, **variables}
    problems += [
        f"{place}: the setting {name} {why}"
        for name in configuration.settings
        if (why := _refused_variable(name, patterns))
    ]
    if "--" in configuration.arguments:
        problems.append(f"{place}: the argument '--' would end the options that labkit sets")
    refuse(tuple(problems), hint=f"take it out of configs/{configuration.id}.yaml")


def with_camels(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with the other spelling that some programs take: `--approvalMode`."""
    camels = {
        re.sub(r"(?<=\w)-(\w)", lambda match: match[1].upper(), name): why
        for name, why in options.items()
    }
    return {**options, **camels}


def _refused_option(word: str, options: Mapping[str, str]) -> str:
    name = word.split("=", 1)[0]
    # -mNAME is one word for many programs.
    short = word[:2] if re.match("-[^-]", word) else name
    return next((options[each] for each in (word, name, short) if each in options), "")


def _refused_variable(name: str, patterns: Mapping[str, str]) -> str:
    return next((why for each, why in patterns.items() if fnmatch.fnmatchcase(name, each)), "")


def prompt_word(request: Request) -> str:
    """Return the prompt as one word of a command line; raises InputError when it is too long."""
    size = len(request.prompt.encode())
    if size > _LONGEST_WORD or "\0" in request.prompt:
        what = "holds a NUL byte" if "\0" in request.prompt else f"is {size} bytes long"
        refuse(
            (f"task {request.run.task}: the prompt {what}, and no command line takes that",),
            hint=f"keep it below {_LONGEST_WORD} bytes, and long material in files of the task",
        )
    return request.prompt


def values_of(arguments: Sequence[str], *names: str) -> tuple[tuple[str, str], ...]:
    """Return what an option is given: the word that holds it, and the value.

    That is `--name VALUE`, `--name=VALUE` or `-nVALUE`.
    """
    found = []
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in names:
            following = arguments[place + 1] if place + 1 < len(arguments) else ""
            found.append((word, value) if equals else (following, following))
        elif word[:2] in names and not word.startswith("--"):
            found.append((word, word[2:].removeprefix("=")))
    return tuple(found)
