#!/usr/bin/env python3
"""keops_peers.py MERCER [--quick]: one product K v of a Gaussian kernel over n normal rows with itself, in float on all cores, by Mercer's tiles and
by KeOps (`make peers`), which compiles a program for the formula first; the compilation is not timed. Both make all n^2 entries anew, neither
using the symmetry. Medians of three runs in turn, each the better of two products; the error is the largest difference from
a product in double, for each by its own script, relative to its largest value, over 200 of the rows. KeOps has the GPU in view and says so; this compares its CPU code."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402

KEOPS = """
import sys, time, numpy as np, pykeops
pykeops.set_verbose(False)
from pykeops.numpy import Vi, Vj
n, d = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(1)
x, z = (rng.normal(size=(n, d)).astype("float32") for _ in range(2))
v = np.sin(np.arange(n, dtype="float64"))[:, None].astype("float32")
K = (-((Vi(x) - Vj(z)) ** 2).sum(-1) * float(np.float32(0.5 / d))).exp()
product, best = K @ v, 1e300  # compiles; neither is timed
for _ in range(2):
    began = time.perf_counter()
    K @ v
    best = min(best, time.perf_counter() - began)
some = slice(0, 200)
exact = np.exp(-0.5 / d * ((x[some, None].astype(float) - z[None].astype(float)) ** 2).sum(-1)) @ v.astype(float)
print(best, np.abs(product[some] - exact).max() / np.abs(exact).max())
"""


def main(mercer, quick):
    python = measure.PEERS / "sklearn" / "bin" / "python"
    if not measure.version_of(python, "pykeops"):
        print("Skipped: KeOps is not installed (`make peers`).")
        return
    threads, environment = os.cpu_count(), dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count()), PYKEOPS_VERBOSE="0")
    print("| n | d | KeOps s | error | Mercer s | error | ratio |\n" + "|---" * 7 + "|")
    for n, d in ((1000, 3),) if quick else ((20000, 3), (20000, 10), (20000, 32), (10000, 64)):
        program = pathlib.Path(mercer).resolve().parent / "bench" / "b_gram"
        commands = ([program, "--product", n, d, threads, 2], [python, "-c", KEOPS, n, d])
        try:
            runs = measure.in_turn(*(lambda c=c: [float(v) for v in measure.take(c, env=environment).out.splitlines()[-1].split()] for c in commands))
        except RuntimeError as why:
            print(f"| {n} | {d} | skipped: {why} |")
            continue
        (a, ea), (b, eb) = map(measure.median, runs)
        mark = " (**worse**)" if ea > 10 * eb else ""
        print(f"| {n} | {d} | {b:.4f} | {eb:.1e} | {a:.4f} | {ea:.1e}{mark} | {b / a:.1f} |", flush=True)


main(sys.argv[1] if len(sys.argv) > 1 else "build/mercer", "--quick" in sys.argv)
