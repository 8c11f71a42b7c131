#!/usr/bin/env python3
"""sweep.py [MERCER] [--problems 200] [--seed S] [--only SVC,SVR] [--most 20000] [--limit 60] [--out FILE.csv]: problems that nobody chose, against
scikit-learn through Python.

Every run draws its problems anew (the seed is printed; --seed repeats a run, --number one problem of it): rows log-uniform from 50, 2 to 200
columns, 2 to 30 classes, C from 0.01 to 1000, gamma around that of the median distance times 0.01 to 100, noise in the labels, duplicates, classes
of unequal size, clouds, rings, a checkerboard, counts, curves. Both sides get the same arrays, settings and tolerance, and all cores.

Each side runs in a process of its own that has fitted something small before, and takes the median of three fits (of one where it takes over two
seconds). A peer that is not done after --limit seconds is stopped, and its ratio is the least it can be. What the answers are worth is judged by
judge.py and NumPy from what both leave behind: `worth` is how much worse Mercer's objective is than the peer's, relative (negative: better), the
share of rows that get another class (of nearest neighbours: rows where the last of them is tied with the next are left out), or how far apart
the two are where there is neither. The bars: the median ratio of fits at least 10 from 1000 rows on and 3 below, predictions
10 from 1000 rows on, no problem slower than scikit-learn."""
import argparse
import collections
import csv
import json
import os
import pathlib
import select
import signal
import statistics
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))

Problem = collections.namedtuple("Problem", "number machine kind n d classes C gamma noise seed")
BAR_LARGE, BAR_SMALL, BAR_PREDICT, LARGE = 10, 3, 10, 1000
SHORT = 2.0  # seconds: what takes longer is run once

# ---- Problems ----


def clouds(rng, n, d, k):
    y = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    return rng.normal(size=(k, d))[y] * 1.5 + rng.normal(size=(n, d)), y


def rings(rng, n, d, k):
    y = rng.randint(k, size=n)
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True) * (1 + y + 0.3 * rng.normal(size=n))[:, None], y


def checkerboard(rng, n, d, k):
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.floor(X[:, :2]).sum(1).astype(int) % k


def counts(rng, n, d, k):
    y = rng.randint(k, size=n)
    return rng.poisson(rng.gamma(0.5, 2.0, size=(k, d))[y]).astype(float), y


def curves(rng, n, d, k):
    X = rng.uniform(size=(n, d)) * np.exp(rng.normal(size=d))
    f = np.sin(3 * X @ rng.normal(size=d) / np.sqrt(d)) + X[:, 0] ** 2
    return X, np.searchsorted(np.quantile(f, np.arange(1, k) / k), f)


KINDS = [clouds, rings, checkerboard, counts, curves]


