import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from labkit.errors import InputError, IntegrityError
from labkit.fields import Document, canonical_json, first_words, json_text, read_json
from labkit.nodes import dump_yaml

READABLE = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\n\r\t\x00\x1b\x85\u2028\ufeff :#-'\"")
)
VALUES = st.recursive(
    READABLE | st.booleans() | st.integers(-(10**9), 10**9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(READABLE, inner, max_size=3),
    max_leaves=8,
)


def document(text: str | bytes) -> Document:
    return Document(text if isinstance(text, bytes) else text.encode(), "x.yaml")


def problems(text: str, *names: str) -> tuple[str, ...]:
    read = document(text)
    for name in names:
        read.text(name)
    with pytest.raises(InputError) as caught:
        read.finish()
    return caught.value.problems


@given(st.dictionaries(READABLE, VALUES, max_size=4))
def test_what_is_dumped_reads_back_the_same(values: dict[str, object]) -> None:
    text = dump_yaml(values)
    assert (yaml.safe_load(text) or {}) == values


@example({"_": "\x85\n"})
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), READABLE, max_size=4))
def test_every_dumped_text_is_read_as_a_text(values: dict[str, str]) -> None:
    read = document(dump_yaml(values) if values else "{}")
    assert {name: read.text(name) for name in values} == values
    read.finish()


@pytest.mark.parametrize(
    "value",
    ["2433548", "0155306", "3.10", "no", "on", "1:30", "2024-01-01", "1_000", "~", "0x1f", ".5",
     ".inf", "null", "true", "=", "<<", "1e3", "9509425349e4", "0o17", "1.", "+5", "NO", "0b1"],
)  # fmt: skip
def test_where_a_text_is_meant_yamls_guesses_are_refused(value: str) -> None:
    assert problems(f"a: 1\nbase: {value}\n", "base")[0] == (
        f'x.yaml, line 2: "base" must be a text: put it in quotes: "{value}"'
    )


@pytest.mark.parametrize("value", ["9509425349e4", "é", "a: b", "1.2.3", "No", " "], ids=repr)
def test_a_text_in_quotes_is_a_text(value: str) -> None:
    read = document(f'base: "{value}"\n')
    assert read.text("base") == value
    read.finish()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: x\nb: y\na: z\n", "x.yaml, line 3: 'a' is written twice (first on line 1)"),
        ("a: x\nbb: y\n", 'x.yaml, line 2: unknown field "bb"'),
        ("a: x\n? [1]\n: y\n", "x.yaml, line 2: a key must be one plain word"),
        ("a: x\n1: y\n", 'x.yaml, line 2: unknown field "1"'),
        ("b: x\n", 'x.yaml: no "a:"'),
        ("a:\n", 'x.yaml, line 1: "a" is empty'),
        ("a: [x]\n", 'x.yaml, line 1: "a" must be a text'),
    ],
    ids=["duplicate", "unknown", "key", "number key", "missing", "empty", "list"],
)
def test_a_bad_field_is_told_with_its_line(text: str, told: str) -> None:
    assert told in problems(text, "a")


def test_a_field_that_begins_on_the_line_below_is_told_with_its_name_s_line() -> None:
    assert problems("a: x\nbb:\n\n  - y\n") == (
        'x.yaml, line 1: unknown field "a"',
        'x.yaml, line 2: unknown field "bb"',
    )
    assert problems("a:\n  - y\na: x\n", "a")[0].endswith("written twice (first on line 1)")


def test_a_message_is_never_longer_than_a_person_reads() -> None:
    for text in ("x" * 900 + ": 1\n", "a: " + "9" * 9999, "a: x\na: " + "y" * 9999):
        assert all(len(problem) < 200 for problem in problems(text, "a"))


def test_a_list_of_one_is_shown_as_a_list() -> None:
    read = document("a: tests/\n")
    assert read.texts("a") == ()
    with pytest.raises(InputError, match=r'line 1: "a" must be a list: \["tests/"\]'):
        read.finish()


