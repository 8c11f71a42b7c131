#!/usr/bin/env python3
"""instructions.py MERCER [--update]: instructions that fixed small jobs take on one thread, counted by valgrind's callgrind, as ratios to the
instructions of one plain job (a Gram matrix). No clock is read, so the machine may be busy. A ratio more than a tenth above the one kept in
bench/instructions.json fails; --update keeps the ratios of this build. Exit 77 where valgrind is absent."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

KEPT = pathlib.Path(__file__).resolve().parent / "instructions.json"
ALLOWED = 1.1
YARDSTICK = ["gram", "rbf(gamma=0.1)", "numbers.csv", "-o", "K.npy"]
JOBS = {
    "read a table": ["fit", "long.csv", "-m", "ridge", "-k", "linear", "--lambda", "1", "-o", "m"],
    "ridge by cholesky": ["fit", "numbers.csv", "-m", "ridge", "-k", "rbf(gamma=0.1)", "--lambda", "0.1", "--solver", "cholesky", "-o", "m"],
    "ridge by pcg": ["fit", "numbers.csv", "-m", "ridge", "-k", "rbf(gamma=0.1)", "--lambda", "0.1", "--solver", "pcg", "-o", "m"],
    "svc": ["fit", "classes.csv", "-m", "svc", "-k", "rbf(gamma=1)", "--C", "8", "-o", "m"],
    "svc, large C": ["fit", "classes.csv", "-m", "svc", "-k", "rbf(gamma=1)", "--C", "10000", "-o", "m"],
    "logistic": ["fit", "classes.csv", "-m", "logistic", "-k", "rbf(gamma=1)", "--lambda", "0.1", "-o", "m"],
    "gp": ["fit", "few.csv", "-m", "gp", "-k", "rbf(length_scale=1)", "-o", "m"],
    "predict": ["predict", "model", "numbers.csv", "-o", "p.csv"],
    "prove": ["prove", "0.5*rbf(sigma=1) + linear^2 + exp(0.1*poly(degree=3))"],
}


def environment():
    return dict(os.environ, OPENBLAS_CORETYPE="Haswell")  # valgrind knows no wider registers


def prepare(mercer, folder):
    for name, rows, kind in (("numbers", 600, "friedman1"), ("long", 20000, "friedman1"), ("few", 120, "sinc"), ("classes", 500, "moons")):
        subprocess.run([mercer, "generate", kind, "-n", str(rows), "--noise", "0.3", "-o", f"{name}.csv", "-q"], cwd=folder, check=True)
    subprocess.run([mercer, "fit", "numbers.csv", "-m", "ridge", "-k", "rbf(gamma=0.1)", "--lambda", "0.1", "-o", "model", "-q"],
                   cwd=folder, check=True, env=environment())


def count(mercer, job, folder):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", mercer, *job, "--threads", "1", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment())
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(job)}: exit {done.returncode}\n{done.stderr[-1500:]}")
    return int(found[1])


def measure(mercer):
    with tempfile.TemporaryDirectory() as folder:
        prepare(mercer, folder)
        start = count(mercer, ["info"], folder)
        unit = count(mercer, YARDSTICK, folder) - start
        return {name: round((count(mercer, job, folder) - start) / unit, 3) for name, job in JOBS.items()}


def main(arguments):
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return 77
    found = measure(str(pathlib.Path(arguments[0]).resolve()))
    if "--update" in arguments:
        KEPT.write_text(json.dumps(found, indent=2) + "\n")
    kept = json.loads(KEPT.read_text())
    grown = [name for name in JOBS if found[name] > ALLOWED * kept.get(name, 0)]
    for name in JOBS:
        print(f"{name:20} {found[name]:9.3f}   kept {kept.get(name, 0):9.3f}{'   MORE' if name in grown else ''}")
    print(f"{len(JOBS) - len(grown)} as kept, {len(grown)} grown by more than {ALLOWED - 1:.0%}")
    return 1 if grown else 0


sys.exit(main(sys.argv[1:]))
