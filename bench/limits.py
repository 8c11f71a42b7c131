#!/usr/bin/env python3
"""limits.py [MERCER] [--problems 24] [--seed S] [--number K] [--only svc,gp] [--most ROWS] [--longest 5] [--out FILE.csv]: fits under limits that
nobody chose.

Every run draws its problems anew (the seed is printed; --seed repeats a run, --number one problem of it): rows log-uniform from 500 to 200,000, 2 to
50 columns, curves, steps, a constant target, clouds, spirals, a checkerboard, classes of unequal size, rows that come twice; every machine
with a kernel or with none; a time limit log-uniform from 0.05 s to --longest, and for every fourth a limit on memory; by the command, which
reads a file, or by Python.

Each must end within its limit and a tenth more (0.3 s at least; a command that took longer than its limit to read its file: from then on),
leave a model, be no worse on fresh rows than the mean or the commonest class, and better than that where a fit of 1000 rows without a limit is.
`worth` is what it gained of what that fit gained: 1 is as good, more is better. A fit that misses one of these is named with the reason."""
import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

Problem = collections.namedtuple("Problem", "number machine kind n d classes twice kernel limit memory command seed")
FRESH = 3000  # rows to judge on
GRACE, GRACE_SHARE = 0.3, 0.1
MEMORY = (64 << 20, 1 << 30)

# ---- Problems ----


def friedman(rng, n, d, k):
    X = rng.uniform(size=(n, d))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2 % d] - 0.5) ** 2 + 10 * X[:, 3 % d]
    return X, y + rng.normal(size=n)


def steps(rng, n, d, k):
    X = rng.normal(size=(n, d))
    return X, np.floor(2 * X[:, 0]) + np.sign(X[:, 1]) * 3 + 0.3 * rng.normal(size=n)


def waves(rng, n, d, k):
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d))
    return X, 1e3 * np.sin(X[:, 0]) + 1e3 * np.cos(2 * X[:, 1]) + 100 * rng.standard_t(3, size=n)


def constant(rng, n, d, k):
    return rng.normal(size=(n, d)), np.full(n, 7.0)


def noise(rng, n, d, k):
    return rng.normal(size=(n, d)), rng.normal(size=n)


def clouds(rng, n, d, k):
    y = rng.randint(k, size=n)
    return rng.normal(size=(k, d))[y] * 1.5 + rng.normal(size=(n, d)), y


def rare(rng, n, d, k):
    share = np.r_[1.0, np.full(k - 1, 0.05 / (k - 1))]
    y = rng.choice(k, n, p=share / share.sum())
    return rng.normal(size=(k, d))[y] * 2 + rng.normal(size=(n, d)), y


def spirals(rng, n, d, k):
    y, t = rng.randint(k, size=n), np.sqrt(rng.uniform(size=n)) * 4 * np.pi
    X = 0.05 * rng.normal(size=(n, d))
    turn = t + 2 * np.pi * y / k
    X[:, 0] += t * np.cos(turn)
    X[:, 1] += t * np.sin(turn)
    return X, y


def checkerboard(rng, n, d, k):
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.floor(X[:, :2]).sum(1).astype(int) % k


NUMBERS, CLASSES = [friedman, steps, waves, constant, noise], [clouds, rare, spirals, checkerboard]
KERNELS = {"ridge": [None, "rbf", "laplacian"], "svr": [None, "rbf"], "gp": [None, "rbf"], "": [None], "svc": [None, "rbf"], "logistic": [None, "rbf"]}


