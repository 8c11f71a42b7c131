#!/usr/bin/env python3
"""python_overhead.py [COMMAND]: what the Python package adds to the C library, in microseconds (medians, interleaved, one thread).

The C side is the same work in as few calls as a C program needs: open, make data, parse, fit, free; then make data, predict, free.

    /usr/bin/python3 bench/python_overhead.py build/mercer

The package is the one that lies beside the command."""
import ctypes
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/mercer").resolve().parent / "python"))
import mercer  # noqa: E402  before NumPy: it asks OpenBLAS for what it reads when it is loaded

import numpy as np  # noqa: E402

from mercer import _header, _library  # noqa: E402
from mercer._library import lib  # noqa: E402

ROUNDS = 300
BARS = {"fit": 1000.0, "predict": 20.0}  # microseconds: above C for a fit of 100 rows; in all for a prediction of one row


def address():
    return ctypes.c_void_p()


class InC:
    """KernelRidge(kernel="rbf(gamma=0.1)", alpha=1) of 100 rows by calls of the library alone."""

    def __init__(self, X, y, x):
        self.table = _header.mercer_table(n=len(X), d=X.shape[1], dtype=_header.MERCER_F64, values=X.ctypes.data, target=y.ctypes.data,
                                          outputs=1)
        self.one = _header.mercer_table(n=1, d=X.shape[1], dtype=_header.MERCER_F64, values=x.ctypes.data)
        self.options = _library.defaults("options")
        self.options.threads = 1
        self.settings = _library.defaults("ridge")
        self.keep, self.out, self.model, self.ctx = (X, y, x), np.empty(1), address(), address()
        lib.mercer_open(ctypes.byref(self.options), ctypes.byref(self.ctx))

    def fit(self):
        ctx, data, kernel, model = address(), address(), address(), address()
        failed = (lib.mercer_open(ctypes.byref(self.options), ctypes.byref(ctx))
                  or lib.mercer_data_make(ctx, ctypes.byref(self.table), ctypes.byref(data))
                  or lib.mercer_kernel_parse(ctx, b"rbf(gamma=0.1)", ctypes.byref(kernel))
                  or lib.mercer_fit(ctx, b"ridge", ctypes.byref(self.settings), kernel, data, ctypes.byref(model)))
        assert not failed
        lib.mercer_data_free(data)
        lib.mercer_kernel_free(kernel)
        lib.mercer_close(ctx)
        lib.mercer_model_free(self.model)
        self.model = model

    def predict(self):
        data = address()
        assert not (lib.mercer_data_make(self.ctx, ctypes.byref(self.one), ctypes.byref(data))
                    or lib.mercer_predict(self.ctx, self.model, data, self.out.ctypes.data))
        lib.mercer_data_free(data)


def medians(functions):
    """Microseconds of each, called in turn."""
    times = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, seen in zip(functions, times):
            began = time.perf_counter()
            function()
            seen.append(time.perf_counter() - began)
    return [1e6 * statistics.median(seen) for seen in times]


def judged(value, bar):
    return "met" if value <= bar else "**missed**"


def main():
    rng = np.random.RandomState(0)
    X, x = rng.randn(100, 10), rng.randn(1, 10)
    y = np.sin(X[:, 0])
    c, ridge, svc = InC(X, y, x), mercer.KernelRidge(kernel="rbf(gamma=0.1)"), mercer.SVC()
    labels = (y > 0).astype(int)
    with mercer.options(threads=1):
        in_c, in_python, of_svc = medians([c.fit, lambda: ridge.fit(X, y), lambda: svc.fit(X, labels)])
        one_c, one_python, one_svc = medians([c.predict, lambda: ridge.predict(x), lambda: svc.predict(x)])
    print("| microseconds | C | Python | above C | bar |\n|---|---|---|---|---|")
    print(f"| ridge, fit of 100 rows | {in_c:.1f} | {in_python:.1f} | {in_python - in_c:.1f} | {BARS['fit']:.0f} above C: {judged(in_python - in_c, BARS['fit'])} |")
    print(f"| svc, fit of 100 rows | | {of_svc:.1f} | | |")
    print(f"| ridge, predict one row | {one_c:.1f} | {one_python:.1f} | {one_python - one_c:.1f} | {BARS['predict']:.0f}: {judged(one_python, BARS['predict'])} |")
    print(f"| svc, predict one row | | {one_svc:.1f} | | {BARS['predict']:.0f}: {judged(one_svc, BARS['predict'])} |")


main()
