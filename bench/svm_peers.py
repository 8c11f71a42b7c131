#!/usr/bin/env python3
"""svm_peers.py MERCER [--quick] [--only NAME,...] [--kept] [--no-sklearn] [--fill PEER,... [--anew]] [--memory SIZE]: support vector classification
against LIBSVM's programs, scikit-learn's SVC, that of the newest scikit-learn, and that of scikit-learn-intelex, where they are installed: the
same rows from the same file, the same C, gamma and tolerance.

Times are of whole commands: reading the rows, learning, writing the model; and reading, predicting, writing. Of every SVC they are of fit
alone, beside Mercer's learning, and of predict beside Mercer's whole command. LIBSVM and SVC run on one thread, so their time is the
processor's, which a busy machine does not change; Mercer's and that of scikit-learn-intelex, which takes all cores, are by the clock; one column
has Mercer on one thread too. gamma is rounded to single precision for all: some builds of svm-train read it so.

All sides take turns, medians of three. A peer that takes over 40 seconds to fit and predict is run once, and what it took is kept in build/svm_peers
and taken from there the next time (keep.py: with the speed of the machine then, never to its disadvantage); --kept takes the shorter ones from
there too. Where LIBSVM is not short SVC would take as long again and is not timed: `--fill sklearn,newest --only a9a,covtype` does that, and
nothing else, with --anew where something is kept too; --no-sklearn shows what is kept of every SVC and times none.

scikit-learn-intelex wants a newer scikit-learn than Debian's, so it is looked for in an environment of its own, which `make peers` makes.

Objectives and gaps are recomputed by judge.py from the coefficients of all. What svm-train itself prints is a dual added up from kernel values in
single precision: at a large C it can be above the primal objective of the same problem, which no dual is.

The floor of a fit is the kernel entries that any method makes once, rows times support vectors, at this engine's own rate: the seconds in which
the model, in a process that has it in memory, predicts the rows it was fitted to (the best of three, all cores). Beside it stands how many times
as long Mercer's learning takes; the aim is 2.

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


def accuracy(test, predicted):
    truth = [float(line.split(None, 1)[0]) for line in open(test)]
    return float(np.mean([float(p) == t for p, t in zip(predicted, truth, strict=True)]))


def libsvm_once(train, test, C, gamma):
    model, out = PLACE / "libsvm.model", PLACE / "libsvm.out"
    fit = measure.take(["svm-train", "-q", "-c", C, "-g", repr(gamma), "-e", "0.001", "-m", CACHE_MB, train, model])
    predict = measure.take(["svm-predict", test, model, out])
    return {"fit": fit.cpu, "predict": predict.cpu, "memory": fit.bytes, "accuracy": accuracy(test, open(out).read().split())}


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
step = max(1, len(y) // 500)
SVC(C=C, gamma=gamma).fit(X[::step], y[::step])  # libraries loaded, threads started
began = clock()
model = SVC(C=C, gamma=gamma, tol=1e-3, cache_size=cache).fit(X, y)
fitted = clock()
right = float((model.predict(T) == t).mean())
result = {"fit": fitted - began, "predict": clock() - fitted, "accuracy": right}
c, S = (np.asarray(a.todense() if hasattr(a, "todense") else a) for a in (model.dual_coef_, model.support_vectors_))
result["dual"] = judge.dual(S, judge.pairs(c.T, model.n_support_), gamma)  # of two classes the signs are turned, which changes nothing
print(json.dumps(result))
"""
FLOOR = """
import sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np
import mercer
from sklearn.datasets import load_svmlight_file
X = load_svmlight_file(sys.argv[3])[0]
if X.nnz > 0.1 * X.shape[0] * X.shape[1]:
    X = X.toarray()
model, times = mercer.Model.load(sys.argv[2]), []
for _ in range(3):
    began = time.perf_counter()
    model.predict(X)
    times.append(time.perf_counter() - began)
print(min(times))
"""
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
ALONE = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
NEW = str(PEERS / "sklearn" / "bin" / "python")
SVC = {  # the module, its package, the Python that has it, and its environment
    "sklearn": ("sklearn", "scikit-learn", PYTHON, ALONE),
    "newest": ("sklearn", "scikit-learn", NEW, ALONE),
    "sklearnex": ("sklearnex", "scikit-learn-intelex", NEW, dict(os.environ)),
}