def spread(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw(seed, number, machines, most, longest):
    rng = np.random.RandomState([seed % 2**32, number])
    machine = machines[rng.randint(len(machines))]
    classes = machine in ("svc", "logistic") or (machine in ("", "ridge") and rng.uniform() < 0.5)
    kind = (CLASSES if classes else NUMBERS)[rng.randint(len(CLASSES if classes else NUMBERS))]
    kernels = KERNELS[machine]
    return Problem(number, machine, kind.__name__, int(spread(rng, 500, most)), int(spread(rng, 2, 50.99)),
                   (2 if rng.uniform() < 0.5 else rng.randint(3, 11)) if classes else 0, bool(rng.uniform() < 0.15),
                   kernels[rng.randint(len(kernels))], spread(rng, 0.05, longest), int(spread(rng, *MEMORY)) if rng.uniform() < 0.25 else 0,
                   bool(rng.uniform() < 0.6), int(rng.randint(2**31)))


def rows_of(p):
    """(rows, targets, fresh rows, their targets)"""
    rng = np.random.RandomState(p.seed)
    X, y = globals()[p.kind](rng, p.n + FRESH, p.d, p.classes)
    if p.twice:
        again = rng.randint(p.n, size=p.n // 2)
        X[:p.n // 2], y[:p.n // 2] = X[again], y[again]
    return X[:p.n], y[:p.n], X[p.n:], y[p.n:]


# ---- Errors ----


def error(said, y):
    """(of these predictions, its standard error): the share of wrong classes, or the root of the mean square"""
    if y.dtype.kind != "f":
        wrong = np.asarray(said).astype(int) != y
        return wrong.mean(), np.sqrt(max(wrong.mean() * (1 - wrong.mean()), 1 / len(y)) / len(y))
    squares = (np.asarray(said) - y) ** 2
    mse = squares.mean()
    return np.sqrt(mse), squares.std() / np.sqrt(len(y)) / max(2 * np.sqrt(mse), 1e-300)


def error_of_constant(y, fresh):
    return error(np.full(len(fresh), y.mean() if y.dtype.kind == "f" else np.bincount(y).argmax()), fresh)


# ---- A fit under its limit ----


def machine_of(p):
    return p.machine or ("svc" if p.classes else "ridge")


def by_command(p, X, y, mercer_command, folder):
    """Seconds, those of reading, exit status, the model or None, what it said."""
    table, model = f"{folder}/rows.npy", f"{folder}/m.mercer"
    np.save(table, np.c_[X, y])
    words = [mercer_command, "fit", table, "-o", model, "--json", "--time-limit", repr(p.limit), "--target-kind", "class" if p.classes else "number"]
    words += ["-m", p.machine] if p.machine else []
    words += ["-k", p.kernel] if p.kernel else []
    words += ["--memory", str(p.memory)] if p.memory else []
    began = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    seconds = time.perf_counter() - began
    said = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    there = os.path.exists(model)
    return seconds, said.get("seconds", {}).get("read", 0), done.returncode, mercer.Model.load(model) if there else None, done.stderr.strip()


def by_python(p, X, y):
    begun = mercer.fit(X[:50], y[:50].astype(float), "ridge", "rbf")  # threads and libraries are there
    del begun
    began = time.perf_counter()
    try:
        with mercer.options(time_limit=p.limit, memory=p.memory or None):
            model, said = mercer.fit(X, y, machine_of(p), p.kernel), ""
    except Exception as e:  # noqa: BLE001  whatever it is, it is what the table is about
        model, said = None, f"{type(e).__name__}: {e}"
    return time.perf_counter() - began, 0, 0 if model else 1, model, said


def simple_error(p, X, y, fresh, target):
    """Of 1000 rows without a limit."""
    some = np.random.RandomState(1).permutation(len(X))[:1000]
    try:
        return error(mercer.fit(X[some], y[some], machine_of(p), p.kernel).predict(fresh), target)[0]
    except Exception:  # noqa: BLE001
        return float("nan")


def reasons(r, p):
    """Why it misses, in words."""
    out = []
    if r["seconds"] > max(p.limit, r["read"]) + max(GRACE, GRACE_SHARE * p.limit):
        out.append("late")
    if r["error"] != r["error"]:
        return [*out, "no model: " + r["said"][-160:]]
    settled = p.kernel and r["error"] <= 1.02 * r["simple"] + 3 * r["deviation"]  # what was asked for is worse, not what the limit left of it
    if r["error"] > r["constant"] * 1.02 + 3 * r["deviation"] + 1e-9 * (p.kind == "constant") and not settled:
        out.append("worse than a constant")
    if r["simple"] < 0.98 * r["constant"] - 3 * r["deviation"] and r["error"] > r["constant"] - 0.1 * (r["constant"] - r["simple"]):
        out.append("no better than a constant")
    return out


def measured(p, mercer_command):
    X, y, fresh, target = rows_of(p)
    with tempfile.TemporaryDirectory() as folder:
        seconds, read, status, model, said = by_command(p, X, y, mercer_command, folder) if p.command else by_python(p, X, y)
        (level, _), r = error_of_constant(y, target), {"seconds": seconds, "read": read, "status": status, "said": said}
        r["error"], r["deviation"] = error(model.predict(fresh), target) if model else (float("nan"), 0)
    r.update(constant=level, simple=simple_error(p, X, y, fresh, target), stages=stages_of(model))
    r["worth"] = (level - r["error"]) / (level - r["simple"]) if level - r["simple"] > 0.02 * level else float("nan")
    r["why"] = ", ".join(reasons(r, p))
    return {**p._asdict(), **r}


def stages_of(model):
    """What the report says it is: rows and landmarks of the stage that was kept."""
    stages = model and model.stages
    if not stages:
        return "" if not model else f"in one go, {model.report.solver}, stopped: {model.report.stopped}"
    kept = stages["stages"][stages["chosen"]]
    return f"{kept['rows']}" + (f" by {kept['landmarks']}" if kept["landmarks"] else "") + (" exact" if stages["exact"] else "")


# ---- The table ----

HEAD = "| problem | machine | rows | columns | classes | limit | by | seconds | error | constant | of 1000 rows | worth | what it is | misses |\n" \
       "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"


def line(r):
    limit = f"{r['limit']:.2g} s" + (f", {r['memory'] >> 20} MiB" if r["memory"] else "")
    return f"| {r['number']} {r['kind']}{' twice' if r['twice'] else ''} | {r['machine'] or 'default'}{' ' + r['kernel'] if r['kernel'] else ''} | {r['n']} | {r['d']} | {r['classes'] or ''} " \
           f"| {limit} | {'command' if r['command'] else 'Python'} | {r['seconds']:.2f} | {r['error']:.4g} | {r['constant']:.4g} | {r['simple']:.4g} " \
           f"| {r['worth']:.2f} | {r['stages']} | {'**' + r['why'] + '**' if r['why'] else ''} |"


def summary(rows, seed):
    missed = [r for r in rows if r["why"]]
    late = sorted(r["seconds"] - max(r["limit"], r["read"]) for r in rows)
    worth = sorted(r["worth"] for r in rows if r["worth"] == r["worth"])
    middle = f"; of what 1000 rows gain, the worst gained {worth[0]:.2f}, the median {worth[len(worth) // 2]:.2f}" if worth else ""
    return "\n".join([f"{len(rows)} fits of seed {seed}: {len(missed)} missed (bar: none); the latest ended {late[-1]:.2f} s after its limit{middle}", "",
                      *([HEAD, *map(line, missed)] if missed else [])])


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default=str(BENCH.parent / "build/mercer"))
    words.add_argument("--problems", type=int, default=24)
    words.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    words.add_argument("--number", type=int, help="one problem of the seed")
    words.add_argument("--only", default="ridge,svc,svr,logistic,gp,default", help="machines, separated by commas")
    words.add_argument("--most", type=int, default=200000, help="rows")
    words.add_argument("--longest", type=float, default=5, help="seconds of a limit")
    words.add_argument("--seconds", type=float, default=float("inf"), help="no new problem after so many")
    words.add_argument("--out", help="every problem as a row of CSV")
    said = words.parse_args()
    machines = ["" if w == "default" else w for w in said.only.split(",")]
    print(f"seed {said.seed}\n\n{HEAD}", flush=True)
    rows, began = [], time.monotonic()
    for number in [said.number] if said.number is not None else range(said.problems):
        if time.monotonic() - began > said.seconds:
            break
        rows.append(measured(draw(said.seed, number, machines, said.most, said.longest), said.mercer))
        print(line(rows[-1]), flush=True)
    print("\n" + summary(rows, said.seed))
    if said.out:
        with open(said.out, "w", newline="") as out:
            table = csv.DictWriter(out, list(rows[0]))
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    place = next((w for w in sys.argv[1:] if not w.startswith("-") and pathlib.Path(w).exists()), str(BENCH.parent / "build/mercer"))
    sys.path.insert(0, str(pathlib.Path(place).resolve().parent / "python"))
    import mercer  # noqa: E402  before NumPy: it asks OpenBLAS for what it reads when it is loaded
    import numpy as np  # noqa: E402

    main()
