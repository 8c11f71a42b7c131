#!/usr/bin/env python3
"""gpu.py [BUILD] [--only TEXT] [--device cuda] [--takes 5]: work on a card against its bars, the median of five, with card, driver and commit.

    python3 bench/gpu.py build

A row is what is done, its bar, and a function that returns the takes of it: seconds, pairs of rows a second (b_device) or how many times faster
than the same command on the processor. Parts of dense algebra (b_dense) are measured once. Data are generated, or read from MERCER_DATA; rows that lack theirs say so. Whole commands are timed: reading,
opening the card and writing count. Exit status 1: a bar is missed."""
import argparse
import functools
import gzip
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="mercer-gpu-"))
FOUR = "four atoms"


class Missing(Exception):
    """Why a row cannot be measured here."""


def run(*words, **kind):
    """Seconds of a command, and what it printed."""
    began = time.perf_counter()
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **kind)
    except FileNotFoundError:
        raise Missing(f"there is no {words[0]}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise Missing(said.splitlines()[-1][:160])
    return time.perf_counter() - began, done.stdout


# ---- Products ----

@functools.lru_cache(None)
def products(build, device):
    """{(kernel, precision, d, right-hand sides): pairs a second}; b_device takes the median of five itself."""
    rates = {}
    for line in run(build / "bench/b_device", device)[1].splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 9 and cells[2].isdigit():
            name = FOUR if cells[0].count("+") >= 2 else re.sub(r"\(.*", "", cells[0])
            rates[name, cells[1], int(cells[3]), int(cells[4])] = float(cells[6])
    return rates


def rate(name, precision, d, right=1):
    return lambda build, device, takes: [products(build, device)[name, precision, d, right]]


def times_rbf(name, d):
    return lambda build, device, takes: [products(build, device)["rbf", "f32", d, 1] / products(build, device)[name, "f32", d, 1]]


# ---- Dense algebra ----

@functools.lru_cache(None)
def algebra(build, device):
    """[(part, n, seconds)] as b_dense prints them, each measured once."""
    parts = []
    for line in run(build / "bench/b_dense", device)[1].splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 4 and cells[1].isdigit() and re.fullmatch(r"[0-9.]+", cells[3]):
            parts.append((cells[0], int(cells[1]), float(cells[3])))
    return parts


def part_seconds(name, rows):
    """Of the part of this name."""
    def measure(build, device, takes):
        found = [s for part, n, s in algebra(build, device) if part == name and n == rows]
        if not found:
            raise Missing(f"b_dense prints no '{name}' of {rows} rows")
        return found
    return measure


# ---- Ridge by conjugate gradients, predictions (b_predict) ----

def last_row(words, **kind):
    """The cells of the last row that a program prints."""
    return [c.strip() for c in run(*words, **kind)[1].splitlines()[-1].strip("|").split("|")]


@functools.lru_cache(None)
def fitted(build, device, rows, tolerance):
    """A model of so many centres of 28 columns, and the row of its fit."""
    path = FOLDER / f"centres-{rows}"
    words = [build / "bench/b_predict", "fit", path, rows, 28, 1, tolerance]
    return path, last_row(words, env={**os.environ, "MERCER_DEVICE": device})


def pcg_seconds(build, device, takes):
    row = fitted(build, device, 1000000, 1e-4)[1]
    if float(row[5]) > 1e-4:
        raise Missing(f"a residual of {row[5]}")
    return [float(row[6])]


def prediction_seconds(column):
    """Of a million rows against 50,000 centres: 5, the first of a process; 6, once more."""
    def measure(build, device, takes):
        path = fitted(build, device, 50000, 1e-3)[0]
        return [float(last_row([build / "bench/b_predict", path, device])[column]) for _ in range(takes)]
    return measure


# ---- Whole commands ----

@functools.lru_cache(None)
def generated(build, name, rows):
    path = FOLDER / f"{name}-{rows}.csv"
    run(build / "mercer", "generate", name, "-n", rows, "-o", path, "-q")
    return path


def stored(name):
    path = pathlib.Path(os.environ.get("MERCER_DATA", "")) / name
    if not path.exists():
        raise Missing(f"no {name} in MERCER_DATA")
    return path


@functools.lru_cache(None)
def mnist():
    """The 60,000 images as LIBSVM text: grey levels from 0 to 255."""
    images = gzip.decompress(stored("mnist/train-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress(stored("mnist/train-labels-idx1-ubyte.gz").read_bytes())[8:]
    path = FOLDER / "mnist.libsvm"
    with open(path, "w") as out:
        for i, label in enumerate(labels):
            row = images[784 * i:784 * (i + 1)]
            out.write(f"{label} " + " ".join(f"{k + 1}:{v}" for k, v in enumerate(row) if v) + "\n")
    return path


def fit_seconds(build, data, device, words, takes):
    model = FOLDER / "model"
    return [run(build / "mercer", "fit", data, *words, "--device", device, "-o", model, "-q")[0] for _ in range(takes)]


def svc_times(name, *words):
    """How many times faster than on all cores of this machine; name: of stored data, or a function that makes them."""
    def measure(build, device, takes):
        data = name() if callable(name) else stored(name)
        here = statistics.median(fit_seconds(build, data, "cpu", ["-m", "svc", *words], takes))
        return [here / s for s in fit_seconds(build, data, device, ["-m", "svc", *words], takes)]
    return measure


def small_fit(build, device, takes):
    """Seconds with auto over those with cpu, of a thousand rows."""
    data = generated(build, "friedman1", 1000)
    words = ["-m", "ridge", "-k", "rbf(gamma=1)", "--lambda", "0.1"]
    here = statistics.median(fit_seconds(build, data, "cpu", words, takes))
    return [s / here for s in fit_seconds(build, data, "auto", words, takes)]


# (what, bar, whether more is better, unit, function of build, device and takes)
ROWS = [
    ("rbf K v float, n 524,288, d 3", 3.5e12, True, "pairs/s", rate("rbf", "f32", 3)),
    ("rbf K v float, n 524,288, d 8", 2.4e12, True, "pairs/s", rate("rbf", "f32", 8)),
    ("rbf K v float, n 524,288, d 28", 9e11, True, "pairs/s", rate("rbf", "f32", 28)),
    ("rbf K v float accuracy, d 256", 1.5e11, True, "pairs/s", rate("rbf", "f32", 256)),
    ("rbf K v float accuracy, d 784", 7.7e10, True, "pairs/s", rate("rbf", "f32", 784)),
    ("sum and product of four atoms over rbf, d 8", 2.5, False, "times", times_rbf(FOUR, 8)),
    ("exact ridge, the whole fit, n 120,000, d 28", 15, False, "s", part_seconds("ridge by cholesky, the whole fit", 120000)),
    ("evidence and gradient, exact, n 16,384, d 8", 0.15, False, "s", part_seconds("evidence and gradient", 16384)),
    ("ridge by pcg, n 1,000,000, d 28, residual 1e-4", 120, False, "s", pcg_seconds),
    ("prediction, 1,000,000 rows, 50,000 centres, d 28", 0.3, False, "s", prediction_seconds(6)),
    ("the same, first of a process, the card opened in it", 0.3, False, "s", prediction_seconds(5)),
    ("svc a9a, against all cores", 5, True, "times", svc_times("large/a9a.gz", "-k", "rbf(gamma=0.05)", "--C", "1")),
    ("svc ijcnn1, against all cores", 5, True, "times", svc_times("large/ijcnn1.gz", "-k", "rbf(gamma=2)", "--C", "32")),
    ("svc covtype 93k, against all cores", 5, True, "times", svc_times("large/covtype_93k.csv.gz", "-k", "rbf(gamma=1)", "--C", "10", "--scale", "minmax")),
    ("svc MNIST 60,000, against all cores", 5, True, "times", svc_times(mnist, "-k", "rbf(gamma=4e-7)", "--C", "10", "--scale", "none")),
    ("fit of 1000 rows with auto, over cpu", 1.1, False, "times", small_fit),
]


def describe(build):
    """Card, driver and commit, one line."""
    try:
        card = run("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")[1].strip().splitlines()[0]
    except (Missing, OSError):
        card = "no NVIDIA driver"
    try:
        commit = run("git", "describe", "--always", "--dirty", cwd=pathlib.Path(__file__).parent)[1].strip()
    except (Missing, OSError):
        commit = os.environ.get("MERCER_COMMIT", "unknown")
    return f"{card}; commit {commit}; {time.strftime('%Y-%m-%d')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--takes", type=int, default=5)
    given = parser.parse_args()
    print(describe(given.build), "\n\n| work | measured | bar | |\n|---|---|---|---|", flush=True)
    missed = 0
    for what, bar, more, unit, measure in ROWS:
        if given.only not in what:
            continue
        try:
            value = statistics.median(measure(given.build.resolve(), given.device, given.takes))
        except (Missing, KeyError) as why:
            print(f"| {what} | not measured: {why} | {bar:.3g} {unit} | |", flush=True)
            continue
        met = value >= bar if more else value <= bar
        missed += not met
        print(f"| {what} | {value:.3g} {unit} | {bar:.3g} | {'met' if met else 'missed'} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
