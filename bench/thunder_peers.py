#!/usr/bin/env python3
"""thunder_peers.py MERCER [--quick]: support vector classification against ThunderSVM's build for the CPU (`make peers`; the wheel of 2019, version
0.3.3, is the last one for it: newer ones want CUDA 9), which trains on all cores. The rows, C, gamma and tolerance of svm_peers.py; both have
their rows in memory, read by scikit-learn's reader and Mercer's own, and the seconds are by the clock: of fit beside Mercer's learning, of
predict beside Mercer's whole command. ThunderSVM gets dense rows: given sparse ones this wheel does not come to an end, even on 800 rows of a9a.
It may take all memory that it likes, which is its default. Medians of three in turn, a side that takes
over 40 seconds once. judge.py computes the dual and the gap of both from their model files. --quick: 1000 rows of each."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
import svm_peers  # noqa: E402
from svm_peers import PLACE  # noqa: E402

PYTHON = measure.PEERS / "thunder" / "bin" / "python"
THUNDER = """
import json, os, sys, time
from sklearn.datasets import load_svmlight_files
from thundersvm import SVC
train, test, model = sys.argv[1:4]
X, y, T, t = load_svmlight_files([train, test])
X, T = X.toarray(), T.toarray()
machine = SVC(kernel="rbf", C=float(sys.argv[4]), gamma=float(sys.argv[5]), tol=1e-3, n_jobs=os.cpu_count())
began = time.perf_counter()
machine.fit(X, y)
fitted = time.perf_counter()
right = float((machine.predict(T) == t).mean())
done = time.perf_counter()
machine.save_to_file(model)
print(json.dumps([fitted - began, done - fitted, right]))
"""
MOST = 300  # seconds for one run
STEMS = ("a9a", "ijcnn1", "w8a", "covtype")  # of several classes its solver is another


def with_thunder(train, test, C, gamma):
    """(seconds of fit, of predict, accuracy); the model is left behind."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()))
    out = measure.take(["timeout", MOST, PYTHON, "-c", THUNDER, train, test, PLACE / "thunder.model", C, repr(gamma)], env=environment, stderr=subprocess.DEVNULL).out
    return json.loads(out.strip().splitlines()[-1])


def row(arguments, name, stem, write, C, gamma):
    train, test = svm_peers.rows_of(stem, write, 1000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    order = lambda r: (r["inside"], r)  # noqa: E731
    runs = measure.in_turn(lambda: order(svm_peers.with_mercer(arguments, train, test, C, gamma)), lambda: with_thunder(train, test, C, gamma))
    ours = svm_peers.medians([r for _, r in runs[0]])
    fit, predict, right = (float(np.median([r[k] for r in runs[1]])) for k in range(3))
    mine = svm_peers.judged(svm_peers.exported(arguments), train, C, gamma)
    its = svm_peers.judged(PLACE / "thunder.model", train, C, gamma)
    behind = (mine["dual"] - its["dual"]) / mine["dual"]
    print(f"| {name} | {sum(1 for _ in open(train))} | {fit:.2f} | {ours['inside']:.2f} | {fit / ours['inside']:.1f} | {predict:.2f} | {ours['predict']:.2f} "
          f"| {predict / ours['predict']:.1f} | {behind:.1e}{' (**worse**)' if behind > 1e-5 else ''} | {its['gap']:.1e}, {mine['gap']:.1e} "
          f"| {right:.4f}, {ours['accuracy']:.4f} |", flush=True)


def main():
    arguments = svm_peers.options().parse_args()
    if not measure.version_of(PYTHON, "thundersvm-cpu"):
        print("Skipped: ThunderSVM is not installed (`make peers`).")
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    print("| rows | n | ThunderSVM fit s | Mercer fit s | ratio | ThunderSVM predict s | Mercer predict s | ratio | its dual is behind by "
          "| relative gap, its, Mercer | accuracy, its, Mercer |\n" + "|---" * 11 + "|")
    for name, stem, write, C, gamma, *_ in svm_peers.TABLE:
        if stem in STEMS and (not arguments.only or stem in arguments.only.split(",")):
            try:
                row(arguments, name, stem, write, C, gamma)
            except (OSError, RuntimeError) as why:
                print(f"| {name} | skipped: {why} |", flush=True)


if __name__ == "__main__":
    main()
