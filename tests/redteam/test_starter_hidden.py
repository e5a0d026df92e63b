"""The starter's hidden tests are in every copy of labkit, and labkit is not in the sandbox."""

from sandbox_specs import run_in

from labkit.sandbox.interface import Sandbox

_FIND = "find / -path /proc -prune -o -path /sys -prune -o -name '{}' -print 2>/dev/null"


def test_no_run_can_read_the_starter_s_hidden_tests(sandbox: Sandbox) -> None:
    words = [_FIND.format(name) for name in ("labkit_templates", "test_whole_game*")]
    ran = run_in(sandbox, "; ".join([*words, "echo looked", _FIND.format("pytest")]))
    found, _, rest = ran.stdout.decode().partition("looked\n")
    assert found == ""
    assert "pytest" in rest  # the search itself finds things
