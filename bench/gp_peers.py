#!/usr/bin/env python3
"""gp_peers.py MERCER [--quick]: Gaussian process regression with one length scale per column, against scikit-learn and GPyTorch on the same rows.

Mercer and scikit-learn learn amplitude, length scales and noise by L-BFGS from the same start (unit length scales on standardised columns,
amplitude the variance of the target, noise a tenth of it), without restarts; the bounds of
scikit-learn's length scales are its own; GPyTorch by Adam as its tutorial shows for exact processes, 50 steps at a rate of 0.1 in its default
float, and with four times as many, for 50 do not bring it to the optimum; its Cholesky factorisation below 800 rows and its conjugate gradients
above left as they are, the target standardised. All on all cores with the same BLAS kernels (OPENBLAS_CORETYPE is set for all where OpenBLAS would fall back to old ones).

The evidence of every answer is computed anew from the parameters found, by one function in double (log N(y; 0, K + noise I), y less its mean), and so is the error on 1000 new rows.
Times are medians of three runs in turn; a peer that takes over 40 seconds is run once. Bar: at least 5 times faster than scikit-learn to an equal
or better evidence at n = 2000. --quick: n up to 500."""
import json
import os
import pathlib
import re
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import measure  # noqa: E402

STEPS = (50, 200)
NEW = 1000  # rows that nobody has seen
GPYTORCH = """
import json, os, sys, time, warnings
import numpy as np, torch, gpytorch
warnings.filterwarnings("ignore")
torch.set_num_threads(os.cpu_count())
rows = np.load(sys.argv[1])
X, y = torch.tensor(rows[:, :-1], dtype=torch.float), rows[:, -1]
mean, spread = y.mean(), y.std()
t = torch.tensor((y - mean) / spread, dtype=torch.float)

class Process(gpytorch.models.ExactGP):
    def __init__(self, X, t, likelihood):
        super().__init__(X, t, likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1]))
    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

began = time.time()
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(X, t, likelihood)
model.covar_module.outputscale, model.covar_module.base_kernel.lengthscale, likelihood.noise = 1.0, 1.0, 0.1
model.train(), likelihood.train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(int(sys.argv[2])):
    optimizer.zero_grad()
    loss = -objective(model(X), t)
    loss.backward()
    optimizer.step()
seconds = time.time() - began
k = model.covar_module
print(json.dumps([seconds, k.outputscale.item() * spread**2, k.base_kernel.lengthscale.detach().flatten().tolist(), likelihood.noise.item() * spread**2]))
"""


def friedman(n, d, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n + NEW, d))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=len(X))
    X = (X - X[:n].mean(0)) / X[:n].std(0)
    return X[:n], y[:n], X[n:], y[n:]


def evidence(X, y, amplitude, scales, noise):
    """The judge of all."""
    Z, t = X / np.asarray(scales), y - y.mean()
    squares = (Z**2).sum(1)
    K = amplitude * np.exp(-0.5 * np.maximum(squares[:, None] + squares - 2 * Z @ Z.T, 0)) + noise * np.eye(len(y))
    L = np.linalg.cholesky(K)
    return -0.5 * np.sum(np.linalg.solve(L, t) ** 2) - np.log(np.diag(L)).sum() - 0.5 * len(y) * np.log(2 * np.pi)


def rmse(X, y, T, t, amplitude, scales, noise):
    """Of the mean of the process on new rows, by one function for all."""
    A, B = X / np.asarray(scales), T / np.asarray(scales)
    K = amplitude * judge.gaussian(A, A, 0.5) + noise * np.eye(len(y))
    return np.sqrt(np.mean((y.mean() + amplitude * judge.gaussian(B, A, 0.5) @ np.linalg.solve(K, y - y.mean()) - t) ** 2))


def with_sklearn(X, y):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    v = y.var()
    kernel = ConstantKernel(v, (v * 1e-5, v * 1e5)) * RBF(np.ones(X.shape[1])) + WhiteKernel(0.1 * v, (1e-6 * v, 10 * v))
    began = time.time()
    found = GaussianProcessRegressor(kernel, alpha=0, n_restarts_optimizer=0).fit(X, y - y.mean()).kernel_
    return time.time() - began, found.k1.k1.constant_value, found.k1.k2.length_scale, found.k2.noise_level


def with_gpytorch(path, steps):
    return json.loads(measure.take([measure.PEERS / "torch" / "bin" / "python", "-c", GPYTORCH, path, steps]).out.splitlines()[-1])


def fit_command(mercer, path):
    return [mercer, "fit", path, "-m", "gp", "-k", "rbf(gamma=0.5)", "--ard", "--restarts", "0", "--scale", "none", "--target-kind", "number", "-o",
            path + ".mercer", "--json"]


def with_mercer(mercer, path):
    report = json.loads(measure.take(fit_command(mercer, path)).out)
    amplitude = re.match(r"([-+0-9.e]+)\*", report["kernel"])
    rates = np.array([float(v) for v in re.search(r"gamma=\[?([^\])]*)", report["kernel"])[1].split(",")])
    return report["seconds"]["fit"], float(amplitude[1]) if amplitude else 1.0, 1 / np.sqrt(2 * rates), report["lambda"]


def worse(value, best):
    return f"{value:.2f}" + (" (**worse**)" if value < best - 1e-6 * abs(best) else "")  # rounding of the sums


def row(mercer, folder, missed, n, d=8):
    X, y, T, t = friedman(n, d)
    path = os.path.join(folder, f"{n}.npy")
    np.save(path, np.column_stack([X, y]))
    steps = STEPS if measure.version_of(measure.PEERS / "torch" / "bin" / "python", "gpytorch") else ()
    runs = measure.in_turn(lambda: with_mercer(mercer, path), lambda: with_sklearn(X, y), *(lambda k=k: with_gpytorch(path, k) for k in steps))
    middle = [measure.median(r) for r in runs]
    seconds, values = zip(*((m[0], evidence(X, y, *m[1:])) for m in middle))
    errors = ", ".join(f"{rmse(X, y, T, t, *m[1:]):.4f}" for m in [middle[1], middle[0], *middle[2:]])
    good = seconds[1] >= 5 * seconds[0] and values[0] >= values[1] - 1e-6 * abs(values[1])
    verdict = missed.note(("met" if good else "**missed**") if n == 2000 else "", f"n = {n}", fit_command(mercer, path))
    torch = " | ".join(f"{t:.2f} | {worse(v, max(values[:2]))} | {t / seconds[0]:.1f}" for t, v in zip(seconds[2:], values[2:])) or "not installed | | | | |"
    print(f"| {n} | {d} | {seconds[1]:.2f} | {worse(values[1], values[0])} | {seconds[0]:.2f} | {worse(values[0], values[1])} | {seconds[1] / seconds[0]:.1f} "
          f"| {torch} | {errors} | {verdict} |", flush=True)


def main(mercer, sizes):
    print("| n | d | scikit-learn s | evidence | Mercer s | evidence | ratio | "
          + " | ".join(f"GPyTorch s, {k} steps | evidence | ratio to GPyTorch, {k} steps" for k in STEPS)
          + " | rmse on new rows, scikit-learn, Mercer, GPyTorch | bar |\n" + "|---" * 15 + "|")
    missed = measure.Missed()
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            row(mercer, folder, missed, n)
        missed.show()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer", (200, 500) if "--quick" in sys.argv else (500, 1000, 2000))
