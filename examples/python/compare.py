"""compare.py: the scripts beside it, run as they are and with Mercer imported for scikit-learn's kernel machines. Nothing else changes.

    PYTHONPATH=build/python /usr/bin/python3 examples/python/compare.py
"""
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("classify.py", "regress.py", "components.py")
OURS = r"from sklearn\.(svm|kernel_ridge|decomposition) import"


def run(text, name):
    space = {}
    exec(compile(text, name, "exec"), space)
    return space["results"]


def difference(a, b):
    """The largest, beside the largest value; of what is no number 0 or infinity."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return np.inf
    if a.dtype.kind != "f":
        return 0.0 if (a == b).all() else np.inf
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1.0))


def compare():
    """(script, result, difference) of all of them."""
    for name in SCRIPTS:
        text = (HERE / name).read_text()
        theirs, ours = run(text, name), run(re.sub(OURS, "from mercer import", text), name)
        for key in theirs:
            yield name, key, difference(ours[key], theirs[key])


def main():
    worst = 0.0
    for name, key, apart in compare():
        print(f"{name:<15} {key:<32} {'equal' if apart == 0 else f'{apart:.1e}'}")
        worst = max(worst, apart)
    return worst > 1e-5  # what LIBSVM keeps of the kernel in single precision


if __name__ == "__main__":
    sys.exit(main())
