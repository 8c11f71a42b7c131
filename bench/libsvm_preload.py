#!/usr/bin/env python3
"""libsvm_preload.py BUILD [FILE...]: Debian's svm-train and svm-predict as they are and with libmercer-svm.so preloaded, on the same files: seconds
(the best of three), what the models say of each other's rows, and the same for mercer-svm-train and -predict. Without files: generated ones of
several shapes. One line per file and job, as a Markdown table."""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
LIBRARY = BUILD / "src/libsvm/libmercer-svm.so"
REPEATS = int(os.environ.get("REPEATS", "3"))


def generated(folder):
    """Name, rows, classes, columns, share of values, options."""
    rng = random.Random(1)
    for name, n, k, d, share, options in (("small", 200, 2, 8, 1, []), ("dense", 3000, 2, 20, 1, ["-c", "10"]), ("sparse", 4000, 2, 500, 0.03, []),
                                          ("classes", 2600, 26, 16, 1, []), ("numbers", 2000, 0, 8, 1, ["-s", "3"])):
        with open(folder / name, "w") as out:
            centres = [[rng.gauss(0, 0.7) for _ in range(d)] for _ in range(max(k, 1))]
            for i in range(n):
                c = i % max(k, 1)
                row = [(j + 1, rng.gauss(centres[c][j], 1)) for j in range(d) if share == 1 or rng.random() < share]
                label = c if k else sum(v for _, v in row[:3])
                out.write(f"{label} " + " ".join(f"{j}:{v:.5f}" for j, v in row) + "\n")
        yield folder / name, options


def run(folder, words, preload):
    environment = dict(os.environ, LD_PRELOAD=str(LIBRARY)) if preload else None
    best, said = float("inf"), ""
    for _ in range(REPEATS):
        began = time.perf_counter()
        said = subprocess.run([str(w) for w in words], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
        best = min(best, time.perf_counter() - began)
    return best, said


def shown(said):
    """The number that the last lines give."""
    found = re.search(r"(?:Accuracy = ([\d.]+%)|Mean squared error = (\S+))", said)
    return next(g for g in found.groups() if g) if found else ""


def jobs(data, options):
    """Name, words without the program, where the program leaves a model that the next job reads."""
    b = ["-b", "1"]
    yield "train", "train", ["-q", *options, data, "MODEL"]
    yield "predict", "predict", [data, "MODEL", "out"]
    yield "train -b 1", "train", ["-q", *options, *b, data, "MODELb"]
    yield "predict -b 1", "predict", [*b, data, "MODELb", "out"]
    yield "train -v 5", "train", ["-q", *options, "-v", "5", data]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [(pathlib.Path(f).resolve(), []) for f in sys.argv[2:]] or list(generated(folder))
        print("| file | job | LIBSVM, s | preloaded, s | times | mercer-svm-, s | says | preloaded says |\n|---|---|---|---|---|---|---|---|")
        for data, options in files:
            for job, program, words in jobs(data, options):
                own = [[str(w).replace("MODEL", prefix) for w in words] for prefix in ("old", "new", "own")]
                old, said_old = run(folder, [f"svm-{program}", *own[0]], False)
                new, said_new = run(folder, [f"svm-{program}", *own[1]], True)
                ours, _ = run(folder, [BUILD / f"mercer-svm-{program}", *own[2]], False)
                print(f"| {data.name} | {job} | {old:.3f} | {new:.3f} | {old / new:.1f} | {ours:.3f} | {shown(said_old)} | {shown(said_new)} |", flush=True)


main()
