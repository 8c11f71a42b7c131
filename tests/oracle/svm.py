"""Certificates of support vector machines, recomputed in NumPy from the raw data and the saved file alone: primal, dual, gap, the largest
violation of the optimality conditions, free and bounded multipliers. Every machine, several kernels, row and class weights."""
import json
import pathlib

import numpy as np
from oracle import mercer, mercer_json, path, rng, run
from sklearn.svm import SVC, SVR

n, d = 70, 3
X = rng.normal(size=(n, d))
Y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n)
W = rng.uniform(0.25, 2, size=n)
KERNELS = {
    "linear": lambda A, B: A @ B.T,
    "poly(degree=3, c=1, gamma=0.5)": lambda A, B: (0.5 * A @ B.T + 1) ** 3,
    "rbf(gamma=0.7)": lambda A, B: np.exp(-0.7 * ((A[:, None] - B) ** 2).sum(2)),
    "laplacian(gamma=0.5)": lambda A, B: np.exp(-0.5 * np.abs(A[:, None] - B).sum(2)),
}


def classes(count):
    return np.digitize(Y, np.quantile(Y, np.arange(1, count) / count))


def write(name, rows, target):
    with open(path(name), "w") as out:
        out.write(",".join(f"x{j}" for j in range(rows.shape[1])) + ",y\n")
        for x, y in zip(rows, target):
            out.write(",".join(repr(float(v)) for v in x) + f",{y}\n")
    return path(name)


def load(name):
    """Arrays and metadata of a model file."""
    blob = open(path(name), "rb").read()
    size = int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8:8 + size])
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}
    arrays = {k: np.frombuffer(blob[8 + size:][slice(*v["data_offsets"])], kinds[v["dtype"]]).reshape(v["shape"])
              for k, v in header.items() if k != "__metadata__"}
    return arrays, header["__metadata__"]


def decisions(arrays, meta):
    """For each decision: its rows, their side (+1, -1), their coefficients as a vector over all rows, its intercept."""
    rows, count = arrays["row"], int(meta["rows"])
    if meta["form"] != "pairs":
        for k in range(len(arrays["intercept"])):
            c = np.zeros(count)
            c[rows] = arrays["alpha"][:, k]
            yield k, None, c, arrays["intercept"][k]
        return
    start, number = arrays["class_start"], 0
    for a in range(len(start) - 1):
        for b in range(a + 1, len(start) - 1):
            c = np.zeros(count)
            c[rows[start[a]:start[a + 1]]] = arrays["alpha"][start[a]:start[a + 1], b - 1]
            c[rows[start[b]:start[b + 1]]] = arrays["alpha"][start[b]:start[b + 1], a]
            yield a, b, c, arrays["intercept"][number]
            number += 1


def box(C, w, c):
    """The largest multipliers; one that is there to the last digits is there."""
    return np.where(np.isclose(np.abs(c), C * w, rtol=1e-12, atol=0), np.abs(c), C * w)


def violation(v, beta, low, high, group):
    return max(np.max(v[(group == g) & (beta < high)], initial=-np.inf) - np.min(v[(group == g) & (beta > low)], initial=np.inf)
               for g in (0, 1))


