#!/usr/bin/env python3
"""r_peers.py MERCER [--quick]: the kernel machines of R's e1071 (LIBSVM) and kernlab on the same rows as Mercer's: seconds of the fit
inside R, the dual objective of every support vector machine recomputed by judge.py from its own coefficients, and the share of
right predictions on rows that none has seen; --quick: without the largest. Both may keep
all of K (4000 MB; their defaults of 40 would not), as LIBSVM and dlib may in their tables. Both work on one thread, so Mercer is timed on all cores
and on one. Skipped, visibly, where R or the packages are absent
(r-cran-e1071, r-cran-kernlab)."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402

C, GAMMA, ROUNDS = 8.0, 0.5, 3  # exact in binary
ALONE = "Mercer, one thread"
HEAD = ("| machine | n | seconds | dual objective | right on new rows | Mercer is so many times as fast | the same of its one thread |\n" + "|---" * 7 + "|")
SCRIPT = """
a <- commandArgs(TRUE); suppressMessages({library(e1071); library(kernlab)})
d <- as.matrix(read.csv(a[1])); t <- as.matrix(read.csv(a[2])); k <- ncol(d); C <- as.numeric(a[3]); g <- as.numeric(a[4])
x <- d[, -k]; y <- factor(d[, k], levels = c(1, -1)); z <- t[, -k]
keep <- function(name, index, coef, seconds, right) write.csv(data.frame(index, coef, seconds, right), paste0(a[5], name, ".csv"), row.names = FALSE)
s <- system.time(m <- svm(x, y, scale = FALSE, kernel = "radial", gamma = g, cost = C, tolerance = 1e-3, cachesize = 4000))[["elapsed"]]
keep("e1071", m$index, as.vector(m$coefs), s, mean(predict(m, z) == t[, k]))
s <- system.time(m <- ksvm(x, y, scaled = FALSE, kernel = "rbfdot", kpar = list(sigma = g), C = C, tol = 1e-3, cache = 4000))[["elapsed"]]
keep("kernlab", alphaindex(m)[[1]], coef(m)[[1]], s, mean(predict(m, z) == t[, k]))
"""


def problem(n, seed):
    """Two classes in ten columns, a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    y = np.sign(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3)
    return X, np.where(rng.random(n) < 0.1, -y, y)


def dual(S, coef):
    return judge.dual(S, coef, GAMMA)


def table(path, X, y):
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=",".join([f"x{i}" for i in range(X.shape[1])] + ["y"]), comments="")


def with_r(at, X):
    environment = dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()))
    subprocess.run(["Rscript", "-e", SCRIPT, at("d.csv"), at("t.csv"), str(C), str(GAMMA), at("")], check=True, capture_output=True, env=environment)
    found = {}
    for name in ("e1071", "kernlab"):
        rows = np.loadtxt(at(name + ".csv"), delimiter=",", skiprows=1)
        found[name] = (rows[0, 2], dual(X[rows[:, 0].astype(int) - 1], rows[:, 1]), rows[0, 3])
    return found


def with_mercer(mercer, at, *more):
    fit = [mercer, "fit", at("d.csv"), "-m", "svc", "-k", f"rbf(gamma={GAMMA})", "--C", str(C), "--tolerance", "1e-3", "--scale", "none",
           "--target", "y", "--target-kind", "class", "-o", at("m"), "--json", *more]
    report = json.loads(subprocess.run(fit, check=True, capture_output=True, text=True).stdout)
    score = subprocess.run([mercer, "score", at("m"), at("t.csv"), "--json"], check=True, capture_output=True, text=True).stdout
    subprocess.run([mercer, "export", at("m"), "--to", "libsvm", "-o", at("m.libsvm")], check=True, capture_output=True)
    _, coef, _, S = judge.libsvm_model(at("m.libsvm"), 10)
    return report["seconds"]["fit"], dual(S, coef), json.loads(score)["accuracy"]


def compare(mercer, n):
    X, y = problem(n, 1)
    T, ty = problem(2000, 2)
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        table(at("d.csv"), X, y)
        table(at("t.csv"), T, ty)
        runs = [{"Mercer": with_mercer(mercer, at), ALONE: with_mercer(mercer, at, "--threads", "1"), **with_r(at, X)} for _ in range(ROUNDS)]
    return {name: (statistics.median(r[name][0] for r in runs), *runs[0][name][1:]) for name in runs[0]}


def main(mercer):
    missing = not shutil.which("Rscript") or subprocess.run(["Rscript", "-e", "library(e1071); library(kernlab)"], capture_output=True).returncode
    if missing:
        print("Skipped: R with the packages e1071 and kernlab is not installed (`tools/setup bench`).")
        return
    version = subprocess.run(["Rscript", "-e", 'cat(R.version.string, "e1071", format(packageVersion("e1071")), "kernlab", format(packageVersion("kernlab")))'],
                             capture_output=True, text=True).stdout
    print(f"{version}. svc with C = {C:g}, gamma = {GAMMA:g}, tolerance 1e-3; medians of {ROUNDS} interleaved runs; the dual objective is to be large.\n")
    print(HEAD)
    for n in (2000, 5000) if "--quick" in sys.argv else (2000, 5000, 10000):
        found = compare(mercer, n)
        for name, (seconds, objective, right) in found.items():
            ratio = "|" if name.startswith("Mercer") else " | ".join(f"{seconds / found[ours][0]:.1f}" for ours in ("Mercer", ALONE))
            worse = " (**worse**)" if objective < found["Mercer"][1] * (1 - 1e-5) else ""
            print(f"| {name} | {n} | {seconds:.3f} | {objective:.3f}{worse} | {right:.4f} | {ratio} |")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
