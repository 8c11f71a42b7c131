"""Machines with a convex loss against scikit-learn on explicit features, and against Newton's method and linear programmes in NumPy/SciPy."""
import numpy as np
from oracle import close, mercer, mercer_json, path, rng, run
from scipy.optimize import linprog, minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

n, d = 120, 4
X, T = rng.normal(size=(n, d)), rng.normal(size=(30, d))
signal = X @ [1.0, -0.7, 0.3, 0.0] + 0.5 * X[:, 0] * X[:, 1]
y = signal + 0.3 * rng.normal(size=n)
y[::17] += 8
two = (signal + 0.6 * rng.normal(size=n) > 0.2).astype(int)
four = np.clip(np.floor(signal + 0.5 * rng.normal(size=n) + 2), 0, 3).astype(int)
NAMES = np.array(["ant", "bee", "cat", "dog"])


def found_gap(report):
    """Primal less dual, beside them: the gap without what its own rounding may have hidden."""
    seen = report["certificate"]
    return (seen["gap"] - seen["rounding"]) / max(abs(seen["primal"]), abs(seen["dual"]))



def table(name, M, last=None):
    with open(path(name), "w") as out:
        out.write(",".join(f"c{i}" for i in range(M.shape[1])) + (",y" if last is not None else "") + "\n")
        for i, row in enumerate(M):
            out.write(",".join(repr(float(v)) for v in row) + (f",{last[i]}" if last is not None else "") + "\n")
    return path(name)


def fit(machine, target, kernel, *options):
    return mercer_json("fit", table("d.csv", X, target), "-m", machine, "-k", kernel, "--scale", "none", "--tolerance", "1e-12",
                       "-o", path("m.mercer"), *options)


def predict(*options):
    mercer("predict", path("m.mercer"), table("t.csv", T), *options, "-o", path("p.csv"))
    rows = [line.rstrip("\n").split(",") for line in open(path("p.csv"))][1:]
    return np.array([r[0] for r in rows]), np.array([[float(v) for v in r[1:]] for r in rows])


def two_classes():
    for lam in (10.0, 1.0, 0.05):
        theirs = LogisticRegression(C=1 / lam, tol=1e-7, max_iter=200, solver="newton-cg").fit(X, NAMES[two])
        for solver in ("cholesky", "pcg"):
            fit("logistic", NAMES[two], "linear", "--lambda", str(lam), "--solver", solver)
            labels, proba = predict("--proba")
            close(proba, theirs.predict_proba(T), 1e-5)
            assert (labels == theirs.predict(T)).all()


def many_classes():
    for lam in (3.0, 0.2):
        theirs = LogisticRegression(C=1 / lam, tol=1e-7, max_iter=200, solver="newton-cg").fit(X, NAMES[four])
        report = fit("logistic", NAMES[four], "linear", "--lambda", str(lam))
        labels, proba = predict("--proba")
        close(proba, theirs.predict_proba(T), 1e-5)
        assert (labels == theirs.predict(T)).all() and found_gap(report) < 1e-11


def gaussian(A, B):
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(-1))


def squared_hinge():
    # liblinear: 1/2 |w|^2 + C sum max(0, 1 - y f)^2, so C = 1/(2 lambda)
    fit("squared-hinge", NAMES[two], "linear", "--lambda", "0.5", "--no-intercept")
    theirs = LinearSVC(C=1.0, loss="squared_hinge", fit_intercept=False, tol=1e-12, max_iter=10**6, dual=False).fit(X, two)
    close(-predict("--decision")[1][:, 0], theirs.decision_function(T), 1e-6)


def newton(K, L, lam, loss, slope):
    """min over alpha of sum loss(K alpha) + lam/2 alpha'K alpha by a quasi-Newton method in the coordinates where the penalty is |z|^2."""
    R = np.linalg.cholesky(K + 1e-12 * np.eye(len(K)))
    found = minimize(lambda z: loss(R @ z) + lam / 2 * z @ z, np.zeros(len(K)), jac=lambda z: R.T @ slope(R @ z) + lam * z,
                     method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10})
    return found.fun


def huber():
    K, lam, delta = gaussian(X, X), 0.3, 0.7
    r = lambda f: f - y  # noqa: E731
    loss = lambda f: np.where(abs(r(f)) <= delta, r(f) ** 2 / 2, delta * (abs(r(f)) - delta / 2)).sum()  # noqa: E731
    best = newton(K, None, lam, loss, lambda f: np.clip(r(f), -delta, delta))
    report = fit("huber", y, "rbf(gamma=0.5)", "--lambda", str(lam), "--delta", str(delta), "--no-intercept")
    close(report["objective"], best, 1e-7)
    assert found_gap(report) < 1e-11


def quantile():
    # with almost no penalty the linear machine is the linear programme of quantile regression
    tau = 0.8
    A = np.hstack([X, np.ones((n, 1))])
    c = np.r_[np.zeros(2 * d + 2), tau * np.ones(n), (1 - tau) * np.ones(n)]
    equal = np.hstack([A, -A, np.eye(n), -np.eye(n)])
    best = linprog(c, A_eq=equal, b_eq=y, method="highs").fun
    report = mercer_json("fit", table("d.csv", X, y), "-m", "quantile", "-k", "linear", "--scale", "none", "--tau", str(tau),
                         "--lambda", "1e-5", "--tolerance", "1e-7", "-o", path("m.mercer"))
    assert best <= report["objective"] * (1 + 1e-9) and report["objective"] <= best * (1 + 1e-4), (best, report["objective"])


run({
    "two-class logistic regression has scikit-learn's probabilities, by both solvers": two_classes,
    "softmax has scikit-learn's probabilities": many_classes,
    "the squared hinge is liblinear's": squared_hinge,
    "huber reaches the optimum that a quasi-Newton method finds": huber,
    "quantile regression reaches the optimum of the linear programme": quantile,
})
