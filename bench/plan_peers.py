#!/usr/bin/env python3
"""plan_peers.py MERCER [--threads N]: what `mercer plan` forecasts against what `mercer fit` then takes, for every solver of ridge over a range
of n (medians of three); beside it how seconds and bytes grow with n, and how theory says they do. Bars: bytes never above the forecast, seconds within a
factor of 2 of it. Fits of less than 20 ms are left out of the second. Then what `mercer plan --tune` forecasts against what the search
takes, in processor time of one thread; bar: a factor of 2."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from measure import DATA, exponent, take  # noqa: E402

ENOUGH = 4  # seconds, after which a fit is not repeated
SOLVERS = {  # kernel, sizes, exponents of seconds and bytes in theory
    "cholesky": ("rbf(gamma=0.5)", (1000, 2000, 4000, 8000), "3, 2"),
    "eigen": ("rbf(gamma=0.5)", (500, 1000, 2000, 4000), "3, 2"),
    "mixed": ("rbf(gamma=0.5)", (2000, 4000, 8000), "3, 2"),
    "pcg": ("rbf(gamma=0.5)", (2000, 4000, 8000, 16000), "2, 1.5 (rank up to 10 sqrt n)"),
    "primal": ("poly(degree=2, c=1, gamma=0.1)", (4000, 16000, 64000), "1, 1"),
    "nystrom": ("rbf(gamma=0.5)", (2000, 4000, 8000, 16000), "2, 1 (m = 10 sqrt n)"),
    "fourier": ("rbf(gamma=0.5)", (2000, 4000, 8000, 16000), "2, 1 (m = 10 sqrt n)"),
}
SEARCHES = [  # rows: a generator with its noise and their number, or a file; a hold-out of as many rows, or a file; options
    (("moons", 0.3, 1000), None, "-m svc -k rbf(gamma=0.1..10) --C 0.1..100 --points 5"),
    (("moons", 0.3, 4000), None, "-m svc -k rbf(gamma=0.1..10) --C 0.1..100 --points 5"),
    ("small/australian.csv", None, "-m svc"),
    ("small/svmguide1.gz", None, "-m svc --points 5"),
    (("moons", 0.3, 4000), 4000, "-m svc -k rbf(gamma=0.1..10) --C 0.1..100 --points 5"),
    (("moons", 0.3, 8000), 8000, "-m svc -k rbf(gamma=0.1..10) --C 0.1..100 --points 5"),
    ("small/svmguide1.gz", "small/svmguide1.t.gz", "-m svc --points 5"),
    (("friedman1", 1, 1000), None, "-m svr -k rbf(gamma=0.01..1) --C 0.1..100 --points 4"),
    (("friedman1", 1, 2500), None, "-m svr -k rbf(gamma=0.01..1) --C 0.1..100 --points 3"),
    (("moons", 0.3, 1000), None, "-m logistic -k rbf(gamma=0.1..10) --lambda 0.01..10 --points 3"),
    (("moons", 0.3, 4000), None, "-m logistic -k rbf(gamma=0.1..10) --lambda 0.01..10 --points 3"),
    (("moons", 0.3, 8000), None, "-m logistic -k rbf(gamma=0.1..10) --lambda 0.01..10 --points 3"),
    ("small/spambase.csv.gz", None, "-m logistic -k rbf(gamma=0.01..0.1) --lambda 0.1..10 --points 2"),
    (("friedman1", 1, 1000), None, "-m ridge -k rbf(gamma=0.01..1) --lambda 1e-4..1 --points 4"),
    (("friedman1", 1, 1000), None, "-m ridge -k rbf(gamma=0.01..1) --lambda 1e-4..1 --points 20"),
    (("friedman1", 1, 2000), None, "-m ridge -k rbf(gamma=0.01..1) --lambda 1e-4..1 --points 4"),
    (("friedman1", 1, 500), None, "-m gp -k rbf(gamma=0.01..1) --points 2"),
    ("small/boston.csv", None, "-m gp --points 3"),
]


def ask(mercer, verb, *arguments):
    done = subprocess.run([mercer, verb, *arguments, "--json"], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{verb} {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def fits(mercer, *arguments):
    """(seconds, the median of three, of fewer where they take long; most bytes)"""
    found = []
    while len(found) < 3 and sum(seconds for seconds, _ in found) < ENOUGH:
        fit = ask(mercer, "fit", *arguments)
        found.append((fit["seconds"]["fit"], fit["memory_peak_bytes"]))
    return sorted(found)[(len(found) - 1) // 2][0], max(held for _, held in found)


def rows_of(mercer, folder, n):
    """As .npy: reading text holds more for a moment than some fits do, and it is the fit that is forecast."""
    path = os.path.join(folder, f"{n}.npy")
    if not os.path.exists(path):
        text = subprocess.run([mercer, "generate", "friedman1", "-n", str(n), "--noise", "0.1", "--seed", "1"], capture_output=True, text=True, check=True)
        np.save(path, np.loadtxt(text.stdout.splitlines(), delimiter=",", skiprows=1))
    return path


def file_of(mercer, folder, rows, seed):
    """A generated or a real file, or None where it is not there."""
    if isinstance(rows, str):
        return str(DATA / rows) if (DATA / rows).exists() else None
    kind, noise, n = rows
    path = os.path.join(folder, f"{kind}-{n}-{seed}.csv")
    if not os.path.exists(path):
        take([mercer, "generate", kind, "-n", n, "--noise", noise, "--seed", seed, "-o", path], stderr=subprocess.DEVNULL)
    return path


def searches(mercer, folder):
    worst = 1
    print("\n| data | rows | search | forecast s | processor s | ratio |\n|---|---|---|---|---|---|")
    for rows, hold_out, options in SEARCHES:
        data = file_of(mercer, folder, rows, 1)
        test = file_of(mercer, folder, hold_out if isinstance(hold_out, str) else (*rows[:2], hold_out), 2) if hold_out else None
        if not data or (hold_out and not test):
            print(f"| {rows} | | absent | | | |")
            continue
        common = [data, *options.split(), *(["--test", test] if test else []), "--threads", "1"]
        plan = ask(mercer, "plan", *common, "--tune")
        taken = take([mercer, "tune", *common, "-o", os.path.join(folder, "s.mercer")], stderr=subprocess.DEVNULL)
        ratio = plan["seconds_estimate"] / taken.cpu
        worst = max(worst, ratio, 1 / ratio)
        name = rows if isinstance(rows, str) else rows[0]
        print(f"| {name} | {plan['n']} | `{options}`{' on a hold-out' if test else ''} | {plan['seconds_estimate']:.3g} | {taken.cpu:.3g} | {ratio:.2f} |",
              flush=True)
    print(f"\nWorst ratio of a search {worst:.2f} (bar 2: {'met' if worst <= 2 else '**missed**'}).")


def main(mercer, threads):
    worst, over = 1, 0
    print("| solver | n | forecast s | seconds | ratio | forecast MiB | MiB |\n|---|---|---|---|---|---|---|")
    growth = []
    with tempfile.TemporaryDirectory() as folder:
        for solver, (kernel, sizes, theory) in SOLVERS.items():
            taken = []
            for n in sizes:
                common = (rows_of(mercer, folder, n), "-m", "ridge", "-k", kernel, "--lambda", "0.1", "--scale", "none", "--solver", solver,
                          "--tolerance", "1e-6", "--threads", str(threads), "--no-loo")
                plan = ask(mercer, "plan", *common)
                seconds, held = fits(mercer, *common, "-o", os.path.join(folder, "m.mercer"))
                data = plan["data_bytes"]
                ratio = plan["seconds_estimate"] / seconds
                taken.append((n, seconds, held))
                if seconds > 0.02:
                    worst = max(worst, ratio, 1 / ratio)
                over += held > plan["memory_bytes"] + data
                print(f"| {solver} | {n} | {plan['seconds_estimate']:.3g} | {seconds:.3g} | {ratio:.2f} | "
                      f"{(plan['memory_bytes'] + data) / 2**20:.1f} | {held / 2**20:.1f} |", flush=True)
            ns, ts, bs = zip(*taken)
            growth.append(f"| {solver} | {exponent(ns, ts):.2f}, {exponent(ns, bs):.2f} | {theory} |")
    print(f"\nWorst ratio {worst:.2f} (bar 2: {'met' if worst <= 2 else '**missed**'}); {over} fits took more bytes than were forecast "
          f"(bar 0: {'met' if not over else '**missed**'}).\n")
    print("| solver | exponents of seconds, bytes as fitted | in theory |\n|---|---|---|")
    print("\n".join(growth))
    with tempfile.TemporaryDirectory() as folder:
        searches(mercer, folder)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count())
