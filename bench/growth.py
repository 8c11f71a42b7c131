#!/usr/bin/env python3
"""growth.py MERCER [--small]: how seconds grow with the rows, the columns, the classes and the threads, the exponents as fitted by least
squares in logarithms over all sizes and over the largest two, and what theory says.

Seconds are those of the fit that the report states (predict: of the whole command less one with a single row; product: of one product K v
in float, n^2 entries); the median of three where they take less than two. Rows: normal, classes by the quantiles of a smooth function with a
tenth of them wrong, numbers by the function itself with noise. Every job has fixed settings, so that only the size changes.

An exponent, over all sizes or the largest two, more than 0.25 above the one in theory is missed, in bold, with the profile of the largest job;
so is a job that all cores make less than 1.4 times as fast for every doubling of the threads (in theory the exponent of the threads is -1)."""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402

Job = dict  # machine, settings, sizes; theory by what grows: the largest exponent, and in words
JOBS = {
    "ridge, cholesky": Job(words="-m ridge --lambda 0.1 --solver cholesky --no-loo", target="number", n=(1000, 2000, 4000, 8000), at=3000,
                           theory={"n": (3, "3 (n^2 d for K)"), "d": (1, "0 to 1 (K alone)"), "k": (0, "0 (the factor is shared)")}),
    "ridge, pcg": Job(words="-m ridge --lambda 0.1 --solver pcg --rank 500 --tolerance 1e-4", target="number", n=(4000, 8000, 16000, 32000),
                      at=16000, theory={"n": (2, "2 (a step)"), "d": (1, "1"), "k": (1, "0 to 1 (K is shared by the outputs)")}),
    "svc": Job(words="-m svc --C 8", target="class", n=(2500, 5000, 10000, 20000), at=8000,
               theory={"n": (3, "2 (K of the support vectors) to 3"), "d": (1, "0 to 1"),
                       "k": (1, "0 to 1 (k^2/2 pairs of 2n/k rows, quadratic to linear in them)")}),
    "logistic": Job(words="-m logistic --lambda 0.1", target="class", n=(2500, 5000, 10000, 20000), at=8000,
                    theory={"n": (2, "2 (a step)"), "d": (1, "0 to 1"), "k": (1, "1 (a function a class)")}),
    "gp": Job(words="-m gp --noise -1 --restarts 0 --iterations 5", target="number", n=(250, 500, 1000, 2000), at=1000,
              theory={"n": (3, "3"), "d": (1, "0 to 1 (K alone)")}),
    "pca": Job(words="-m pca --components 20 --tolerance 1e-4", target="none", n=(4000, 8000, 16000, 32000), at=10000,
               theory={"n": (2, "2"), "d": (1, "1")}),
    "product": Job(n=(4000, 8000, 16000, 32000), at=16000, theory={"n": (2, "2"), "d": (1, "1")}),
    "predict": Job(words="-m ridge --lambda 0.1 --solver nystrom --rank 1000", target="number", n=(40000, 80000, 160000, 320000), at=80000,
                   theory={"n": (1, "1 (the centres are fixed)"), "d": (1, "1")}),
}
COLUMNS, CLASSES = (8, 16, 32, 64, 128), (2, 4, 8, 16, 32)
D = 10  # columns where rows grow
ENOUGH = 4  # seconds, after which a job is not repeated
SLACK = 0.25  # an exponent so far above theory is a miss: a fifth more seconds for twice the size
POOR = -0.5  # of threads: twice as many give less than 1.4 times the speed


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


def product_command(mercer, n, d, threads):
    return [pathlib.Path(mercer).parent / "bench" / "b_gram", "--product", n, d, threads]


def seconds_of(mercer, folder, name, n, d=D, classes=1, threads=os.cpu_count()):
    job = JOBS[name]
    if name == "product":
        return float(measure.take(product_command(mercer, n, d, threads)).out.split()[0])
    if name == "predict":
        return predict_seconds(mercer, folder, job, n, d, threads)
    fit = lambda: json.loads(measure.take(command_of(mercer, folder, job, n, d, classes, threads)).out)["seconds"]["fit"]  # noqa: E731
    taken = [fit()]
    while len(taken) < measure.ROUNDS and sum(taken) < ENOUGH:
        taken.append(fit())
    return measure.median(taken)


def predict_command(mercer, folder, n, d, threads):
    """Of n rows by the model for so many columns."""
    return [mercer, "predict", f"{folder}/{d}.mercer", table_of(folder, "none", n, d), "--threads", threads, "-o", f"{folder}/p.csv", "-q"]


