#!/usr/bin/env python3
"""calibration_peers.py MERCER [--quick]: whether probabilities mean what they say: Mercer's logistic against scikit-learn's SVC with
CalibratedClassifierCV, on the same rows with the same kernel.

ECE: expected calibration error, the mean over test rows of |share right - mean probability of the predicted class| in 15 bins of that
probability. Log loss: the mean of -log p of the true class, theirs with p at least 1e-15. Each is chosen on the last quarter
of the training rows, fitted to the rest: C by accuracy, lambda by log loss. covtype (7 classes, 54 columns) stands in for the letters, which are
not among the data here. Times are of the fit; Mercer's that of the whole command."""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from svm_peers import DATA  # noqa: E402


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


def choose(X, y, gamma):
    from sklearn.svm import SVC
    cut = 3 * len(X) // 4
    return max((1, 10, 100), key=lambda C: SVC(C=C, gamma=gamma).fit(X[:cut], y[:cut]).score(X[cut:], y[cut:]))


def choose_lambda(mercer, X, y, gamma):
    cut = 3 * len(X) // 4
    return min((1, 0.1, 0.01, 1e-3, 1e-4), key=lambda v: ours(mercer, v, gamma, X[:cut], y[:cut], X[cut:], y[cut:])[2])


def theirs(method, C, gamma, X, y, T, t):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC
    began = time.time()
    model = CalibratedClassifierCV(SVC(C=C, gamma=gamma), method=method, cv=5).fit(X, y)
    seconds = time.time() - began
    return (seconds, *measures(model.predict_proba(T), model.classes_, t))


def ours(mercer, penalty, gamma, X, y, T, t):
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, labels in (("x", X, y), ("t", T, t)):
            np.save(f"{folder}/{name}.npy", np.column_stack([rows, labels]))
        began = time.time()
        subprocess.run([mercer, "fit", f"{folder}/x.npy", "-m", "logistic", "-k", f"rbf(gamma={gamma})", "--lambda", str(penalty), "--scale", "none",
                        "-o", f"{folder}/m.mercer", "-q"], check=True)
        seconds = time.time() - began
        out = subprocess.run([mercer, "score", f"{folder}/m.mercer", f"{folder}/t.npy", "--json"], check=True, capture_output=True, text=True).stdout
    r = json.loads(out)
    return seconds, r["ece"], r["log_loss"], r["accuracy"]


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
        C, penalty = choose(rows[0], rows[1], gamma), choose_lambda(arguments.mercer, rows[0], rows[1], gamma)
        for machine, value, result in (("logistic", penalty, ours(arguments.mercer, penalty, gamma, *rows)),
                                       ("SVC, sigmoid", C, theirs("sigmoid", C, gamma, *rows)),
                                       ("SVC, isotonic", C, theirs("isotonic", C, gamma, *rows))):
            print(f"| {name} | {len(rows[0])}, {len(rows[2])} | {machine} | {value:g} | {result[0]:.2f} | {100 * result[1]:.2f}% | {result[2]:.4f} "
                  f"| {result[3]:.4f} |", flush=True)


if __name__ == "__main__":
    main()
