"""tune_ridge.py: `mercer tune -m ridge` over 20 gammas x 50 lambdas, every row left out exactly, in units of one Cholesky factorisation of the
same size by LAPACK. Part of tune_peers.py."""
import time

import numpy as np
from scipy.linalg import lapack

from measure import ask


def cholesky_seconds(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    K = np.exp(-0.5 * ((X[:, None, 0] - X[None, :, 0]) ** 2)) + np.eye(n)
    times = []
    for _ in range(3):
        A = np.asfortranarray(K)
        began = time.time()
        lapack.dpotrf(A, lower=1, overwrite_a=1)
        times.append(time.time() - began)
    return min(times)


def main(mercer, folder, full):
    n = 5000 if full else 2000
    ask(mercer, "generate", "friedman1", "-n", n, "-o", folder / "f.csv")
    unit = cholesky_seconds(n)
    print("| search, 20 gammas x 50 lambdas | rows | s | one Cholesky, s | Cholesky-equivalents | at most 25 | chosen | rmse of rows left out "
          "| on all rows |\n|---|---|---|---|---|---|---|---|---|")
    for words in (("--halving",), ()):
        report, _ = ask(mercer, "tune", folder / "f.csv", "-k", "rbf(gamma=0.01..10)", "--points", 20, "--lambda",
                        "{" + ",".join(f"{v:.3g}" for v in np.geomspace(1e-6, 1e3, 50)) + "}", "-o", folder / "m.mercer", *words, "--json")
        seconds = report["seconds"]["search"]
        exact = sum(c["rows"] == n for c in report["candidates"])
        print(f"| {' '.join(words) or 'all'} | {n} | {seconds:.2f} | {unit:.3f} | {seconds / unit:.0f} | "
              f"{'yes' if seconds <= 25 * unit else 'no'} | {report['chosen']['kernel']}, {report['chosen']['settings']} | "
              f"{report['chosen']['score']:.4f} +- {report['chosen']['standard_error']:.4f} | {exact} of {len(report['candidates'])} |", flush=True)
    print()