def svc_once(peer, train, test, C, gamma):
    module, _, python, environment = SVC[peer]
    return json.loads(measure.take([python, "-c", SKLEARN, train, test, C, repr(gamma), CACHE_MB, module, BENCH], env=environment).out)


def once(peer, *problem):
    return libsvm_once(*problem) if peer == "libsvm" else svc_once(peer, *problem)


def key_of(peer):
    """What names the peer among the figures that are kept, or None where it is not installed."""
    if peer == "libsvm":
        return ["libsvm", measure.debian("libsvm-tools") or "unknown"]
    module, package, python, _ = SVC[peer]
    version = measure.version_of(python, package).get(package)
    return version and [module, version]


def first(peer, train, test, C, gamma, run=True, anew=False):
    """Its figure, kept or made now; None where it is not installed, or nothing is kept and it shall not run."""
    def work():
        found = once(peer, train, test, C, gamma)
        return dict(found, judged=judged(PLACE / "libsvm.model", train, C, gamma)) if peer == "libsvm" else found
    key = key_of(peer)
    return key and keep.kept(PLACE, [*key, measure.digest(train), measure.digest(test), C, gamma, CACHE_MB], work, run, anew)


def fit_command(arguments, train, C, gamma):
    return [arguments.mercer, "fit", train, "-m", "svc", "-k", f"rbf(gamma={gamma!r})", "--C", C, "--tolerance", "0.001", "--scale", "none",
            "--memory", arguments.memory, "-o", PLACE / "mercer.mercer", "--json"]


def with_mercer(arguments, train, test, C, gamma, *more):
    out = PLACE / "mercer.csv"
    fit = measure.take([*fit_command(arguments, train, C, gamma), *more])
    report = json.loads(fit.out)
    predict = measure.take([arguments.mercer, "predict", PLACE / "mercer.mercer", test, "-o", out, "-q", *more])
    return {"fit": fit.seconds, "inside": report["seconds"]["fit"], "predict": predict.seconds, "memory": fit.bytes,
            "accuracy": accuracy(test, open(out).read().split()[1:])}


def floor(arguments, train):
    """The seconds of the kernel entries between the rows and the vectors of Mercer's last model."""
    package = pathlib.Path(arguments.mercer).resolve().parent / "python"
    return float(measure.take([PYTHON, "-c", FLOOR, package, PLACE / "mercer.mercer", train]).out)


def medians(runs):
    """Of every time; the rest is the same in all runs."""
    return dict(runs[0], **{key: statistics.median(r[key] for r in runs) for key in ("fit", "predict", "inside") if key in runs[0]})


def now(figure):
    """A result with the seconds that it would take now at most."""
    return figure and dict(figure.result, **{key: keep.seconds(figure, key) for key in ("fit", "predict")})


def again(arguments, figure):
    """Whether a peer is short enough to be run in turn with Mercer."""
    return figure and figure.result["fit"] + figure.result["predict"] <= measure.LONG and not arguments.kept


def measured(arguments, *problem):
    """({peer: its figure, where it is not run in turn}, {peer: its result}, Mercer's on all cores, Mercer's on one)"""
    figures = {"libsvm": first("libsvm", *problem)}
    for peer in SVC:
        figures[peer] = first(peer, *problem, run=not arguments.no_sklearn and (peer == "sklearnex" or figures["libsvm"].result["fit"] <= measure.LONG))
    short = [peer for peer, f in figures.items() if again(arguments, f) and not (arguments.no_sklearn and peer in SVC)]
    runs, ours, alone = {peer: [figures[peer].result] if figures[peer].fresh else [] for peer in short}, [], []
    for r in range(measure.ROUNDS):
        for peer in short:
            runs[peer] += [once(peer, *problem)] if len(runs[peer]) <= r else []
        alone.append(with_mercer(arguments, *problem, "--threads", 1))
        ours.append(with_mercer(arguments, *problem))
    results = {peer: dict(f.result, **medians(runs[peer])) if peer in short else now(f) for peer, f in figures.items()}
    old = {peer: f for peer, f in figures.items() if peer not in short}
    return old, results, dict(medians(ours), floor=floor(arguments, problem[0]), judged=judged(exported(arguments), problem[0], *problem[2:])), medians(alone)


# ---- The table ----

