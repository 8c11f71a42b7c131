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


def noise_of_each_row():
    """Known variances in a column against scikit-learn's alpha of one number per row."""
    v = rng.uniform(0.01, 0.5, size=n)
    data = table("v.csv", X, v, y)
    report = mercer_json("fit", data, "-m", "gp", "-k", "1.7*rbf(sigma=0.8)", "--no-learn", "--noise-column", f"c{d}", "--scale", "none",
                         "--no-intercept", "-o", path("m.mercer"))
    model = GaussianProcessRegressor(1.7 * RBF(0.8), alpha=v, optimizer=None).fit(X, y)
    close(report["log_evidence"], model.log_marginal_likelihood_value_, 1e-10)
    close(predict(), np.array(model.predict(T, return_std=True)), 1e-7)


def no_noise():
    """Noise 0 interpolates: the mean at the rows is the target, without uncertainty."""
    report = fit("2*exponential(gamma=0.7)", "--no-learn", "--noise", "0")
    model = GaussianProcessRegressor(2 * Matern(1 / 0.7, nu=0.5), alpha=0, optimizer=None).fit(X, y)
    close(report["log_evidence"], model.log_marginal_likelihood_value_, 1e-9)
    mercer("predict", path("m.mercer"), table("x.csv", X), "--std", "-o", path("p.csv"))
    mean, std = np.loadtxt(path("p.csv"), delimiter=",", skiprows=1).T
    close(mean, y, 1e-9)
    assert std.min() >= 0 and std.max() < 1e-5, f"deviations {std.min()} to {std.max()}"


def left_out_density():
    """The mean log density of rows left out against n refits."""
    report = fit("1.7*rbf(sigma=0.8)", "--no-learn", "--noise", "0.05")
    density = 0
    for i in range(n):
        rest = np.arange(n) != i
        model = GaussianProcessRegressor(1.7 * RBF(0.8), alpha=0.05, optimizer=None).fit(X[rest], y[rest])
        mean, std = model.predict(X[i:i + 1], return_std=True)
        variance = std[0] ** 2 + 0.05
        density -= 0.5 * (np.log(2 * np.pi * variance) + (y[i] - mean[0]) ** 2 / variance) / n
    close(report["loo_log_density"], density, 1e-9)


def samples():
    """Many functions drawn by the command have scikit-learn's mean and covariance; the seed decides."""
    fit("1.7*rbf(sigma=0.8)", "--no-learn", "--noise", "0.05")
    draw = lambda seed: mercer("predict", path("m.mercer"), table("t.csv", T), "--samples", "4000", "--seed", seed)
    text = draw(1)
    assert text == draw(1) and text != draw(2)
    drawn = np.loadtxt(text.splitlines()[1:], delimiter=",")[:, 1:]
    mean, cov = GaussianProcessRegressor(1.7 * RBF(0.8), alpha=0.05, optimizer=None).fit(X, y).predict(T, return_cov=True)
    scale = np.sqrt(np.diag(cov))
    assert np.abs((drawn.mean(1) - mean) / scale).max() < 5 / np.sqrt(4000)
    assert np.abs((np.cov(drawn) - cov) / np.outer(scale, scale)).max() < 8 / np.sqrt(4000)


run({
    "evidence, mean and std equal scikit-learn's at given parameters": fixed,
    "noise of each row equals scikit-learn's": noise_of_each_row,
    "without noise the rows are interpolated": no_noise,
    "the density of rows left out equals refits": left_out_density,
    "samples have scikit-learn's mean and covariance": samples,
    "the search reaches scikit-learn's optimum or better": learned,
})