def predict_seconds(mercer, folder, job, n, d, threads):
    """Of n rows, less what the command takes for one."""
    measure.take(command_of(mercer, folder, job, 4000, d, 1, threads))
    os.replace(f"{folder}/m.mercer", f"{folder}/{d}.mercer")
    run = lambda rows: measure.take(predict_command(mercer, folder, rows, d, threads)).seconds  # noqa: E731
    both = [(run(n), run(1)) for _ in range(measure.ROUNDS)]
    return max(1e-4, statistics.median(a for a, _ in both) - statistics.median(b for _, b in both))


def number(seconds):
    return f"{seconds:.3g}"


def judged(exponents, most):
    return "**missed**" if max(exponents) > most else "met"


def line(name, sizes, seconds, theory):
    """(the row, its verdict)"""
    most, words = theory
    exponents = measure.exponent(sizes, seconds), measure.exponent(sizes[-2:], seconds[-2:])
    verdict = judged(exponents, most + SLACK)
    return (f"| {name} | " + " | ".join(f"{n}: {number(s)}" for n, s in zip(sizes, seconds)) + f" | {exponents[0]:.2f} | {exponents[1]:.2f} "
            f"| {words} | {verdict} |"), verdict


def head(what, count):
    print(f"\n| {what} |" + " size: s |" * count + " fitted | last two | theory | bar |\n" + "|---" * (count + 5) + "|", flush=True)


class Jobs:
    """All jobs at some size: their seconds, and the profiles of those that miss."""

    def __init__(self, mercer, folder, scale):
        self.mercer, self.folder, self.scale, self.missed = mercer, folder, scale, measure.Missed()

    def rows(self, n, least=100):
        return max(least, n // self.scale)

    def seconds(self, name, n, **more):
        return seconds_of(self.mercer, self.folder, name, n, **more)

    def note(self, verdict, name, what, n, d=D, classes=1, threads=os.cpu_count()):
        if name == "product":
            command = product_command(self.mercer, n, d, threads)
        elif name == "predict":
            command = predict_command(self.mercer, self.folder, n, d, threads)
        else:
            command = command_of(self.mercer, self.folder, JOBS[name], n, d, classes, threads)
        self.missed.note(verdict, what, command)

    def show(self, name, what, sizes, seconds, theory, **largest):
        text, verdict = line(what, sizes, seconds, theory)
        print(text, flush=True)
        self.note(verdict, name, what, **largest)


def with_rows(jobs):
    head(f"rows, {D} columns", 4)
    for name, job in JOBS.items():
        sizes = [jobs.rows(n) for n in job["n"]]
        jobs.show(name, name, sizes, [jobs.seconds(name, n) for n in sizes], job["theory"]["n"], n=sizes[-1])


def with_columns(jobs):
    head("columns", len(COLUMNS))
    for name, job in JOBS.items():
        n = jobs.rows(job["at"])
        jobs.show(name, f"{name}, {n} rows", COLUMNS, [jobs.seconds(name, n, d=d) for d in COLUMNS], job["theory"]["d"], n=n, d=COLUMNS[-1])


def with_classes(jobs):
    head("classes (ridge: outputs)", len(CLASSES))
    n = jobs.rows(3000, 400)
    for name, job in JOBS.items():
        if "k" in job["theory"]:
            seconds = [jobs.seconds(name, n, classes=k) for k in CLASSES]
            jobs.show(name, f"{name}, {n} rows", CLASSES, seconds, job["theory"]["k"], n=n, classes=CLASSES[-1])


def with_threads(jobs):
    counts = [t for t in (1, 2, 4, 8, 16, 32, 64, 128) if t <= os.cpu_count()]
    if len(counts) < 2:
        print("\nThreads: skipped, for this machine has one core.")
        return
    print("\n| threads |" + "".join(f" {t}: s |" for t in counts) + " speedup | fitted | theory | bar |\n" + "|---" * (len(counts) + 5) + "|", flush=True)
    for name, job in JOBS.items():
        n = jobs.rows(job["n"][-2])
        seconds = [jobs.seconds(name, n, threads=t) for t in counts]
        fitted = measure.exponent(counts, seconds)
        verdict = judged([fitted], POOR)
        print(f"| {name}, {n} rows | " + " | ".join(map(number, seconds)) + f" | {seconds[0] / seconds[-1]:.2f} | {fitted:.2f} | -1 | {verdict} |", flush=True)
        jobs.note(verdict, name, f"{name} on {counts[-1]} threads", n, threads=counts[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--small", action="store_true", help="a tenth of the rows, to see that it runs")
    arguments = parser.parse_args()
    mercer, scale = os.path.abspath(arguments.mercer), 10 if arguments.small else 1
    print("Seconds at each size, the exponent fitted over all sizes and over the largest two, and the one in theory: missed where one is more than 0.25 above.")
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(mercer, folder, scale)
        for part in (with_rows, with_columns, with_classes, with_threads):
            part(jobs)
            jobs.missed.show()


if __name__ == "__main__":
    main()
