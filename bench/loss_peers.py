#!/usr/bin/env python3
"""loss_peers.py MERCER [--quick]: kernel logistic regression against Mercer's own support vector machine and scikit-learn's
GaussianProcessClassifier on the same rows.

The machine with C minimises 1/2 |f|^2 + C sum of losses, logistic lambda/2 |f|^2 + sum of losses: lambda = 1/C. Both with an intercept; svc at
its tolerance of 1e-3, logistic at a relative duality gap of 1e-6. Many classes: svc one against one, logistic one softmax over all. Times are
those of the whole command, reading included; medians of three, the two sides taken in turn.

With optimizer=None, GaussianProcessClassifier finds the mode of its posterior, which is the minimum of the logistic problem with lambda = 1 and
no intercept (two classes; of more, each against the rest): a9a, two classes, is the same problem, and the largest difference of the
probabilities at the mode says so; judge.py computes both objectives. It is n^3, so it gets the first rows only.
Bars: at most 3 times the time of svc; at least 5 times faster than GaussianProcessClassifier."""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import measure  # noqa: E402
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
    return train, test


def command_of(mercer, train, machine, gamma, *settings):
    return [mercer, "fit", train, "-m", machine, "-k", f"rbf(gamma={gamma!r})", "--scale", "none", "-o", PLACE / f"{machine}.mercer", "--json", *settings]


def against_svc(mercer, missed, name, write, n, C, gamma):
    train, test = rows_of(name, write, n)
    commands = [command_of(mercer, train, machine, gamma, *settings)
                for machine, settings in (("svc", ("--C", C)), ("logistic", ("--lambda", 1 / C, "--tolerance", 1e-6)))]
    svm, ours = (measure.median(r) for r in measure.in_turn(*(lambda c=c: measure.take(c) for c in commands)))
    report = json.loads(ours.out)
    gap = report["certificate"]["gap_relative"]
    verdict = missed.note("met" if ours.seconds <= 3 * svm.seconds and gap <= 1e-6 else "**missed**", name, commands[1])
    print(f"| {name} | {report['n']} | {report['outputs']} | {C} | {1 / C:g} | {svm.seconds:.2f} | {ours.seconds:.2f} | {gap:.1e} | {report['rank']} "
          f"| {right(mercer, 'svc', test):.4f}, {right(mercer, 'logistic', test):.4f} | {ours.seconds / svm.seconds:.2f} | {verdict} |", flush=True)


def mode_of(X, y, gamma):
    """(seconds, scikit-learn's probabilities at the mode of two classes, its model)"""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF
    model = GaussianProcessClassifier(RBF(1 / np.sqrt(2 * gamma)), optimizer=None, max_iter_predict=100)
    began = time.time()
    model.fit(X, y)
    seconds = time.time() - began
    base = model.base_estimator_
    return seconds, base.pi_ if hasattr(base, "pi_") else None, model


def difference(mercer, train, modes):
    """Between our probabilities of the first class and its."""
    out = measure.take([mercer, "predict", PLACE / "logistic.mercer", train, "--proba", "-q"]).out.split()
    names = out[0].split(",")
    place = names.index(next(c for c in names if c.endswith("1") and "-" not in c))
    return np.abs(np.array([float(line.split(",")[place]) for line in out[1:]]) - modes).max()


def above(X, y, modes, gamma):
    """How far our objective is above scikit-learn's, relative, by judge.py. Its coefficients at the mode are y - pi; ours are of the first class."""
    found, a = judge.arrays(PLACE / "logistic.mercer"), np.zeros(len(X))
    a[found["row"]] = -found["alpha"][:, 0]
    second = y == max(y)
    ours, theirs = (judge.logistic(X, np.where(second, 1.0, -1.0), c, gamma, 1.0) for c in (a, second - modes))
    return ours / theirs - 1


def marked(value):
    return f"{value:.1e}" + (" (**worse**)" if value > 1e-6 else "")


def right(mercer, machine, test):
    return measure.ask(mercer, "score", PLACE / f"{machine}.mercer", test, "--json")[0]["accuracy"]


def against_gpc(mercer, missed, name, write, n, gamma):
    from sklearn.datasets import load_svmlight_files
    train, test = rows_of(name, write, n)
    X, y, T, t = load_svmlight_files([str(train), str(test)])
    X = X.toarray()
    command = command_of(mercer, train, "logistic", gamma, "--lambda", 1, "--no-intercept", "--tolerance", 1e-6)
    (theirs, modes, model), ours = (measure.median(r) for r in measure.in_turn(lambda: mode_of(X, y, gamma), lambda: measure.take(command)))
    report = json.loads(ours.out)
    apart = "not the same problem |" if modes is None else f"{difference(mercer, train, modes):.1e} | {marked(above(X, y, modes, gamma))}"
    accuracy = f"{model.score(T.toarray(), t):.4f}, {right(mercer, 'logistic', test):.4f}"
    gap = report["certificate"]["gap_relative"]
    verdict = missed.note("met" if theirs >= 5 * ours.seconds and gap <= 1e-6 else "**missed**", f"{name}, n = {n}", command)
    print(f"| {name} | {n} | {report['outputs']} | {theirs:.2f} | {ours.seconds:.2f} | {gap:.1e} | {apart} | {accuracy} | {theirs / ours.seconds:.1f} "
          f"| {verdict} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--quick", action="store_true", help="1000 rows of each; the bars are for more")
    arguments = parser.parse_args()
    missed = measure.Missed()
    PLACE.mkdir(parents=True, exist_ok=True)
    print("| rows | n | classes | C of svc | lambda | svc s | logistic s | relative gap | rank of its factor | accuracy, svc, logistic "
          "| ratio | bar |\n" + "|---" * 12 + "|")
    for name, write, n, C, gamma, _ in TABLE:
        against_svc(arguments.mercer, missed, name, write, 1000 if arguments.quick else n, C, float(np.float32(gamma)))
    missed.show()
    print("\n| rows | n | classes | GaussianProcessClassifier s | logistic s | relative gap | largest difference "
          "| objective above its | accuracy, its, logistic | ratio | bar |\n" + "|---" * 11 + "|")
    for name, write, _, _, gamma, sizes in TABLE:
        for n in (500,) if arguments.quick else sizes:
            against_gpc(arguments.mercer, missed, name, write, n, float(np.float32(gamma)))
    missed.show()


if __name__ == "__main__":
    main()
