"""Signs that one name tells: a function of the standard library that honest code seldom needs."""

import ast
import re

from labkit_grader.screen.file import File, Found

_ENDS = "ends the process at once, before a failed test can be told of"
_WATCHES = "looks at its callers, where what a test expects can be read"
_REFERENCES = tuple(
    (re.compile(pattern), why, in_tests)
    for pattern, why, in_tests in (
        (
            r"(?:os|posix)\.(?:_exit|abort|killp?g?)|signal\.(?:raise_signal|pthread_kill)",
            _ENDS,
            True,
        ),
        (
            r"atexit\.\w+",
            "runs code after the tests, where it can change their exit code or report",
            True,
        ),
        (
            r"sys\.(?:_getframe\w*|_current_frames|_current_exceptions)"
            r"|inspect\.(?:stack|trace|currentframe|getouterframes|getinnerframes)"
            r"|traceback\.(?:extract_stack|walk_stack|format_stack|print_stack)|.+\.f_(?:back|locals)",
            _WATCHES,
            True,
        ),
        (
            r"gc\.get_(?:objects|referrers|referents)",
            "searches the memory of the process, where what a test expects can be found",
            True,
        ),
        (
            r"(?:sys|threading)\.(?:set(?:trace|profile)\w*|addaudithook)|sys\.monitoring\..+",
            "watches or changes other code while it runs, tests too",
            True,
        ),
        (r"(?:importlib|imp)\.reload", "undoes what a test has set up or replaced", False),
        (r"marshal\.loads?", "carries out code that nobody can read", True),
        (
            r"subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)"
            r"|os\.(?:system|popen|exec[lv]\w*|spawn\w+|posix_spawnp?|fork|forkpty)|pty\.\w+",
            "starts another program or process, whose work no test sees",
            False,
        ),
        (
            r"inspect\.getsource\w*|linecache\.getlines?",
            "reads source code, which tests can be told from or pinned to",
            True,
        ),
    )
)


def references(file: File, node: ast.AST) -> Found:
    """Yield what a name that is used stands for, if it is one of those above."""
    name = file.names.of(node)
    if "." not in name:
        return
    for pattern, why, everywhere in _REFERENCES:
        if (everywhere or not (file.is_test or file.is_build)) and pattern.fullmatch(name):
            yield f"{name.removeprefix('posix.')[:100]} {why}"


def frames(file: File, node: ast.AST) -> Found:
    """Yield where code climbs from one frame to the one that called it."""
    climbs = isinstance(node, ast.Attribute) and node.attr in ("f_back", "f_locals")
    if climbs and not file.names.of(node):
        yield f".{getattr(node, 'attr', '')} {_WATCHES}"
