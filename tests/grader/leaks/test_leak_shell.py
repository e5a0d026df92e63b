import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit_grader.leaks.shell import Kind, Simple, take_apart


def flat(command: str) -> list[str]:
    """Each simple command as one line; parentheses as they are."""
    shown = []
    for part in take_apart(command).parts:
        if isinstance(part, str):
            shown.append(part)
            continue
        words = ["".join(piece.text for piece in word) for word in part.words]
        redirects = [
            redirect.operator + "".join(piece.text for piece in redirect.target)
            for redirect in part.redirects
        ]
        shown.append(" ".join(filter(None, [part.before.strip(), *words, *redirects])))
    return shown


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("cat a.py", ["cat a.py"]),
        ("cd .. && ls; pwd | wc", ["cd ..", "&& ls", "; pwd", "| wc"]),
        ("cat 'a b'\"c\"d\\ e", ["cat a bcd e"]),
        ('cat ".."/"ev"als', ["cat ../evals"]),
        (r"cat $'\x2e\56/\'x'", ["cat ../'x"]),
        ("ls # cat ../evals", ["ls"]),
        ("cat a#b", ["cat a#b"]),
        ("ls \\\n -l", ["ls -l"]),
        ("a |\n b", ["a", "| b"]),
        ("(cd x; ls) && y", ["(", "cd x", "; ls", ")", "&& y"]),
        ("while read l; do echo $l; done < f", ["read l", "; echo l", "; <f"]),
        ("cat <a >b 2>&1 2>/dev/null", ["cat <a >b 2>&1 2>/dev/null"]),
        ("if [ -f x ]; then cat x; fi", ["[ -f x ]", "; cat x"]),
        ("echo done then", ["echo done then"]),
        ("cat <<< word", ["cat <<<word"]),
        ("python3 - <<'X'\nprint(1)\nX\nls", ["python3 - <<print(1)\n", "ls"]),
        ("cat <<A <<B\na\nA\nb\nB\nls", ["cat <<a\n <<b\n", "ls"]),
        ("cat <<-E\n\tx\n\tE\nls", ["cat <<-\tx\n", "ls"]),
        ("cat <<E | wc\nx;y\nE", ["cat <<x;y\n", "| wc"]),
        ("echo $((1+(2)))x", ["echo 0x"]),
    ],
)
def test_commands_are_taken_apart(command: str, parts: list[str]) -> None:
    assert flat(command) == parts
    assert not take_apart(command).broken


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("a'b'", [(Kind.BARE, "a"), (Kind.QUOTED, "b")]),
        ("$x/${y}", [(Kind.VARIABLE, "x"), (Kind.BARE, "/"), (Kind.VARIABLE, "y")]),
        ("${y%/*}", [(Kind.UNKNOWN, "y%/*")]),
        ("$(cat $(ls) ')')", [(Kind.COMMAND, "cat $(ls) ')'")]),
        ("`ls a`", [(Kind.COMMAND, "ls a")]),
        ("<(ls)", [(Kind.COMMAND, "ls")]),
        ("$?", [(Kind.VARIABLE, "?")]),
        ("'$x'", [(Kind.QUOTED, "$x")]),
        ("$", [(Kind.QUOTED, "$")]),
    ],
)
def test_pieces_keep_what_they_are(word: str, kinds: list[tuple[Kind, str]]) -> None:
    (part,) = take_apart(f"cat {word}").parts
    assert isinstance(part, Simple)
    assert [(piece.kind, piece.text) for piece in part.words[1]] == kinds


def test_double_quotes_expand_variables_and_commands_only() -> None:
    (part,) = take_apart('cat "a $x \\"$(ls "b c")\\n `d`"').parts
    assert isinstance(part, Simple)
    pieces = [(piece.kind, piece.text) for piece in part.words[1] if piece.kind is not Kind.QUOTED]
    assert pieces == [(Kind.VARIABLE, "x"), (Kind.COMMAND, 'ls "b c"'), (Kind.COMMAND, "d")]


@pytest.mark.parametrize(
    "command",
    ["cat 'a", 'cat "a', "cat $(ls", "cat `ls", "cat <<E\nx", "$'a", "${x", "$(" * 5000],
    ids=["single", "double", "command", "backtick", "document", "ansi", "brace", "deep"],
)
def test_what_is_never_closed_is_broken(command: str) -> None:
    assert take_apart(command).broken


shell_text = st.text(st.sampled_from("ab/.~ \t\n'\"\\$`(){}<>|&;#*=-0xEOF"), max_size=80) | st.text(
    max_size=30
)


@given(shell_text)
def test_any_text_is_taken_apart(command: str) -> None:
    take_apart(command)
