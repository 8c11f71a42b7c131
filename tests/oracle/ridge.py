"""Ridge against scikit-learn's KernelRidge, closed forms in NumPy, and the certificate recomputed from the raw rows."""
import json
import subprocess

import numpy as np
from oracle import MERCER, close, mercer, mercer_json, path, rng, run
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.metrics.pairwise import rbf_kernel

n, d = 120, 4
X, T = rng.normal(size=(n, d)), rng.normal(size=(40, d))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)
Y = np.column_stack([y, np.cos(X[:, 3]) - y**2])
K, KT = rbf_kernel(X, X, 0.3), rbf_kernel(T, X, 0.3)


def table(name, *columns):
    names = [f"c{i + 1}" for i in range(sum(np.atleast_2d(c.T).shape[0] for c in columns))]
    np.savetxt(path(name), np.column_stack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    return path(name)


def fit(data, *options, kernel="rbf(gamma=0.3)"):
    return mercer_json("fit", data, "-m", "ridge", "-k", kernel, "--scale", "none", "-o", path("m.mercer"), *options)


def predict(rows):
    mercer("predict", path("m.mercer"), table("t.csv", rows), "-o", path("p.csv"))
    return np.loadtxt(path("p.csv"), delimiter=",", skiprows=1)


def kernel_ridge():
    for kernel, options in {
        "rbf(gamma=0.3)": dict(kernel="rbf", gamma=0.3),
        "laplacian(gamma=0.2)": dict(kernel="laplacian", gamma=0.2),
        "poly(degree=3, gamma=0.25, c=1)": dict(kernel="poly", degree=3, gamma=0.25, coef0=1),
        "linear": dict(kernel="linear"),
    }.items():
        fit(table("d.csv", X, y), "--lambda", "0.05", "--no-intercept", kernel=kernel)
        close(predict(T), KernelRidge(alpha=0.05, **options).fit(X, y).predict(T), 1e-8)


def several_outputs():
    fit(table("d.csv", X, Y), "--lambda", "0.1", "--no-intercept", "--target", "c5,c6")
    close(predict(T), KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3).fit(X, Y).predict(T), 1e-8)


def weights():
    w = rng.uniform(0.2, 3, size=n)
    np.savetxt(path("w.csv"), w, fmt="%.17g", header="w", comments="")
    fit(table("d.csv", X, y), "--lambda", "0.1", "--no-intercept", "--weights", path("w.csv"))
    close(predict(T), KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3).fit(X, y, sample_weight=w).predict(T), 1e-8)