def test_a_typing_error_is_guessed() -> None:
    assert problems("titel: x\n", "title") == (
        'x.yaml: no "title:"',
        'x.yaml, line 1: unknown field "titel", did you mean "title"?',
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a: x\n\tb: y\n", "x.yaml, line 2: a tab where YAML wants spaces"),
        (b"a:\tx\n", "x.yaml, line 1: a tab where YAML wants spaces"),
        (b"a: x\nb: &n [1]\nc: *n\n", "x.yaml, line 2: anchors and aliases (&n, *n)"),
        (b"a: !!python/object/apply:os.system [id]\n", "x.yaml, line 1: the tag"),
        (b"a: !mine x\n", "x.yaml, line 1: the tag !mine"),
        (b"a: x\nb: \xff\n", "x.yaml, line 2: not UTF-8"),
        ("a: x".encode("utf-16"), "x.yaml, line 1: not UTF-8"),
        (b"a: x\nb: \x00\n", "x.yaml, line 2: the character"),
        (b"a: [x\n", "x.yaml, line 2: not YAML"),
        (b"a: x\n---\nb: y\n", "x.yaml, line 2: a second document"),
        (b"", "x.yaml is empty"),
        (b"# only a note\n", "x.yaml is empty"),
        (b"\n- a\n", "x.yaml, line 2: there is no mapping"),
        (b"a: " + b"[" * 3000, "not YAML"),
        (b"#" * (5 * 1024 * 1024), "x.yaml is larger than"),
    ],
    ids=["tab", "tab after", "alias", "tag", "own tag", "latin", "utf-16", "nul", "open",
         "two documents", "nothing", "note", "list", "deep", "large"],
)  # fmt: skip
def test_what_is_not_plain_yaml_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(InputError) as caught:
        document(data)
    assert told in str(caught.value)


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor() -> None:
    lines = ["a: &a [x, x]"] + [
        f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefg", "bcdefgh", strict=True)
    ]
    with pytest.raises(InputError, match="line 1: anchors"):
        document("\n".join(lines))


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"", b"# note\r\n"], ids=["mark", "", "crlf"])
def test_a_byte_order_mark_and_windows_lines_are_fine(start: bytes) -> None:
    assert document(start + b"a: x\r\n").text("a") == "x"


def test_a_text_of_several_lines_may_hold_tabs() -> None:
    assert document("a: |\n  all:\n  \tmake it\n").text("a") == "all:\n\tmake it\n"


@pytest.mark.parametrize(("text", "value"), [("10", 10.0), ("0.5", 0.5), ("0", 0.0)])
def test_a_number_is_read(text: str, value: float) -> None:
    assert document(f"n: {text}\n").number("n", default=3) == value


@pytest.mark.parametrize(
    "text",
    ["1:30", ".inf", "-.inf", ".nan", "010", "0x1f", "1_000", "1e3", '"5"', "five", "-1", "[1]",
     "9" * 400, ""],
    ids=lambda text: text[:9] or "empty",
)  # fmt: skip
@pytest.mark.parametrize("kind", ["number", "whole"])
def test_what_is_no_plain_number_is_refused(kind: str, text: str) -> None:
    read = document(f"n: {text}\n")
    assert getattr(read, kind)("n", default=3) == 3
    with pytest.raises(InputError, match='line 1: "n" must be a number, 0 or more'):
        read.finish()


def test_a_broken_number_is_not_whole() -> None:
    read = document("n: 1.5\n")
    read.whole("n", default=1)
    with pytest.raises(InputError, match='"n" must be a whole number'):
        read.finish()


@pytest.mark.parametrize("text", ["yes", "on", "1", "True", "[true]"])
def test_a_flag_is_true_or_false(text: str) -> None:
    read = document(f"f: {text}\n")
    read.flag("f")
    with pytest.raises(InputError, match='"f" must be true or false'):
        read.finish()


def test_a_word_must_be_one_of_those_allowed() -> None:
    read = document("a: bugfx\nb: zzz\nc: feature\nd: 5\n")
    allowed = ("bugfix", "feature")
    found = [read.word(name, allowed, instead="other") for name in "abcde"]
    assert found == ["other", "other", "feature", "other", "other"]
    with pytest.raises(InputError) as caught:
        read.finish()
    assert caught.value.problems == (
        'x.yaml, line 1: "a" is \'bugfx\': did you mean "bugfix"?',
        "x.yaml, line 2: \"b\" is 'zzz': use one of bugfix, feature",
        'x.yaml, line 4: "d" must be a text: put it in quotes: "5"',
        'x.yaml: no "e:"',
    )


def test_mappings_inside_are_checked_too() -> None:
    read = document("m: {a: x, a: y}\nl:\n  - {b: 1}\n  - oops\n")
    read.mapping("m").text("a")
    assert read.mapping("none").names() == ()
    for item in read.mappings("l"):
        item.text("b")
        item.done()
    with pytest.raises(InputError) as caught:
        read.finish(hint="mend it")
    assert caught.value.problems == (
        "x.yaml, m, line 1: 'a' is written twice (first on line 1)",
        'x.yaml, line 4: "l" must be a list of mappings',
        'x.yaml, l 1, line 3: "b" must be a text: put it in quotes: "1"',
    )
    assert caught.value.hint == "mend it"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', "{", "[" * 99_999], ids=range(6))
def test_json_that_labkit_did_not_write_is_damaged(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("json") / "x.json"
    path.write_text(text)
    with pytest.raises(IntegrityError):
        read_json(path, schema=1)


def test_json_has_one_canonical_form() -> None:
    assert canonical_json({"b": 1, "a": "é"}) == canonical_json({"a": "é", "b": 1})
    assert json_text({"b": "é"}) == '{\n  "b": "é"\n}\n'


def test_long_lists_of_names_are_cut() -> None:
    assert first_words(["a", "b"]) == "a, b"
    assert first_words(["a", "b", "c"], most=2) == "a, b and 1 more"
