"""Submissions that misuse the machine, each as the body of a function that a hidden test calls."""

from dataclasses import dataclass

from labkit.model import Flag, Verdict

PASS, FAIL = Verdict.PASS, Verdict.FAIL
ALL = "all 3 expected tests passed"
ONE = "1 of 3 expected tests did not pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a submission does when it is first called, before it gives the right sum."""

    body: str
    verdict: Verdict = PASS
    flags: tuple[Flag, ...] = ()
    reason: str = ALL
    """What the reason begins with."""

    @property
    def source(self) -> str:
        """Return the module that the submission changes."""
        body = "\n".join(f"    {line}" for line in self.body.strip().splitlines())
        return (
            "import os, resource, signal, socket, subprocess, sys, threading, time\n"
            f"def attack():\n{body}\n"
            "def add(a, b):\n    global attack\n"
            "    attack, first = (lambda: None), attack\n    first()\n    return a + b\n"
            "def double(a):\n    return a + a\n"
        )


def one_test_fails(body: str) -> Program:
    return Program(body=body, verdict=FAIL, reason=ONE)


def dies(body: str, code: int) -> Program:
    reason = f"the process ended with code {code} before pytest had finished"
    return Program(body=body, verdict=FAIL, reason=reason)


def fills(folder: str) -> Program:
    """Return what writes files of 20 MB until no more can be written, and goes on."""
    return Program(
        body=f"""
for number in range(100000):
    try:
        with open({folder!r} + '/fill%d' % number, 'wb', buffering=0) as out:
            for _ in range(20):
                out.write(bytes(1 << 20))
    except OSError:
        break
"""
    )


def makes_files(folder: str) -> str:
    return f"""
for number in range(1000000):
    try:
        os.close(os.open('{folder}/inode%d' % number, os.O_CREAT | os.O_WRONLY))
    except OSError:
        break
"""


def prints(block: str, megabytes: int) -> Program:
    """Return what writes to where the runner itself prints to, past its capture."""
    return Program(
        body=f"""
block = {block}
block *= 2**20 // len(block)
for number in range(3, 20):
    try:
        if os.readlink('/proc/self/fd/%d' % number).startswith('pipe:'):
            for _ in range({megabytes}):
                os.write(number, block)
            break
    except OSError:
        pass
"""
    )


def goes_deep(folder: str) -> str:
    return f"""
os.chdir({folder!r})
for _ in range(3000):
    os.mkdir('d' * 100)
    os.chdir('d' * 100)
os.chdir('/workspace')
"""


EATS = "held = [bytearray(b'x' * 10**6) for _ in range(10**4)]"

NEVER_END = {
    "forks without end": """
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
    "ignores every signal": """
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
time.sleep(1000)
""",
    "sleeps": "time.sleep(1000)",
    "is busy": "while True:\n    pass",
    "reads a pipe": "os.mkfifo('/tmp/pipe')\nopen('/tmp/pipe').read()",
    "waits for a dead lock": """
one, two = threading.Lock(), threading.Lock()
def take(first, second):
    with first:
        time.sleep(0.1)
        with second:
            pass
each = [threading.Thread(target=take, args=pair) for pair in ((one, two), (two, one))]
for thread in each:
    thread.start()
for thread in each:
    thread.join()
""",
    "leaves a thread": "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "stops everything": "os.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)",
    "waits for a child that never ends": """
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
os.wait()
""",
}

END = {
    "forks until it may not": Program(
        body="""
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        break
"""
    ),
    "leaves a daemon that works on": Program(
        body="""
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 3)
    while True:
        time.sleep(0.05)
        for path in ('/report/report.jsonl', '/workspace/calc.py', '/tmp/late'):
            try:
                open(path, 'a').write('late')
            except OSError:
                pass
