"""Options that change nothing of what a test says, where the plugin that knows them is not loaded.

Projects have them in their settings: coverage, and how many processes to use. Grading measures no
coverage and runs in one process, so they are read and ignored.

A plain file that knows nothing of labkit: standard library only, Python 3.6 and pytest 5.0 or
newer.
"""

from typing import TYPE_CHECKING, Any, Dict, Tuple

if TYPE_CHECKING:
    import pytest

_VALUE: Dict[str, Any] = {"action": "append"}
_PERHAPS: Dict[str, Any] = {"action": "append", "nargs": "?", "const": ""}
_NONE: Dict[str, Any] = {"action": "store_true"}
_KNOWN: Dict[str, Tuple[Tuple[Tuple[str, ...], Dict[str, Any]], ...]] = {
    "pytest_cov": (
        (("--cov",), _PERHAPS),
        (("--cov-report", "--cov-config", "--cov-fail-under", "--cov-context"), _VALUE),
        (("--no-cov", "--no-cov-on-fail", "--cov-append", "--cov-branch", "--cov-reset"), _NONE),
    ),
    "xdist": (
        (("-n", "--numprocesses", "--maxprocesses", "--dist", "--tx"), _VALUE),
        (("-d", "--looponfail"), _NONE),
    ),
}


def accept_absent(config: "pytest.Config", parser: Any) -> None:
    """Let pytest read the options of plugins that it has not loaded."""
    group = parser.getgroup("labkit")
    for plugin, options in _KNOWN.items():
        if config.pluginmanager.hasplugin(plugin):
            continue
        for names, settings in options:
            for name in names:
                # The public way refuses short options in small letters, such as xdist's own.
                group._addoption(name, dest=f"labkit_absent_{name.strip('-')}", **settings)  # noqa: SLF001
