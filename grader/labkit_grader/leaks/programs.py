"""What the usual command-line programs do with their words: which are paths, what is looked for.

A word that is no path does no harm when it is taken for one: it resolves inside the work folder.
So only the programs are listed whose words would mislead.
"""

import re
from enum import StrEnum

from labkit_grader.leaks.hits import Rule


class Action(StrEnum):
    """What a command does at a path."""

    READ = "read"
    SEARCH = "search"
    """Reads or lists everything below."""
    TOUCH = "touch"
    """Goes there, tests, writes or links: nothing of the content comes out."""


Words = list[str | None]
"""Words of a command; None is one that only running it would tell."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


TEXT_PROGRAMS = _names(
    "echo printf true false : exit return export set unset shift sleep kill wait trap alias type "
    "which date seq let local declare readonly umask ulimit jobs hash uname whoami id hostname "
    "nproc expr basename dirname break continue read"
)
INTERPRETERS = re.compile(r"(python|pypy|node|perl|ruby|php)[0-9.]*")
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_WRAPPERS = _names("sudo env timeout nice nohup stdbuf command exec builtin xargs setsid")
_PATTERN_FIRST = _names("grep egrep fgrep rg ag sed awk gawk mawk jq tr")
_PATTERN_OPTIONS = re.compile(r"-[a-zA-Z]*[ef]|--(regexp|expression|file)(=.*)?")
_TOUCHING = _names("cd pushd test [ [[ ln mkdir rmdir touch rm chmod chown tee")
_SEARCHING = _names("find fd rg ag tree du rsync tar zip")
_RECURSIVE = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep"), re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--.*recursive")
    ),
    "ls": re.compile(r"-[a-zA-Z]*R[a-zA-Z]*|--recursive"),
    "cp": re.compile(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive"),
}
_HERE_BY_DEFAULT = frozenset({"find", "fd", "rg", "ag", "tree", "du", "ls"})
_MESSAGES = frozenset({"-m", "--message", "-S", "-G", "--grep", "--author", "--format"})
_NETWORK = _names("curl wget ssh scp sftp nc ncat telnet ftp")
_PACKAGES = _names("pip pip3 uv npm yarn pnpm gem cargo go apt apt-get conda")
_FETCHING = _names("install download add get update fetch clone sync")
_HISTORY = _names("--all -S -G reflog fsck --batch-all-objects --reflog stash --lost-found")
_COMMIT = re.compile(r"[0-9a-f]{40}(:.*)?")


def action(name: str, words: Words) -> Action:
    """Return what a program does at its paths."""
    recursive = _RECURSIVE.get(name)
    if name in _SEARCHING or (recursive and any(w and recursive.fullmatch(w) for w in words)):
        return Action.SEARCH
    return Action.TOUCH if name in _TOUCHING else Action.READ


def paths(name: str, words: Words) -> Words:
    """Return the words of a program that may be paths."""
    if name in TEXT_PROGRAMS:
        return []
    if name == "find":
        words = _before_expression(words)
    elif name == "git":
        words = _without_messages(words)
    found = [path for word in words for path in _path_of(word)]
    if name in _PATTERN_FIRST and not any(w and _PATTERN_OPTIONS.fullmatch(w) for w in words):
        found = found[1:]
    if not found and (name in _HERE_BY_DEFAULT or action(name, words) is Action.SEARCH):
        return ["."]
    return found


def _path_of(word: str | None) -> Words:
    if word is None or not word.startswith("-") or word == "-":
        return [word]
    if "=" in word:
        return [word.split("=", 1)[1]]
    return [word[2:]] if word[2:3] in ("/", ".", "~") else []


def _before_expression(words: Words) -> Words:
    for count, word in enumerate(words):
        if word is not None and re.match(r"-[a-z]{2}|[(!]", word):
            return words[:count]
    return words


def _without_messages(words: Words) -> Words:
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if before not in _MESSAGES and not (word and word.startswith("--message="))
    ]


def probe(name: str, words: Words) -> tuple[Rule, str] | None:
    """Return the rule and the reason when the program itself is what a person must see."""
    known = [word for word in words if word is not None]
    if name == "git" and any(
        w in _HISTORY or w[:2] in ("-S", "-G") or _COMMIT.match(w) for w in known
    ):
        return Rule.HISTORY, "it looks into the history for work that is not in its own tree"
    fetches = not _FETCHING.isdisjoint(known[:3])
    remote = name == "git" and not {"clone", "fetch", "pull", "ls-remote"}.isdisjoint(known[:1])
    if name in _NETWORK or remote or (name in _PACKAGES and fetches):
        return Rule.NETWORK, "it asks for something from the network"
    if name == "printenv" or (name == "env" and not known):
        return Rule.PROBE, "it lists the environment"
    return None


def _looks_back(word: str) -> bool:
    return word in _HISTORY or word[:2] in ("-S", "-G") or _COMMIT.fullmatch(word) is not None


def unwrapped(words: Words) -> tuple[Words, set[str]]:
    """Return the words without `sudo`, `timeout 5`, `env A=1`, and which of these there were."""
    wrapped: set[str] = set()
    while words and words[0] in _WRAPPERS:
        wrapped.add(words[0] or "")
        words = words[1:]
        while words and words[0] and re.fullmatch(r"-.*|[\d.]+[smhd]?|\w+=.*", words[0], re.DOTALL):
            words = words[1:]
    return words, wrapped