time.sleep(0.5)
""",
        verdict=FAIL,
        reason="the report has a line that the test runner did not write",
        flags=(Flag.TAMPERED,),
    ),
    "eats memory": Program(
        body=EATS,
        verdict=FAIL,
        flags=(Flag.OUT_OF_MEMORY,),
        reason="the tests ran out of memory",
    ),
    "asks for memory that is not there": Program(
        body="bytearray(10**15)",
        verdict=FAIL,
        flags=(Flag.OUT_OF_MEMORY,),
        reason=f"{ONE}, 1 of them for want of memory",
    ),
    "eats memory in many processes": Program(
        body="""
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        held = [bytearray(b'x' * 10**6) for _ in range(100)]
        time.sleep(0.5)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""
    ),
    "eats memory in a child": Program(
        body=f"child = os.fork()\nif child == 0:\n    {EATS}\nos.waitpid(child, 0)"
    ),
    "fills /tmp": fills("/tmp"),  # noqa: S108 - of a sandbox, as all below
    "fills /workspace": fills("/workspace"),
    "fills /labkit": fills("/labkit"),
    "fills /results": fills("/results"),
    "fills /dev/shm": fills("/dev/shm"),  # noqa: S108
    "fills /report": fills("/report"),
    "makes a million files in memory": Program(
        body=makes_files("/tmp"),  # noqa: S108
        verdict=FAIL,
        flags=(Flag.OUT_OF_MEMORY,),
        reason="the tests ran out of memory",
    ),
    "makes a million files on the disk": Program(body=makes_files("/report")),
    "prints a gigabyte": prints("b'loud\\n'", 1024),
    "prints one long line": prints("b'A'", 100),
    "prints NUL": prints("bytes(8)", 100),
    "prints what is no text": prints("bytes([255, 254, 0, 237, 160, 189])", 100),
    "prints titles": Program(
        body=r"os.write(2, b'\x1b]0;owned\x07\x1b[2J\x1b[31m</script><b>\xff' * 1000)"
    ),
    "writes a huge report": Program(
        body="""
with open('/report/report.jsonl', 'ab') as out:
    for _ in range(100):
        out.write(bytes(1 << 20))
""",
        verdict=FAIL,
        reason="the report could not be read",
    ),
    "makes a sparse file of 100 GB": one_test_fails(
        "os.truncate('/report/report.jsonl', 100 * 2**30)"
    ),
    "reads standard input": Program(body="os.read(0, 1)"),
    "kills everything else": Program(body="os.kill(-1, signal.SIGKILL)"),
    "kills everything": dies("os.kill(-1, 9)\nos.kill(os.getpid(), 9)", 137),
    "terminates itself": dies("os.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(10)", 143),
    "closes all files": dies("os.closerange(0, 4096)", 120),
    "locks the tree": dies(
        "subprocess.run('chmod -R 000 /workspace /report /tmp /labkit', shell=True)", 1
    ),
    "deletes the tree": Program(
        body="subprocess.run('rm -rf /workspace /report /tmp/* /labkit', shell=True)",
        verdict=FAIL,
        flags=(Flag.TAMPERED,),
        reason="files of tests were changed while they ran",
    ),
    "lowers its limits": dies(
        """
for name in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
    resource.setrlimit(name, (0, 0))
""",
        120,
    ),
    "raises its limits": one_test_fails("resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))"),
    "makes loops of links": Program(
        body="""
for folder in ('/tmp', '/workspace', '/results'):
    os.symlink('loop2', folder + '/loop1')
    os.symlink('loop1', folder + '/loop2')
    os.symlink('.', folder + '/self')
    os.symlink('/', folder + '/root')
"""
    ),
    "makes deep folders": Program(body=goes_deep("/tmp")),  # noqa: S108
    "makes deep folders on the disk": one_test_fails(goes_deep("/report")),
    "leaves odd files": Program(
        body=r"""
os.mkfifo('/results/pipe')
socket.socket(socket.AF_UNIX).bind('/results/socket')
for name in (b'\xff\xfe', b'a\nb', b'=\n', b'x' * 255):
    open(b'/results/' + name, 'w').close()
"""
    ),
    "changes the clocks": Program(
        body="""
time.sleep(1.5)
for name in ('time', 'perf_counter', 'monotonic', 'process_time'):
    setattr(time, name, lambda: -1e9)
"""
    ),
}
