#!/usr/bin/env python3
"""tune_peers.py MERCER [--quick] [--only svc,ridge,default] [--budget SECONDS]: searches by `mercer tune`.

svc: 8 gammas x 8 Cs x 5 folds beside LIBSVM's svm-train on the same points. LIBSVM would take hours, so a tenth of its fits, spread over the grid
in a fixed random order, is timed and its time multiplied; the budget cuts that short where it must, and the table says how many were timed.
LIBSVM runs on one thread; its time is the processor's. ridge: 20 gammas x 50 lambdas, every row left out exactly, in units of one Cholesky
factorisation of the same size by LAPACK. default: `mercer fit` without any parameter beside the best of a 10 x 10 grid on the test rows, on
the small data sets. --quick takes fewer rows."""
import argparse
import gzip
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


def run(mercer, *words):
    began = time.time()
    done = subprocess.run([mercer, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"mercer {' '.join(map(str, words))}: {done.stderr}")
    return json.loads(done.stdout) if "--json" in words else done.stdout, time.time() - began


# ---- svc ----


def a9a(target, rows):
    with gzip.open(DATA / "large/a9a.gz", "rt") as text, open(target, "w") as out:
        out.writelines(line for i, line in enumerate(text) if i < (rows or 10**9))


def mnist(target, rows):
    pixels = np.frombuffer(gzip.open(DATA / "mnist/train-images-idx3-ubyte.gz").read()[16:], np.uint8).reshape(-1, 784)
    labels = np.frombuffer(gzip.open(DATA / "mnist/train-labels-idx1-ubyte.gz").read()[8:], np.uint8)
    with open(target, "w") as out:
        for label, row in zip(labels[: rows or 10000], pixels):
            at = np.flatnonzero(row)
            out.write(f"{label} " + " ".join(f"{j + 1}:{v / 255:.6g}" for j, v in zip(at, row[at])) + "\n")


def child_seconds():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def libsvm_fits(folder, lines, points, share, budget):
    """(seconds of the fits timed, how many): each a point of the grid and a fold, as cross-validation would fit it."""
    fits = [(g, c, f) for g, c in points for f in range(5)]
    random.Random(1).shuffle(fits)
    wanted, spent, count = max(1, int(share * len(fits))), 0.0, 0
    for g, c, f in fits[:wanted]:
        with open(folder / "fold.svm", "w") as out:
            out.writelines(line for i, line in enumerate(lines) if i % 5 != f)
        before = child_seconds()
        subprocess.run(["svm-train", "-q", "-m", "4000", "-g", str(g), "-c", str(c), str(folder / "fold.svm"), str(folder / "fold.model")], check=True)
        spent, count = spent + child_seconds() - before, count + 1
        if spent > budget:
            break
    return spent, count, len(fits)


def svc(mercer, folder, quick, budget):
    print("| rows | candidates x folds | Mercer, s | best accuracy | fits of LIBSVM timed | LIBSVM, extrapolated, s | ratio |\n|---|---|---|---|---|---|---|")
    for name, write, gammas in (("a9a", a9a, (2**-12, 2**2)), ("MNIST", mnist, (2**-12, 2**-1))):
        write(folder / "rows.svm", 1500 if quick else None)
        lines = open(folder / "rows.svm").readlines()
        report, seconds = run(mercer, "tune", folder / "rows.svm", "-m", "svc", "-k", f"rbf(gamma={gammas[0]}..{gammas[1]})", "--C", "0.1..1000",
                              "--scale", "none", "-o", folder / "m.mercer", "--json")
        points = [(float(c["kernel"].split("=")[1].rstrip(")")), float(c["settings"].split("=")[1])) for c in report["candidates"]]
        best = report["candidates"][report["best"]]
        timed, ratio = "not installed", ""
        theirs = ""
        if shutil.which("svm-train"):
            spent, count, total = libsvm_fits(folder, lines, points, 0.1, 20 if quick else budget)
            theirs, timed = f"{spent / count * total:.0f}", f"{count} of {total}, {spent:.0f} s"
            ratio = f"{spent / count * total / seconds:.0f}"
        print(f"| {name}, {len(lines)} | 64 x 5 | {seconds:.1f} | {best['score']:.4f} +- {best['standard_error']:.4f} | {timed} | {theirs} | {ratio} |",
              flush=True)
    print()


# ---- ridge ----


def cholesky_seconds(n):
    from scipy.linalg import lapack
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    K = np.exp(-0.5 * ((X[:, None, 0] - X[None, :, 0]) ** 2)) + np.eye(n)
    times = []
    for _ in range(3):
        A = np.asfortranarray(K)
        began = time.time()
        lapack.dpotrf(A, lower=1, overwrite_a=1)
        times.append(time.time() - began)
    return min(times)


def ridge(mercer, folder, quick):
    n = 1000 if quick else 5000
    run(mercer, "generate", "friedman1", "-n", n, "-o", folder / "f.csv")
    unit = cholesky_seconds(n)
    print("| search, 20 gammas x 50 lambdas | rows | s | one Cholesky, s | Cholesky-equivalents | chosen | rmse of rows left out |\n|---|---|---|---|---|---|---|")
    for words in ((), ("--halving",)):
        report, _ = run(mercer, "tune", folder / "f.csv", "-k", "rbf(gamma=0.01..10)", "--points", 20, "--lambda",
                        "{" + ",".join(f"{v:.3g}" for v in np.geomspace(1e-6, 1e3, 50)) + "}", "-o", folder / "m.mercer", *words, "--json")
        seconds = report["seconds"]["search"]
        print(f"| {' '.join(words) or 'all'} | {n} | {seconds:.2f} | {unit:.3f} | {seconds / unit:.0f} | {report['chosen']['kernel']}, "
              f"{report['chosen']['settings']} | {report['chosen']['score']:.4f} |", flush=True)
    print()


# ---- fit without parameters ----

SMALL = [  # file, target kind
    ("airfoil.csv", "number"), ("autompg.csv", "number"), ("boston.csv", "number"), ("yacht.csv", "number"), ("diabetes_reg.csv", "number"),
    ("mcycle.csv", "number"), ("wine_quality_red.csv", "number"), ("australian.csv", "class"), ("breast_cancer.csv.gz", "class"),
    ("ionosphere.csv", "class"), ("iris.csv", "class"), ("pima_diabetes.csv", "class"), ("sonar.csv", "class"), ("wine.csv", "class"),
    ("heart_scale", "class")]


def halves(folder, name):
    """Every third row for the test; a header stays on both."""
    opened = gzip.open(DATA / "small" / name, "rt") if name.endswith(".gz") else open(DATA / "small" / name)
    lines = [line for line in opened if line.strip()]
    head = lines[:1] if name.endswith((".csv", ".csv.gz")) and any(ch.isalpha() for ch in lines[0].split(",")[0]) else []
    rows = lines[len(head):]
    random.Random(1).shuffle(rows)
    suffix = ".csv" if "csv" in name else ".svm"
    for part, chosen in (("train", [r for i, r in enumerate(rows) if i % 3]), ("test", rows[::3])):
        open(folder / (part + suffix), "w").writelines(head + chosen)
    return folder / ("train" + suffix), folder / ("test" + suffix)


def default(mercer, folder):
    print("| data | machine | test error of `mercer fit` | best of a 10 x 10 grid | within 1% |\n|---|---|---|---|---|")
    good = 0
    for name, kind in SMALL:
        train, test = halves(folder, name)
        common = ("--target-kind", kind)
        report, _ = run(mercer, "fit", train, "-o", folder / "m.mercer", *common, "--json")
        score, _ = run(mercer, "score", folder / "m.mercer", test, "--json")
        key, flip = ("rmse", 1) if kind == "number" else ("accuracy", -1)
        grid, _ = run(mercer, "tune", train, "--test", test, "-m", report["machine"], "--points", 10, "-o", folder / "g.mercer", "--score", key,
                      *common, "--json")
        scores = [c["score"] for c in grid["candidates"] if c["score"] is not None]
        ours, best = score[key], min(scores) if flip > 0 else max(scores)
        within = ours <= 1.01 * best if flip > 0 else ours >= best - 0.01
        good += within
        print(f"| {name} | {report['machine']} | {key} {ours:.4g} | {best:.4g} | {'yes' if within else 'no'} |", flush=True)
    print(f"\n{good} of {len(SMALL)} within 1% (of the error for numbers, one point of accuracy for classes). The grid is chosen by the test rows "
          "themselves, which no honest search may do.\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="svc,ridge,default")
    parser.add_argument("--budget", type=float, default=1500)
    given = parser.parse_args()
    parts = given.only.split(",")
    if not DATA.exists():
        sys.exit(f"there is no {DATA}")
    with tempfile.TemporaryDirectory(prefix="mercer-tune-") as name:
        folder = pathlib.Path(name)
        if "svc" in parts:
            svc(os.path.abspath(given.mercer), folder, given.quick, given.budget)
        if "ridge" in parts:
            ridge(os.path.abspath(given.mercer), folder, given.quick)
        if "default" in parts:
            default(os.path.abspath(given.mercer), folder)


main()
