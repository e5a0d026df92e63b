"""A YAML file as a tree of nodes that know their line, without anything that YAML can trick with.

Aliases, tags, tabs and what is not UTF-8 are refused with the line; nothing is ever constructed.
"""

import yaml
from yaml.nodes import MappingNode

from labkit.errors import InputError

_MOST_BYTES = 4 * 1024 * 1024


def compose(data: bytes, place: str) -> MappingNode:
    """Return the one mapping that `data` is; raises InputError with `place` and the line."""
    if len(data) > _MOST_BYTES:
        raise InputError(f"{place} is larger than {_MOST_BYTES} bytes")
    text = _decode(data, place)
    try:
        _refuse_tricks(text, place)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        if "'\\t'" in (error.problem or ""):
            raise InputError(
                f"{place}{line}: a tab where YAML wants spaces", hint="indent with spaces"
            ) from error
        raise InputError(f"{place}{line}: not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = f"line {text.count(chr(10), 0, error.position) + 1}"
        raise InputError(
            f"{place}, {line}: the character {error.character!r} cannot be in a YAML file"
        ) from error
    except RecursionError as error:
        raise InputError(f"{place}: not YAML: nested too deeply") from error
    if not isinstance(node, MappingNode):
        raise InputError(f"{place}: there is no mapping of names to values in it")
    return node


def _decode(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{place}, line {line}: not UTF-8", hint="save the file as UTF-8"
        ) from error


def _refuse_tricks(text: str, place: str) -> None:
    """Refuse aliases and tags: nobody needs them here, and bombs are made of them."""
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        anchor = getattr(event, "anchor", None)
        tag = getattr(event, "tag", None)
        if anchor or tag:
            what = f"anchors and aliases (&{anchor}, *{anchor})" if anchor else f"the tag {tag}"
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(
                f"{place}, line {line}: {what} cannot be used here",
                hint="write the value out, or put a text that begins with & * ! in quotes",
            )
