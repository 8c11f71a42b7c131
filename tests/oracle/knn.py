"""Nearest neighbours against scikit-learn: brute force, and precomputed distances in feature space."""
import csv

import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

n, m, d = 150, 60, 3
X, T = rng.normal(size=(n, d)), rng.normal(size=(m, d))
y = np.sin(X[:, 0]) + X[:, 1]
c = np.array(["ash", "birch", "cedar"])[(X[:, 0] > 0).astype(int) + (X[:, 1] + X[:, 2] > 0.5)]


def table(name, rows, target=None):
    with open(path(name), "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{j}" for j in range(rows.shape[1])] + (["y"] if target is not None else []))
        for i, row in enumerate(rows):
            out.writerow([repr(float(v)) for v in row] + ([target[i]] if target is not None else []))
    return path(name)


def predict(target, kernel, *options):
    report = mercer_json("fit", table("d.csv", X, target), "-m", "knn", "-k", kernel, "--scale", "none", "-o", path("m.mercer"), *options)
    assert report["machine"] == "knn" and report["certificate"] == {"kind": "exact"}, report
    mercer("predict", path("m.mercer"), table("t.csv", T), "-o", path("p.csv"))
    with open(path("p.csv")) as file:
        return [row[0] for row in csv.reader(file)][1:]


def euclidean():
    """The distance of the linear kernel is Euclid's."""
    for weighting in "uniform", "distance":
        for k in 1, 5, n:
            options = "--neighbors", k, "--weighting", weighting
            model = KNeighborsRegressor(k, weights=weighting, algorithm="brute").fit(X, y)
            close(np.array(predict(y, "linear", *options), float), model.predict(T), 1e-9)
            model = KNeighborsClassifier(k, weights=weighting, algorithm="brute").fit(X, c)
            assert predict(c, "linear", *options) == list(model.predict(T)), (weighting, k)


def feature_space():
    """Distances from the Gram matrices, handed over precomputed."""
    for text, kernel in {
        "rbf(gamma=0.7)": lambda a, b: rbf_kernel(a, b, 0.7),
        "poly(degree=2, gamma=1, c=1)": lambda a, b: polynomial_kernel(a, b, 2, 1, 1),
    }.items():
        own = lambda a: np.diag(kernel(a, a))
        D = lambda a, b: np.sqrt(np.maximum(own(a)[:, None] + own(b)[None, :] - 2 * kernel(a, b), 0))
        between, across = D(X, X), D(T, X)
        np.fill_diagonal(between, 0)
        for weighting in "uniform", "distance":
            model = KNeighborsRegressor(7, weights=weighting, metric="precomputed").fit(between, y)
            close(np.array(predict(y, text, "--neighbors", 7, "--weighting", weighting), float), model.predict(across), 1e-9)
            model = KNeighborsClassifier(7, weights=weighting, metric="precomputed").fit(between, c)
            assert predict(c, text, "--neighbors", 7, "--weighting", weighting) == list(model.predict(across)), (text, weighting)


def shares():
    """The decision values are scikit-learn's predict_proba."""
    predict(c, "linear", "--neighbors", 6)
    mercer("predict", path("m.mercer"), path("t.csv"), "--decision", "-o", path("p.csv"))
    with open(path("p.csv")) as file:
        values = [row[1:] for row in csv.reader(file)][1:]
    close(np.array(values, float), KNeighborsClassifier(6, algorithm="brute").fit(X, c).predict_proba(T), 1e-12)


run({"Euclid's distance, as KNeighbors": euclidean, "distances in feature space": feature_space, "shares of votes": shares})
