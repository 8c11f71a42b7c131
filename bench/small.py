#!/usr/bin/env python3
"""small.py [COMMAND] [--only svc,ridge] [--rows 20,100,300,1000] [--rounds 50]: what small fits and predictions take in C, in Python and in
scikit-learn, for every machine, in microseconds (medians; ten columns, all threads; predictions are of as many rows).

    /usr/bin/python3 bench/small.py build/mercer

C is bench/b_small of the same build: parse, fit with its certificate, free. allocations: calls of the memory hook of one such fit."""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BAR_C, BAR_PYTHON, BAR_ROWS = 100, 250, 100  # microseconds for a fit of a hundred rows


def machines():
    """name: (classes or numbers, kernel and settings of C, Mercer's estimator, scikit-learn's); None where there is none. scikit-learn's
    quantiles have a penalty of another form: its seconds stand for a problem of the same size."""
    from sklearn import decomposition, gaussian_process, kernel_ridge, linear_model, neighbors, svm
    from sklearn.gaussian_process.kernels import RBF
    rbf, g = "rbf(gamma=0.1)", {"gamma": 0.1}
    process = gaussian_process.GaussianProcessRegressor(RBF(5 ** 0.5, "fixed"), alpha=0.1, optimizer=None)
    return {
        "ridge": ("number", rbf, ["lambda=1", "intercept=no"], mercer.KernelRidge(kernel="rbf", **g), kernel_ridge.KernelRidge(kernel="rbf", **g)),
        "gp": ("number", rbf, ["noise=0.1", "learn=no", "intercept=no"],
               mercer.GaussianProcessRegressor(rbf, alpha=0.1, optimizer=None), process),
        "pca": ("number", rbf, ["components=10"], mercer.KernelPCA(10, kernel="rbf", **g), decomposition.KernelPCA(10, kernel="rbf", **g)),
        "svc": ("class", rbf, [], mercer.SVC(**g), svm.SVC(**g)),
        "svr": ("number", rbf, ["C=10"], mercer.SVR(C=10, **g), svm.SVR(C=10, **g)),
        "nu-svc": ("class", rbf, ["nu=0.5"], mercer.NuSVC(**g), svm.NuSVC(**g)),
        "nu-svr": ("number", rbf, ["nu=0.5"], mercer.NuSVR(**g), svm.NuSVR(**g)),
        "one-class": ("number", rbf, ["nu=0.5"], mercer.OneClassSVM(**g), svm.OneClassSVM(**g)),
        "logistic": ("class", "linear", ["lambda=1"], mercer.KernelLogisticRegression(kernel="linear", tol=1e-4), linear_model.LogisticRegression()),
        "huber": ("number", "linear", ["lambda=1"], mercer.KernelHuberRegressor(kernel="linear"), linear_model.HuberRegressor(alpha=1.0)),
        "quantile": ("number", "linear", ["lambda=1"], mercer.KernelQuantileRegressor(kernel="linear"),
                     linear_model.QuantileRegressor(alpha=0.01, solver="highs")),
        "lms": ("number", rbf, [], None, None),
        "knn": ("class", "linear", ["neighbors=5"], mercer.KernelKNeighborsClassifier(5, kernel="linear"), neighbors.KNeighborsClassifier(5)),
    }


def rows_of(n, kind):
    rng = np.random.RandomState(n)
    X = rng.normal(size=(n, 10))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.1 * rng.normal(size=n)
    return X, (y > 0).astype(int) if kind == "class" else y


def medians(call, rounds):
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times)


def in_python(estimator, X, y, rounds):
    if estimator is None:
        return float("nan"), float("nan")
    use = estimator.predict if hasattr(estimator, "predict") else estimator.transform
    return medians(lambda: estimator.fit(X, y), rounds), medians(lambda: use(X), rounds)


def in_c(program, X, y, words, rounds):
    kind, kernel, settings, name = words
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        np.savetxt(file.name, np.column_stack([X, y]), delimiter=",", fmt="%.17g")
        done = subprocess.run([program, file.name, kind, str(rounds), name, kernel, *settings], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(x) for x in done.stdout.split(",")]


def row(name, n, parts, program, rounds):
    kind, kernel, settings, ours, theirs = parts
    X, y = rows_of(n, kind)
    fit_c, predict_c, allocations = in_c(program, X, y, (kind, kernel, settings, name), rounds)
    (fit, predict), (peer_fit, peer_predict) = in_python(ours, X, y, rounds), in_python(theirs, X, y, rounds)
    print(f"| {name} | {n} | {fit_c:.0f} | {fit:.0f} | {peer_fit:.0f} | {peer_fit / fit:.1f} | {allocations:.0f} "
          f"| {predict_c:.0f} | {predict:.0f} | {peer_predict:.0f} | {peer_predict / predict:.1f} |", flush=True)
    return n != BAR_ROWS or not (fit_c > BAR_C or fit > BAR_PYTHON)


def across(rounds):
    """cross_val_score of SVC on 300 rows."""
    from sklearn import model_selection, svm
    X, y = rows_of(300, "class")
    ours, theirs = (medians(lambda: model_selection.cross_val_score(e, X, y), rounds) for e in (mercer.SVC(gamma=0.1), svm.SVC(gamma=0.1)))
    print(f"\ncross_val_score of SVC, 300 rows, five folds: {ours:.0f} and scikit-learn's {theirs:.0f}: {theirs / ours:.1f} times")


def main(said):
    program = str(pathlib.Path(said.mercer).resolve().parent / "bench/b_small")
    print("| machine | rows | fit: C | Python | scikit-learn | ratio | allocations | predict: C | Python | scikit-learn | ratio |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|")
    table = {k: v for k, v in machines().items() if not said.only or k in said.only.split(",")}
    missed = [name for name, parts in table.items() for n in map(int, said.rows.split(",")) if not row(name, n, parts, program, said.rounds)]
    print(f"\nfits of {BAR_ROWS} rows within {BAR_C} microseconds in C and {BAR_PYTHON} in Python: all but {', '.join(missed) or 'none'}")
    across(max(said.rounds // 3, 3))


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default="build/mercer")
    words.add_argument("--only", default="")
    words.add_argument("--rows", default="20,100,300,1000")
    words.add_argument("--rounds", type=int, default=50)
    options = words.parse_args()
    sys.path.insert(0, str(pathlib.Path(options.mercer).resolve().parent / "python"))
    import mercer  # noqa: E402  before NumPy: it asks OpenBLAS for what it reads when it is loaded
    import numpy as np  # noqa: E402

    main(options)
