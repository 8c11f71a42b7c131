#!/usr/bin/env python3
"""svm_peers.py MERCER [--quick] [--only NAME,...] [--kept] [--no-sklearn] [--fill PEER,...] [--memory SIZE]: support vector classification
against LIBSVM's programs, scikit-learn's SVC, that of the newest scikit-learn, and that of scikit-learn-intelex, where they are installed: the
same rows from the same file, the same C, gamma and tolerance.

Times are of whole commands: reading the rows, learning, writing the model; and reading, predicting, writing. Of the two SVC they are of fit
alone, beside Mercer's learning, and of predict beside Mercer's whole command. LIBSVM and SVC run on one thread, so their time is the
processor's, which a busy machine does not change; Mercer's and that of scikit-learn-intelex, which takes all cores, are by the clock.
Mercer's times are medians of three runs; where LIBSVM takes under 40 seconds so are its own, in turn with Mercer's. Longer ones need most of
an hour, SVC about as long: what they took once is kept in build/svm_peers and taken from there the next time (keep.py: with the speed of the
machine then, never to their disadvantage); --kept takes the shorter ones of LIBSVM from there too. SVC is timed where LIBSVM is short and nothing is kept of it; `--fill
sklearn,newest,sklearnex --only a9a,covtype` times those peers elsewhere, and nothing else; --no-sklearn shows what is kept and times no SVC.
gamma is rounded to single precision for all: some builds of svm-train read it so.

scikit-learn-intelex wants a newer scikit-learn than Debian's, so it is looked for in an environment of its own, which `make peers` makes.

Objectives and gaps are recomputed by judge.py from the model files of both. svm-train prints a dual that it has added up from kernel values
in single precision: at a large C it can be above the primal objective of the same problem, which no dual is. It counts only for a kept run whose
model was not judged, and only where it is not ahead of ours by more than the bar: there the fit is made again and judged.

The second table is the path along C: 12 values in one command against the most expensive of them alone; the bar is 3."""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import statistics
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import keep  # noqa: E402
import measure  # noqa: E402
from measure import DATA, PEERS, ROOT  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent
PLACE = ROOT / "build" / "svm_peers"
CACHE_MB = "4000"  # of kernel rows that the peers may keep

# ---- Rows, as LIBSVM text in PLACE ----


def unpack(source, target, rows=None):
    with gzip.open(source, "rt") as text, open(target, "w") as out:
        for i, line in enumerate(text):
            if rows is None or i < rows:
                out.write(line)


def write_rows(path, labels, X, scale=1.0):
    text = {}
    with open(path, "w") as out:
        for label, row in zip(labels, X):
            at = np.flatnonzero(row)
            out.write(f"{label} " + " ".join(f"{j + 1}:{text.setdefault(v, repr(v / scale))}" for j, v in zip(at, row[at].tolist())) + "\n")


def packed(name, tests=True):
    def write(train, test, rows):
        unpack(DATA / "large" / f"{name}.gz", train, rows)
        unpack(DATA / "large" / (f"{name}.t.gz" if tests else f"{name}.gz"), test, rows)
    return write


def covtype(train, test, rows):
    table = np.loadtxt(gzip.open(DATA / "large/covtype_93k.csv.gz"), delimiter=",", skiprows=1, max_rows=None if rows is None else 2 * rows)
    X, y = table[:, :54], np.where(table[:, 54] == 2, "1", "-1")
    n = 50000 if rows is None else rows
    write_rows(train, y[:n], X[:n])
    write_rows(test, y[n:], X[n:])


