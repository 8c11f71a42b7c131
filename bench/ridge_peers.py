#!/usr/bin/env python3
"""ridge_peers.py MERCER [--quick]: exact ridge against scikit-learn's KernelRidge on the same rows: seconds of the fit, and the difference
of the predictions on rows that neither has seen; residuals, objectives (marked where Mercer's is above by more than 1e-9) and errors on those
rows as judge.py has them from the coefficients of both; beside it, unless --quick, KernelRidge of the newest scikit-learn (`make peers`), a
median of three too. Bar: at least 4 times faster than Debian's at n = 10000, predictions equal to 1e-6 relative.
Then 100 values of lambda with exact leave-one-out errors against a grid search with 5 folds. Bar: a twentieth of its time."""
import gzip
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import measure  # noqa: E402
from measure import DATA  # noqa: E402

ROWS = 10000
NEWEST = """
import sys, time, numpy as np
from sklearn.kernel_ridge import KernelRidge
rows, d, gamma, lam = np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
X, Y = np.ascontiguousarray(rows[:, :d]), np.ascontiguousarray(rows[:, d:])
began = time.time()
KernelRidge(alpha=lam, kernel="rbf", gamma=gamma).fit(X, Y)
print(time.time() - began)
"""


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
    return time.time() - began, model.predict(T), model.dual_coef_


def with_newest(data, d, gamma, lam):
    return float(measure.take([measure.PEERS / "sklearn" / "bin" / "python", "-c", NEWEST, data, d, gamma, lam]).out)


def fit_command(mercer, at, d, outputs, gamma, lam):
    targets = ",".join(str(d + 1 + k) for k in range(outputs))
    return [mercer, "fit", at("d.npy"), "-m", "ridge", "-k", f"rbf(gamma={gamma})", "--lambda", str(lam), "--scale", "none", "--no-intercept",
            "--target", targets, "--target-kind", "number", "-o", at("m.mercer"), "--json"]


def with_mercer(mercer, at, command, outputs):
    report = json.loads(measure.take(command).out)
    measure.take([mercer, "predict", at("m.mercer"), at("t.npy"), "-o", at("p.csv")])
    return report["seconds"]["fit"], np.loadtxt(at("p.csv"), delimiter=",", skiprows=1).reshape(-1, outputs), judge.arrays(at("m.mercer"))["alpha"], report


def verdicts(X, Y, gamma, lam, *coefficients):
    """(largest residual of all outputs, the sum of their objectives) for each side."""
    found = judge.ridge(X, np.hstack([Y] * len(coefficients)), np.hstack(coefficients), gamma, lam)
    residuals, objectives = (v.reshape(len(coefficients), -1) for v in found)
    return residuals.max(1), objectives.sum(1)


def compare(mercer, folder, missed, name, X, Y, T, t, gamma, lam=0.1):
    n, d, outputs = len(X), X.shape[1], Y.shape[1]
    at = lambda file: os.path.join(folder, name.split()[0] + file)  # noqa: E731
    np.save(at("d.npy"), np.column_stack([X, Y]))
    np.save(at("t.npy"), T)
    command = fit_command(mercer, at, d, outputs, gamma, lam)
    sides = [lambda: with_sklearn(X, Y, T, gamma, lam), lambda: with_mercer(mercer, at, command, outputs)]
    there = "--quick" not in sys.argv and measure.version_of(measure.PEERS / "sklearn" / "bin" / "python", "scikit-learn")
    runs = measure.in_turn(*sides, *([lambda: with_newest(at("d.npy"), d, gamma, lam)] if there else []))
    (seconds, theirs, A), (ours, predicted, B, report) = (measure.median(r) for r in runs[:2])
    newest = f"{measure.median(runs[2]):.2f}" if there else "not timed" if "--quick" in sys.argv else "not installed"
    residuals, objectives = verdicts(X, Y, gamma, lam, A, B)
    worse = objectives[1] / objectives[0] - 1
    rmse = [np.sqrt(((p - t) ** 2).mean()) for p in (theirs, predicted)]
    difference = np.abs(predicted - theirs).max() / np.abs(theirs).max()
    verdict = missed.note("met" if seconds / ours >= 4 and difference <= 1e-6 else "**missed**", name, command)
    print(f"| {name} | {n} | {d} | {outputs} | {seconds:.2f} | {newest} | {ours:.2f} | {report['solver']} | {seconds / ours:.1f} | {difference:.1e} "
          f"| {residuals[0]:.1e}, {residuals[1]:.1e} | {worse:.0e}{' (**worse**)' if worse > 1e-9 else ''} | {rmse[0]:.4f}, {rmse[1]:.4f} | {verdict} |",
          flush=True)


