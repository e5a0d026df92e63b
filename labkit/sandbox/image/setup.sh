# Runs the setup commands of an environment, one after the other, inside what is being made.
# Standard output is for labkit (one mark a line), what the commands say goes to standard error.
# $LABKIT_VENV: a folder for a virtual environment; empty where packages go into the system.
# $LABKIT_KEEPS: empty where nothing is kept of what the commands leave at /workspace.
kit=/labkit
exec 4>&1 1>&2
say() { printf '%s\n' "$*" >&4; }
unset PYTHONPATH
. $kit/variables
export HOME=$kit/home PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
mkdir -p $kit/home
python=$(command -v python3 || command -v python) || python=
if [ -n "$LABKIT_VENV" ]; then
    if ! "$python" -m venv --without-pip "$LABKIT_VENV"; then say venv; exit 1; fi
    export PATH="$LABKIT_VENV/bin:$PATH" VIRTUAL_ENV="$LABKIT_VENV"
    python="$LABKIT_VENV/bin/python3"
else
    export PIP_BREAK_SYSTEM_PACKAGES=1
fi
if [ -n "$python" ] && ! "$python" -m pip --version >/dev/null 2>&1; then
    export PYTHONPATH=$kit/pip PATH="$kit/bin:$PATH"
elif ! command -v pip >/dev/null; then
    export PATH="$PATH:$kit/bin"
fi
(cd /workspace && find . -type f -printf '%P\0') >$kit/before
number=0
for command in "$@"; do
    number=$((number + 1))
    say "begin $number"
    (cd /workspace && exec /bin/sh -c "$command") </dev/null 4>&-
    code=$?
    if [ $code != 0 ]; then say "failed $number $code"; exit 1; fi
done
unset PYTHONPATH
if [ -z "$LABKIT_KEEPS" ]; then find /workspace -xdev -mindepth 1 -delete; fi
# npm writes down there where each package came from, which may hold a password.
find /opt/labkit/env -name .package-lock.json -delete 2>/dev/null
if [ -n "$python" ]; then
    say finish
    if ! "$python" $kit/finish.py "$kit/site" "$kit/before" >&4; then say broken; exit 1; fi
fi
cd / && find /workspace -xdev -mindepth 1 -delete
if [ -z "$LABKIT_VENV" ]; then
    mkdir -p /report && chown 1000:1000 /workspace /report
    find /tmp -xdev -mindepth 1 -delete
fi
say done
