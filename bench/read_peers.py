#!/usr/bin/python3
"""read_peers.py [MERCER] [--megabytes N] [--repeats N] [--genfromtxt]: reading speed beside NumPy and scikit-learn.

Made files, the same for all: numbers with 17 and with 6 digits as CSV, sparse LIBSVM text, and .npy. Peers and Mercer take turns within
one run and the median of each counts; the sums of what each has read are compared. Run it with a Python that has NumPy and scikit-learn (Debian: /usr/bin/python3); a peer that is
not there is skipped by name. The bar is ten times the text readers' speed."""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402


def peers(genfromtxt):
    """(file ending, name, function), for what is installed."""
    found = []
    try:
        import numpy
        found.append((".csv", "numpy.loadtxt", lambda path: numpy.loadtxt(path, delimiter=",")))
        if genfromtxt:
            found.append((".csv", "numpy.genfromtxt", lambda path: numpy.genfromtxt(path, delimiter=",")))
        found.append((".npy", "numpy.load", lambda path: numpy.load(path)))
    except ImportError:
        print("# SKIPPED: NumPy is not installed")
    try:
        from sklearn.datasets import load_svmlight_file
        found.append((".svm", "sklearn.load_svmlight_file", lambda path: load_svmlight_file(str(path))))
    except ImportError:
        print("# SKIPPED: scikit-learn is not installed")
    return found


def seconds_of(function, path):
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def values_of(read):
    """All but the targets: the matrix of a pair, or all columns but the last."""
    return read[0] if isinstance(read, tuple) else read[:, :-1]


def agreed(ours, theirs):
    """Whether two sums of the same values are one, but for the order of adding."""
    return "yes" if abs(ours - theirs) <= 1e-9 * abs(theirs) else f"**no**: {ours!r}, {theirs!r}"


def mercer(program, path):
    """{threads: seconds} of one reading with one thread and one with all."""
    lines = subprocess.run([program, "time", path, "1"], check=True, capture_output=True, text=True).stdout.split()
    return {int(t): float(s) for t, _, s in (line.split(",") for line in lines)}


def compare(program, path, readers, repeats, missed):
    ours, theirs, size = {}, {name: [] for _, name, _ in readers}, path.stat().st_size
    for _ in range(repeats):
        for threads, seconds in mercer(program, path).items():
            ours.setdefault(threads, []).append(seconds)
        for _, name, function in readers:
            theirs[name].append(seconds_of(function, path))
    total = float(measure.take([program, "sum", path]).out)
    sums = {name: values_of(function(path)).sum() for _, name, function in readers}
    ours = {threads: statistics.median(taken) for threads, taken in ours.items()}
    for threads, seconds in sorted(ours.items()):
        print(f"| {path.name} | mercer | {threads} | {seconds:.4f} | {size / seconds / 1e6:.0f} | | |")
    best = ours[max(ours)]
    for name, taken in theirs.items():
        seconds = statistics.median(taken)
        bar = "" if path.suffix == ".npy" else ", bar 10: met" if seconds / best >= 10 else ", bar 10: **missed**"
        missed.note(bar, path.name, [program, "time", path, 5])
        print(f"| {path.name} | {name} | 1 | {seconds:.4f} | {size / seconds / 1e6:.0f} | {seconds / best:.1f}{bar} | {agreed(total, sums[name])} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("mercer", nargs="?", default="build/mercer")
    arguments.add_argument("--megabytes", type=int, default=100)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--genfromtxt", action="store_true", help="the slower of NumPy's text readers too")
    options = arguments.parse_args()
    program = str(pathlib.Path(options.mercer).parent / "bench" / "b_read")
    readers, missed = peers(options.genfromtxt), measure.Missed()
    print("| file | reader | threads | seconds | MB/s | Mercer, all threads, is so many times as fast | same values |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "make", folder, str(options.megabytes)], check=True)
        for path in sorted(pathlib.Path(folder).iterdir()):
            compare(program, path, [r for r in readers if r[0] == path.suffix], options.repeats, missed)
        missed.show()


main()