def grid_seconds(X, y, gamma, lambdas, jobs):
    began = time.time()
    GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": lambdas}, cv=5, refit=False, n_jobs=jobs).fit(X, y)
    return time.time() - began


def path_of_lambdas(mercer, folder, missed, n=4000, count=100, timed=3):
    """100 lambdas: exact leave-one-out here, 5 folds of a grid search there. The grid search is timed on a few of the lambdas, spread over the
    range, and multiplied: its cost is the same for each. It is the quicker of two: one job with all threads, and, unless --quick, a job a core."""
    X, Y, gamma = california()
    X, y = X[:n], Y[:n, 0]
    lambdas = np.geomspace(1e-4, 1e2, count)
    some = lambdas[:: count // timed][:timed]
    data = os.path.join(folder, "path.npy")
    np.save(data, np.column_stack([X, y]))
    command = [mercer, "path", data, "-k", f"rbf(gamma={gamma})", "--scale", "none", "--target-kind", "number", "--from", "1e-4", "--to", "1e2",
               "--count", str(count), "--json"]
    jobs = (1,) if "--quick" in sys.argv else (1, os.cpu_count())
    runs, *grids = measure.in_turn(lambda: measure.take(command), *(lambda j=j: grid_seconds(X, y, gamma, some, j) for j in jobs))
    theirs, ours = min(map(measure.median, grids)) * count / len(some), measure.median(runs).seconds
    row = json.loads(runs[0].out)["rows"][count // 2]
    B = np.linalg.inv(judge.gaussian(X, X, gamma) + row["lambda"] * np.eye(n))
    loo = np.sqrt(np.mean((B @ y / np.diag(B)) ** 2))
    print(f"\n| rows | n | lambdas | GridSearchCV s (from {len(some)} of them) | Mercer s, exact leave-one-out | ratio | difference | bar: 20 |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| California housing | {n} | {count} | {theirs:.0f} | {ours:.1f} | {theirs / ours:.1f} | {abs(row['loo_rmse'] / loo - 1):.1e} "
          f"| {missed.note('met' if theirs / ours >= 20 else '**missed**', 'the path', command)} |", flush=True)


def main(mercer):
    print("| rows | n | d | outputs | KernelRidge s | newest KernelRidge s | Mercer s | by | ratio | difference | residual, KernelRidge, Mercer "
          "| objective above KernelRidge's | rmse on new rows, KernelRidge, Mercer | bar |\n" + "|---" * 14 + "|")
    missed = measure.Missed()
    with tempfile.TemporaryDirectory() as folder:
        for name, load in {"California housing": california, "MNIST": mnist}.items():
            try:
                X, Y, gamma = load()
                compare(mercer, folder, missed, name, X[:ROWS], Y[:ROWS], X[ROWS:ROWS + 500], Y[ROWS:ROWS + 500], gamma)
            except OSError as missing:
                print(f"| {name} | skipped: {missing} |")
        missed.show()
        try:
            path_of_lambdas(mercer, folder, missed)
        except OSError as missing:
            print(f"| 100 lambdas | skipped: {missing} |")
        missed.show()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer")
