"""Kernel principal components against scikit-learn's KernelPCA and plain eigenvectors of the centred Gram matrix."""
import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics.pairwise import rbf_kernel

n, m, d = 160, 40, 4
X, T = rng.normal(size=(n, d)) * [3, 2, 1, 0.5], rng.normal(size=(m, d)) * [3, 2, 1, 0.5]


def table(name, rows):
    np.savetxt(path(name), rows, delimiter=",", header=",".join(f"x{j}" for j in range(rows.shape[1])), comments="", fmt="%.17g")
    return path(name)


def fit(rows, kernel, k, *options):
    return mercer_json("fit", table("d.csv", rows), "-m", "pca", "-k", kernel, "--no-target", "--scale", "none", "--components", k, "-o",
                       path("m.mercer"), *options)


def scores(rows):
    mercer("predict", path("m.mercer"), table("t.csv", rows), "-o", path("p.csv"))
    with open(path("p.csv")) as file:
        assert file.readline().startswith("pc1,pc2"), "the columns are the components"
    return np.loadtxt(path("p.csv"), delimiter=",", skiprows=1)


def eigenvalues(report):
    return np.array([c["eigenvalue"] for c in report["components"]])


def kernel_pca():
    """Scores of training and new rows, eigenvalues; scikit-learn makes the largest entry of an eigenvector positive as well."""
    for text, options in {
        "rbf(gamma=0.1)": dict(kernel="rbf", gamma=0.1),
        "poly(degree=3, gamma=0.25, c=1)": dict(kernel="poly", degree=3, gamma=0.25, coef0=1),
        "linear": dict(kernel="linear"),
    }.items():
        for solver in "dense", "krylov":
            report = fit(X, text, 4, "--solver", solver, "--tolerance", "1e-13")
            model = KernelPCA(4, eigen_solver="dense", **options).fit(X)
            close(eigenvalues(report), model.eigenvalues_, 1e-10)
            for rows in X, T:
                ours, theirs = scores(rows), model.transform(rows)
                signs = np.sign((ours * theirs).sum(axis=0))
                close(ours * signs, theirs, 1e-8)


def plain_pca():
    """The linear kernel gives ordinary principal components; variances are eigenvalues over n - 1."""
    report = fit(X, "linear", 3)
    model = PCA(3, svd_solver="full").fit(X)
    close(eigenvalues(report) / (n - 1), model.explained_variance_, 1e-10)
    close([c["share"] for c in report["components"]], model.explained_variance_ratio_, 1e-10)
    close(np.abs(scores(T)), np.abs(model.transform(T)), 1e-9)


def certificate():
    """The bound of every component holds, and is the residual recomputed here."""
    big = rng.normal(size=(900, d))
    K = rbf_kernel(big, big, 0.3)
    H = np.eye(900) - 1 / 900
    M = H @ K @ H
    true = np.linalg.eigvalsh(M)[::-1]
    report = fit(big, "rbf(gamma=0.3)", 6, "--solver", "krylov", "--tolerance", "1e-4")
    values, bounds = eigenvalues(report), np.array([c["bound"] for c in report["components"]])
    assert report["certificate"]["residual_relative"] <= 1e-4, report["certificate"]
    assert (np.abs(values - true[:6]) <= bounds).all(), (values - true[:6], bounds)
    V = scores(big) / np.sqrt(values)
    V /= np.linalg.norm(V, axis=0)
    close(report["variance"], np.trace(M), 1e-10)
    assert np.linalg.norm(M @ V - V * values, axis=0).max() <= 1.5 * bounds.max() + 1e-9
    close(report["objective"], np.trace(M) - values.sum(), 1e-9)


def uncentred_and_weighted():
    w = rng.integers(0, 4, size=n).astype(float)
    np.savetxt(path("w.csv"), w, fmt="%.17g", header="w", comments="")
    repeated = np.repeat(X, w.astype(int), axis=0)
    for solver in "dense", "krylov":
        for center in True, False:
            options = ["--solver", solver, "--center" if center else "--no-center", "--tolerance", "1e-13"]
            once = fit(X, "rbf(gamma=0.1)", 3, "--weights", path("w.csv"), *options)
            a = scores(T)
            often = fit(repeated, "rbf(gamma=0.1)", 3, *options)
            b = scores(T)
            close(eigenvalues(once), eigenvalues(often), 1e-10)
            close(once["variance"], often["variance"], 1e-12)
            close(np.abs(a), np.abs(b), 1e-8)
    w = np.linalg.eigvalsh(rbf_kernel(repeated, repeated, 0.1))[::-1]
    close(eigenvalues(often), w[:3], 1e-10)


run({"KernelPCA": kernel_pca, "ordinary PCA": plain_pca, "the certificate": certificate,
     "uncentred, and weights as repetitions": uncentred_and_weighted})
