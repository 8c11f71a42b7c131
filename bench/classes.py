#!/usr/bin/python3
"""classes.py [MERCER] [--problems 8] [--seed S] [--number I] [--most 20000] [--no-named] [--search] [--repeats 3]: many classes, against LIBSVM's svm-train
and svm-predict.

Three named problems (26 classes of 15,000 rows, 10 of 7,500, 100 of 4,000: clouds that overlap, the columns brought to 0..1) and then problems
that nobody chose, drawn anew at every run (the seed is printed; --number repeats one of them): 3 to 100 classes, 1,000 to 20,000 rows and 2
to 200 columns, all log-uniform, clouds from wide apart to one upon the other, classes of unequal size in a third, gamma around that of the
median distance times 0.1 to 10, C from 0.1 to 100.

Both sides are whole commands with a tolerance of 0.001: reading, fitting, writing; then reading, predicting, writing. svm-train is built for one
thread; its seconds and those of Mercer on one thread are the processor's, on all threads they are by the clock. Medians of --repeats turns (of one where
svm-train takes over 20 seconds). `other` counts the new rows that get another class; `exact` those of them that still do once both sides have
a tolerance a thousand times smaller: what two answers within the tolerance may differ by is not counted there.

--search: `mercer tune` over 8 gamma x 8 C x 5 folds of the second named problem instead. Points drawn at random from the grid are given to
`svm-train -v 5`; their mean times 64 is what LIBSVM's grid would take, with its standard error."""
import argparse
import pathlib
import random
import statistics
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402

NAMED = [("26 classes", 26, 15000, 16, 1.0, 4, 16), ("10 classes", 10, 7500, 16, 1.0, 2, 10), ("100 classes", 100, 4000, 16, 1.0, 4, 16)]
LONG, POINTS, NEW, CENTRES = 20.0, 6, 2000, 4
TOLERANCE, STRICT = "0.001", "0.000001"

# ---- Problems ----


def clouds(rng, k, n, d, apart, unequal=False):
    """Rows and classes, and new ones of the same clouds: of every class CENTRES, `apart` standard deviations wide."""
    share = rng.dirichlet(np.full(k, 1.5)) if unequal else np.full(k, 1 / k)
    centres = rng.normal(size=(k, CENTRES, d)) * apart
    y = rng.choice(k, n + NEW, p=share)
    y[:3 * k] = np.arange(3 * k) % k
    X = centres[y, rng.randint(CENTRES, size=n + NEW)] + rng.normal(size=(n + NEW, d))
    low, high = X[:n].min(0), X[:n].max(0)
    return (X - low) / (high - low), y


def log_uniform(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def drawn(seed, number, most):
    rng = np.random.RandomState([seed % 2**32, number])
    k, n, d = int(log_uniform(rng, 3, 101)), int(log_uniform(rng, 1000, most)), int(log_uniform(rng, 2, 201))
    apart = log_uniform(rng, 1, 20) / d**0.5
    X, y = clouds(rng, k, n, d, apart, rng.uniform() < 1 / 3)
    sample = X[:300]
    median = float(np.median(((sample[:, None] - sample[None]) ** 2).sum(2)))
    text = f"{number}: {k} classes, {apart:.2g} apart"
    return text, X, y, n, float(np.float32(log_uniform(rng, 0.1, 10) / median)), float(np.float32(log_uniform(rng, 0.1, 100)))


def named():
    for seed, (name, k, n, d, apart, gamma, C) in enumerate(NAMED):
        yield (name, *clouds(np.random.RandomState(seed), k, n, d, apart), n, gamma, C)


def write_rows(path, X, y):
    with open(path, "w") as out:
        for label, row in zip(y, X):
            out.write(f"{label} " + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(row, 1)) + "\n")


# ---- Both sides ----


def settings(gamma, C):
    return ["-m", "svc", "-k", f"rbf(gamma={gamma!r})", "--C", repr(C), "--scale", "none"]


def mercer_fit(mercer, folder, gamma, C, *more, tolerance=TOLERANCE):
    return measure.take([mercer, "fit", folder / "rows", *settings(gamma, C), "--tolerance", tolerance, "-o", folder / "m.mercer", "-q", *more])


def libsvm_fit(folder, gamma, C, tolerance=TOLERANCE):
    return measure.take(["svm-train", "-q", "-m", "4000", "-e", tolerance, "-g", repr(gamma), "-c", repr(C), folder / "rows", folder / "m.model"])


def mercer_predict(mercer, folder):
    return measure.take([mercer, "predict", folder / "m.mercer", folder / "new", "-o", folder / "ours.csv", "-q"])


def libsvm_predict(folder):
    return measure.take(["svm-predict", "-q", folder / "new", folder / "m.model", folder / "theirs"])


