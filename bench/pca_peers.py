#!/usr/bin/env python3
"""pca_peers.py MERCER [ROWS]: kernel principal components and nearest neighbours against scikit-learn on the same rows.

KernelPCA with eigen_solver='randomized', 20 components, a job a core, and Mercer at a tolerance that leaves an equal or smaller residual: the largest
|M v - theta v| over the components, M the centred Gram matrix, relative to the largest eigenvalue, both by judge.py (the time of Mercer's
certificate counts). Neighbours: KNeighborsClassifier with algorithm='brute', 10 neighbours, predicting half as many rows
as it keeps; Mercer's time is that of the whole command, the reading of the files included. CPU: seconds of all cores together. Medians of
three runs in turn.
Bars: components at least 5 times faster; neighbours at least as fast."""
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


def rows(n, d, seed=1):
    """Points around a curved sheet, so that the spectrum has no gaps."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(-2, 2, size=(n, 3))
    return np.tanh(U @ rng.normal(size=(3, d))) + 0.3 * rng.normal(size=(n, d))


def timed(work):
    """(seconds by the clock, of the processor, what it gave)"""
    began, cpu = time.time(), time.process_time()
    result = work()
    return time.time() - began, time.process_time() - cpu, result


def fit_components(mercer, folder, gamma, k, tolerance):
    return [mercer, "fit", f"{folder}/x.npy", "-m", "pca", "-k", f"rbf(gamma={gamma})", "--no-target", "--scale", "none", "--components", k,
            "--tolerance", tolerance, "-o", f"{folder}/{tolerance:.1e}.mercer", "--json"]


def components(mercer, folder, missed, n, d, gamma, k=20):
    from sklearn.decomposition import KernelPCA
    X = rows(n, d)
    folder = f"{folder}/{d}"
    os.mkdir(folder)
    np.save(f"{folder}/x.npy", X)
    solve = lambda: KernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver="randomized", random_state=0, n_jobs=os.cpu_count()).fit(X)  # noqa: E731
    runs, taken = [timed(solve)], []  # the first decides on the tolerance
    theirs = judge.components(X, gamma, runs[0][2].eigenvectors_, runs[0][2].eigenvalues_)
    commands = [fit_components(mercer, folder, gamma, k, tolerance) for tolerance in (min(1e-1, theirs), 1e-6)]
    for r in range(measure.ROUNDS):
        taken.append([measure.take(c) for c in commands])
        if r + 1 < measure.ROUNDS and runs[0][0] <= measure.LONG:
            runs.append(timed(solve))
    wall, cpu, _ = measure.median(runs)
    for command, side in zip(commands, zip(*taken)):
        middle = measure.median(side)
        report = json.loads(middle.out)
        found = judge.arrays(command[command.index("-o") + 1])
        ours, ratio = judge.components(X, gamma, found["alpha"], found["spectrum"][:, 0]), wall / middle.seconds
        verdict = missed.note("" if command is commands[1] else "met" if ratio >= 5 and ours <= theirs else "**missed**", f"{n} x {d}", command)
        print(f"| {n} | {d} | {gamma} | {wall:.2f} | {cpu:.2f} | {theirs:.1e} | {middle.seconds:.2f} | {middle.cpu:.2f} "
              f"| {ours:.1e}{' (**worse**)' if ours > theirs else ''} | {report['iterations']} | {ratio:.1f} | {verdict} |", flush=True)


def made(n, d):
    X = rows(n, d)
    return X, (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0), rows(n // 2, d, 2)


def mnist(n):
    return [np.frombuffer(gzip.open(measure.DATA / "mnist" / f"{stem}-ubyte.gz").read(), np.uint8, offset=skip).reshape(shape)[:count]
            for stem, skip, shape, count in (("train-images-idx3", 16, (-1, 784), n), ("train-labels-idx1", 8, -1, n),
                                             ("t10k-images-idx3", 16, (-1, 784), n // 2))]


def neighbours(mercer, folder, missed, name, kernel, X, y, T):
    from sklearn.neighbors import KNeighborsClassifier
    X, T = X.astype(float), T.astype(float)
    folder = tempfile.mkdtemp(dir=folder)
    np.save(f"{folder}/x.npy", np.column_stack([X, y]))
    np.save(f"{folder}/t.npy", T)
    measure.take([mercer, "fit", f"{folder}/x.npy", "-m", "knn", "-k", kernel, "--neighbors", 10, "--scale", "none", "-o", f"{folder}/m.mercer", "-q"])
    command = [mercer, "predict", f"{folder}/m.mercer", f"{folder}/t.npy", "-o", f"{folder}/p.csv"]
    runs = measure.in_turn(lambda: timed(lambda: KNeighborsClassifier(10, algorithm="brute", n_jobs=os.cpu_count()).fit(X, y).predict(T)), lambda: measure.take(command))
    (wall, cpu, guess), ours = (measure.median(r) for r in runs)
    same = (np.loadtxt(f"{folder}/p.csv", skiprows=1) == guess).mean()
    verdict = missed.note("met" if ours.seconds <= wall else "**missed**", f"{name}, d = {X.shape[1]}, {kernel}", command)
    print(f"| {name} | {len(X)} | {X.shape[1]} | {kernel} | {wall:.2f} | {cpu:.2f} | {ours.seconds:.2f} | {ours.cpu:.2f} | {100 * same:.2f}% "
          f"| {wall / ours.seconds:.2f} | {verdict} |", flush=True)


def main(mercer, n=20000):
    missed = measure.Missed()
    with tempfile.TemporaryDirectory() as folder:
        print("| n | d | gamma | KernelPCA s | CPU s | residual | Mercer s | CPU s | residual | products | ratio | bar |\n" + "|---" * 12 + "|")
        for d, gamma in ((10, 0.05), (50, 0.01)):
            components(mercer, folder, missed, n, d, gamma)
        missed.show()
        print("\n| rows | n | d | kernel | KNeighbors s | CPU s | Mercer s | CPU s | equal | ratio | bar |\n" + "|---" * 11 + "|")
        for d, kernel in ((10, "linear"), (50, "linear"), (10, "rbf(gamma=0.05)")):
            neighbours(mercer, folder, missed, "made", kernel, *made(n, d))
        try:
            neighbours(mercer, folder, missed, "mnist", "linear", *mnist(n))
        except OSError as missing:
            print(f"| mnist | skipped: {missing} |")
        missed.show()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer", int(sys.argv[2]) if len(sys.argv) > 2 else 20000)