def judge(machine, K, target, w, nu, C, epsilon, a, b, c, intercept):
    """primal, dual, violation, free, bounded of one decision, by the definitions in docs/svm.md."""
    if machine in ("svc", "nu-svc"):
        take = (target == a) | (True if b is None else target == b)
        K, c, w, s = K[np.ix_(take, take)], c[take], w[take], np.where(target[take] == a, 1.0, -1.0)
        f, bound = K @ c, box(C, w, c)
        primal = c @ f / 2 + bound @ np.maximum(0, 1 - s * (f + intercept))
        low, high = np.minimum(0, s * bound), np.maximum(0, s * bound)
        v = (s if machine == "svc" else 0) - f
        bad = violation(v, c, low, high, (s < 0) * (machine == "nu-svc"))
        return primal, np.abs(c).sum() - c @ f / 2, bad, c, bound
    f, bound = K @ c, box(C, w, c)
    if machine == "one-class":
        primal = c @ f / 2 + bound @ np.maximum(0, -f - intercept) + intercept * nu * bound.sum()
        return primal, -c @ f / 2, violation(-f, c, 0 * c, bound, 0 * c), c, bound
    primal = c @ f / 2 + bound @ np.maximum(0, np.abs(target - f - intercept) - epsilon)
    dual = target @ c - epsilon * np.abs(c).sum() - c @ f / 2
    tube = epsilon if machine == "svr" else 0
    v = np.concatenate([target - f - tube, target - f + tube])
    beta = np.concatenate([np.maximum(c, 0), np.minimum(c, 0)])
    group = np.concatenate([0 * c, 0 * c + (machine == "nu-svr")])
    bad = violation(v, beta, np.concatenate([0 * c, -bound]), np.concatenate([bound, 0 * c]), group)
    return primal, dual, bad, c, bound


def check(machine, kernel, target, weights=None, class_weight=None, *options):
    nu, settings = 0.25, ["-m", machine, "-k", kernel, "--scale", "none", *options]
    C = 1.5 if machine in ("svc", "svr", "nu-svr") else None
    settings += ["--C", C] if C else []
    settings += ["--nu", nu] if machine in ("nu-svc", "nu-svr", "one-class") else []
    settings += ["--epsilon", 0.15] if machine == "svr" else []
    w = np.ones(n)
    if weights is not None:
        np.savetxt(path("w.txt"), weights, fmt="%.17g")
        settings += ["--weights", path("w.txt")]
        w = weights.copy()
    if class_weight:
        settings += ["--class-weight", ",".join(f"{k}={v}" for k, v in class_weight.items())]
        w = w * np.array([class_weight.get(k, 1) for k in target])
    report = mercer_json("fit", write("data.csv", X, target), *settings, "-o", path("m"))
    arrays, meta = load("m")
    K, totals = KERNELS[kernel](X, X), np.zeros(4)
    worst = -np.inf
    for k, (a, b, c, intercept) in enumerate(decisions(arrays, meta)):
        found = arrays["box"][k]
        assert C is None or found[0] == C
        primal, dual, bad, c, bound = judge(machine, K, target, w, nu, found[0], found[1], a, b, c, intercept)
        bounded = np.abs(c) == bound
        totals += [primal, dual, ((c != 0) & ~bounded).sum(), bounded.sum()]
        worst = max(worst, bad)
    seen = report["certificate"]
    for name, sign, value in (("primal", 1, totals[0]), ("dual", -1, totals[1])):  # raised and lowered by what rounding can have done
        moved, own = sign * (seen[name] - value), 1e-10 * max(1, abs(value))
        assert -own <= moved <= seen["rounding"] + own, f"{name} {value!r}, reported {seen[name]!r}"
    rounding = seen["gap"] - (totals[0] - totals[1])  # the gap counts what rounding may have hidden
    assert abs(rounding - seen["rounding"]) <= 1e-10 * max(1, abs(totals[0])), ("gap", rounding, seen["rounding"], totals)
    assert abs(max(worst, 0) - max(seen["kkt_violation"], 0)) <= 1e-9, f"violation {worst!r}, reported {seen['kkt_violation']!r}"
    assert worst <= 1e-3 * (1 + 1e-9), f"violation {worst}"
    assert (totals[2], totals[3]) == (report["free_vectors"], report["bounded_vectors"]), f"{totals[2:]} vectors"
    assert report["support_vectors"] == len(arrays["row"])


def two_classes():
    for kernel in KERNELS:
        check("svc", kernel, classes(2))
        check("svc", kernel, classes(2), W, {0: 2, 1: 0.5})


def many_classes():
    check("svc", "rbf(gamma=0.7)", classes(4), W, {1: 3})
    check("svc", "laplacian(gamma=0.5)", classes(3), W, {2: 0.5}, "--multiclass", "ovr")
    check("nu-svc", "rbf(gamma=0.7)", classes(3))