def turns(repeats, *sides):
    """Medians; one turn where the last side is long."""
    taken = [[] for _ in sides]
    while len(taken[-1]) < (1 if taken[-1] and taken[-1][0] > LONG else repeats):
        for side, own in zip(sides, taken):
            own.append(side())
    return [statistics.median(own) for own in taken]


def differing(folder):
    """New rows that get another class, from what both have written."""
    ours = [line.split(",")[0].strip('"') for line in open(folder / "ours.csv").read().split("\n")[1:] if line]
    return {i for i, (a, b) in enumerate(zip(ours, open(folder / "theirs").read().split(), strict=True)) if float(a) != float(b)}


def differing_exactly(mercer, folder, gamma, C, other):
    if not other:
        return 0
    mercer_fit(mercer, folder, gamma, C, tolerance=STRICT)
    libsvm_fit(folder, gamma, C, STRICT)
    mercer_predict(mercer, folder)
    libsvm_predict(folder)
    return len(other & differing(folder))


def row(mercer, repeats, text, X, y, n, gamma, C):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_rows(folder / "rows", X[:n], y[:n])
        write_rows(folder / "new", X[n:], y[n:])
        one, all_, theirs = turns(repeats, lambda: mercer_fit(mercer, folder, gamma, C, "--threads", 1).cpu,
                                  lambda: mercer_fit(mercer, folder, gamma, C).seconds, lambda: libsvm_fit(folder, gamma, C).cpu)
        ours, said = turns(repeats, lambda: mercer_predict(mercer, folder).seconds, lambda: libsvm_predict(folder).cpu)
        other = differing(folder)
        exact = differing_exactly(mercer, folder, gamma, C, other)
    print(f"| {text} | {n} x {X.shape[1]} | {gamma:.3g} | {C:.3g} | {one:.3f} | {all_:.3f} | {theirs:.2f} | {theirs / one:.1f} | {theirs / all_:.1f} "
          f"| {said / ours:.1f} | {len(other)} | {exact} |", flush=True)
    return theirs / all_


def search(mercer):
    text, X, y, n, _, _ = list(named())[1]
    gammas, costs = [0.1 * 2**i for i in range(8)], [0.1 * 4**i for i in range(8)]
    with tempfile.TemporaryDirectory() as name:
        rows = pathlib.Path(name) / "rows"
        write_rows(rows, X[:n], y[:n])
        command = ["tune", rows, "-m", "svc", "-k", f"rbf(gamma={gammas[0]}..{gammas[-1]})", "--C", f"{costs[0]}..{costs[-1]}", "--scale", "none",
                   "-o", rows.parent / "m.mercer", "--json"]
        report = sorted((measure.ask(mercer, *command)[0] for _ in range(measure.ROUNDS)), key=lambda r: r["seconds"]["search"])[1]
        points = random.Random(1).sample([(g, c) for g in gammas for c in costs], POINTS)
        taken = [measure.take(["svm-train", "-q", "-m", "4000", "-v", "5", "-g", g, "-c", c, rows]).cpu for g, c in points]
    ours, mean = report["seconds"]["search"], statistics.fmean(taken)
    error = statistics.stdev(taken) / POINTS**0.5
    print(f"{text}, {n} rows, {len(report['candidates'])} points x 5 folds: mercer tune {ours:.2f} s; svm-train -v 5 at {POINTS} points {mean:.2f} "
          f"+- {error:.2f} s each, times 64 {64 * mean:.0f} s; ratio {64 * mean / ours:.0f}")


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("mercer", nargs="?", default=str(measure.ROOT / "build/mercer"))
    ask.add_argument("--problems", type=int, default=8)
    ask.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    ask.add_argument("--number", type=int)
    ask.add_argument("--most", type=int, default=20000)
    ask.add_argument("--repeats", type=int, default=3)
    ask.add_argument("--no-named", action="store_true")
    ask.add_argument("--search", action="store_true")
    o = ask.parse_args()
    if o.search:
        return search(o.mercer)
    print(f"seed {o.seed}\n")
    head = "| problem | rows | gamma | C | Mercer, one thread, s | all | svm-train, s | ratio, one thread | all | predict | other | exact |"
    print(head + "\n" + "|---" * (head.count("|") - 1) + "|", flush=True)
    numbers = range(o.problems) if o.number is None else [o.number]
    problems = [] if o.no_named else list(named())
    ratios = [row(o.mercer, o.repeats, *p) for p in [*problems, *(drawn(o.seed, i, o.most) for i in numbers)]]
    print(f"\nratios of fits on all threads: median {statistics.median(ratios):.1f}, least {min(ratios):.1f}")


main()