def bordered(lam):
    """The unpenalised intercept by the bordered system."""
    A = np.block([[K + lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(A, np.append(y, 0))
    return solution[:n], solution[n]


def intercept():
    fit(table("d.csv", X, y), "--lambda", "0.1", "--intercept")
    alpha, b = bordered(0.1)
    close(predict(T), KT @ alpha + b, 1e-8)


def conditionally_positive():
    """Coefficients that sum to zero need no kernel: the bordered system of the function as it is written."""
    root = {"power(p=1.5)": lambda r: -r**1.5, "log(length_scale=2) - 3": lambda r: -np.log(1 + r**2 / 4) - 3,
            "multiquadric(c=0.7) + 0.5*power": lambda r: -np.sqrt(0.49 + r**2) - 0.5 * r}
    for kernel, k in root.items():
        near, far = (k(np.linalg.norm(A[:, None] - X, axis=2)) for A in (X, T))
        report = fit(table("d.csv", X, y), "--lambda", "0.1", "--intercept", kernel=kernel)
        A = np.block([[near + 0.1 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solution = np.linalg.solve(A, np.append(y, 0))
        assert abs(solution[:n].sum()) < 1e-9
        close(predict(T), far @ solution[:n] + solution[n], 1e-8)
        close(report["norm"], np.sqrt(solution[:n] @ near @ solution[:n]), 1e-8)


def leave_one_out():
    report = fit(table("d.csv", X, y), "--lambda", "0.1", "--no-intercept", "--loo")
    errors = []
    for i in range(n):
        keep = np.arange(n) != i
        model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3).fit(X[keep], y[keep])
        errors.append(y[i] - model.predict(X[i : i + 1])[0])
    close(report["loo_rmse"], np.sqrt(np.mean(np.square(errors))), 1e-9)


def path_of_lambdas():
    """Leave-one-out by refitting, and RidgeCV's own on the features of the linear kernel, for every lambda of a path."""
    report = mercer_json("path", table("d.csv", X, y), "-k", "rbf(gamma=0.3)", "--scale", "none", "--from", "1e-3", "--to", "10", "--count", "3")
    for row in report["rows"]:
        A = np.linalg.inv(K + row["lambda"] * np.eye(n))
        errors = []
        for i in range(n):
            keep = np.arange(n) != i
            model = KernelRidge(alpha=row["lambda"], kernel="rbf", gamma=0.3).fit(X[keep], y[keep])
            errors.append(y[i] - model.predict(X[i : i + 1])[0])
        close(row["loo_rmse"], np.sqrt(np.mean(np.square(errors))), 1e-8)
        hat = K @ A
        close(row["dof"], np.trace(hat), 1e-9)
        close(row["gcv"], np.mean((y - hat @ y) ** 2) / (1 - np.trace(hat) / n) ** 2, 1e-7)
        close(row["norm"], np.sqrt(y @ A @ K @ A @ y), 1e-8)


def path_against_ridge_cv():
    report = mercer_json("path", table("d.csv", X, y), "-k", "linear", "--scale", "none", "--intercept", "--from", "1e-2", "--to", "1e3",
                         "--count", "20")
    lambdas = [row["lambda"] for row in report["rows"]]
    theirs = RidgeCV(alphas=lambdas, store_cv_values=True).fit(X, y)
    close([row["loo_rmse"] for row in report["rows"]], np.sqrt(theirs.cv_values_.mean(0)), 1e-9)
    assert report["best_lambda"] == theirs.alpha_, f"{report['best_lambda']} and {theirs.alpha_}"


def constrained():
    """min |y - Kc|^2 subject to c'Kc <= B^2 by SciPy's general solver finds no better function than the bound does."""
    report = fit(table("d.csv", X, y), "--norm-bound", "2.5", "--no-intercept")
    close(report["norm"], 2.5, 1e-9)
    w, U = np.linalg.eigh(K)
    F = U[:, w > 1e-10] * np.sqrt(w[w > 1e-10])  # K = F F': the unknown is a vector in feature space
    best = minimize(lambda v: (np.sum((y - F @ v) ** 2), -2 * F.T @ (y - F @ v)), np.zeros(F.shape[1]), jac=True, method="SLSQP",
                    constraints={"type": "ineq", "fun": lambda v: 2.5**2 - v @ v, "jac": lambda v: -2 * v}, options={"ftol": 1e-12, "maxiter": 500})
    ours = report["objective"] - report["lambda"] * report["norm"] ** 2
    assert ours <= best.fun * (1 + 1e-6), f"{ours} against {best.fun}"
    report = fit(table("d.csv", X, y), "--dof", "30", "--no-intercept")
    close(np.trace(K @ np.linalg.inv(K + report["lambda"] * np.eye(n))), 30, 1e-9)


def primal():
    """The solve in features, chosen by itself, against KernelRidge; and the features themselves."""
    for kernel, options in {"linear": dict(kernel="linear"), "poly(degree=2, gamma=0.25, c=1)": dict(kernel="poly", degree=2, gamma=0.25, coef0=1)}.items():
        report = fit(table("d.csv", X, y), "--lambda", "0.05", "--no-intercept", kernel=kernel)
        assert report["solver"] == "primal", report["solver"]
        model = KernelRidge(alpha=0.05, **options).fit(X, y)
        close(predict(T), model.predict(T), 1e-8)
        mercer("gram", kernel, path("d.csv"), "--features", "-o", path("Z.npy"))
        Z = np.load(path("Z.npy"))
        close(Z @ Z.T, model._get_kernel(X), 1e-12)


def kept(name):
    """An array of the model file."""
    with open(path("m.mercer"), "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    begin, end = json.loads(data[8 : 8 + length])[name]["data_offsets"]
    return np.frombuffer(data[8 + length + begin : 8 + length + end])


def nystrom():
    """The least-squares function in the span of k(z, .) at listed rows: (K_zx K_xz + lambda K_zz) beta = K_zx y, with row weights too."""
    marks = rng.permutation(n)[:25]
    np.savetxt(path("marks.csv"), marks + 1, fmt="%d", header="row", comments="")
    w = rng.uniform(0.2, 3, size=n)
    np.savetxt(path("w.csv"), w, fmt="%.17g", header="w", comments="")
    for weight, options in ((np.ones(n), ()), (w, ("--weights", path("w.csv")))):
        report = fit(table("d.csv", X, y), "--solver", "nystrom", "--landmarks", path("marks.csv"), "--lambda", "0.05", "--tolerance", "1e-13",
                     "--no-intercept", *options)
        C = K[:, marks]
        beta = np.linalg.solve(C.T @ (weight[:, None] * C) + 0.05 * K[np.ix_(marks, marks)], C.T @ (weight * y))
        close(predict(T), KT[:, marks] @ beta, 1e-8)
        implied = weight * (y - C @ beta) / 0.05
        residual = np.sqrt(weight) * (C @ beta - K @ implied)
        assert report["approximate"] is True and report["certificate"]["sampled_rows"] == n
        close(report["certificate"]["residual"], np.linalg.norm(residual), 1e-6)
        close(report["objective"], np.sum(weight * (y - C @ beta) ** 2) + 0.05 * beta @ K[np.ix_(marks, marks)] @ beta, 1e-9)


def fourier():
    """Ridge in the random features that the model keeps; and closer to the exact answer the more of them there are."""
    exact = KT @ np.linalg.solve(K + 0.05 * np.eye(n), y)
    far = []
    for count in (12, 96, 768):
        fit(table("d.csv", X, y), "--solver", "fourier", "--rank", str(count), "--lambda", "0.05", "--no-intercept")
        omega = kept("centres").reshape(-1, d)[:count]
        waves = lambda P: np.hstack([np.cos(P @ omega.T), np.sin(P @ omega.T)]) / np.sqrt(count)
        Z = waves(X)
        alpha = np.linalg.solve(Z @ Z.T + 0.05 * np.eye(n), y)
        close(predict(T), waves(T) @ (Z.T @ alpha), 1e-8)
        far.append(np.sqrt(np.mean((predict(T) - exact) ** 2)))
    assert far[1] < 0.6 * far[0] and far[2] < 0.6 * far[1], far


def certificate():
    """The true error of every prediction stays below the certified bound, and the residual is what NumPy finds."""
    report = fit(table("d.csv", X, y), "--lambda", "0.01", "--no-intercept")
    exact = np.linalg.solve((K + 0.01 * np.eye(n)).astype(np.longdouble).astype(float), y)
    error = np.abs(predict(T) - KT @ exact).max()
    bound = report["certificate"]["prediction_error_bound"]
    assert error <= bound + 1e-12 * np.abs(y).max(), f"error {error} over bound {bound}"
    assert report["certificate"]["residual_relative"] < 1e-10
    objective = np.sum((y - K @ exact) ** 2) + 0.01 * exact @ K @ exact
    close(report["objective"], objective, 1e-9)


def solve_long(A, B):
    """Gaussian elimination with partial pivoting in long double."""
    A, B = np.array(A, np.longdouble), np.array(B, np.longdouble)
    for k in range(len(A)):
        p = k + np.abs(A[k:, k]).argmax()
        A[[k, p]], B[[k, p]] = A[[p, k]], B[[p, k]]
        factor = A[k + 1 :, k] / A[k, k]
        A[k + 1 :] -= np.outer(factor, A[k])
        B[k + 1 :] -= factor * B[k]
    for k in range(len(A) - 1, -1, -1):
        B[k] = (B[k] - A[k, k + 1 :] @ B[k + 1 :]) / A[k, k]
    return B


def ugly_tables():
    """Rows, targets and weights that hurt: few rows, copies, columns of other sizes, equal targets, weights far apart."""
    S = rng.normal(size=(24, 2))
    copies = S[rng.integers(0, 8, size=24)]
    t = np.sin(S[:, 0]) + 0.1 * rng.normal(size=24)
    w = 10.0 ** rng.uniform(-4, 3, size=24)
    one = np.ones(24)
    yield "plain", S, t, one
    yield "copies", copies, t, one
    yield "columns of 1e6 and 1e-6", S * [1e6, 1e-6], t, one
    yield "a constant column", np.column_stack([S[:, 0], np.full(24, 7.0)]), t, one
    yield "equal targets", S, np.full(24, 3.5), one
    yield "a large mean", S, t + 1e9, one
    yield "weights", copies, t, w
    yield "one row", S[:1], t[:1], one[:1]
    yield "two rows", S[:2], t[:2], one[:2]


def certificate_on_ugly_tables():
    """Residual and predictions in long double: the residual stays below the certified one, every prediction within the certified bound of
    the exact optimum (and of its own rounding); or the command refuses with exit 6."""
    refused = 0
    for name, rows, t, w in ugly_tables():
        gamma = np.longdouble(float(0.5 / max(1e-300, rows.var(0).sum() or 1)))
        np.savetxt(path("w.csv"), w, fmt="%.17g", header="w", comments="")
        data = table("u.csv", rows, t)
        L = rows.astype(np.longdouble)
        G = np.exp(-gamma * ((L[:, None] - L[None]) ** 2).sum(2))
        for lam in (1e-13, 1e-8, 1e-3, 1, 1e6):
            for b in (0, 1):
                options = ["--lambda", lam, "--weights", path("w.csv"), "--no-loo", "--intercept" if b else "--no-intercept"]
                command = ["fit", data, "-m", "ridge", "-k", f"rbf(gamma={float(gamma)!r})", "--scale", "none", "-o", path("m.mercer"), *options]
                done = subprocess.run([MERCER, *map(str, command), "--json"], capture_output=True, text=True)
                if done.returncode == 6:
                    refused += 1
                    assert lam < 1e-7, f"{name}, lambda {lam}: {done.stderr}"
                    continue
                assert done.returncode == 0, done.stderr
                found, m = json.loads(done.stdout)["certificate"], len(t)
                A = np.ones((m + b, m + b), np.longdouble)
                A[m:, m:] = 0
                A[:m, :m] = G + np.diag(np.longdouble(lam) / w)
                exact = solve_long(A, np.append(t, [0.0] * b))
                alpha, mean = kept("alpha").astype(np.longdouble), kept("intercept").astype(np.longdouble)[0]
                root = np.sqrt(w.astype(np.longdouble))
                residual = np.sqrt(np.sum((root * (t - mean - G @ alpha - lam * alpha / w)) ** 2))
                where = f"{name}, lambda {lam}, intercept {b}"
                assert residual <= found["residual"] * (1 + 1e-12), f"{where}: residual {residual} over {found['residual']}"
                away = np.abs(G @ alpha + mean - G @ exact[:m] - (exact[m] if b else 0)).max()
                bound = found["prediction_error_bound"]
                assert away <= bound, f"{where}: {away} from the optimum, bound {bound}"
    print(f"# {refused} fits refused")


def minimum_norm():
    """lambda = 0 with a linear kernel of rank d: the pseudo-inverse."""
    fit(table("d.csv", X, y), "--lambda", "0", "--no-intercept", kernel="linear")
    close(predict(T), T @ np.linalg.lstsq(X, y, rcond=None)[0], 1e-8)


def standard_scaling():
    S = X * np.array([1, 100, 1e-3, 5]) + 7
    mercer("fit", table("d.csv", S, y), "-k", "rbf(gamma=0.3)", "--scale", "standard", "--lambda", "0.1", "--no-intercept",
           "-o", path("m.mercer"))
    mean, sd = S.mean(0), S.std(0)
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3).fit((S - mean) / sd, y)
    close(predict(S[:30]), model.predict((S[:30] - mean) / sd), 1e-8)


def grouped_folds():
    """Exact folds against refits: groups dealt out by the command, every fold fitted by KernelRidge on the others."""
    group = rng.integers(0, 12, size=n)
    names = [f"c{i + 1}" for i in range(d)] + ["ward", "y"]
    np.savetxt(path("g.csv"), np.column_stack([X, group, y]), delimiter=",", header=",".join(names), comments="", fmt=["%.17g"] * d + ["w%d", "%.17g"])
    options = ["-k", "rbf(gamma=0.3)", "--scale", "none", "--groups", "ward"]
    for more, most in (["--folds", "4"], 4), ([], 12):
        report = mercer_json("folds", path("g.csv"), *options, "--lambda", "0.05", *more, "-o", path("r.csv"))
        fold, prediction, residual, std = np.loadtxt(path("r.csv"), delimiter=",", skiprows=1).T
        assert report["folds"] == len(np.unique(fold)) == min(most, len(np.unique(group)))
        for g in np.unique(group):
            assert len(np.unique(fold[group == g])) == 1, "a group was split"
        for f in np.unique(fold):
            out = fold == f
            close(prediction[out], KernelRidge(alpha=0.05, kernel="rbf", gamma=0.3).fit(X[~out], y[~out]).predict(X[out]), 1e-8)
            model = GaussianProcessRegressor(RBF(np.sqrt(1 / 0.6)), alpha=0.05, optimizer=None).fit(X[~out], y[~out])
            close(std[out], np.sqrt(model.predict(X[out], return_std=True)[1] ** 2 + 0.05), 1e-8)
        close(residual, y - prediction, 1e-12)
        close(report["rmse"], np.sqrt(np.mean(residual**2)), 1e-12)
        row = mercer_json("path", path("g.csv"), *options, *more, "--from", "0.05", "--to", "0.05", "--count", "1")["rows"][0]
        close(row["fold_rmse"], report["rmse"], 1e-9)


run({
    "predictions equal KernelRidge for four kernels": kernel_ridge,
    "several outputs equal KernelRidge": several_outputs,
    "sample weights equal KernelRidge": weights,
    "the intercept solves the bordered system": intercept,
    "conditionally positive functions solve the bordered system": conditionally_positive,
    "leave-one-out equals n refits": leave_one_out,
    "a path of lambdas equals refits and closed forms": path_of_lambdas,
    "a path with an intercept equals RidgeCV": path_against_ridge_cv,
    "the constrained form is as good as a general solver's, and degrees of freedom are met": constrained,
    "the primal solve equals KernelRidge": primal,
    "nystrom equals its closed form at listed landmarks": nystrom,
    "fourier equals ridge in its waves, which converge to the exact answer": fourier,
    "the certificate bounds the true error": certificate,
    "the certificate holds on ugly tables in long double": certificate_on_ugly_tables,
    "lambda 0 gives the pseudo-inverse": minimum_norm,
    "standard scaling is the usual one": standard_scaling,
    "folds of groups, their deviations and the path of folds equal refits": grouped_folds,
})
