#!/usr/bin/env python3
"""growth.py MERCER [--small]: how seconds grow with the rows, the columns, the classes and the threads, the exponents as fitted by least
squares in logarithms over all sizes and over the largest two, and what theory says.

Seconds are those of the fit that the report states (predict: of the whole command less one with a single row; product: of one product K v
in float, n^2 entries); the median of three where they take less than two. Rows: normal, classes by the quantiles of a smooth function with a
tenth of them wrong, numbers by the function itself with noise. Every job has fixed settings, so that only the size changes."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402

Job = dict  # machine, settings, sizes; theory by what grows
JOBS = {
    "ridge, cholesky": Job(words="-m ridge --lambda 0.1 --solver cholesky --no-loo", target="number", n=(1000, 2000, 4000, 8000), at=3000,
                           theory={"n": "3 (n^2 d for K)", "d": "0 to 1 (K alone)", "k": "0 (the factor is shared)"}),
    "ridge, pcg": Job(words="-m ridge --lambda 0.1 --solver pcg --rank 500 --tolerance 1e-4", target="number", n=(4000, 8000, 16000, 32000),
                      at=16000, theory={"n": "2 a step, and its steps", "d": "1", "k": "0 to 1 (K is shared by the outputs)"}),
    "svc": Job(words="-m svc --C 8", target="class", n=(2500, 5000, 10000, 20000), at=8000,
               theory={"n": "2 (K of the support vectors) to 3", "d": "0 to 1", "k": "0 (k^2/2 pairs of 2n/k rows)"}),
    "logistic": Job(words="-m logistic --lambda 0.1", target="class", n=(2500, 5000, 10000, 20000), at=8000,
                    theory={"n": "2 a step, and its steps", "d": "0 to 1", "k": "1 (a function a class)"}),
    "gp": Job(words="-m gp --noise -1 --restarts 0 --iterations 5", target="number", n=(250, 500, 1000, 2000), at=1000,
              theory={"n": "3", "d": "0 to 1 (K alone)"}),
    "pca": Job(words="-m pca --components 20 --tolerance 1e-4", target="none", n=(4000, 8000, 16000, 32000), at=10000,
               theory={"n": "2", "d": "1"}),
    "product": Job(n=(4000, 8000, 16000, 32000), at=16000, theory={"n": "2", "d": "1"}),
    "predict": Job(words="-m ridge --lambda 0.1 --solver nystrom --rank 200", target="number", n=(10000, 20000, 40000, 80000), at=20000,
                   theory={"n": "1 (the centres are fixed)", "d": "1"}),
}
COLUMNS, CLASSES = (8, 16, 32, 64, 128), (2, 4, 8, 16, 32)
D = 10  # columns where rows grow
ENOUGH = 4  # seconds, after which a job is not repeated


def table_of(folder, target, n, d, classes=1, seed=1):
    """A file of n rows with that target, made once: so many classes, two at least, or so many numbers."""
    path = f"{folder}/{target}_{n}_{d}_{classes}.npy"
    if not os.path.exists(path):
        rng, classes = np.random.default_rng(seed), max(classes, 2) if target == "class" else classes
        X = rng.normal(size=(n, d))
        f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3
        cut = np.quantile(f, np.arange(1, classes) / classes) if target == "class" else None
        labels = np.searchsorted(cut, f) if target == "class" else f + 0.1 * rng.normal(size=n)
        wrong = rng.random(n) < 0.1
        y = np.where(wrong, rng.integers(classes, size=n), labels) if target == "class" else labels
        outputs = {"none": X[:, :0], "class": y[:, None], "number": y[:, None] * np.cos(np.outer(X[:, 3], np.arange(classes)))}
        np.save(path, np.column_stack([X, outputs[target]]))
    return path


def command_of(mercer, folder, job, n, d, classes, threads):
    """The fit, its target columns named: a ridge of many outputs has as many of them as the others have classes."""
    kernel = ["-k", f"rbf(gamma={0.5 / d:.6g})", "--scale", "none", "--threads", threads, "-o", f"{folder}/m.mercer", "--json"]
    several = ",".join(str(d + 1 + c) for c in range(classes))
    target = {"none": ["--no-target"], "class": ["--target-kind", "class"], "number": ["--target", several, "--target-kind", "number"]}[job["target"]]
    return [mercer, "fit", table_of(folder, job["target"], n, d, classes), *job["words"].split(), *kernel, *target]


def seconds_of(mercer, folder, name, n, d=D, classes=1, threads=os.cpu_count()):
    job = JOBS[name]
    if name == "product":
        program = pathlib.Path(mercer).parent / "bench" / "b_gram"
        return float(subprocess.run([program, "--product", str(n), str(d), str(threads)], check=True, capture_output=True, text=True).stdout.split()[0])
    if name == "predict":
        return predict_seconds(mercer, folder, job, n, d, threads)
    fit = lambda: json.loads(measure.take(command_of(mercer, folder, job, n, d, classes, threads)).out)["seconds"]["fit"]  # noqa: E731
    taken = [fit()]
    while len(taken) < measure.ROUNDS and sum(taken) < ENOUGH:
        taken.append(fit())
    return measure.median(taken)


def predict_seconds(mercer, folder, job, n, d, threads):
    """Of n rows, less what the command takes for one."""
    measure.take(command_of(mercer, folder, job, 4000, d, 1, threads))
    one, all_rows = table_of(folder, "none", 1, d), table_of(folder, "none", n, d)
    run = lambda path: measure.take([mercer, "predict", f"{folder}/m.mercer", path, "--threads", threads, "-o", f"{folder}/p.csv", "-q"]).seconds  # noqa: E731
    both = [(run(all_rows), run(one)) for _ in range(measure.ROUNDS)]
    return max(1e-4, statistics.median(a for a, _ in both) - statistics.median(b for _, b in both))


def number(seconds):
    return f"{seconds:.3g}"


def line(name, sizes, seconds, theory):
    return (f"| {name} | " + " | ".join(f"{n}: {number(s)}" for n, s in zip(sizes, seconds)) + f" | {measure.exponent(sizes, seconds):.2f} "
            f"| {measure.exponent(sizes[-2:], seconds[-2:]):.2f} | {theory} |")


def head(what, count):
    print(f"\n| {what} |" + " size: s |" * count + " fitted | last two | theory |\n" + "|---" * (count + 4) + "|", flush=True)


def with_rows(ask, scale):
    head(f"rows, {D} columns", 4)
    for name, job in JOBS.items():
        sizes = [max(100, n // scale) for n in job["n"]]
        print(line(name, sizes, [ask(name, n) for n in sizes], job["theory"]["n"]), flush=True)


def with_columns(ask, scale):
    head("columns", len(COLUMNS))
    for name, job in JOBS.items():
        n = max(100, job["at"] // scale)
        print(line(f"{name}, {n} rows", COLUMNS, [ask(name, n, d=d) for d in COLUMNS], job["theory"]["d"]), flush=True)


def with_classes(ask, scale):
    head("classes (ridge: outputs)", len(CLASSES))
    for name, job in JOBS.items():
        if "k" in job["theory"]:
            n = max(400, 3000 // scale)
            print(line(f"{name}, {n} rows", CLASSES, [ask(name, n, classes=k) for k in CLASSES], job["theory"]["k"]), flush=True)


def with_threads(ask, scale):
    counts = [t for t in (1, 2, 4, 8, 16, 32, 64, 128) if t <= os.cpu_count()]
    if len(counts) < 2:
        print("\nThreads: skipped, for this machine has one core.")
        return
    print("\n| threads |" + "".join(f" {t}: s |" for t in counts) + " speedup | of the cores |\n" + "|---" * (len(counts) + 3) + "|", flush=True)
    for name, job in JOBS.items():
        n = max(100, job["n"][-2] // scale)
        seconds = [ask(name, n, threads=t) for t in counts]
        gain = seconds[0] / seconds[-1]
        print(f"| {name}, {n} rows | " + " | ".join(map(number, seconds)) + f" | {gain:.2f} | {100 * gain / counts[-1]:.0f}% |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--small", action="store_true", help="a tenth of the rows, to see that it runs")
    arguments = parser.parse_args()
    mercer, scale = os.path.abspath(arguments.mercer), 10 if arguments.small else 1
    print("Seconds at each size, the exponent fitted over all sizes and over the largest two, and the one in theory.")
    with tempfile.TemporaryDirectory() as folder:
        ask = lambda name, n, **more: seconds_of(mercer, folder, name, n, **more)  # noqa: E731
        for part in (with_rows, with_columns, with_classes, with_threads):
            part(ask, scale)


if __name__ == "__main__":
    main()
