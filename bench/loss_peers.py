#!/usr/bin/env python3
"""loss_peers.py MERCER [--quick]: kernel logistic regression against Mercer's own support vector machine and scikit-learn's
GaussianProcessClassifier on the same rows.

The machine with C minimises 1/2 |f|^2 + C sum of losses, logistic lambda/2 |f|^2 + sum of losses: lambda = 1/C. Both with an intercept; svc at
its tolerance of 1e-3, logistic at a relative duality gap of 1e-6. Many classes: svc one against one, logistic one softmax over all. Times are
those of the whole command, reading included, the best of three, the two taken in turn.

With optimizer=None, GaussianProcessClassifier finds the mode of its posterior, which is the minimum of the logistic problem with lambda = 1 and
no intercept (two classes; of more, each against the rest): a9a, two classes, is the same problem, and the largest difference of the
probabilities at the mode says so. It is n^3, so it gets the first rows only.
Bars: at most 3 times the time of svc; at least 5 times faster than GaussianProcessClassifier."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import svm_peers  # noqa: E402

PLACE = svm_peers.ROOT / "build" / "loss_peers"
# name, writer, rows of the comparison with svc, C, gamma, rows of that with GaussianProcessClassifier
TABLE = [
    ("a9a", svm_peers.packed("a9a"), None, 1, 1 / 123, (1000, 3000)),
    ("mnist", svm_peers.mnist, 10000, 5, 0.02, (500,)),
]


def rows_of(name, write, n):
    train, test = PLACE / f"{name}_{n}.train", PLACE / f"{name}_{n}.test"
    if not train.exists():
        write(PLACE / "part", test, n)
        (PLACE / "part").rename(train)
    return train


def fit(mercer, train, machine, gamma, *settings):
    began = time.time()
    done = subprocess.run([mercer, "fit", str(train), "-m", machine, "-k", f"rbf(gamma={gamma!r})", "--scale", "none", "-o",
                           str(PLACE / f"{machine}.mercer"), "--json", *map(str, settings)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return time.time() - began, json.loads(done.stdout)


def against_svc(mercer, name, write, n, C, gamma):
    train, best = rows_of(name, write, n), {}
    for _ in range(3):
        for machine, settings in (("svc", ("--C", C)), ("logistic", ("--lambda", 1 / C, "--tolerance", 1e-6))):
            seconds, report = fit(mercer, train, machine, gamma, *settings)
            if machine not in best or seconds < best[machine][0]:
                best[machine] = seconds, report
    (svm, _), (ours, report) = best["svc"], best["logistic"]
    gap = report["certificate"]["gap_relative"]
    print(f"| {name} | {report['n']} | {report['outputs']} | {C} | {1 / C:g} | {svm:.2f} | {ours:.2f} | {gap:.1e} | {report['rank']} "
          f"| {ours / svm:.2f} | {'met' if ours <= 3 * svm and gap <= 1e-6 else '**missed**'} |", flush=True)


def mode_of(X, y, gamma):
    """scikit-learn's probabilities at the mode, and its seconds."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF
    model = GaussianProcessClassifier(RBF(1 / np.sqrt(2 * gamma)), optimizer=None, max_iter_predict=100)
    began = time.time()
    model.fit(X, y)
    seconds = time.time() - began
    base = model.base_estimator_
    return seconds, base.pi_ if hasattr(base, "pi_") else None


def against_gpc(mercer, name, write, n, gamma):
    from sklearn.datasets import load_svmlight_file
    train = rows_of(name, write, n)
    X, y = load_svmlight_file(str(train))
    theirs, modes = mode_of(X.toarray(), y, gamma)
    ours, report = sorted((fit(mercer, train, "logistic", gamma, "--lambda", 1, "--no-intercept", "--tolerance", 1e-6) for _ in range(3)),
                       key=lambda pair: pair[0])[1]
    difference = "not the same problem"
    if modes is not None:
        out = subprocess.run([mercer, "predict", str(PLACE / "logistic.mercer"), str(train), "--proba", "-q"], capture_output=True, text=True,
                             check=True).stdout.split()
        names = out[0].split(",")
        first = np.array([[float(v) for v in line.split(",")] for line in out[1:]])[:, names.index(next(c for c in names if c.endswith("1") and "-" not in c))]
        difference = f"{np.abs(first - modes).max():.1e}"
    gap = report["certificate"]["gap_relative"]
    print(f"| {name} | {n} | {report['outputs']} | {theirs:.2f} | {ours:.2f} | {gap:.1e} | {difference} | {theirs / ours:.1f} "
          f"| {'met' if theirs >= 5 * ours and gap <= 1e-6 else '**missed**'} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--quick", action="store_true", help="1000 rows of each; the bars are for more")
    arguments = parser.parse_args()
    PLACE.mkdir(parents=True, exist_ok=True)
    print("| rows | n | classes | C of svc | lambda | svc s | logistic s | relative gap | rank of its factor | ratio | bar |\n" + "|---" * 11 + "|")
    for name, write, n, C, gamma, _ in TABLE:
        against_svc(arguments.mercer, name, write, 1000 if arguments.quick else n, C, float(np.float32(gamma)))
    print("\n| rows | n | classes | GaussianProcessClassifier s | logistic s | relative gap | largest difference | ratio | bar |\n" + "|---" * 9 + "|")
    for name, write, _, _, gamma, sizes in TABLE:
        for n in (500,) if arguments.quick else sizes:
            against_gpc(arguments.mercer, name, write, n, float(np.float32(gamma)))


if __name__ == "__main__":
    main()
