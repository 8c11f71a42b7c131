#!/usr/bin/env python3
"""thunder_peers.py MERCER [--quick] [--only NAME,...] [--budget SECONDS]: support vector classification against ThunderSVM's build for the CPU
(`make peers`; the wheel of 2019, version 0.3.3, is the last one for it: newer ones want CUDA 9), which trains on all cores. The rows, C, gamma and
tolerance of svm_peers.py; both have their rows in memory, read by scikit-learn's reader and Mercer's own, and the seconds are by the clock: of
fit beside Mercer's learning, of predict beside Mercer's whole command. ThunderSVM gets dense rows: given sparse ones this wheel does not come to
an end, even on 800 rows of a9a. It may take all memory that it likes, which is its default. judge.py computes the dual and the gap of both from
their model files.

Medians of three in turn, a side that takes over 40 seconds once, over 300 not to the end. All rows take twenty minutes of ThunderSVM, so what it
took is kept in build/svm_peers as soon as a row is done (keep.py: with the speed of the machine then, never to its disadvantage), and the next
run goes on from there; --budget: rows that are not kept are begun while so many seconds have not passed. --quick: 1000 rows of each."""
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import keep  # noqa: E402
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
    """(seconds of fit, of predict, accuracy); the model is left behind. Where it is stopped the seconds alone."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()))
    command = ["timeout", MOST, PYTHON, "-c", THUNDER, train, test, PLACE / "thunder.model", C, repr(gamma)]
    taken, status = measure.finished(command, env=environment, stderr=subprocess.DEVNULL)
    if status not in (0, 124):
        raise RuntimeError(f"ThunderSVM ended with {status}")
    return [taken.seconds] if status else json.loads(taken.out.strip().splitlines()[-1])


def judged(runs, train, C, gamma):
    """The medians of its runs, with the verdict on the model of the last."""
    if len(runs[0]) == 1:
        return {"stopped": runs[0][0]}
    return dict(zip(("fit", "predict", "right"), np.median(runs, axis=0).tolist()), runs=len(runs), judged=svm_peers.judged(PLACE / "thunder.model", train, C, gamma))


def both(arguments, version, run, *problem):
    """(ThunderSVM's figure, or None where none is kept and it shall not run; Mercer's result): in turn, or Mercer beside what is kept."""
    mercer, ours = (lambda: (lambda r: (r["inside"], r))(svm_peers.with_mercer(arguments, *problem))), []
    def work():
        runs = measure.in_turn(mercer, lambda: with_thunder(*problem))
        ours.extend(runs[0])
        return judged(runs[1], problem[0], *problem[2:])
    figure = keep.kept(PLACE, ["thundersvm", version, os.cpu_count(), *map(measure.digest, problem[:2]), *problem[2:]], work, run)
    if figure and not ours:
        ours, = measure.in_turn(mercer)
    return figure, svm_peers.medians([r for _, r in ours]) if ours else None


def row(arguments, version, run, name, stem, write, C, gamma):
    train, test = svm_peers.rows_of(stem, write, 1000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    figure, ours = both(arguments, version, run, train, test, C, gamma)
    cells = f"| {name} | {sum(1 for _ in open(train))} |"
    if not figure:
        return print(f"{cells} not timed: the budget of {arguments.budget:g} s is spent |", flush=True)
    mine, its = svm_peers.judged(svm_peers.exported(arguments), train, C, gamma), figure.result
    if "stopped" in its:
        print(f"{cells} stopped after {its['stopped']:.0f} | {ours['inside']:.2f} | above {its['stopped'] / ours['inside']:.0f} | | {ours['predict']:.2f} | | | , {mine['gap']:.1e} "
              f"| , {ours['accuracy']:.4f} |", flush=True)
        return figure
    fit, predict, behind = keep.seconds(figure, "fit"), keep.seconds(figure, "predict"), (mine["dual"] - its["judged"]["dual"]) / mine["dual"]
    print(f"{cells} {fit:.2f}{'' if figure.fresh else ' (kept)'} | {ours['inside']:.2f} | {fit / ours['inside']:.1f} | {predict:.2f} | {ours['predict']:.2f} "
          f"| {predict / ours['predict']:.1f} | {behind:.1e}{' (**worse**)' if behind > 1e-5 else ''} | {its['judged']['gap']:.1e}, {mine['gap']:.1e} "
          f"| {its['right']:.4f}, {ours['accuracy']:.4f} |", flush=True)
    return figure


def main():
    parser = svm_peers.options()
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds, after which ThunderSVM is not begun again")
    arguments, began, figures = parser.parse_args(), time.monotonic(), []
    version = measure.version_of(PYTHON, "thundersvm-cpu").get("thundersvm-cpu")
    if not version:
        print("Skipped: ThunderSVM is not installed (`make peers`).")
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    print("| rows | n | ThunderSVM fit s | Mercer fit s | ratio | ThunderSVM predict s | Mercer predict s | ratio | its dual is behind by "
          "| relative gap, its, Mercer | accuracy, its, Mercer |\n" + "|---" * 11 + "|", flush=True)
    for name, stem, write, C, gamma, *_ in svm_peers.TABLE:
        if stem in STEMS and (not arguments.only or stem in arguments.only.split(",")):
            try:
                figures.append(row(arguments, version, time.monotonic() - began < arguments.budget, name, stem, write, C, gamma))
            except (OSError, RuntimeError) as why:
                print(f"| {name} | skipped: {why} |", flush=True)
    print("\n" + keep.summary(figures))


if __name__ == "__main__":
    main()
