"""tune_svc.py: `mercer tune -m svc` over 8 gammas x 8 Cs x 5 folds beside LIBSVM's svm-train on the same points; part of tune_peers.py.

LIBSVM would take hours, so some of its fits, in a fixed random order over the grid and the folds, are timed until the budget is spent (a
tenth of them at most); their mean is multiplied, and its standard error goes with it. They are taken in turn with Mercer's searches: a third of
the budget after each of three, or all of it after one where a search takes minutes. The figures are kept (keep.py). What is not counted of
LIBSVM's: predicting the rows left out, and the reading of the file for grid.py's next point. Its cache is as large as it likes. LIBSVM is built
for one thread, its time is the processor's; grid.py can run a worker on each core, so a second ratio grants it that without any loss.

Quality: the accuracy of Mercer's winner on LIBSVM's own folds (every fifth row) by svm-train and svm-predict, beside that of its neighbours
on the grid while the budget lasts. Bars, set for all rows: 100 times as fast, the same winner within one standard error."""
import concurrent.futures
import gzip
import os
import random
import shutil
import sys

import keep
import measure
import numpy as np
from measure import DATA, ROOT

PLACE = ROOT / "build" / "tune_peers"
FOLDS, BAR, ENOUGH = 5, 100, 100  # ENOUGH: seconds of searches, after which there is no further one


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


SETS = [("a9a", a9a, (2**-12, 2**2), 8000), ("MNIST", mnist, (2**-12, 2**-1), 4000)]  # name, writer, gammas, rows always searched


def progress(text):
    print(text, file=sys.stderr, flush=True)


# ---- LIBSVM ----