def draw(seed, number, machines, most):
    rng = np.random.RandomState([seed % 2**32, number])
    machine = list(machines)[rng.randint(len(machines))]
    top = min(most, machines[machine].most)
    n = int(np.exp(rng.uniform(np.log(50), np.log(top))))
    d, few = int(np.exp(rng.uniform(np.log(2), np.log(200)))), rng.uniform() < 0.5
    classes = 2 if few else int(min(np.exp(rng.uniform(np.log(3), np.log(30))), n // 10))
    return Problem(number, machine, KINDS[rng.randint(len(KINDS))].__name__, n, d, max(classes, 2), float(10 ** rng.uniform(-2, 3)),
                   float(10 ** rng.uniform(-2, 2)), float(rng.choice([0, 0, rng.uniform(0, 0.3)])), int(rng.randint(2**31)))


def rows_of(p):
    """(training rows, targets, gamma, new rows): a fifth of the problems has duplicates; every class has three rows at least."""
    rng = np.random.RandomState(p.seed)
    X, y = globals()[p.kind](rng, 2 * p.n, p.d, p.classes)
    X = (X - X.mean(0)) / np.maximum(X.std(0), 1e-12)
    if rng.uniform() < 0.2:
        X[rng.randint(p.n, size=p.n // 3)] = X[rng.randint(p.n, size=p.n // 3)]
    wrong = rng.uniform(size=2 * p.n) < p.noise
    y = np.where(wrong, rng.randint(p.classes, size=2 * p.n), y)
    y[:3 * p.classes] = np.arange(3 * p.classes) % p.classes
    sample = X[rng.randint(p.n, size=min(p.n, 300))]
    squares = ((sample[:, None] - sample[None]) ** 2).sum(2)
    gamma = p.gamma / max(float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0, 1e-9)
    if not MACHINES[p.machine].classes:
        y = y + 0.3 * np.sin(X.sum(1)) + (0.05 + p.noise) * rng.normal(size=2 * p.n)
    return X[:p.n], y[:p.n], gamma, X[p.n:]


# ---- What the answers are worth: each gives an objective to be small, or an array to be compared ----


def slacks(m, X, y, C):
    """The primal objective of SVC over all pairs of classes, from the coefficients as both libraries leave them."""
    counts_, k = m.n_support_, len(m.classes_)
    A = judge.pairs(np.asarray(m.dual_coef_).T, counts_) if k > 2 else np.asarray(m.dual_coef_).T
    S, b = np.asarray(m.support_vectors_), np.atleast_1d(m.intercept_)
    f = judge.times(X, S, m.gamma, A) + b
    total = 0.5 * float((A * judge.times(S, S, m.gamma, A)).sum())
    where = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for column, (i, j) in enumerate(where):
        sign = 1 if k > 2 else -1  # of two classes the second is the positive one
        total += C * (np.maximum(0, 1 - sign * f[y == m.classes_[i], column]).sum() + np.maximum(0, 1 + sign * f[y == m.classes_[j], column]).sum())
    return {"objective": total}


def tube(m, X, y, C):
    S, a = np.asarray(m.support_vectors_), np.asarray(m.dual_coef_).T
    f = judge.times(X, S, m.gamma, a)[:, 0] + m.intercept_[0]
    return {"objective": 0.5 * float((a * judge.times(S, S, m.gamma, a)).sum()) + C * float(np.maximum(0, np.abs(f - y) - m.epsilon).sum())}


def shape(m, X, y, C):
    """The dual objective of machines with nu, whose multipliers have a sum and no scale: a'Ka over (sum |a|)^2, of all pairs."""
    A = np.asarray(m.dual_coef_).T
    A = judge.pairs(A, m.n_support_) if A.shape[1] > 1 else A
    S = np.asarray(m.support_vectors_)
    return {"objective": float(((A * judge.times(S, S, m.gamma, A)).sum(0) / np.maximum(np.abs(A).sum(0), 1e-300) ** 2).sum())}


def predictions(m, X, y, C):
    return {"values": np.asarray(m.predict(X[:500]), float).tolist()}


def logistic(m, X, y, C):
    """The objective of LogisticRegression, intercepts free, from the probabilities and the weights as both leave them."""
    p = np.asarray(m.predict_proba(X))[np.arange(len(y)), np.searchsorted(m.classes_, y)]
    if hasattr(m, "coef_"):
        W = np.asarray(m.coef_)
    else:
        eye = np.eye(X.shape[1])
        W = np.asarray(m.decision_function(eye) - m.decision_function(0 * eye)).reshape(len(eye), -1).T
    return {"objective": C * float(-np.log(np.maximum(p, 1e-300)).sum()) + 0.5 * float((W * W).sum())}


def votes(m, X, y, C):
    """The classes of the nearest rows, told where another row is as near as the last of them: there either class is right."""
    rows = X[:500]
    squares = ((rows[:, None] - X[None]) ** 2).sum(2) if len(X) * X.shape[1] < 2e5 else np.array([((r - X) ** 2).sum(1) for r in rows])
    near = np.partition(squares, [4, min(5, len(X) - 1)], axis=1)
    tied = near[:, min(5, len(X) - 1)] <= near[:, 4] * (1 + 1e-9)
    return {"classes": np.where(tied, -1, np.searchsorted(m.classes_, m.predict(rows))).tolist()}


def eigenvalues(m, X, y, C):
    return {"values": np.asarray(m.eigenvalues_)[:10].tolist()}


def predict(m, X):
    return m.predict(X)


def transform(m, X):
    return m.transform(X)


# ---- Machines: (Mercer's, scikit-learn's), whether targets are classes, the most rows, what judges ----

Machine = collections.namedtuple("Machine", "mercer peer classes most judge predict", defaults=[predict])


def machines():
    import mercer as m
    from sklearn import decomposition, gaussian_process, kernel_ridge, linear_model, neighbors, svm
    from sklearn.gaussian_process.kernels import RBF

    def process(C, gamma):
        return gaussian_process.GaussianProcessRegressor(RBF((2 * gamma) ** -0.5, "fixed"), alpha=0.1, optimizer=None)

    return {
        "SVC": Machine(lambda C, g: m.SVC(C=C, gamma=g), lambda C, g: svm.SVC(C=C, gamma=g, cache_size=2000), True, 20000, slacks),
        "SVR": Machine(lambda C, g: m.SVR(C=C, gamma=g), lambda C, g: svm.SVR(C=C, gamma=g, cache_size=2000), False, 20000, tube),
        "NuSVC": Machine(lambda C, g: m.NuSVC(nu=0.1, gamma=g), lambda C, g: svm.NuSVC(nu=0.1, gamma=g, cache_size=2000), True, 5000, shape),
        "OneClassSVM": Machine(lambda C, g: m.OneClassSVM(nu=0.1, gamma=g), lambda C, g: svm.OneClassSVM(nu=0.1, gamma=g, cache_size=2000), False,
                               20000, shape),
        "KernelRidge": Machine(lambda C, g: m.KernelRidge(alpha=1 / C, kernel="rbf", gamma=g),
                               lambda C, g: kernel_ridge.KernelRidge(alpha=1 / C, kernel="rbf", gamma=g), False, 8000, predictions),
        "LogisticRegression": Machine(lambda C, g: m.KernelLogisticRegression(C=C, kernel="linear", tol=1e-4),
                                      lambda C, g: linear_model.LogisticRegression(C=C, max_iter=1000), True, 20000, logistic),
        "GaussianProcess": Machine(lambda C, g: m.GaussianProcessRegressor(f"rbf(gamma={g!r})", alpha=0.1, optimizer=None), process, False, 5000,
                                   predictions),
        "KernelPCA": Machine(lambda C, g: m.KernelPCA(10, kernel="rbf", gamma=g),
                             lambda C, g: decomposition.KernelPCA(10, kernel="rbf", gamma=g), False, 5000, eigenvalues, transform),
        "KNeighbors": Machine(lambda C, g: m.KernelKNeighborsClassifier(5, gamma=g), lambda C, g: neighbors.KNeighborsClassifier(5, n_jobs=-1), True,
                              20000, votes),
    }


# ---- One side of one problem, in a process of its own ----


def median_seconds(call):
    times = []
    while len(times) < 3 and not (times and times[-1] > SHORT):
        began = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - began)
    return statistics.median(times), answer


def measured(p, side):
    kind = MACHINES[p.machine]
    X, y, gamma, new = rows_of(p)
    make = getattr(kind, side)
    small = np.arange(min(p.n, max(3 * p.classes, 60)))
    kind.predict(make(p.C, gamma).fit(X[small], y[small]), new[:2])
    fit, model = median_seconds(lambda: make(p.C, gamma).fit(X, y))
    use, _ = median_seconds(lambda: kind.predict(model, new))
    model.gamma = gamma
    return {"fit": fit, "predict": use, **kind.judge(model, X, y, p.C)}


def in_child(p, side, limit):
    """What the side says of the problem; {"late": seconds} where it was stopped, {"failed": why} where it gave up."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            with mercer.options(threads=len(os.sched_getaffinity(0))):  # all of them, though a child of fork takes one by itself
                said = measured(p, side)
        except Exception as e:  # noqa: BLE001  whatever it is belongs in the table
            said = {"failed": f"{type(e).__name__}: {e}"[:200]}
        with os.fdopen(theirs, "w") as out:
            json.dump(said, out)
        os._exit(0)
    os.close(theirs)
    text, ends = b"", time.monotonic() + limit
    while select.select([ours], [], [], max(0, ends - time.monotonic()))[0]:
        part = os.read(ours, 1 << 20)
        if not part:
            break
        text += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(ours)
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text and not status else {"late": limit} if os.WIFSIGNALED(status) else {"failed": f"ended with {status}"}


def worth(ours, peer):
    if "objective" in ours and "objective" in peer:
        return (ours["objective"] - peer["objective"]) / max(abs(peer["objective"]), 1e-300)
    if "classes" in ours and "classes" in peer:
        return float(np.mean(np.array(ours["classes"]) != np.array(peer["classes"])))
    if "values" in ours and "values" in peer:
        a, b = np.array(ours["values"]), np.array(peer["values"])
        return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) if a.shape == b.shape else float("nan")
    return float("nan")


def compare(p, limit):
    peer = in_child(p, "peer", limit)
    ours = in_child(p, "mercer", limit)
    row = {**p._asdict(), "mercer_s": ours.get("fit"), "peer_s": peer.get("fit"), "worth": worth(ours, peer),
           "note": "; ".join(f"{who}: {said.get('failed') or 'stopped'}" for who, said in (("mercer", ours), ("peer", peer)) if "fit" not in said)}
    if "fit" in ours:
        row["ratio"] = peer.get("fit", peer.get("late", float("nan"))) / ours["fit"]
        row["predict_ratio"] = peer["predict"] / ours["predict"] if "fit" in peer else float("nan")
    elif "late" in ours and "fit" in peer:
        row["ratio"], row["predict_ratio"] = peer["fit"] / limit, float("nan")
    return row


# ---- Tables ----


def line(r):
    return (f"| {r['number']} | {r['machine']} | {r['kind']} | {r['n']} x {r['d']} | {r['classes']} | {r['C']:.3g} | {r['gamma']:.3g} | {r['noise']:.2f} "
            f"| {r['mercer_s'] or 0:.4f} | {r.get('ratio', float('nan')):.2f} | {r.get('predict_ratio', float('nan')):.2f} | {r['worth']:.1e} | {r['note']} |")


HEAD = ("| # | machine | rows are | n x d | classes | C | gamma (of the median's) | noise | Mercer, s | fit | predict | worth | |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|")


def quantiles(values):
    v = sorted(x for x in values if x == x)
    return "none" if not v else f"{v[0]:.2f} | {np.quantile(v, 0.1):.2f} | {np.quantile(v, 0.5):.2f} | {v[-1]:.1f}"


def summary(rows, seed):
    large, small = [r for r in rows if r["n"] >= LARGE], [r for r in rows if r["n"] < LARGE]
    lines = [f"{len(rows)} problems of seed {seed}: peer / Mercer", "", "| | problems | worst | tenth | median | best | slower |", "|---|---|---|---|---|---|---|"]
    parts = [("fits from 1000 rows on (bar 10)", large, "ratio"), ("fits below (bar 3)", small, "ratio"),
             ("predictions from 1000 rows on (bar 10)", large, "predict_ratio"), ("predictions below", small, "predict_ratio")]
    parts += [(f"fits of {name}", [r for r in rows if r["machine"] == name], "ratio") for name in MACHINES]
    for name, some, key in parts:
        values = [r.get(key, float("nan")) for r in some]
        lines.append(f"| {name} | {len(some)} | {quantiles(values)} | {sum(v < 1 for v in values)} |")
    worst = sorted((r for r in rows if r.get("ratio") == r.get("ratio")), key=lambda r: r.get("ratio", 0))[:10]
    doubtful = [r for r in rows if not abs(r["worth"]) < 0.01 and not (r["worth"] < 0)]
    return "\n".join([*lines, "", "The ten slowest beside the peer:", "", HEAD, *map(line, worst), "", "Answers that are worse, or differ, by over 1%:", "",
                      HEAD, *map(line, doubtful[:20])])


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default=str(BENCH.parent / "build/mercer"))
    words.add_argument("--problems", type=int, default=200)
    words.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    words.add_argument("--number", type=int, help="one problem of the seed")
    words.add_argument("--only", default="", help="machines, separated by commas")
    words.add_argument("--most", type=int, default=20000, help="rows")
    words.add_argument("--limit", type=float, default=60, help="seconds for either side of a problem")
    words.add_argument("--seconds", type=float, default=float("inf"), help="no new problem after so many")
    words.add_argument("--out", help="every problem as a row of CSV")
    said = words.parse_args()
    chosen = {k: v for k, v in MACHINES.items() if not said.only or k in said.only.split(",")}
    print(f"seed {said.seed}\n\n{HEAD}", flush=True)
    rows, began = [], time.monotonic()
    for number in [said.number] if said.number is not None else range(said.problems):
        if time.monotonic() - began > said.seconds:
            break
        rows.append(compare(draw(said.seed, number, chosen, said.most), said.limit))
        print(line(rows[-1]), flush=True)
    print("\n" + summary(rows, said.seed))
    if said.out:
        with open(said.out, "w", newline="") as out:
            table = csv.DictWriter(out, sorted({k for r in rows for k in r}))
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    place = next((w for w in sys.argv[1:] if not w.startswith("-") and pathlib.Path(w).exists()), str(BENCH.parent / "build/mercer"))
    sys.path.insert(0, str(pathlib.Path(place).resolve().parent / "python"))
    import mercer  # noqa: E402,F401  before NumPy: it asks OpenBLAS for what it reads when it is loaded
    import numpy as np  # noqa: E402

    import judge  # noqa: E402

    MACHINES = machines()
    main()
