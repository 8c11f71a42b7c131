#!/usr/bin/env python3
"""error.py MERCER [--small]: ridge on more rows than a factorisation takes, error against seconds. kin40k, nine tenths of its rows (K in double
would be 10 GB), the same Gaussian and lambda for all, no intercept, the target standardised.

Mercer's exact problem by preconditioned conjugate gradients under a limit of 2 GiB at falling tolerances; Mercer's Nystroem solver and
scikit-learn's Nystroem with Ridge (the solver 'cholesky') at growing numbers of landmarks, which is how scikit-learn's documentation puts
a kernel to large data. Seconds are those of the fit, medians of three in turn. Two errors, computed here from the predictions of rows that
nobody has seen: rmse from the truth, and the distance from the exact answer (Mercer's at a tolerance of 1e-6) relative to its size. The residual
is that of the exact problem, by judge.py from the coefficients. The last table is one exact fit as its own trace has it: when the residual fell below.

FALKON, which this resembles on the approximate side, is no package of Debian or PyPI for the CPU, and is not compared."""
import argparse
import csv
import gzip
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import measure  # noqa: E402

GAMMA, LAMBDA, LIMIT = 0.125, 0.01, "2G"
TOLERANCES, LANDMARKS = (1e-1, 1e-2, 1e-3, 1e-4), (250, 500, 1000, 2000)


def kin40k(rows):
    """(X, y, T, t): fold 0 is the test."""
    table = np.loadtxt(gzip.open(measure.DATA / "large/kin40k.csv.gz"), delimiter=",", skiprows=1, max_rows=rows)
    test = table[:, 9] == 0
    X, y = table[:, :8], (table[:, 8] - table[~test, 8].mean()) / table[~test, 8].std()
    return X[~test], y[~test], X[test], y[test]


class Mercer:
    def __init__(self, mercer, folder, X, y, T):
        self.mercer, self.folder = mercer, folder
        np.save(f"{folder}/d.npy", np.column_stack([X, y]))
        np.save(f"{folder}/t.npy", T)

    def fit(self, *words):
        """(seconds, coefficients, predictions of the test rows)"""
        at = lambda name: f"{self.folder}/{name}"  # noqa: E731
        report = json.loads(measure.take([self.mercer, "fit", at("d.npy"), "-m", "ridge", "-k", f"rbf(gamma={GAMMA})", "--lambda", LAMBDA, "--scale", "none",
                                          "--target-kind", "number", "--memory", LIMIT, "-o", at("m.mercer"), "--json", *words]).out)
        measure.take([self.mercer, "predict", at("m.mercer"), at("t.npy"), "-o", at("p.csv"), "-q"])
        return report["seconds"]["fit"], judge.arrays(at("m.mercer"))["alpha"], np.loadtxt(at("p.csv"), skiprows=1)


def with_sklearn(X, y, T, landmarks):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    model = make_pipeline(Nystroem(kernel="rbf", gamma=GAMMA, n_components=landmarks, random_state=0, n_jobs=os.cpu_count()),
                          Ridge(alpha=LAMBDA, fit_intercept=False, solver="cholesky"))
    began = time.time()
    model.fit(X, y)
    return time.time() - began, None, model.predict(T)


def milestones(ours, folder):
    """When the residual of one fit first fell below each power of ten."""
    ours.fit("--solver", "pcg", "--tolerance", TOLERANCES[-1], "--trace", f"{folder}/trace.csv")
    steps = [(float(r["seconds"]), float(r["value"])) for r in csv.DictReader(open(f"{folder}/trace.csv")) if r["measure"] == "residual"]
    print("\n| residual below | after s | steps |\n|---|---|---|")
    for goal in TOLERANCES:
        k = next((i for i, (_, value) in enumerate(steps) if value <= goal), None)
        print(f"| {goal:g} | {steps[k][0]:.2f} | {k + 1} |" if k is not None else f"| {goal:g} | not reached | {len(steps)} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--small", action="store_true", help="2000 rows, to see that it runs")
    arguments = parser.parse_args()
    try:
        X, y, T, t = kin40k(2000 if arguments.small else None)
    except OSError as missing:
        print(f"Skipped: {missing}")
        return
    landmarks = [m // 10 for m in LANDMARKS] if arguments.small else LANDMARKS
    with tempfile.TemporaryDirectory() as folder:
        ours = Mercer(os.path.abspath(arguments.mercer), folder, X, y, T)
        exact = ours.fit("--solver", "pcg", "--tolerance", 1e-6)[2]
        ways = [("Mercer, exact, pcg", f"tolerance {v:g}", lambda v=v: ours.fit("--solver", "pcg", "--tolerance", v)) for v in TOLERANCES]
        ways += [("Mercer, nystrom", f"{m} landmarks", lambda m=m: ours.fit("--solver", "nystrom", "--rank", m)) for m in landmarks]
        ways += [("Nystroem and Ridge", f"{m} landmarks", lambda m=m: with_sklearn(X, y, T, m)) for m in landmarks]
        runs = measure.in_turn(*(way for _, _, way in ways))
        print(f"{len(X)} rows of 8 columns, gamma = {GAMMA:g}, lambda = {LAMBDA:g}; {len(T)} rows of test.\n")
        print("| solver | effort | s | residual | rmse on new rows | from the exact answer |\n|---|---|---|---|---|---|")
        middle = [measure.median(taken) for taken in runs]
        exactly = np.hstack([m[1] for m in middle[:len(TOLERANCES)]])
        residuals = dict(enumerate(judge.ridge(X, y[:, None], exactly, GAMMA, LAMBDA)[0]))
        for i, ((name, effort, _), (seconds, _, p)) in enumerate(zip(ways, middle)):
            print(f"| {name} | {effort} | {seconds:.3f} | {f'{residuals[i]:.1e}' if i in residuals else ''} "
                  f"| {np.sqrt(((p - t) ** 2).mean()):.4f} | {np.linalg.norm(p - exact) / np.linalg.norm(exact):.1e} |", flush=True)
        milestones(ours, folder)


if __name__ == "__main__":
    main()
