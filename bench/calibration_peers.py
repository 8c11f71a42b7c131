#!/usr/bin/env python3
"""calibration_peers.py MERCER [--quick]: whether probabilities mean what they say: Mercer's logistic against scikit-learn's SVC with
CalibratedClassifierCV, on the same rows with the same kernel.

ECE: expected calibration error, the mean over test rows of |share right - mean probability of the predicted class| in 15 bins of that
probability. Log loss: the mean of -log p of the true class, p at least 1e-15. Both are computed here from the probabilities of all. C and lambda
are chosen alike, by the log loss on the last quarter of the training rows after a fit to the rest. covtype (7 classes, 54 columns) stands in for the letters, which are
not among the data here. Times are of the fit, medians of three in turn; Mercer's that of the whole
command."""
import argparse
import functools
import gzip
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
from measure import DATA  # noqa: E402

LAMBDAS, COSTS = (1, 0.1, 0.01, 1e-3, 1e-4), (1, 10, 100)


def table(path, n):
    return np.loadtxt(gzip.open(DATA / path, "rt"), delimiter=",", skiprows=1, max_rows=n)


def digits(train, test):
    rows = table("small/digits.csv.gz", None)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return rows[:, :-1] / 16, rows[:, -1].astype(int), min(train, 1200)


def mnist(train, test):
    X = np.frombuffer(gzip.open(DATA / "mnist/train-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 784)[:train + test]
    y = np.frombuffer(gzip.open(DATA / "mnist/train-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)[:train + test]
    return X / 255, y.astype(int), train


def covtype(train, test):
    rows = table("large/covtype_93k.csv.gz", train + test)
    return rows[:, :54], rows[:, 54].astype(int), train


SETS = [("digits", digits, 0.05), ("mnist", mnist, 0.02), ("covtype", covtype, 2.0)]


def measures(P, classes, y):
    best, confidence = P.argmax(axis=1), P.max(axis=1)
    right = classes[best] == y
    place = np.minimum((15 * confidence).astype(int), 14)
    ece = sum(abs(right[place == b].sum() - confidence[place == b].sum()) for b in range(15)) / len(y)
    own = np.array([P[i, np.flatnonzero(classes == c)[0]] if c in classes else 0 for i, c in enumerate(y)])
    return ece, -np.log(np.maximum(own, 1e-15)).mean(), right.mean()


def best_of(values, fit, X, y):
    """The value with the least log loss on the last quarter of the rows, fitted to the others."""
    cut = 3 * len(X) // 4
    return min(values, key=lambda v: fit(v, X[:cut], y[:cut], X[cut:], y[cut:])[2])


def theirs(method, gamma, C, X, y, T, t):
    """(seconds, ECE, log loss, accuracy)"""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC
    began = time.time()
    model = CalibratedClassifierCV(SVC(C=C, gamma=gamma), method=method, cv=5, n_jobs=os.cpu_count()).fit(X, y)
    seconds = time.time() - began
    return (seconds, *measures(model.predict_proba(T), model.classes_, t))


def ours(mercer, gamma, penalty, X, y, T, t):
    """The same of Mercer, from the probabilities that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.column_stack([X, y]))
        np.save(f"{folder}/t.npy", T)
        fit = measure.take([mercer, "fit", f"{folder}/x.npy", "-m", "logistic", "-k", f"rbf(gamma={gamma})", "--lambda", penalty, "--scale", "none",
                            "--target-kind", "class", "-o", f"{folder}/m.mercer", "-q"])
        head, *rows = measure.take([mercer, "predict", f"{folder}/m.mercer", f"{folder}/t.npy", "--proba", "-q"]).out.split()
    places = [i for i, name in enumerate(head.split(",")) if name != "prediction"]
    P = np.array([[float(row.split(",")[i]) for i in places] for row in rows])
    return (fit.seconds, *measures(P, np.unique(y), t))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    train, test = (400, 400) if arguments.quick else (3000, 5000)
    print("| rows | train, test | machine | C or lambda | fit s | ECE | log loss | accuracy |\n" + "|---" * 8 + "|")
    for name, load, gamma in SETS:
        try:
            X, y, cut = load(train, test)
        except OSError as missing:
            print(f"| {name} | skipped: {missing} |")
            continue
        rows = X[:cut], y[:cut], X[cut:cut + test], y[cut:cut + test]
        fits = {"logistic": functools.partial(ours, arguments.mercer, gamma), "SVC, sigmoid": functools.partial(theirs, "sigmoid", gamma),
                "SVC, isotonic": functools.partial(theirs, "isotonic", gamma)}
        chosen = {machine: best_of(LAMBDAS if machine == "logistic" else COSTS, fit, *rows[:2]) for machine, fit in fits.items()}
        runs = measure.in_turn(*(functools.partial(fit, chosen[machine], *rows) for machine, fit in fits.items()))
        for machine, result in zip(fits, map(measure.median, runs)):
            print(f"| {name} | {len(rows[0])}, {len(rows[2])} | {machine} | {chosen[machine]:g} | {result[0]:.2f} | {100 * result[1]:.2f}% | {result[2]:.4f} "
                  f"| {result[3]:.4f} |", flush=True)


if __name__ == "__main__":
    main()
