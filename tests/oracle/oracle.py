"""oracle.py: what the comparisons with NumPy, SciPy and scikit-learn share: the command, a scratch folder, TAP lines.

Run with Debian's interpreter, whose packages tools/setup installs; exit status 77 (skipped) where they are absent."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import sklearn  # noqa: F401
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(77)

MERCER = os.environ["MERCER"]
SEED = int(os.environ.get("MERCER_TEST_SEED", "20261115"))
FOLDER = tempfile.mkdtemp(prefix="mercer-oracle-")
atexit.register(shutil.rmtree, FOLDER, True)
rng = np.random.default_rng(SEED)


def path(name):
    return os.path.join(FOLDER, name)


def mercer(*args, status=0):
    """Standard output of a command that must end with this status."""
    done = subprocess.run([MERCER, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == status, f"mercer {' '.join(map(str, args))}: exit {done.returncode}: {done.stderr}"
    return done.stdout


def mercer_json(*args):
    return json.loads(mercer(*args, "--json"))


def save(name, array):
    np.save(path(name), array)
    return path(name)


def gram(kernel, X, Z=None):
    files = [save("x.npy", X)] + ([save("z.npy", Z)] if Z is not None else [])
    mercer("gram", kernel, *files, "--no-target", "-o", path("K.npy"))
    return np.load(path("K.npy"))


def close(a, b, tolerance):
    """The largest difference relative to the largest value must stay below the tolerance."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    error = np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)
    assert error <= tolerance, f"relative difference {error:.3g} over {tolerance:g}"


class Skip(Exception):
    """Raised by a test that needs what is not here."""


def run(tests):
    """tests: name -> function. Prints TAP; the exit status says whether all passed."""
    print(f"1..{len(tests)}\n# seed {SEED}")
    failed = 0
    for number, (name, test) in enumerate(tests.items(), 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Skip as why:
            print(f"ok {number} - {name} # SKIP {why}", flush=True)
        except Exception as why:  # a failed comparison and a crash are both failures
            failed += 1
            print(f"not ok {number} - {name}\n# {type(why).__name__}: {why}", flush=True)
    sys.exit(bool(failed))
