"""Signs in files of other languages, line by line: lines that are comments do not count."""

import re
from collections.abc import Iterator

from labkit.testpaths import is_test
from labkit_grader.screen.signs import Sign

_LONGEST = 500
_COMMENT = re.compile(r"\s*(?://|#(?!!|define)|\*|/\*|--|;|<!--)")
_ENDS = "ends the process at once, before a failed test can be told of"
_LATER = "runs code after the tests, where it can change how they end"
_WATCHES = "looks at its callers, where what a test expects can be read"
_TOOL = "is for tests: code that loads it can act on them"
_REPLACED = "is replaced for all code, tests too"
_ASKS = "asks whether tests are running: code may behave differently then"
_STARTS = "starts another program or process, whose work no test sees"
_SAME = "gives the same answer whatever it is compared with"
_SCRIPTS = (".sh", ".bash", ".zsh", ".ksh")
_JS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_JVM = (".java", ".kt", ".kts", ".scala", ".groovy")
_C = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm")
_OTHERS = (".go", ".rs", ".rb", ".php", ".cs", ".swift", ".lua", ".pl", ".pm", ".ex", ".exs")
_ALL = (*_SCRIPTS, *_JS, *_JVM, *_C, *_OTHERS)
_JS_RULES = (
    (r"process\.(?:reallyExit|exit|abort|kill)\b|process\.exitCode\s*=", _ENDS),
    (r"process\.on(?:ce)?\(\s*[\"'](?:exit|beforeExit)", _LATER),
    (r"captureStackTrace|prepareStackTrace|\bnew Error\([^)]*\)\.stack", _WATCHES),
    (r"\brequire\.cache\b|Module\._(?:load|cache|resolveFilename)", _REPLACED),
    (r"[\"'](?:node:)?child_process[\"']", _STARTS),
    (r"[\"'](?:node:(?:test|assert)|jest|vitest|mocha|chai|@jest/[\w-]+)[\"']", _TOOL),
    (r"\b(?:assert|expect|globalThis|Date|performance|Math|Object)\.\w+\s*=(?![=>])", _REPLACED),
    (r"process\.env\.(?:CI|JEST_WORKER_ID|NODE_TEST_CONTEXT|VITEST)\b", _ASKS),
    (r"\basymmetricMatch\b", _SAME),
)
_JVM_RULES = (
    (r"System\.exit\(|Runtime\.\w+\(\)\.(?:halt|exit)\(", _ENDS),
    (r"addShutdownHook", _LATER),
    (r"getStackTrace\(|StackWalker", _WATCHES),
    (r"boolean equals\([^)]*\)\s*\{\s*return true", _SAME),
    (r"import (?:static )?org\.(?:junit|testng|mockito)", _TOOL),
)
_GO_RULES = (
    (r"os\.Exit\(|syscall\.Exit\(|runtime\.Goexit\(", _ENDS),
    (r"runtime\.Callers?\(|debug\.Stack\(", _WATCHES),
    (r"flag\.Lookup\(\"test\.|testing\.Testing\(", _ASKS),
    (r"^(?:import )?\s*\"testing\"", _TOOL),
    (r"\"os/exec\"", _STARTS),
)
_SCRIPT_RULES = (
    (r"\bexit 0\b|\bkill\b[^$]{0,80}\$(?:\$|PPID)", _ENDS),
    (r"\btrap\b.{0,80}\b(?:EXIT|0)\b", _LATER),
    (r"\b(?:alias|function)\s+(?:test|exit|diff|cmp|grep)\b", _REPLACED),
    (r"^\s*(?:test|exit|diff|cmp|grep)\s*\(\)", _REPLACED),
)
_RULES: tuple[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], ...] = (
    (_JS, _JS_RULES),
    (_JVM, _JVM_RULES),
    ((".go",), _GO_RULES),
    (_SCRIPTS, _SCRIPT_RULES),
    ((".rs",), ((r"process::(?:exit|abort)\b", _ENDS), (r"\bcfg!\(test\)", _ASKS))),
    ((".rb",), ((r"\bexit!", _ENDS), (r"\bat_exit\b", _LATER), (r"\bcaller\b", _WATCHES))),
    ((".php",), ((r"\b(?:exit|die)\s*[(;]", _ENDS), (r"debug_backtrace", _WATCHES))),
    ((".cs",), ((r"Environment\.(?:Exit|FailFast)", _ENDS), (r"new StackTrace", _WATCHES))),
    (_C, ((r"\b(?:_exit|quick_exit|_Exit)\s*\(|\bexit\s*\(\s*0", _ENDS), (r"\batexit\(", _LATER))),
    (
        _ALL,
        (
            (r"\b(?:PYTEST|JUNIT|LABKIT)_\w+|\bjunit[\w-]*\.xml", "belongs to the runner of tests"),
            (
                r"[\"'\s=]/(?:proc/(?:self|\d|\$)|report/|labkit/)",
                "belongs to the machine that the tests run on",
            ),
        ),
    ),
)
_COMPILED = (".pyc", ".pyd", ".so", ".dll", ".dylib", ".class", ".jar", ".node", ".wasm", ".o")


def line_signs(path: str, data: bytes) -> Iterator[Sign]:
    """Yield every sign in a file of another language than Python, tests apart."""
    if is_test(path.encode()) or not path.endswith(_ALL):
        return
    wanted = [rule for endings, rules in _RULES if path.endswith(endings) for rule in rules]
    rules = [(re.compile(pattern), why) for pattern, why in wanted]
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        if _COMMENT.match(line):
            continue
        for pattern, why in rules:
            found = pattern.search(line[:_LONGEST])
            if found:
                what = f"{found[0].strip()[:60]!r} {why}"
                yield Sign(path=path, line=number, what=what, text=line.strip()[:_LONGEST])


def is_compiled(path: str) -> bool:
    """Return whether a file holds code that no person can read."""
    return path.endswith(_COMPILED)