HEAD = ("| rows | n | LIBSVM fit s | Mercer fit s | ratio | floor s, learning / floor | LIBSVM predict s | Mercer predict s | ratio | fit, predict: the same with Mercer on one thread "
        "| SVC fit, predict: ratios | the same of the newest scikit-learn | the same with scikit-learn-intelex | dual behind LIBSVM's "
        "| relative gap, LIBSVM, Mercer | accuracy, LIBSVM, Mercer | memory, LIBSVM, Mercer GB | bars |")


def ratios(svc, ours):
    return (svc["fit"] / ours["inside"], svc["predict"] / ours["predict"]) if svc else (float("inf"), float("inf"))


def said(peer, svc, ours):
    if not svc:
        return "not timed" if key_of(peer) else "not installed"
    best = ours["judged"]["dual"]
    behind = (best - svc["dual"]) / best if "dual" in svc else None
    return "{:.1f}, {:.1f}".format(*ratios(svc, ours)) + (" (not judged)" if behind is None else f" (**worse** by {behind:.0e})" if behind > 1e-5 else "")


def verdict(ours, peers, behind, limit, bars):
    theirs, svc, intelex = peers["libsvm"], peers["sklearn"], peers["sklearnex"]
    missed = [text for bad, text in (
        (ratios(svc, ours)[0] < bars[0], f"fit below {bars[0]} of SVC"), (ratios(svc, ours)[1] < bars[1], f"predict below {bars[1]} of SVC"),
        (min(ratios(intelex, ours)) < 2, "below 2 of scikit-learn-intelex"),
        (theirs["fit"] / ours["fit"] < bars[0], f"fit below {bars[0]}"),
        (theirs["predict"] / ours["predict"] < bars[1], f"predict below {bars[1]}"),
        (behind > 1e-6, "dual"), (abs(ours["accuracy"] - theirs["accuracy"]) > 1e-3, "accuracy"), (ours["memory"] > limit, "memory")) if bad]
    return "**missed**: " + ", ".join(missed) if missed else "met"


def row(arguments, missed, name, stem, write, C, gamma, *bars):
    train, test = rows_of(stem, write, 3000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    old, peers, ours, alone = measured(arguments, train, test, C, gamma)
    theirs, limit = peers["libsvm"], float(arguments.memory[:-1]) * 2**30
    behind = (theirs["judged"]["dual"] - ours["judged"]["dual"]) / ours["judged"]["dual"]
    result = "" if arguments.quick else missed.note(verdict(ours, peers, behind, limit, bars), name, fit_command(arguments, train, C, gamma))
    was_kept = "libsvm" in old and not old["libsvm"].fresh
    print(f"| {name} | {sum(1 for _ in open(train))} | {theirs['fit']:.1f}{' (kept)' if was_kept else ''} | {ours['fit']:.2f} ({ours['inside']:.2f} learning) "
          f"| {theirs['fit'] / ours['fit']:.1f} | {ours['floor']:.3f}, {ours['inside'] / ours['floor']:.1f} | {theirs['predict']:.1f} | {ours['predict']:.2f} | {theirs['predict'] / ours['predict']:.1f} "
          f"| {theirs['fit'] / alone['fit']:.1f}, {theirs['predict'] / alone['predict']:.1f} | {' | '.join(said(peer, peers[peer], ours) for peer in SVC)} "
          f"| {behind:.1e}{' (**worse**)' if behind > 1e-6 else ''} | {theirs['judged']['gap']:.1e}, {ours['judged']['gap']:.1e} "
          f"| {theirs['accuracy']:.4f}, {ours['accuracy']:.4f} "
          f"| {theirs['memory'] / 1e9:.1f}, {ours['memory'] / 1e9:.1f} of {limit / 1e9:.1f} "
          f"| {result} |", flush=True)
    return list(old.values())


def fill(arguments, missed, name, stem, write, C, gamma, *bars):
    """The peers named, where nothing is kept of them or they shall be timed anew."""
    train, test = rows_of(stem, write, 3000 if arguments.quick else None)
    gamma = float(np.float32(gamma))
    for peer in arguments.fill.split(","):
        figure = first(peer, train, test, C, gamma, anew=arguments.anew)
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
    parser.add_argument("--kept", action="store_true", help="what is kept of the peers, also where they are short")
    parser.add_argument("--no-sklearn", action="store_true", help="of every SVC what is kept, nothing new")
    parser.add_argument("--fill", help="time these peers alone: libsvm,sklearn,newest,sklearnex")
    parser.add_argument("--anew", action="store_true", help="with --fill: also what is kept of them")
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
