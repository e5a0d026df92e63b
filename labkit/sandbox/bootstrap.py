"""The first thing that runs in every sandbox: it unpacks what comes over stdin, then the command.

Standard input carries the archives and afterwards nothing: it stays open as a tether. When labkit
dies, in whatever way, the kernel closes it and everything in the sandbox is killed.
"""

from collections.abc import Sequence

READY = b"\x06"
"""What the bootstrap writes to standard output when all is unpacked, before the command starts."""

# $1 and $2: size and target of the first archive; $3: size of the second, which goes below `/`.
# The watcher is a subshell that reads with a builtin, so that an agent's `pkill cat` cannot hit it.
_UNPACK = """\
set -e
if [ "$1" -gt 0 ]; then head -c "$1" | tar -x -p -f - -C "$2"; fi
if [ "$3" -gt 0 ]; then head -c "$3" | tar -x -p -f - -C /; fi
shift 3
exec 3<&0 </dev/null
"""
_WATCH = """\
(while read -r _; do :; done <&3; kill -9 -1) >/dev/null 2>&1 &
exec 3<&-
"""
_START = """\
printf '\\006'
exec "$@"
"""


def bootstrap(
    argv: Sequence[str], *, returned: str, sizes: tuple[int, int], typed: bool = False
) -> list[str]:
    """Return the command line that unpacks two archives of `sizes` bytes and then runs `argv`.

    The first archive is unpacked in `returned`, the second below `/`; both come over stdin. With
    `typed`, what follows them is the command's, on descriptor 3, and so is watching for its end.
    """
    first, second = sizes
    script = _UNPACK + ("" if typed else _WATCH) + _START
    return ["/bin/sh", "-c", script, "labkit", str(first), returned, str(second), *argv]
