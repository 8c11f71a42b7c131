"""Nothing that goes wrong in a callback, in a child process or at Ctrl-C leaves the interpreter waiting: every case runs in a process of
its own that must end in time."""
import os
import signal
import subprocess
import sys
import time
import unittest

import mercer  # noqa: F401  the children import it; here it says early that it cannot be loaded

LIMIT = 60  # seconds, on a busy machine; each case takes about one

BEGIN = """
import os, signal, sys, threading, warnings, multiprocessing
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell hands down to its background that it is ignored
import mercer, numpy as np
warnings.simplefilter("ignore")
rng = np.random.RandomState(0)
X = rng.randn(500, 4); y = np.sin(X[:, 0]); names = np.where(X[:, 1] > 0, "a", "b")
"""

# name -> (code, what it prints)
CASES = {
    "a function of a loss that raises ends the fit with what it raised": ("""
good = {"value": lambda t, F: (F - t)**2 / 2, "slope": lambda t, F: F - t, "curvature": lambda t, F: 1.0,
        "conjugate": lambda t, v: v * v / 2 + v * t, "range": lambda t: (-np.inf, np.inf)}
def fail(reason):
    def function(*arguments):
        raise reason
    return function
for name in good:
    for reason in (ZeroDivisionError("mine"), SystemExit(3), KeyboardInterrupt(), MemoryError("mine")):
        try:
            mercer.fit_loss(X[:60], y[:60], kernel="rbf(gamma=1)", **{**good, name: fail(reason)})
            print("nothing raised", name, reason)
        except BaseException as raised:
            assert raised is reason, (name, raised, reason)
for name in good:
    for wrong in (None, "text", (1, 2, 3), float("nan"), float("inf")):
        try:
            mercer.fit_loss(X[:60], y[:60], kernel="rbf(gamma=1)", **{**good, name: lambda *arguments: wrong})
        except (TypeError, ValueError, ArithmeticError):
            pass
print("all ended")
""", "all ended"),
    "a kernel that raises leaves the estimator as it was": ("""
calls = []
def kernel(A, B):
    calls.append(1)
    if len(calls) > 1:
        raise KeyError("mine")
    return A @ B.T
svc = mercer.SVC(kernel=kernel).fit(X, names)
for _ in range(3):
    try:
        svc.predict(X)
    except KeyError:
        print("raised")
print(mercer.SVC().fit(X, names).score(X, names) > 0.9)
""", "raised raised raised True"),
    "a process that is forked after threads computes": ("""
mercer.KernelRidge(kernel="rbf").fit(X, y); np.dot(rng.randn(800, 800), rng.randn(800, 800))
Z = rng.randn(700, 30)
def child(kind):
    if kind == 0: return mercer.SVC().fit(X, names).score(X, names) > 0.9
    if kind == 1: return bool(mercer.KernelRidge(kernel="rbf").fit(X, y).score(X, y) > 0.9)
    if kind == 2: return mercer.KernelPCA(3, kernel="rbf").fit_transform(Z).shape == (700, 3)
    if kind == 3: return mercer.Nystroem(n_components=600).fit_transform(Z).shape == (700, 600)
    if kind == 4: return mercer.GaussianProcessRegressor("rbf", alpha=0.1).fit(X, y).predict(X, return_cov=True)[1].shape == (500, 500)
    return np.linalg.svd(rng.randn(600, 600))[1].shape == (600,)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(pool.map(child, range(6), chunksize=1)))
""", "True"),
    "calls inside callbacks and threads inside threads end": ("""
def value(t, F):
    return (F - t)**2 / 2 + 0 * mercer.gram("rbf(gamma=1)", [[t]])[0, 0]
model = mercer.fit_loss(X[:20], y[:20], value, lambda t, F: F - t, lambda t, F: 1.0, "rbf(gamma=1)")
def kernel(A, B):
    mercer.SVC().fit(X[:50], names[:50])
    return mercer.gram("rbf(gamma=0.5)", A, B)
found = []
def fit():
    found.append(mercer.SVC(kernel=kernel).fit(X[:80], names[:80]).score(X, names) > 0.8)
threads = [threading.Thread(target=fit) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(found)
""", "[True, True, True, True]"),
    "an error of the library in every thread at once is an exception in each": ("""
found = []
def wrong():
    for _ in range(20):
        try:
            mercer.gram("rbf(gamma=-1)", X)
        except mercer.InvalidError:
            found.append(1)
        try:
            mercer.KernelRidge(kernel="exp(1000*linear)").fit(X, y).predict(1e9 * X)
        except (mercer.Error, ValueError):
            found.append(1)
threads = [threading.Thread(target=wrong) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found) >= 80)
""", "True"),
    "an interpreter ends while a thread of its own is in the library": ("""
big = rng.randn(3000, 5)
threading.Thread(target=lambda: mercer.SVC(C=1e9, tol=1e-9).fit(big, rng.rand(3000) > 0.5), daemon=True).start()
import time; time.sleep(0.3)
print("end")
""", "end"),
    "a screen that breaks leaves Ctrl-C as it was": ("""
import signal
class Broken:
    def write(self, words): raise OSError("broken")
    def flush(self): raise OSError("broken")
    def isatty(self): return True
before = signal.getsignal(signal.SIGINT)
sys.stderr, real = Broken(), sys.stderr
try:
    mercer.GaussianProcessRegressor("rbf", alpha="learn", verbose=True).fit(rng.randn(700, 2), rng.randn(700))
except OSError:
    pass
sys.stderr = real
print(signal.getsignal(signal.SIGINT) is before)
""", "True"),
}

INTERRUPTED = {
    "svc": "mercer.SVC(C=1e12, tol=1e-10).fit(rng.randn(6000, 3), rng.rand(6000) > 0.5)",
    "own loss": "mercer.fit_loss(rng.randn(3000, 2), rng.randn(3000), lambda t, F: (F - t)**2 / 2, lambda t, F: F - t, lambda t, F: 1.0, "
                "'rbf(gamma=9)', lambda_=1e-9)",
    "kernel in Python": "mercer.KernelRidge(kernel=lambda a, b: float(a @ b)).fit(rng.randn(5000, 3), rng.randn(5000))",
    "gp": "mercer.GaussianProcessRegressor('rbf', alpha='learn', n_restarts_optimizer=50).fit(rng.randn(1500, 3), rng.randn(1500))",
}


def start(code):
    return subprocess.Popen([sys.executable, "-c", BEGIN + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)


class Hangs(unittest.TestCase):
    def end(self, child):
        try:
            return child.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # with the children it may have
            child.communicate()
            self.fail(f"still running after {LIMIT} s")

    def test_ctrl_c_ends_every_kind_of_fit(self):
        for name, code in INTERRUPTED.items():
            with self.subTest(fit=name):
                child = start(f"print('begun', flush=True)\ntry:\n    {code}\n    print('finished')\n"
                              "except KeyboardInterrupt:\n    print('interrupted')\n")
                self.assertEqual(child.stdout.readline(), "begun\n")
                time.sleep(0.5)
                child.send_signal(signal.SIGINT)
                out, err = self.end(child)
                self.assertEqual(out, "interrupted\n", err)


def add(number, name, code, expected):
    def test(self):
        out, err = self.end(start(code))
        self.assertEqual(" ".join(out.split()), expected, err)
    setattr(Hangs, f"test_{number}_{name.replace(' ', '_').replace('-', '_')}", test)


for number, (name, (code, expected)) in enumerate(CASES.items()):
    add(number, name, code, expected)