def nu_svc():
    for kernel in list(KERNELS)[1:]:
        check("nu-svc", kernel, classes(2), W)


def numbers():
    for machine in ("svr", "nu-svr"):
        for kernel in KERNELS:
            check(machine, kernel, Y)
            check(machine, kernel, Y, W)


def one_class():
    for kernel in KERNELS:
        check("one-class", kernel, Y)
        check("one-class", kernel, Y, W)


def heart_scale():
    """LIBSVM's own example at its defaults: obj = -100.877288, rho = 0.424462, nSV = 132, nBSV = 107."""
    file = pathlib.Path(__file__).resolve().parent.parent / "sets/heart_scale"
    report = mercer_json("fit", file, "-m", "svc", "-k", f"rbf(gamma={1 / 13!r})", "--scale", "none", "--tolerance", "1e-6", "-o", path("h"))
    arrays, _ = load("h")
    assert f"{-report['certificate']['dual']:.4f}" == "-100.8773", report["certificate"]
    assert abs(-report["certificate"]["dual"] + 100.877288) <= 1e-6 * 100.9, report["certificate"]["dual"]
    assert abs(-arrays["intercept"][0] + 0.424462) < 1e-3, arrays["intercept"]  # classes are sorted here, so the sign is turned
    assert report["support_vectors"] == 132 and report["bounded_vectors"] == 107, report


CONDITIONAL = {
    "power": lambda r: -r,
    "log(p=1.5, length_scale=0.5)": lambda r: -np.log(1 + (2 * r) ** 1.5),
    "2*multiquadric(c=0.3) - 1": lambda r: -2 * np.sqrt(0.09 + r**2) - 1,
}


def conditionally_positive():
    """scikit-learn, which asks for no kernel, on the matrix of the function as it is written; the certificate is that of this matrix."""
    new = rng.normal(size=(30, d))
    for kernel, k in CONDITIONAL.items():
        near, far = (k(np.linalg.norm(A[:, None] - X, axis=2)) for A in (X, new))
        for machine, target, theirs in (("svc", classes(2), SVC(kernel="precomputed", C=3, tol=1e-10)),
                                        ("svr", Y, SVR(kernel="precomputed", C=3, epsilon=0.1, tol=1e-10))):
            options = ["--epsilon", "0.1"] if machine == "svr" else []
            report = mercer_json("fit", write("data.csv", X, target), "-m", machine, "-k", kernel, "--C", "3", "--scale", "none",
                                 "--tolerance", "1e-10", *options, "-o", path("m"))
            theirs.fit(near, target)
            arrays, meta = load("m")
            c, intercept = next(decisions(arrays, meta))[2:]
            shift = k(np.linalg.norm(X, axis=1)) @ c
            mine, expected = far @ c - shift + intercept, theirs.decision_function(far) if machine == "svc" else theirs.predict(far)
            side = np.sign(mine[np.argmax(np.abs(mine))] * expected[np.argmax(np.abs(mine))]) if machine == "svc" else 1
            assert abs(c.sum()) < 1e-9 and np.abs(side * mine - expected).max() < 1e-5, (kernel, machine, np.abs(side * mine - expected).max())
            quadratic, seen = c @ near @ c, report["certificate"]
            dual = np.abs(c).sum() - quadratic / 2 if machine == "svc" else Y @ c - 0.1 * np.abs(c).sum() - quadratic / 2
            assert abs(dual - seen["dual"]) <= 1e-7 * max(1, abs(dual)), (kernel, machine, dual, seen["dual"])
            assert seen["gap"] <= 1e-6 * max(1, abs(dual)), seen


run({
    "svc and svr of conditionally positive functions equal scikit-learn": conditionally_positive,
    "svc by every kernel, with weights": two_classes,
    "pairs, one against the rest, class weights": many_classes,
    "nu-svc": nu_svc,
    "svr and nu-svr": numbers,
    "one-class": one_class,
    "heart_scale as LIBSVM gives it": heart_scale,
})
