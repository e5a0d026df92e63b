"""The script that `labkit doctor` runs inside a sandbox: it tries to get out, and reports.

It runs there under whatever Python the image has, as a text handed to `python3 -c`, and so uses
nothing but the standard library. Argument: JSON with what the host says of itself and the limits.
Output: JSON, for each check [passed, detail].
"""

import contextlib
import errno
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
TEMPORARY = "/tmp"  # noqa: S108 - the sandbox has its own
Result = tuple[bool, str]


def network() -> Result:
    """Only the loopback interface, and a connection outwards fails at once."""
    names = [name for _, name in socket.if_nameindex()]
    if names not in ([], ["lo"]):
        return False, f"interfaces: {', '.join(names)}"
    with socket.socket() as attempt:
        attempt.settimeout(3)
        code = attempt.connect_ex(("192.0.2.1", 80))  # an address that is reserved for examples
    if code not in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EPERM, errno.EACCES):
        return False, f"a connection outwards did not fail at once: {os.strerror(code)}"
    return True, f"no interface but loopback; connecting outwards: {os.strerror(code)}"


def host_paths(paths: list[str]) -> Result:
    """None of the files that the host has just made can be seen."""
    seen = [path for path in paths if os.path.lexists(path)]
    if seen:
        return False, f"visible: {', '.join(seen)}"
    return True, f"{len(paths)} places of the host looked for, none visible"


def privileges() -> Result:
    """No capability, none to be had, and set-user-id programs give none."""
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
    )
    sets = {name: status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")}
    held = [f"{name} {value}" for name, value in sets.items() if int(value, 16) != 0]
    if held:
        return False, f"capabilities: {', '.join(held)}"
    if status.get("NoNewPrivs", "0").strip() != "1":
        return False, "programs can still gain privileges"
    return True, "no capabilities, no new privileges"


def user() -> Result:
    """The unprivileged user, in no other group."""
    ids = (os.getuid(), os.geteuid(), os.getgid(), os.getegid())
    return set(ids) == {1000}, f"uid {ids[0]}, gid {ids[2]}"


def read_only() -> Result:
    """The system cannot be changed, whoever one is."""
    writable = [
        path for path in ("/", "/usr", "/etc") if not os.statvfs(path).f_flag & os.ST_RDONLY
    ]
    with contextlib.suppress(OSError):
        Path("/labkit-probe").touch()
        writable.append("/ (a file could be made)")
    return not writable, f"writable: {', '.join(writable)}" if writable else "/, /usr, /etc"


def processes(host_namespace: str) -> Result:
    """The processes of the host cannot be seen."""
    if str(Path("/proc/self/ns/pid").readlink()) == host_namespace:
        return False, "the processes of the host share a namespace with the sandbox"
    if str(Path("/proc/self").readlink()) != str(os.getpid()):
        return False, "/proc shows the processes of another namespace"
    visible = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return True, f"{len(visible)} processes visible, all of the sandbox"


def workspace() -> Result:
    """The working folder and /tmp can be written to."""
    for folder in (Path.cwd(), Path(TEMPORARY)):
        probe = folder / "labkit-probe"
        try:
            probe.write_bytes(b"x")
            probe.unlink()
        except OSError as error:
            return False, f"{folder}: {error.strerror}"
    return True, f"{Path.cwd()} and {TEMPORARY}"


def limit_processes(most: int) -> Result:
    """Starting more processes than allowed fails."""
    children = []
    try:
        for _ in range(most + 8):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    except OSError:
        return True, f"at most {most}"
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return False, f"{len(children)} could be started where {most} are allowed"


def limit_memory(mebibytes: int) -> Result:
    """Using more memory than allowed fails."""
    child = os.fork()
    if child == 0:
        try:
            held = [bytearray(os.urandom(1)) * MIB for _ in range(mebibytes * 3 // 2)]
        except MemoryError:
            os._exit(1)
        os._exit(0 if held else 1)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return False, f"{mebibytes * 3 // 2} MiB could be used where {mebibytes} are allowed"
    return True, f"at most {mebibytes} MiB"


def limit_together(mebibytes: int) -> Result:
    """Memory is limited for all processes together, not for each by itself."""
    shared = resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
    if shared:
        return True, f"{mebibytes} MiB for all processes together"
    return False, f"{mebibytes} MiB for each process by itself, not for all together"


def limit_file(size: int) -> Result:
    """A file cannot grow past the limit, not even a sparse one."""
    child = os.fork()
    if child == 0:
        try:
            with open("labkit-probe", "wb") as file:  # noqa: PTH123 - as plain as can be
                file.truncate(size + 1)
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        Path("labkit-probe").unlink()
    return status != 0, f"{size // MIB} MiB a file"


def limit_scratch(mebibytes: int) -> Result:
    """The folder for temporary files is as small as asked for."""
    about = os.statvfs(TEMPORARY)
    size = about.f_blocks * about.f_frsize // MIB
    return size <= mebibytes, f"{TEMPORARY} has {size} MiB"


def limit_cpus() -> Result:
    """A share of processor time is set for the sandbox."""
    for name in ("cpu.max", "cpu/cpu.cfs_quota_us", "cpu,cpuacct/cpu.cfs_quota_us"):
        with contextlib.suppress(OSError):
            quota = Path("/sys/fs/cgroup", name).read_text().split()[0]
            if quota not in ("max", "-1"):
                return True, "a quota of processor time is set"
    return False, "processor time is not limited"


def limit_disk(size: int) -> Result:
    """The working folder as a whole cannot grow past the limit."""
    about = os.statvfs(".")
    fits = about.f_blocks * about.f_frsize <= size
    return fits, f"{size // MIB} MiB" if fits else "the working folder as a whole can fill the disk"


def main(told: dict[str, Any]) -> dict[str, Result]:
    """Run every check; one that breaks has not passed."""
    limits = told["limits"]
    checks: dict[str, Callable[[], Result]] = {
        "network": network,
        "host files": lambda: host_paths(told["paths"]),
        "privileges": privileges,
        "user": user,
        "read-only system": read_only,
        "host processes": lambda: processes(told["namespace"]),
        "working folder": workspace,
        "limit: processes": lambda: limit_processes(limits["processes"]),
        "limit: memory": lambda: limit_memory(limits["memory"]),
        "limit: memory together": lambda: limit_together(limits["memory"]),
        "limit: file size": lambda: limit_file(limits["returned_bytes"]),
        "limit: temporary files": lambda: limit_scratch(limits["scratch"]),
        "limit: processor time": limit_cpus,
        "limit: disk": lambda: limit_disk(limits["returned_bytes"]),
    }
    results = {}
    for name, check in checks.items():
        try:
            results[name] = check()
        except (OSError, LookupError, ValueError) as error:
            results[name] = (False, f"could not be checked: {error}")
    return results


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))))
