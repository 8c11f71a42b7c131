#!/usr/bin/env python3
"""ridge_peers.py MERCER: exact ridge against scikit-learn's KernelRidge on the same rows: seconds of the fit, and the difference of the
predictions on rows that neither has seen. Bar: at least 4 times faster at n = 10000, predictions equal to 1e-6 relative.
Then 100 values of lambda with exact leave-one-out errors against a grid search with 5 folds. Bar: a twentieth of its time."""
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

ROUNDS = 3  # interleaved; medians count
DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def california():
    path = DATA / "large/california_housing.csv.gz"
    table = np.loadtxt(gzip.open(path), delimiter=",", skiprows=1)
    X, y = table[:, :8], table[:, 8:9]
    return (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std(), 1 / 8


def mnist():
    def idx(name, offset):
        return np.frombuffer(gzip.open(DATA / "mnist" / name).read(), np.uint8, offset=offset)
    X = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 784) / 255.0
    labels = idx("train-labels-idx1-ubyte.gz", 8)
    return X, 2.0 * (labels[:, None] == np.arange(10)) - 1, 0.02


def with_sklearn(X, Y, T, gamma, lam):
    began = time.time()
    model = KernelRidge(alpha=lam, kernel="rbf", gamma=gamma).fit(X, Y)
    return time.time() - began, model.predict(T)


def with_mercer(mercer, X, Y, T, gamma, lam):
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        np.save(at("d.npy"), np.column_stack([X, Y]))
        np.save(at("t.npy"), T)
        d, c = X.shape[1], Y.shape[1]
        targets = ",".join(str(d + 1 + k) for k in range(c))
        out = subprocess.run([mercer, "fit", at("d.npy"), "-m", "ridge", "-k", f"rbf(gamma={gamma})", "--lambda", str(lam), "--scale", "none",
                              "--no-intercept", "--target", targets, "--target-kind", "number", "-o", at("m.mercer"), "--json"],
                             capture_output=True, text=True, check=True).stdout
        report = json.loads(out)
        subprocess.run([mercer, "predict", at("m.mercer"), at("t.npy"), "-o", at("p.csv")], check=True, capture_output=True)
        return report["seconds"]["fit"], np.loadtxt(at("p.csv"), delimiter=",", skiprows=1).reshape(len(T), c), report


def path_of_lambdas(mercer, n=4000, count=100, timed=5):
    """100 lambdas: exact leave-one-out here, 5 folds of a grid search there. The grid search is timed on a few of the lambdas, spread over the
    range, and multiplied: its cost is the same for each."""
    X, Y, gamma = california()
    X, y = X[:n], Y[:n, 0]
    lambdas = np.geomspace(1e-4, 1e2, count)
    some = lambdas[:: count // timed]
    began = time.time()
    GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": some}, cv=5, refit=False).fit(X, y)
    theirs = (time.time() - began) * count / len(some)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "d.npy")
        np.save(data, np.column_stack([X, y]))
        began = time.time()
        out = subprocess.run([mercer, "path", data, "-k", f"rbf(gamma={gamma})", "--scale", "none", "--target-kind", "number", "--from", "1e-4",
                              "--to", "1e2", "--count", str(count), "--json"], capture_output=True, text=True, check=True).stdout
        ours = time.time() - began
    row = json.loads(out)["rows"][count // 2]
    K = np.exp(-gamma * np.maximum((X**2).sum(1)[:, None] + (X**2).sum(1) - 2 * X @ X.T, 0))
    B = np.linalg.inv(K + row["lambda"] * np.eye(n))
    loo = np.sqrt(np.mean((B @ y / np.diag(B)) ** 2))
    print(f"\n| rows | n | lambdas | GridSearchCV s (from {len(some)} of them) | Mercer s, exact leave-one-out | ratio | difference | bar: 20 |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| California housing | {n} | {count} | {theirs:.0f} | {ours:.1f} | {theirs / ours:.1f} | {abs(row['loo_rmse'] / loo - 1):.1e} "
          f"| {'met' if theirs / ours >= 20 else '**missed**'} |", flush=True)


def main(mercer):
    print("| rows | n | d | outputs | KernelRidge s | Mercer s | by | ratio | difference | residual | bar |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for name, load in {"California housing": california, "MNIST": mnist}.items():
        try:
            X, Y, gamma = load()
        except OSError as missing:
            print(f"| {name} | skipped: {missing} |")
            continue
        n = 10000
        X, T, Y = X[:n], X[n:n + 500], Y[:n]
        rounds = [(with_sklearn(X, Y, T, gamma, 0.1), with_mercer(mercer, X, Y, T, gamma, 0.1)) for _ in range(ROUNDS)]
        seconds, ours = (statistics.median(r[side][0] for r in rounds) for side in (0, 1))
        (_, theirs), (_, predicted, report) = rounds[0]
        difference = np.abs(predicted - theirs).max() / np.abs(theirs).max()
        verdict = "met" if seconds / ours >= 4 and difference <= 1e-6 else "**missed**"
        print(f"| {name} | {n} | {X.shape[1]} | {Y.shape[1]} | {seconds:.2f} | {ours:.2f} | {report['solver']} | {seconds / ours:.1f} | {difference:.1e} "
              f"| {report['certificate']['residual_relative']:.1e} | {verdict} |", flush=True)
    try:
        path_of_lambdas(mercer)
    except OSError as missing:
        print(f"| 100 lambdas | skipped: {missing} |")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer")
