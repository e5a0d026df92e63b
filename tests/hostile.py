"""Values that a candidate might return to upset whoever looks at them."""

from typing import Any, NoReturn

from hypothesis import strategies as st

from labkit.graders import Output


class UpsetError(Exception):
    """Raised by a hostile value; its own text raises too."""

    def __str__(self) -> str:
        raise RuntimeError("no text either")


def upset(*_: object, **__: object) -> NoReturn:
    raise UpsetError


SPECIAL = (
    *("__eq__", "__ne__", "__lt__", "__len__", "__iter__", "__contains__", "__getitem__"),
    *("__str__", "__repr__", "__format__", "__bool__", "__hash__", "__add__", "__radd__"),
    *("encode", "decode", "strip", "split", "replace", "casefold", "lower", "isascii"),
)
HOSTILE: dict[str, Any] = dict.fromkeys(SPECIAL, upset)

HostileText = type("HostileText", (str,), HOSTILE)
HostileBytes = type("HostileBytes", (bytes,), HOSTILE)
HostileInt = type("HostileInt", (int,), HOSTILE)
HostileList = type("HostileList", (list,), HOSTILE)
HostileDict = type("HostileDict", (dict,), HOSTILE)


class AlwaysEqual:
    """Says that it is equal to everything."""

    __hash__ = None  # type: ignore[assignment] # as the attack has it

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class AlwaysEqualText(str):
    """A text that says so."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __contains__(self, other: object) -> bool:
        return True


class Liar:
    """Says that it is a text, and raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return str
        raise UpsetError


class UpsetMeta(type):
    """Upsets those who look at the class."""

    def __getattribute__(cls, name: str) -> Any:
        raise UpsetError

    def __instancecheck__(cls, instance: object) -> bool:
        raise UpsetError


class UpsetClass(metaclass=UpsetMeta):
    """A plain instance of an upset class."""


class HostileKey:
    """A key that raises when it is looked at again, once it lies in a dict."""

    asked = False

    def __hash__(self) -> int:
        if self.asked:
            raise UpsetError
        self.asked = True
        return hash("a")

    __eq__ = upset


HOSTILE_VALUES = (
    HostileText("Paris"),
    HostileBytes(b"Paris"),
    HostileInt(4),
    HostileList([1]),
    HostileDict({"a": 1}),
    {HostileKey(): 1, "b": AlwaysEqual()},
    AlwaysEqual(),
    AlwaysEqualText("London"),
    Liar(),
    UpsetClass(),
    UpsetClass,
    UpsetError(),
    upset,
    iter(()),
    10**5000,
    float("nan"),
    float("inf"),
    "\ud800\udfff",
    "a\0b",
    b"\xff\xfe\0",
    "\x1b[2J\u202e",
)

TEXTS = st.text(st.characters(exclude_categories=()))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary()
ANSWERS = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=10
)
OUTPUTS = (
    ANSWERS.map(lambda value: Output(value=value))
    | st.sampled_from(range(len(HOSTILE_VALUES))).map(lambda at: Output(value=HOSTILE_VALUES[at]))
    | TEXTS.map(lambda text: Output(value=HostileText(text)))
    | st.binary().map(lambda data: Output(value=HostileBytes(data)))
)
"""Hypothesis is as easily upset as anyone, so it gets no hostile value outside an output."""
