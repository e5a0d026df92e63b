"""A YAML file as a tree of nodes that know their line, without anything that YAML can trick with.

Aliases, tags, tabs and what is not UTF-8 are refused with the line; nothing is ever constructed.
What labkit writes itself has every text in quotes.
"""

import json
import math
import re
from collections.abc import Container, Mapping
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from labkit.errors import InputError

_MOST_BYTES = 4 * 1024 * 1024
_TEXT = "tag:yaml.org,2002:str"
_NEWER_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+")
"""What YAML 1.2 reads as a number, a commit such as 9509425349e4 among it."""
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
_FIELDS = "write its fields, one a line: name: value"
_DEEPEST = 30
_DEEPEST_VALUE = 50
_DEEPEST_FILE = 200
"""More than that is told without a look at the rest."""
_TOO_LARGE = 10**15
_NO_LINE = yaml.Mark("", 0, -1, -1, None, 0)


def compose(data: bytes, place: str) -> MappingNode:
    """Return the one mapping that `data` is; raises InputError with `place` and the line."""
    if len(data) > _MOST_BYTES:
        raise InputError(f"{place} is larger than {_MOST_BYTES} bytes")
    text = _decode(data, place)
    try:
        _refuse_tricks(text, place)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, place) from error
    except yaml.reader.ReaderError as error:
        line = f"line {text.count(chr(10), 0, error.position) + 1}"
        raise InputError(
            f"{place}, {line}: the character {error.character!r} cannot be in a YAML file"
        ) from error
    except RecursionError as error:
        raise InputError(f"{place}: not YAML: nested too deeply") from error
    if node is None:
        raise InputError(f"{place} is empty", hint=_FIELDS)
    if not isinstance(node, MappingNode):
        line = f"line {node.start_mark.line + 1}"
        raise InputError(
            f"{place}, {line}: there is no mapping of names to values in it", hint=_FIELDS
        )
    return node


def _not_yaml(error: yaml.MarkedYAMLError, place: str) -> InputError:
    line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
    if "'\\t'" in (error.problem or ""):
        return InputError(
            f"{place}{line}: a tab where YAML wants spaces", hint="indent with spaces"
        )
    if "single document" in (error.context or ""):
        return InputError(
            f"{place}{line}: a second document begins here",
            hint="a file holds one mapping: take out the line ---",
        )
    return InputError(
        f"{place}{line}: not YAML: {error.problem}", hint="look at that line and the one above it"
    )


def _decode(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{place}, line {line}: not UTF-8", hint="save the file as UTF-8"
        ) from error


