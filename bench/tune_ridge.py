"""tune_ridge.py: `mercer tune -m ridge` over 20 gammas x 50 lambdas, every row left out exactly, in units of one Cholesky factorisation of the
same size by LAPACK (dpotrf of SciPy, the BLAS that Mercer has, all cores); part of tune_peers.py. Medians of three in turn, fewer where a
search has taken 100 seconds in all. The error of the winner on rows left out is recomputed here from the inverse of K + lambda I, and a search that
ends with a larger one than the whole table is marked. Bar, set for 5000 rows (--full): 25 factorisations."""
import re
import statistics
import sys
import time

import judge
import measure
import numpy as np
from scipy.linalg import lapack

BAR, ENOUGH = 25, 100
LAMBDAS = "{" + ",".join(f"{v:.3g}" for v in np.geomspace(1e-6, 1e3, 50)) + "}"
WAYS = {"--halving": ["--halving"], "all": []}


def cholesky_seconds(K):
    A = np.asfortranarray(K)
    began = time.perf_counter()
    lapack.dpotrf(A, lower=1, overwrite_a=1)
    return time.perf_counter() - began


def left_out(X, y, chosen):
    """The rmse of rows left out one by one, in closed form: the coefficients over the diagonal of the inverse."""
    gamma, penalty = (float(re.search(rf"{name}=([-+.\de]+)", chosen[where])[1]) for name, where in (("gamma", "kernel"), ("lambda", "settings")))
    inverse = np.linalg.inv(judge.gaussian(X, X, gamma) + penalty * np.eye(len(X)))
    return float(np.sqrt(np.mean((inverse @ y / np.diag(inverse)) ** 2)))


def in_turn(commands, K):
    """(seconds of factorisations, reports of each search)"""
    cholesky_seconds(K)
    units, reports = [], {name: [] for name in commands}
    for _ in range(measure.ROUNDS):
        units.append(cholesky_seconds(K))
        for name, command in commands.items():
            if sum(r["seconds"]["search"] for r in reports[name]) < ENOUGH:
                reports[name].append(measure.ask(*command)[0])
                print(f"mercer, {len(K)} rows, {name}: {reports[name][-1]['seconds']['search']:.2f} s", file=sys.stderr, flush=True)
    return statistics.median(units), {name: sorted(found, key=lambda r: r["seconds"]["search"]) for name, found in reports.items()}


def row(name, n, unit, reports, errors, missed, command):
    report = reports[(len(reports) - 1) // 2]
    seconds, chosen = report["seconds"]["search"], report["chosen"]
    exact = sum(c["rows"] == n for c in report["candidates"])
    verdict = missed.note("met" if seconds <= BAR * unit else f"**missed**: above {BAR}", f"the search, {name}", command)
    worse = " (**worse**)" if errors[name] > min(errors.values()) * (1 + 1e-3) else ""
    return (f"| {name} | {n} | {seconds:.2f} | {len(reports)} | {unit:.3f} | {seconds / unit:.0f} | {chosen['kernel']}, {chosen['settings']} "
            f"| {chosen['score']:.4f} +- {chosen['standard_error']:.4f} | {errors[name]:.4f}{worse} | {exact} of {len(report['candidates'])} | {verdict} |")


def main(mercer, folder, full):
    n, missed = 5000 if full else 2000, measure.Missed()
    measure.ask(mercer, "generate", "friedman1", "-n", n, "-o", folder / "f.csv")
    table = np.loadtxt(folder / "f.csv", delimiter=",", skiprows=1)
    X, y = table[:, :-1], table[:, -1]
    commands = {name: [mercer, "tune", folder / "f.csv", "-k", "rbf(gamma=0.01..10)", "--points", 20, "--lambda", LAMBDAS, "--scale", "none",
                       "-o", folder / "m.mercer", *words, "--json"] for name, words in WAYS.items()}
    unit, reports = in_turn(commands, judge.gaussian(X, X, 1.0) + np.eye(n))
    errors = {name: left_out(X, y, found[0]["chosen"]) for name, found in reports.items()}
    print("| search, 20 gammas x 50 lambdas | rows | s | runs | one Cholesky, s | Cholesky-equivalents | chosen | rmse of rows left out "
          f"| the same recomputed | on all rows | bar: {BAR} |\n" + "|---" * 11 + "|")
    for name, found in reports.items():
        print(row(name, n, unit, found, errors, missed, commands[name]), flush=True)
    missed.show()
    print()
