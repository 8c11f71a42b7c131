"""tune_svc.py: `mercer tune -m svc` over 8 gammas x 8 Cs x 5 folds beside LIBSVM's svm-train on the same points. LIBSVM would take hours, so
some of its fits, in a fixed random order over the grid and the folds, are timed until the budget is spent (a tenth of them at most) and their
mean is multiplied; the table says how many were timed. The figures are kept in build/tune_libsvm.json and taken from there the next time:
delete it to time them anew. LIBSVM runs on one thread; its time is the processor's, Mercer's that of the clock on all cores. Part of
tune_peers.py."""
import gzip
import json
import random
import resource
import shutil
import subprocess

import numpy as np

from measure import DATA, ROOT, ask


def a9a(target, rows):
    with gzip.open(DATA / "large/a9a.gz", "rt") as text, open(target, "w") as out:
        out.writelines(line for i, line in enumerate(text) if i < (rows or 10**9))


def mnist(target, rows):
    pixels = np.frombuffer(gzip.open(DATA / "mnist/train-images-idx3-ubyte.gz").read()[16:], np.uint8).reshape(-1, 784)
    labels = np.frombuffer(gzip.open(DATA / "mnist/train-labels-idx1-ubyte.gz").read()[8:], np.uint8)
    with open(target, "w") as out:
        for label, row in zip(labels[: rows or 10000], pixels):
            at = np.flatnonzero(row)
            out.write(f"{label} " + " ".join(f"{j + 1}:{v / 255:.6g}" for j, v in zip(at, row[at])) + "\n")


def child_seconds():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


CACHE = ROOT / "build" / "tune_libsvm.json"


def known_figures():
    return json.loads(CACHE.read_text()) if CACHE.exists() else {}


def keep(known):
    CACHE.parent.mkdir(exist_ok=True)
    CACHE.write_text(json.dumps(known, indent=0))


def fold_of(folder, lines, f):
    """The rows of a fold of LIBSVM left out, and the others."""
    for name, inside in (("fold.svm", False), ("left.svm", True)):
        with open(folder / name, "w") as out:
            out.writelines(line for i, line in enumerate(lines) if (i % 5 == f) == inside)


def libsvm_fit(folder, g, c):
    """Processor seconds of one fit, as cross-validation would make it."""
    before = child_seconds()
    subprocess.run(["svm-train", "-q", "-m", "4000", "-g", str(g), "-c", str(c), str(folder / "fold.svm"), str(folder / "fold.model")], check=True)
    return child_seconds() - before


def libsvm_right(folder):
    """The share of the rows left out that the model just fitted has right."""
    said = subprocess.run(["svm-predict", str(folder / "left.svm"), str(folder / "fold.model"), str(folder / "said")], check=True,
                          capture_output=True, text=True).stdout
    return float(said.split("=")[1].split("%")[0]) / 100


def libsvm_fits(folder, name, lines, points, budget):
    """(seconds of the fits timed, how many, of how many): a tenth at most, fewer where the budget ends."""
    fits = [(g, c, f) for g, c in points for f in range(5)]
    random.Random(1).shuffle(fits)
    known = known_figures()
    spent, count, anew = 0.0, 0, 0.0
    for g, c, f in fits[: len(fits) // 10]:
        key = f"{name} {len(lines)} {g:.6g} {c:.6g} {f}"
        if key not in known:
            if anew > budget:
                break
            fold_of(folder, lines, f)
            known[key] = libsvm_fit(folder, g, c)
            anew += known[key]
            keep(known)
        spent, count = spent + known[key], count + 1
    return spent, count, len(fits)


def libsvm_accuracy(folder, name, lines, point, known):
    """Mean and standard error over five folds; kept as the figures of time are."""
    right = []
    for f in range(5):
        key = f"right {name} {len(lines)} {point[0]:.6g} {point[1]:.6g} {f}"
        if key not in known:
            fold_of(folder, lines, f)
            libsvm_fit(folder, *point)
            known[key] = libsvm_right(folder)
            keep(known)
        right.append(known[key])
    return float(np.mean(right)), float(np.std(right, ddof=1) / 5**0.5)


def winner(folder, name, lines, points, best, budget):
    """What LIBSVM says of Mercer's winner and, while the budget lasts, of its neighbours on the grid."""
    gammas, costs = sorted({g for g, _ in points}), sorted({c for _, c in points})
    i, j = gammas.index(points[best][0]), costs.index(points[best][1])
    near = [(i, j), (i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    known, found, began = known_figures(), [], child_seconds()
    for a, b in near:
        if not (0 <= a < len(gammas) and 0 <= b < len(costs)) or (found and child_seconds() - began > budget):
            continue
        found.append(libsvm_accuracy(folder, name, lines, (gammas[a], costs[b]), known))
    top = max(found)
    verdict = "the same winner within one standard error" if found[0][0] >= top[0] - top[1] else "another winner"
    return (f"{name}: LIBSVM's own folds give Mercer's winner (gamma {gammas[i]:.4g}, C {costs[j]:.4g}) {found[0][0]:.4f} +- {found[0][1]:.4f} and "
            f"the best of {len(found) - 1} neighbours measured {top[0]:.4f}: {verdict}.")


def main(mercer, folder, full, budget):
    print("| rows | candidates x folds | Mercer, s | best accuracy | fits of LIBSVM timed | LIBSVM, extrapolated, s | ratio |\n|---|---|---|---|---|---|---|")
    notes = []
    for name, write, gammas, few in (("a9a", a9a, (2**-12, 2**2), 8000), ("MNIST", mnist, (2**-12, 2**-1), 4000)):
        write(folder / "rows.svm", None if full else few)
        lines = open(folder / "rows.svm").readlines()
        report, _ = ask(mercer, "tune", folder / "rows.svm", "-m", "svc", "-k", f"rbf(gamma={gammas[0]}..{gammas[1]})", "--C", "0.1..1000",
                        "--scale", "none", "-o", folder / "m.mercer", "--json")
        seconds = report["seconds"]["search"]
        points = [(float(c["kernel"].split("=")[1].rstrip(")")), float(c["settings"].split("=")[1])) for c in report["candidates"]]
        best = report["candidates"][report["best"]]
        timed, theirs, ratio = "not installed", "", ""
        if shutil.which("svm-train"):
            spent, count, total = libsvm_fits(folder, name, lines, points, budget)
            theirs, timed = f"{spent / count * total:.0f}", f"{count} of {total}, {spent:.0f} s"
            ratio = f"{spent / count * total / seconds:.0f}"
            notes.append(winner(folder, name, lines, points, report["best"], budget))
        print(f"| {name}, {len(lines)} | 64 x 5 | {seconds:.1f} | {best['score']:.4f} +- {best['standard_error']:.4f} | {timed} | {theirs} | {ratio} |",
              flush=True)
    print("\n" + "\n".join(notes) + "\n")