def _refuse_tricks(text: str, place: str) -> None:
    """Refuse aliases and tags: nobody needs them here, and bombs are made of them.

    So are brackets in brackets, for which the reader takes time by the square of their depth.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST_FILE:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(f"{place}, line {line}: not YAML: nested too deeply")
        anchor = getattr(event, "anchor", None)
        tag = getattr(event, "tag", None)
        if anchor or tag:
            what = f"anchors and aliases (&{anchor}, *{anchor})" if anchor else f"the tag {tag}"
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise InputError(
                f"{place}, line {line}: {what} cannot be used here",
                hint="write the value out, or put a text that begins with & * ! in quotes",
            )


def place_of(node: Node, place: str) -> str:
    """Return "place, line n" of a node; the place alone when it comes from no file."""
    line = node.start_mark.line + 1
    return f"{place}, line {line}" if line > 0 else place


def is_guessed(node: ScalarNode) -> bool:
    """Return whether some reader of YAML takes a value without quotes for something else."""
    return node.tag != _TEXT or (
        node.style is None and _NEWER_NUMBER.fullmatch(node.value) is not None
    )


def value_of(node: Node, place: str, problems: list[str], depth: int = 0) -> object:
    """Return a node as the plain value that it is for every reader of YAML and of JSON.

    What readers take for different things (`no`, `010`, `1:30`) is noted in `problems`.
    """
    if depth > _DEEPEST_VALUE:
        problems.append(f"{place_of(node, place)}: nested more than {_DEEPEST_VALUE} deep")
        return None
    match node:
        case MappingNode():
            found: dict[str, object] = {}
            for key, value in node.value:
                name = _name_of(key, place, problems)
                if name in found:
                    problems.append(f"{place_of(key, place)}: {name!r} is written twice")
                found[name] = value_of(value, place, problems, depth + 1)
            return found
        case SequenceNode():
            return [value_of(item, place, problems, depth + 1) for item in node.value]
        case ScalarNode():
            return _scalar_value(node, place, problems)
        case _:
            raise TypeError(f"YAML has no node of type {type(node).__name__}")


def _name_of(key: Node, place: str, problems: list[str]) -> str:
    if isinstance(key, ScalarNode):
        if is_guessed(key):
            problems.append(f'{place_of(key, place)}: put the name in quotes: "{key.value}"')
        return str(key.value)
    problems.append(f"{place_of(key, place)}: a name must be one text")
    return ""


def _scalar_value(node: ScalarNode, place: str, problems: list[str]) -> object:
    text = str(node.value)
    if not is_guessed(node):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if node.tag != _TEXT and _JSON_NUMBER.fullmatch(text):
        number: int | float = json.loads(text)
        if isinstance(number, int) or math.isfinite(number):
            return number
        problems.append(f"{place_of(node, place)}: {text} is too large for a number")
    else:
        what = f'readers of YAML disagree about {text}: put it in quotes: "{text}"'
        empty = 'there is no value: write null, or "" for an empty text'
        problems.append(f"{place_of(node, place)}: {what if text else empty}")
    return None


def without_items(text: str, name: str, gone: Container[int]) -> str | None:
    """Return a YAML file without some items of a list, everything else as it stands.

    An item goes with the comments above it. None when the list is not one item below the other;
    whoever calls has to read the result back, because no rule for comments is right for all files.
    """
    root = compose(text.encode(), name)
    listed = next((value for key, value in root.value if key.value == name), None)
    if not isinstance(listed, SequenceNode) or listed.flow_style:
        return None
    lines = text.splitlines(keepends=True)
    starts = [item.start_mark.line for item in listed.value]
    for place, start in enumerate(starts):
        while start and lines[start - 1].lstrip().startswith("#"):
            start -= 1  # noqa: PLW2901 - upwards to the first comment
        starts[place] = start
    bounds = [*starts, listed.end_mark.line + bool(listed.end_mark.column)]
    cut = {
        line
        for place, start in enumerate(starts)
        if place in gone
        for line in range(start, bounds[place + 1])
    }
    return "".join(line for number, line in enumerate(lines) if number not in cut)


def plain_node(values: Mapping[str, object], place: str, problems: list[str]) -> MappingNode:
    """Return plain Python values as the nodes that a file with them would have, without lines.

    What no file could hold (an object, a name that is no text) is noted in `problems`.
    """
    return _mapping(values, place, problems, 0)


def _mapping(
    values: Mapping[Any, object], place: str, problems: list[str], depth: int
) -> MappingNode:
    pairs = []
    for name, value in values.items():
        if isinstance(name, str):
            key = ScalarNode(_TEXT, name, _NO_LINE, _NO_LINE)
            pairs.append((key, _node(value, f"{place}, {name}", problems, depth + 1)))
        else:
            problems.append(f"{place}: the name {name!r} must be a text")
    return MappingNode("tag:yaml.org,2002:map", pairs, _NO_LINE, _NO_LINE)


def _node(value: object, place: str, problems: list[str], depth: int) -> Node:
    if depth > _DEEPEST:
        problems.append(f"{place}: nested too deeply")
        return _scalar("null", "")
    if isinstance(value, Mapping):
        return _mapping(value, place, problems, depth)
    if isinstance(value, list | tuple):
        items = [_node(item, place, problems, depth + 1) for item in value]
        return SequenceNode("tag:yaml.org,2002:seq", items, _NO_LINE, _NO_LINE)
    return _plain_scalar(value, place, problems)


def _plain_scalar(value: object, place: str, problems: list[str]) -> ScalarNode:
    match value:
        case str():
            return ScalarNode(_TEXT, value, _NO_LINE, _NO_LINE, style='"')
        case bool():
            return _scalar("bool", str(value).lower())
        case int() | float() if abs(value) < _TOO_LARGE:
            return _scalar("float", f"{value:.15f}".rstrip("0").rstrip("."))
        case None:
            return _scalar("null", "")
        case _:
            kind = type(value).__name__
            what = "such a number" if kind in ("int", "float") else f"a value of type {kind}"
            problems.append(f"{place}: {what} cannot be used here")
            return _scalar("null", "")


def _scalar(kind: str, text: str) -> ScalarNode:
    return ScalarNode(f"tag:yaml.org,2002:{kind}", text, _NO_LINE, _NO_LINE)


class _QuotingDumper(yaml.SafeDumper):
    """Writes every text in quotes, and names that cannot be mistaken without."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - yaml's own signature
        return True

    def represent_mapping(
        self,
        tag: str,
        mapping: Any,
        flow_style: bool | None = None,  # noqa: FBT001 - yaml's own
    ) -> MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        for key, _ in node.value:
            if key.value.isidentifier() and key.value.lower() not in _YAML_WORDS:
                key.style = None
        return node


def _quoted(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    plain = text.splitlines() == text.removesuffix("\n").split("\n")  # no other break, as NEL
    style = "|" if plain and "\n" in text and not text.startswith((" ", "\n")) else '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_QuotingDumper.add_representer(str, _quoted)


def dump_yaml(values: dict[str, Any]) -> str:
    """Return YAML that reads back as the same values: every text is quoted."""
    return yaml.dump(
        values,
        Dumper=_QuotingDumper,
        allow_unicode=True,
        width=10_000,
        default_flow_style=None,
        sort_keys=False,
    )
