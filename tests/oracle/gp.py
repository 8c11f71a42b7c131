"""Gaussian processes against scikit-learn: evidence, mean, standard deviation, and the optimum of the evidence."""
import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

n, d = 80, 3
X, T = rng.normal(size=(n, d)), rng.normal(size=(20, d))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=n)


def table(name, *columns):
    M = np.column_stack(columns)
    np.savetxt(path(name), M, delimiter=",", header=",".join(f"c{i}" for i in range(M.shape[1])), comments="", fmt="%.17g")
    return path(name)


def fit(kernel, *options):
    return mercer_json("fit", table("d.csv", X, y), "-m", "gp", "-k", kernel, "--scale", "none", "--no-intercept", "-o",
                       path("m.mercer"), *options)


def predict():
    mercer("predict", path("m.mercer"), table("t.csv", T), "--std", "-o", path("p.csv"))
    return np.loadtxt(path("p.csv"), delimiter=",", skiprows=1).T


def fixed():
    for text, kernel in {
        "1.7*rbf(sigma=0.8)": 1.7 * RBF(0.8),
        "0.9*matern(nu=1.5, length_scale=[1, 2, 3])": 0.9 * Matern([1, 2, 3], nu=1.5),
    }.items():
        report = fit(text, "--no-learn", "--noise", "0.02")
        model = GaussianProcessRegressor(kernel, alpha=0.02, optimizer=None).fit(X, y)
        close(report["log_evidence"], model.log_marginal_likelihood_value_, 1e-10)
        mean, std = model.predict(T, return_std=True)
        ours = predict()
        close(ours[0], mean, 1e-8)
        close(ours[1], std, 1e-7)


def learned():
    report = fit("rbf(gamma=0.5)", "--ard")
    kernel = ConstantKernel(1.0) * RBF(np.ones(d)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=3, random_state=0).fit(X, y)
    theirs = model.log_marginal_likelihood_value_
    assert report["log_evidence"] >= theirs - 1e-3, f"{report['log_evidence']} below {theirs}"


run({
    "evidence, mean and std equal scikit-learn's at given parameters": fixed,
    "the search reaches scikit-learn's optimum or better": learned,
})
