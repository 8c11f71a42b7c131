"""measure.py: what the benchmarks share. take: a command with its seconds and its memory; ask: what it says as JSON; in_turn: both sides of a
comparison, round after round; exponent: the slope of a growth; Missed: the profile of every command whose row misses its bar; say: what a
command says of its version."""
import collections
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("MERCER_DATA", ROOT.parent / "shared/data"))  # docs/data.md says what lies there
PEERS = ROOT / "build" / "peers"  # where tools/peers puts them
FROM_PYPI = {"sklearn": ("scikit-learn", "scikit-learn-intelex", "pykeops"), "torch": ("gpytorch",), "thunder": ("thundersvm-cpu",)}
ROUNDS = 3
LONG = 40  # seconds: a peer that takes longer is run once

Taken = collections.namedtuple("Taken", "seconds cpu bytes out")  # by the clock; of all cores together; resident at most; printed


def peak_of(command, place):
    """The command under time(1), and how to read its resident set: what wait4 says of a child begins at the size of its parent, this Python."""
    there = os.path.exists("/usr/bin/time")
    return [*(["/usr/bin/time", "-q", "-f", "%M", "-o", place] if there else []), *map(str, command)], there


def finished(command, **more):
    """(Taken, exit status) of a command however it ends; standard error goes where more says."""
    with tempfile.NamedTemporaryFile("r") as kept:
        words, there = peak_of(command, kept.name)
        began = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **more)
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        seconds, process.returncode = time.perf_counter() - began, os.waitstatus_to_exitcode(status)
        text = kept.read().split()
        kibibytes = int(text[-1]) if there and text else used.ru_maxrss
    return Taken(seconds, used.ru_utime + used.ru_stime, kibibytes * 1024, out), process.returncode


def take(command, **more):
    taken, status = finished(command, **more)
    if status:
        raise RuntimeError(f"{' '.join(map(str, command[:2]))} ended with {status}: {taken.out[-400:]}")
    return taken


def ask(mercer, *words):
    """(what the command printed, read where it is JSON, its seconds)"""
    taken = take([mercer, *words])
    return json.loads(taken.out) if "--json" in words else taken.out, taken.seconds


def child_seconds():
    """Processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def in_turn(*sides, rounds=ROUNDS):
    """What each side gives, [results of the first side, of the second, ...]; a result is or begins with its seconds. A side that took longer
    than LONG is not run again."""
    results = [[] for _ in sides]
    for r in range(rounds):
        for side, result in zip(sides, results):
            if r == 0 or seconds_of(result[0]) <= LONG:
                result.append(side())
    return results


def seconds_of(result):
    return result if isinstance(result, float) else result[0]


def median(results):
    """The result whose seconds are the median."""
    return sorted(results, key=seconds_of)[(len(results) - 1) // 2]


def exponent(sizes, values):
    """The slope of log value over log size, by least squares."""
    x, y = [math.log(v) for v in sizes], [math.log(v) for v in values]
    mx, my = statistics.fmean(x), statistics.fmean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def say(*command, **more):
    """The last line a command prints, or None where it cannot be run."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    except OSError:
        return None
    return done.stdout.strip().splitlines()[-1] if done.returncode == 0 and done.stdout.strip() else None


def debian(package):
    """The version of a Debian package."""
    return say("dpkg-query", "-W", "-f", "${Version}", package)


def version_of(python, *packages):
    """{package: version} of those that this Python can import the metadata of."""
    ask = "import sys\nfrom importlib.metadata import version\nfor p in sys.argv[1:]:\n try: print(p, version(p), end=';')\n except Exception: pass"
    found = say(python, "-c", ask, *packages)
    return dict(entry.split() for entry in (found or "").split(";") if entry)


# ---- Where the time goes ----


def hottest(command, count=5, cwd=None, most=120):
    """The symbols in which a command spends most of its time (its first minutes, where it takes longer), by perf; None where there is none."""
    if not shutil.which("perf"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "perf.data")
        subprocess.run(["perf", "record", "-q", "-F", "499", "-o", kept, "--", "timeout", str(most), *map(str, command)],
                       capture_output=True, cwd=cwd)
        done = subprocess.run(["perf", "report", "--no-children", "--stdio", "-i", kept, "--sort", "symbol,dso"], capture_output=True, text=True)
    found = re.findall(r"^\s*(\d+\.\d+)%\s+\[.\]\s+(\S+)\s+(\S+)", done.stdout, re.M)
    return ", ".join(f"{float(share):.0f}% `{symbol}` ({library.split('.so')[0]})" for share, symbol, library in found[:count]) or None


class Missed:
    """The commands behind the rows of a table that missed their bars; show prints the profile of each below it."""

    def __init__(self):
        self.commands = []

    def note(self, verdict, name, command):
        if "**missed" in verdict:
            self.commands.append((name, [str(c) for c in command]))
        return verdict

    def show(self):
        for name, command in self.commands:
            found = hottest(command)
            print(f"\nWhere the time of *{name}* goes: {found or 'unknown, for perf is not installed'}.", flush=True)
        self.commands = []
