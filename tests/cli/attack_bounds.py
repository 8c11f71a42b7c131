#!/usr/bin/env python3
"""attack_bounds.py COMMAND [PROBLEMS]: every bound of a prediction of ridge and gp against the optimum in seventy decimal digits.

Small problems of ugly sizes, dense and sparse: duplicates and rows an ulp apart, lambda from 1e-9 to 10, rows far out and next to those of
the fit. MERCER_TEST_SEED repeats a run, whose seed is printed."""
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from decimal import Decimal, getcontext

getcontext().prec = 70
command, problems = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
seed = int(os.environ.get("MERCER_TEST_SEED") or time.time())


def squared(x, z):
    return sum((a - b) ** 2 for a, b in zip(x, z))


def dot(x, z):
    return sum(a * b for a, b in zip(x, z))


def matern(s):
    return (1 + s) * (-s).exp()


# the text of the kernel, its value, and the power of the rows' size that its parameter goes with
KERNELS = [
    ("rbf(gamma={})", lambda p, x, z: (-p * squared(x, z)).exp(), -2),
    ("laplacian(gamma={})", lambda p, x, z: (-p * sum(abs(a - b) for a, b in zip(x, z))).exp(), -1),
    ("exponential(gamma={})", lambda p, x, z: (-(p * p * squared(x, z)).sqrt()).exp(), -1),
    ("matern(nu=0.5, length_scale={})", lambda p, x, z: (-(squared(x, z) / (p * p)).sqrt()).exp(), 1),
    ("matern(nu=1.5, length_scale={})", lambda p, x, z: matern((3 * squared(x, z) / (p * p)).sqrt()), 1),
    ("{}*linear", lambda p, x, z: p * dot(x, z), -2),
    ("poly(degree=2, gamma={})", lambda p, x, z: (p * dot(x, z) + 1) ** 2, -2),
]


def solve(A, b):
    """Elimination with pivots."""
    n = len(b)
    A = [row + [b[i]] for i, row in enumerate(A)]
    for c in range(n):
        top = max(range(c, n), key=lambda r: abs(A[r][c]))
        A[c], A[top] = A[top], A[c]
        for row in A[c + 1:]:
            f = row[c] / A[c][c]
            row[c:] = [v - f * u for v, u in zip(row[c:], A[c][c:])]
    x = [Decimal(0)] * n
    for c in range(n - 1, -1, -1):
        x[c] = (A[c][n] - dot(A[c][c + 1:n], x[c + 1:])) / A[c][c]
    return x


def draw_rows(rng, n, d, scale, sparse):
    X = [[scale * rng.gauss(0, 1) if not sparse or rng.random() < 0.6 else 0.0 for _ in range(d)] for _ in range(n)]
    X[0][d - 1] = X[0][d - 1] or scale  # the widest column is in the data
    for i in range(1, n):
        kind = rng.random()
        if kind < 0.2:
            X[i] = X[0][:]
        elif kind < 0.35:
            X[i] = [v * (1 + 1e-15 * rng.randint(-3, 3)) for v in X[0]]
    return X


def write(path, X, y, sparse):
    with open(path, "w") as f:
        if not sparse:
            f.write("".join(f"x{j}," for j in range(len(X[0]))) + "y\n")
        for x, t in zip(X, y):
            f.write(repr(t) + "".join(f" {j + 1}:{v!r}" for j, v in enumerate(x) if v) + "\n" if sparse
                    else ",".join(map(repr, x + [t])) + "\n")


def run(*words):
    done = subprocess.run([command, *words], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def optimum(value, X, y, weight, intercept):
    n, one = len(X), [Decimal(1)] if intercept else []
    A = [[value(a, b) + (weight if i == j else 0) for j, b in enumerate(X)] + one for i, a in enumerate(X)]
    found = solve(A + ([[Decimal(1)] * n + [Decimal(0)]] if intercept else []), [Decimal(v) for v in y] + [Decimal(0)] * len(one))
    return lambda x: sum(found[j] * value(x, X[j]) for j in range(n)) + (found[n] if intercept else 0)


def attack(rng, folder):
    """The number of bounds, and those broken."""
    n, d, scale, height = rng.randint(2, 9), rng.randint(1, 3), 10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-4, 4)
    sparse, machine, (text, kernel, power) = rng.random() < 0.4, rng.choice(["ridge", "gp"]), rng.choice(KERNELS)
    parameter, strength = float("%.4g" % (10 ** rng.uniform(-2, 1) * scale ** power)), repr(10 ** rng.uniform(-9, 1))
    intercept = machine == "ridge" and rng.random() < 0.5
    X, y = draw_rows(rng, n, d, scale, sparse), [height * (rng.gauss(0, 1) + 1) for _ in range(n)]
    new = X + draw_rows(rng, 2, d, scale, False) + [[30 * v for v in X[-1]], [v * (1 + 4e-16) for v in X[0]]]
    data, probe, model = (f"{folder}/{name}" for name in ("a.svm" if sparse else "a.csv", "b.svm" if sparse else "b.csv", "m.mercer"))
    write(data, X, y, sparse)
    write(probe, new, [0.0] * len(new), sparse)
    settings = ["--noise", strength, "--no-learn"] if machine == "gp" else ["--lambda", strength]
    words = [machine, text.format(repr(parameter)), *settings, "--intercept" if intercept else "--no-intercept"]
    report = run("fit", data, "-m", words[0], "-k", *words[1:], "--scale", "none", "--json", "-o", model)
    seen = report and run("predict", model, probe, "--json")
    if not seen:
        return 0, 0
    exactly = lambda rows: [[Decimal(v) for v in x] for x in rows]  # noqa: E731
    best = optimum(lambda x, z: kernel(Decimal(repr(parameter)), x, z), exactly(X), y, Decimal(report["lambda"]), intercept)
    broken = 0
    for x, value, bound in zip(exactly(new), seen["prediction"], seen["prediction_error_bounds"]):
        wrong = abs(Decimal(value) - best(x))
        if wrong > Decimal(bound if bound is not None else "inf") * (1 + Decimal("1e-12")):
            print(f"{' '.join(words)}, {'sparse' if sparse else 'dense'} {X}, {y}, at {x}: off by {wrong:.4g}, {bound:.4g} claimed")
            broken += 1
    return len(new), broken


with tempfile.TemporaryDirectory() as folder:
    counts = [attack(random.Random(seed * 1000003 + item), folder) for item in range(problems)]
checked, broken = (sum(column) for column in zip(*counts))
print(f"seed {seed} (MERCER_TEST_SEED repeats it): {checked} bounds in {problems} problems, {broken} broken")
sys.exit(bool(broken) or checked < 3 * problems)