def mnist(train, test, rows):
    for path, stem in ((train, "train"), (test, "t10k")):
        images = np.frombuffer(gzip.open(DATA / "mnist" / f"{stem}-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 784)
        labels = np.frombuffer(gzip.open(DATA / "mnist" / f"{stem}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
        write_rows(path, labels[:rows], images[:rows], 255.0)


# name, writer, C, gamma, the bars on training and prediction
TABLE = [
    ("a9a, C = 1", "a9a", packed("a9a"), 1, 1 / 123, 20, 20),
    ("a9a, C = 100", "a9a", packed("a9a"), 100, 1 / 123, 20, 20),
    ("ijcnn1", "ijcnn1", packed("ijcnn1"), 10, 1, 20, 30),
    ("w8a (predicts its own rows)", "w8a", packed("w8a", tests=False), 1, 0.05, 10, 10),
    ("covtype, 2 against the rest", "covtype", covtype, 10, 1, 20, 30),
    ("mnist", "mnist", mnist, 5, 0.02, 20, 30),
]


def rows_of(stem, write, rows):
    base = PLACE / (stem if rows is None else f"{stem}_{rows}")
    train, test = base.with_suffix(".train"), base.with_suffix(".test")
    if not (train.exists() and test.exists()):
        write(base.with_suffix(".part"), base.with_suffix(".part2"), rows)
        base.with_suffix(".part").rename(train)
        base.with_suffix(".part2").rename(test)
    return train, test


# ---- Commands and what they take ----


def kept(key, work, run=True):
    return keep.kept(PLACE, key, work, run)


def accuracy(test, predicted):
    truth = [float(line.split(None, 1)[0]) for line in open(test)]
    return float(np.mean([float(p) == t for p, t in zip(predicted, truth, strict=True)]))


def version_of_libsvm():
    return measure.debian("libsvm-tools") or "unknown"


def libsvm_once(train, test, C, gamma):
    model, out = PLACE / "libsvm.model", PLACE / "libsvm.out"
    fit = measure.take(["svm-train", "-c", C, "-g", repr(gamma), "-e", "0.001", "-m", CACHE_MB, train, model])
    predict = measure.take(["svm-predict", test, model, out])
    dual = -sum(float(line.split()[2].rstrip(",")) for line in fit.out.splitlines() if line.startswith("obj = "))
    return {"fit": fit.cpu, "predict": predict.cpu, "dual": dual, "memory": fit.bytes, "accuracy": accuracy(test, open(out).read().split())}


def with_libsvm(train, test, C, gamma):
    work = lambda: dict(libsvm_once(train, test, C, gamma), judged=judged(PLACE / "libsvm.model", train, C, gamma))  # noqa: E731
    return kept(["libsvm", version_of_libsvm(), measure.digest(train), measure.digest(test), C, gamma, CACHE_MB], work)


def rows_and_labels(path):
    from sklearn.datasets import load_svmlight_file
    X, y = load_svmlight_file(str(path))
    return X.toarray(), y


def judged(model, train, C, gamma):
    """What judge.py says of a model."""
    X, y = rows_and_labels(train)
    return judge.vector_machine(model, X, y, C, gamma)


def exported(arguments):
    """Mercer's last model as LIBSVM writes them."""
    path = PLACE / "exported.model"
    measure.take([arguments.mercer, "export", PLACE / "mercer.mercer", "--to", "libsvm", "-o", path, "-q"])
    return path


def judged_anew(train, C, gamma):
    """The same of a fit made for it: models are not kept."""
    def work():
        model = PLACE / "exact.model"
        measure.take(["svm-train", "-q", "-c", C, "-g", repr(gamma), "-e", "0.001", "-m", CACHE_MB, train, model])
        return judged(model, train, C, gamma)
    return kept(["judged", version_of_libsvm(), measure.digest(train), C, gamma], work).result


SKLEARN = """
import sys, time, json
import numpy as np
from sklearn.datasets import load_svmlight_files
train, test, C, gamma, cache, module = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]), sys.argv[6]
sys.path.insert(0, sys.argv[7])
import judge
if module == "sklearnex":
    from sklearnex.svm import SVC
    clock = time.perf_counter
else:
    from sklearn.svm import SVC
    clock = time.process_time
X, y, T, t = load_svmlight_files([train, test])
if X.nnz > 0.1 * X.shape[0] * X.shape[1]:
    X, T = X.toarray(), T.toarray()  # the faster of its two ways
else:
    for rows in X, T:  # newer versions refuse other indices, which their own reader makes
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
began = clock()
model = SVC(C=C, gamma=gamma, tol=1e-3, cache_size=cache).fit(X, y)
fitted = clock()
right = float((model.predict(T) == t).mean())
result = {"fit": fitted - began, "predict": clock() - fitted, "accuracy": right}
if len(model.classes_) == 2:
    c, S = (np.asarray(a.todense() if hasattr(a, "todense") else a) for a in (model.dual_coef_, model.support_vectors_))
    result["dual"] = judge.dual(S, c[0], gamma)
print(json.dumps(result))
"""
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
ALONE = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
NEW = str(PEERS / "sklearn" / "bin" / "python")
SVC = {  # the module, its package, the Python that has it, and its environment
    "sklearn": ("sklearn", "scikit-learn", PYTHON, ALONE),
    "newest": ("sklearn", "scikit-learn", NEW, ALONE),
    "sklearnex": ("sklearnex", "scikit-learn-intelex", NEW, dict(os.environ)),
}


def with_svc(peer, train, test, C, gamma, run=True):
    """None where it is not installed, or nothing is kept and it shall not run."""
    module, package, python, environment = SVC[peer]
    version = measure.version_of(python, package).get(package)
    if not version:
        return None
    return kept([module, version, measure.digest(train), measure.digest(test), C, gamma, CACHE_MB],
                lambda: json.loads(measure.take([python, "-c", SKLEARN, train, test, C, repr(gamma), CACHE_MB, module, BENCH], env=environment).out), run)


def fit_command(arguments, train, C, gamma):
    return [arguments.mercer, "fit", train, "-m", "svc", "-k", f"rbf(gamma={gamma!r})", "--C", C, "--tolerance", "0.001", "--scale", "none",
            "--memory", arguments.memory, "-o", PLACE / "mercer.mercer", "--json"]


def with_mercer(arguments, train, test, C, gamma):
    out = PLACE / "mercer.csv"
    fit = measure.take(fit_command(arguments, train, C, gamma))
    report = json.loads(fit.out)
    predict = measure.take([arguments.mercer, "predict", PLACE / "mercer.mercer", test, "-o", out, "-q"])
    return {"fit": fit.seconds, "inside": report["seconds"]["fit"], "predict": predict.seconds, "memory": fit.bytes,
            "accuracy": accuracy(test, open(out).read().split()[1:])}


def medians(runs):
    """Of every time; the rest is the same in all runs."""
    return dict(runs[0], **{key: statistics.median(r[key] for r in runs) for key in ("fit", "predict", "inside") if key in runs[0]})


def now(figure):
    """A result with the seconds that it would take now at most."""
    return figure and dict(figure.result, **{key: keep.seconds(figure, key) for key in ("fit", "predict")})


def both(arguments, train, test, C, gamma):
    """LIBSVM's result, the figure if it is a kept one, and Mercer's result."""
    figure = with_libsvm(train, test, C, gamma)
    again = figure.result["fit"] <= measure.LONG and not arguments.kept
    runs = [(libsvm_once(train, test, C, gamma) if again else now(figure), with_mercer(arguments, train, test, C, gamma)) for _ in range(measure.ROUNDS)]
    theirs, ours = (medians(side) for side in zip(*runs))
    theirs["judged"] = judged(PLACE / "libsvm.model", train, C, gamma) if again else figure.result.get("judged")
    return theirs, None if again or figure.fresh else figure, dict(ours, judged=judged(exported(arguments), train, C, gamma))


# ---- The table ----

HEAD = ("| rows | n | LIBSVM fit s | Mercer fit s | ratio | LIBSVM predict s | Mercer predict s | ratio | SVC fit, predict: ratios "
        "| the same of the newest scikit-learn | the same with scikit-learn-intelex | dual behind LIBSVM's "
        "| relative gap, LIBSVM, Mercer | accuracy, LIBSVM, Mercer | memory, LIBSVM, Mercer GB | bars |")


def ratios(svc, ours):
    return (svc["fit"] / ours["inside"], svc["predict"] / ours["predict"]) if svc else (float("inf"), float("inf"))


def said(svc, ours):
    if not svc:
        return "not installed, or not timed"
    best = ours["judged"]["dual"]
    behind = (best - svc["dual"]) / best if "dual" in svc else 0
    return "{:.1f}, {:.1f}".format(*ratios(svc, ours)) + (f" (its dual is worse by {behind:.0e})" if behind > 1e-5 else "")


def verdict(ours, theirs, svc, intelex, behind, limit, bars):
    missed = [text for bad, text in (
        (ratios(svc, ours)[0] < bars[0], f"fit below {bars[0]} of SVC"), (ratios(svc, ours)[1] < bars[1], f"predict below {bars[1]} of SVC"),
        (min(ratios(intelex, ours)) < 2, "below 2 of scikit-learn-intelex"),
        (theirs["fit"] / ours["fit"] < bars[0], f"fit below {bars[0]}"),
        (theirs["predict"] / ours["predict"] < bars[1], f"predict below {bars[1]}"),
        (behind > 1e-6, "dual"), (abs(ours["accuracy"] - theirs["accuracy"]) > 1e-3, "accuracy"), (ours["memory"] > limit, "memory")) if bad]
    return "**missed**: " + ", ".join(missed) if missed else "met"


def against(train, C, gamma, theirs, ours):
    """(how far our dual is behind, relative; both gaps). LIBSVM's own figure stands in where its model was not judged and is not ahead."""
    best, verdict = ours["judged"]["dual"], theirs["judged"]
    if not verdict and theirs["dual"] - best > 1e-6 * best:
        verdict = judged_anew(train, C, gamma)
    gap = f"{verdict['gap']:.1e}" if verdict else "not known"
    return ((verdict or theirs)["dual"] - best) / best, f"{gap}, {ours['judged']['gap']:.1e}"


def row(arguments, missed, name, stem, write, C, gamma, *bars):
    train, test = rows_of(stem, write, 3000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    theirs, was_kept, ours = both(arguments, train, test, C, gamma)
    short = theirs["fit"] <= measure.LONG and not arguments.no_sklearn
    figures = [with_svc(peer, train, test, C, gamma, short) for peer in SVC]
    svc, newest, intelex = map(now, figures)
    behind, gaps = against(train, C, gamma, theirs, ours)
    limit = float(arguments.memory[:-1]) * 2**30
    n = sum(1 for _ in open(train))
    result = missed.note(verdict(ours, theirs, svc, intelex, behind, limit, bars), name, fit_command(arguments, train, C, gamma))
    print(f"| {name} | {n} | {theirs['fit']:.1f}{' (kept)' if was_kept else ''} | {ours['fit']:.2f} ({ours['inside']:.2f} learning) "
          f"| {theirs['fit'] / ours['fit']:.1f} | {theirs['predict']:.1f} | {ours['predict']:.2f} | {theirs['predict'] / ours['predict']:.1f} "
          f"| {said(svc, ours)} | {said(newest, ours)} | {said(intelex, ours)} "
          f"| {behind:.1e} | {gaps} | {theirs['accuracy']:.4f}, {ours['accuracy']:.4f} "
          f"| {theirs['memory'] / 1e9:.1f}, {ours['memory'] / 1e9:.1f} of {limit / 1e9:.1f} "
          f"| {result} |", flush=True)
    return [was_kept, *figures]


def fill(arguments, missed, name, stem, write, C, gamma, *bars):
    """The peers named, where nothing is kept of them."""
    train, test = rows_of(stem, write, 3000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    for peer in arguments.fill.split(","):
        figure = with_libsvm(train, test, C, gamma) if peer == "libsvm" else with_svc(peer, train, test, C, gamma)
        print(f"{peer}, {name}: " + ("fit {fit:.2f} s, predict {predict:.2f} s".format(**figure.result) + ("" if figure.fresh else " (kept)") if figure
                                     else "not installed"), flush=True)


PATH = [2.0 ** k for k in range(-5, 7)]


def path(arguments, missed, name, stem, write, rows, gamma):
    """One command for 12 values of C, and each of them alone; medians of three in turn, by the clock."""
    train, _ = rows_of(stem, write, rows)
    common = ["-m", "svc", "-k", f"rbf(gamma={gamma!r})", "--tolerance", "0.001", "--scale", "none", "--memory", arguments.memory]
    fit = [arguments.mercer, "fit", train, *common, "-o", PLACE / "mercer.mercer", "-q"]
    command = [arguments.mercer, "path", train, *common, "--C", ",".join(map(repr, PATH)), "-q"]
    *fits, paths = measure.in_turn(*(lambda c=c: measure.take(c) for c in [*([*fit, "--C", C] for C in PATH), command]))
    alone, whole = max(measure.median(runs).seconds for runs in fits), measure.median(paths).seconds
    verdict = missed.note("met" if whole <= 3 * alone else "**missed**: above 3", f"the path of {name}", command)
    print(f"| {name} | {sum(1 for _ in open(train))} | {len(PATH)} | {alone:.3f} | {whole:.3f} | {whole / alone:.2f} "
          f"| {verdict} |", flush=True)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--quick", action="store_true", help="3000 rows of each; the bars are for all rows")
    parser.add_argument("--only", help="rows whose file is named so: a9a,mnist")
    parser.add_argument("--kept", action="store_true", help="of LIBSVM what is kept, also where it is short")
    parser.add_argument("--no-sklearn", action="store_true", help="of SVC what is kept, nothing new")
    parser.add_argument("--fill", help="time these peers alone: libsvm,sklearn,newest,sklearnex")
    parser.add_argument("--memory", default="16G")
    return parser


def main():
    arguments = options().parse_args()
    missed = measure.Missed()
    PLACE.mkdir(parents=True, exist_ok=True)
    if not shutil.which("svm-train"):
        print("skipped: no svm-train here; install libsvm-tools")
        return
    if not arguments.fill:
        print(HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|")
    figures = []
    for line in TABLE:
        if arguments.only and line[1] not in arguments.only.split(","):
            continue
        try:
            figures += (fill if arguments.fill else row)(arguments, missed, *line) or []
        except OSError as missing:
            print(f"| {line[0]} | skipped: {missing} |", flush=True)
    if arguments.fill:
        return
    print("\n" + keep.summary(figures))
    missed.show()
    print("\n| path along C | n | values | most expensive fit alone s | path s | ratio | bar |\n" + "|---" * 7 + "|")
    try:
        for rows in (3000,) if arguments.quick else (3000, None):
            for name, gamma in (("a9a", 1 / 123), ("ijcnn1", 1.0)):
                if not arguments.only or name in arguments.only.split(","):
                    path(arguments, missed, name + (", its first rows" if rows else ""), name, packed(name), rows, gamma)
    except OSError as missing:
        print(f"| path | skipped: {missing} |", flush=True)
    missed.show()


if __name__ == "__main__":
    main()