class Libsvm:
    """Its fits of one file, fold by fold; every figure is kept."""

    def __init__(self, folder, name, points):
        self.folder, self.name = folder, name
        self.lines = open(folder / "rows.svm").readlines()
        self.key = [measure.debian("libsvm-tools"), measure.digest(folder / "rows.svm")]
        self.fits = [(g, c, f) for g, c in points for f in range(FOLDS)]
        random.Random(1).shuffle(self.fits)
        self.timed, self.anew, self.accuracies = [], 0.0, {}

    def fold(self, f):
        """The files of a fold: the rows to learn from, and those left out."""
        paths = [self.folder / f"{name}{f}.svm" for name in ("fold", "left")]
        for path, inside in zip(paths, (False, True)):
            if not path.exists():
                with open(path, "w") as out:
                    out.writelines(line for i, line in enumerate(self.lines) if (i % FOLDS == f) == inside)
        return paths

    def fit(self, g, c, f):
        """As cross-validation would make it; its processor seconds."""
        train, _ = self.fold(f)
        taken = measure.take(["svm-train", "-q", "-m", "4000", "-g", g, "-c", c, train, self.folder / f"{f}.model"])
        progress(f"svm-train, {self.name}, gamma {g:.3g}, C {c:.3g}, fold {f}: {taken.cpu:.1f} s")
        return taken.cpu

    def right(self, g, c, f):
        """The share of the rows left out that a fit to the others has right."""
        self.fit(g, c, f)
        _, left = self.fold(f)
        said = measure.take(["svm-predict", left, self.folder / f"{f}.model", self.folder / f"{f}.said"]).out
        return float(said.split("=")[1].split("%")[0]) / 100

    def time(self, budget):
        """Some more of the fits, until so many seconds are spent or a tenth of them is timed."""
        for fit in self.fits[len(self.timed): len(self.fits) // 10]:
            figure = keep.kept(PLACE, ["seconds", *self.key, *fit], lambda: self.fit(*fit), run=self.anew < budget)
            if not figure:
                return
            self.timed.append(figure)
            self.anew += figure.result if figure.fresh else 0

    def accuracy(self, g, c, run=True):
        """Mean and standard error over the folds, which are fitted side by side: nobody times them. run False: None where they are not kept."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            right = list(pool.map(lambda f: keep.kept(PLACE, ["right", *self.key, g, c, f], lambda: self.right(g, c, f), run), range(FOLDS)))
        if not all(right):
            return None
        return float(np.mean([r.result for r in right])), float(np.std([r.result for r in right], ddof=1) / FOLDS**0.5)

    def check(self, points, best, budget):
        """(accuracy of the winner, its neighbours' best, how many of them, whether it is within one standard error)"""
        gammas, costs = sorted({g for g, _ in points}), sorted({c for _, c in points})
        i, j = gammas.index(points[best][0]), costs.index(points[best][1])
        found, began = [self.accuracy(*points[best])], measure.child_seconds()
        for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if 0 <= a < len(gammas) and 0 <= b < len(costs):
                found += filter(None, [self.accuracy(gammas[a], costs[b], measure.child_seconds() - began < budget)])
        top = max(found)
        return found[0], top, len(found) - 1, found[0][0] >= top[0] - top[1]


# ---- The table ----

HEAD = ("| rows | candidates x folds | Mercer, s | runs | fits of LIBSVM timed | LIBSVM, extrapolated, s | ratio | ratio to LIBSVM with a worker a core "
        "| best accuracy | the winner by LIBSVM's folds | the best of it and its neighbours there | bar |")


def search_command(mercer, folder, gammas):
    return [mercer, "tune", folder / "rows.svm", "-m", "svc", "-k", f"rbf(gamma={gammas[0]}..{gammas[1]})", "--C", "0.1..1000", "--scale", "none",
            "-o", folder / "m.mercer", "--json"]


def points_of(report):
    return [(float(c["kernel"].split("=")[1].rstrip(")")), float(c["settings"].split("=")[1])) for c in report["candidates"]]


def in_turn(command, folder, name, budget):
    """The reports of Mercer's searches, and LIBSVM with fits timed in between; None where it is not installed."""
    reports, theirs = [], None
    for r in range(measure.ROUNDS):
        if sum(x["seconds"]["search"] for x in reports) < ENOUGH:
            reports.append(measure.ask(*command)[0])
            progress(f"mercer, {name}: {reports[-1]['seconds']['search']:.1f} s")
        if shutil.which("svm-train"):
            theirs = theirs or Libsvm(folder, name, points_of(reports[0]))
            theirs.time(budget * (r + 1) / measure.ROUNDS)
    return sorted(reports, key=lambda x: x["seconds"]["search"]), theirs


def row(mercer, folder, missed, name, gammas, budget):
    command = search_command(mercer, folder, gammas)
    reports, libsvm = in_turn(command, folder, name, budget)
    report = reports[(len(reports) - 1) // 2]
    seconds, best = report["seconds"]["search"], report["candidates"][report["best"]]
    ours = f"| 64 x {FOLDS} | {seconds:.1f} | {len(reports)} |"
    score = f"{best['score']:.4f} +- {best['standard_error']:.4f}"
    if not libsvm:
        return f"{ours} not installed | | | | {score} | | | |", ""
    if not libsvm.timed:
        return f"{ours} none: the budget is spent | | | | {score} | | | |", ""
    taken = [keep.seconds(f) for f in libsvm.timed]
    whole, error = keep.extrapolated(taken, len(libsvm.fits))
    winner, top, near, same = libsvm.check(points_of(report), report["best"], budget)
    wrong = [text for bad, text in ((whole < BAR * seconds, f"below {BAR}"), (not same, "another winner")) if bad]
    verdict = missed.note("**missed**: " + ", ".join(wrong) if wrong else "met", f"the search on {name}", command)
    return (f"{ours} {len(taken)} of {len(libsvm.fits)}, {sum(taken):.0f} s | {whole:.0f} +- {error:.0f} | {whole / seconds:.0f} "
            f"| {whole / seconds / os.cpu_count():.0f} | {score} | {winner[0]:.4f} +- {winner[1]:.4f} | {top[0]:.4f}, {near} measured "
            f"| {verdict} |"), f"{name}: {keep.summary(libsvm.timed)}" if keep.summary(libsvm.timed) else ""


def main(mercer, folder, full, budget):
    """full: the names of the sets that are searched with all rows too; of fewer a tenth of LIBSVM's fits takes minutes."""
    print(HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|", flush=True)
    missed, notes = measure.Missed(), []
    searches = [(*s[:3], rows) for s in SETS for rows in ((s[3], None) if s[0] in full else (s[3],))]
    for name, write, gammas, rows in searches:
        place = folder / f"{name}{rows}"
        place.mkdir()
        write(place / "rows.svm", rows)
        count = sum(1 for _ in open(place / "rows.svm"))
        cells, note = row(mercer, place, missed, f"{name}, {count} rows", gammas, budget)
        print(f"| {name}, {count} {cells}", flush=True)
        notes += [note] if note else []
    print("\n" + "\n".join([*notes, "" if len(full) == len(SETS) else "The bars are set for all rows, 32561 and 10000 (`--full`)."]))
    missed.show()
    print()
