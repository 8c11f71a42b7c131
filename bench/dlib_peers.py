#!/usr/bin/env python3
"""dlib_peers.py MERCER [--quick]: the kernel machines of dlib on the same rows as Mercer's, through bench/dlib.cpp, which is compiled here with
full optimisation for this processor and with BLAS and LAPACK, as dlib's documentation asks. Skipped, visibly, where dlib is not installed.

Support vector machines: svm_c_trainer at its tolerance of 1e-3, Mercer's too, with a cache that holds all of K (its default of 200 MB does
not at the larger sizes). Ridge: krr_trainer spans its function by a basis of at most 400 rows unless told otherwise, so it is run as it
comes and with as many as there are rows, which is the exact problem, as far as it is done in a minute; it penalises its bias like every
other coefficient, so Mercer gets the kernel rbf + 1 without an intercept. dlib trains on one thread, and its BLAS is left with one, its
products being small; Mercer is timed on all cores and on one. Seconds are those of training inside the process; medians of three in turn. The dual objective of the one (large is
good) and the penalised squares of the other (small is good) are computed here by one function each from the coefficients; dlib's are marked
where they are worse by more than 1e-5."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
from judge import arrays, gaussian  # noqa: E402
import r_peers  # noqa: E402
from r_peers import C, GAMMA  # noqa: E402

LAMBDA, CACHE_MB = 0.25, 4000
PROGRAM = measure.ROOT / "build" / "dlib_peers"
FLAGS = ["-O3", "-march=native", "-DNDEBUG", "-std=c++17"]  # Debian configures it with BLAS and LAPACK


def compiled():
    """Whether there is a program; a newer source makes it again."""
    source = measure.ROOT / "bench" / "dlib.cpp"
    flags = measure.say("pkg-config", "--cflags", "--libs", "dlib-1")
    if not (flags and shutil.which("g++")):
        return False
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < source.stat().st_mtime:
        PROGRAM.parent.mkdir(exist_ok=True)
        subprocess.run(["g++", *FLAGS, str(source), "-o", str(PROGRAM), *flags.split()], check=True)
    return True


def with_dlib(at, way, penalty, third):
    """(seconds, coefficients, vectors, bias, values on the test rows)"""
    alone = dict(os.environ, OMP_NUM_THREADS="1")
    seconds = float(measure.take([PROGRAM, way, at("d.csv"), at("t.csv"), penalty, GAMMA, third, at("dlib")], env=alone).out)
    rows = np.loadtxt(at("dlib"), delimiter=",")
    return seconds, rows[1:, 0], rows[1:, 1:], rows[0, 0], np.loadtxt(at("dlib.test"))


def squares(X, y, coefficients, S, bias):
    """|y - f|^2 + lambda (|f|^2 + bias^2): no library's own word for it."""
    f = gaussian(X, S, GAMMA) @ coefficients + bias
    return ((y - f) ** 2).sum() + LAMBDA * (coefficients @ gaussian(S, S, GAMMA) @ coefficients + bias**2)


def worse(bad):
    return " (**worse**)" if bad else ""


def vector_machines(mercer, at, n):
    X, y = r_peers.problem(n, 1)
    T, ty = r_peers.problem(2000, 2)
    r_peers.table(at("d.csv"), X, y)
    r_peers.table(at("t.csv"), T, ty)
    sides = (lambda: r_peers.with_mercer(mercer, at), lambda: r_peers.with_mercer(mercer, at, "--threads", "1"), lambda: with_dlib(at, "svm", C, CACHE_MB))
    ours, alone, theirs = (measure.median(r) for r in measure.in_turn(*sides))
    objective = r_peers.dual(theirs[2], theirs[1])
    for name, mine in (("Mercer, svc", ours), (r_peers.ALONE, alone)):
        print(f"| {name} | {n} | {mine[0]:.3f} | {mine[1]:.3f} | {mine[2]:.4f} | | |")
    print(f"| dlib, svm_c_trainer | {n} | {theirs[0]:.3f} | {objective:.3f}{worse(objective < ours[1] * (1 - 1e-5))} "
          f"| {(np.sign(theirs[4]) == ty).mean():.4f} | {theirs[0] / ours[0]:.1f} | {theirs[0] / alone[0]:.1f} |", flush=True)


def ridge_of_mercer(mercer, at, X, y, *more):
    """(seconds, objective, predictions)"""
    fit = [mercer, "fit", at("d.csv"), "-m", "ridge", "-k", f"rbf(gamma={GAMMA}) + 1", "--lambda", LAMBDA, "--scale", "none", "--target", "y",
           "--target-kind", "number", "-o", at("m"), "--json", *more]
    report = json.loads(measure.take(fit).out)
    measure.take([mercer, "predict", at("m"), at("t.csv"), "-o", at("p.csv"), "-q"])
    alpha = arrays(at("m"))["alpha"][:, 0]
    K = gaussian(X, X, GAMMA) + 1
    return report["seconds"]["fit"], ((y - K @ alpha) ** 2).sum() + LAMBDA * alpha @ K @ alpha, np.loadtxt(at("p.csv"), skiprows=1)


def ridges(mercer, at, n, bases):
    rng = np.random.default_rng(3)
    smooth = lambda X: X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])  # noqa: E731
    X, T = rng.normal(size=(n, 10)), rng.normal(size=(2000, 10))
    y, ty = smooth(X) + 0.1 * rng.normal(size=n), smooth(T)
    r_peers.table(at("d.csv"), X, y)
    r_peers.table(at("t.csv"), T, ty)
    rmse = lambda p: np.sqrt(((p - ty) ** 2).mean())  # noqa: E731
    sides = [*(lambda w=w: ridge_of_mercer(mercer, at, X, y, *w) for w in ((), ("--threads", 1))), *(lambda b=b: with_dlib(at, "krr", LAMBDA, b) for b in bases)]
    ours, alone, *theirs = (measure.median(r) for r in measure.in_turn(*sides))
    for name, mine in (("Mercer, ridge", ours), (r_peers.ALONE, alone)):
        print(f"| {name} | {n} | {mine[0]:.3f} | {mine[1]:.5g} | {rmse(mine[2]):.4f} | | |")
    for t in theirs:
        objective = squares(X, y, *t[1:4])
        print(f"| dlib, krr_trainer, {len(t[1])} vectors | {n} | {t[0]:.3f} | {objective:.5g}{worse(objective > ours[1] * (1 + 1e-5))} | {rmse(t[4]):.4f} "
              f"| {t[0] / ours[0]:.1f} | {t[0] / alone[0]:.1f} |", flush=True)


def main(mercer, quick):
    if not compiled():
        print("Skipped: dlib is not installed (`make peers`).")
        return
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)  # noqa: E731
        print(f"svc with C = {C:g}, gamma = {GAMMA:g}, tolerance 1e-3.\n\n{r_peers.HEAD}")
        for n in (500,) if quick else (2000, 5000, 10000):
            vector_machines(mercer, at, n)
        print(f"\nRidge with lambda = {LAMBDA:g}, gamma = {GAMMA:g}.\n\n"
              + r_peers.HEAD.replace("dual objective | right", "penalised squares | rmse"))
        for n, bases in ((300, (100, 300)),) if quick else ((1000, (400, 1000)), (4000, (400,))):
            ridges(mercer, at, n, bases)


main(str(pathlib.Path(sys.argv[1]).resolve()), "--quick" in sys.argv)
