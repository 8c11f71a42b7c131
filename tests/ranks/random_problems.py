#!/usr/bin/env python3
"""random_problems.py MERCER: random problems of every machine, the same bytes on any number of ranks.

$MERCER_TEST_PROBLEMS (3) problems drawn by $MERCER_TEST_SEED (fresh where it is not set), each of a random machine, kernel, size and file format;
the model and its predictions are made without mpirun and on 1, 2, 3, 4 and 7 ranks ($MERCER_TEST_RANKS), and compared byte by byte. Skipped,
visibly, where mpirun or libmercer_mpi.so is absent."""
import os
import pathlib
import random
import shutil
import struct
import sys

import run

# machine: (kind of target, options)
MACHINES = {
    "ridge": ("number", ["--solver pcg", "--solver pcg --rank 100", "--solver nystrom --landmarks 150", "--solver fourier", "--solver cholesky",
                         "--solver mixed", "--intercept"]),
    "lms": ("number", ["--epochs 2"]),
    "huber": ("number", ["", "--delta 0.1"]),
    "quantile": ("number", ["--tau 0.2"]),
    "absolute": ("number", [""]),
    "svr": ("number", ["--epsilon 0.1", "--epsilon 0.01 --C 10"]),
    "nu-svr": ("number", ["--nu 0.3"]),
    "gp": ("number", ["--noise 0.1"]),
    "logistic": ("class", ["--lambda 0.1", "--lambda 1"]),
    "squared-hinge": ("class", ["--lambda 0.1"]),
    "svc": ("class", ["--C 1", "--C 30"]),
    "nu-svc": ("class", ["--nu 0.2"]),
    "one-class": ("none", ["--nu 0.1"]),
    "knn": ("class", ["--neighbours 5", ""]),
    "pca": ("none", ["--components 3"]),
}
KERNELS = ["rbf(sigma=1)", "rbf(gamma=0.3)", "matern(nu=1.5,length_scale=2)", "0.5*rbf(sigma=2) + linear", "laplacian(gamma=0.2)", "poly(degree=2,c=1)"]


def value_of(rng, kind, row, classes):
    value = row[0] * row[-1] + abs(row[len(row) // 2]) + 0.3 * rng.gauss(0, 1)
    return str(int(value * 2) % classes) if kind == "class" else f"{value:.6g}"


def write(rng, path, rows, targets):
    """As CSV, LIBSVM text or .npy; how the table is read is part of the problem."""
    form = path.suffix[1:]
    if form == "npy":
        table = [row + [float(t)] for row, t in zip(rows, targets)]
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(table)}, {len(table[0])}), }}".encode()
        head += b" " * (63 - (len(head) + 10) % 64) + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"".join(struct.pack(f"<{len(r)}d", *r) for r in table))
    elif form == "svm":
        path.write_text("".join(f"{t} " + " ".join(f"{j + 1}:{v:.15g}" for j, v in enumerate(row) if v) + "\n" for row, t in zip(rows, targets)))
    else:
        head = ",".join(f"x{j}" for j in range(len(rows[0]))) + ",y\n"
        path.write_text(head + "".join(",".join(f"{v:.15g}" for v in row) + f",{t}\n" for row, t in zip(rows, targets)))


def draw(rng, folder):
    """A problem as words of fit, and the file to predict for. Every third has rows enough for what only large problems share."""
    machine = rng.choice(list(MACHINES))
    kind, options = MACHINES[machine]
    slow = machine in ("gp", "quantile", "absolute", "nu-svr", "nu-svc")
    n = rng.randint(8300, 9500) if rng.random() < 0.3 and not slow else rng.randint(1300, 2000 if slow else 3000)
    d, classes, form = rng.randint(2, 12), rng.randint(2, 4), rng.choice(["csv", "svm", "npy"])
    zero = rng.choice([0, 0, 0.8])
    rows = [[0.0 if rng.random() < zero else rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    file = folder.path / f"rows.{form}"
    write(rng, file, rows, [value_of(rng, kind, row, classes) for row in rows])
    words = f"{file.name} -m {machine} -k {rng.choice(KERNELS).replace(' ', '')} {rng.choice(options)} --threads 1"
    words += {"number": " --target-kind number", "class": " --target-kind class", "none": "" if form == "svm" else " --no-target"}[kind]
    return machine, words, file.name


def check(folder, words, file, ranks):
    """What is wrong, or an empty text."""
    alone = folder.run(f"fit {words} -o model.0 -q")
    predicts = folder.run(f"predict model.0 {file} -o p.0.csv -q")[0] == 0
    if alone[0] is None or alone[0] not in (0, 1):
        said = folder.run(f"fit {words} -o model.1 -q", ranks[-1])
        return "" if said[0] == alone[0] and said[2] == alone[2] else f"alone: {alone[2]}; on {ranks[-1]}: {said[2]}"
    for count in ranks:
        code, _, said = folder.run(f"fit {words} -o model.{count} -q", count)
        if code != alone[0] or folder.bytes(f"model.{count}") != folder.bytes("model.0"):
            return f"on {count} ranks: exit {code}, {said or 'the model differs'}"
        if predicts and folder.run(f"predict model.0 {file} -o p.{count}.csv -q", count)[0]:
            return f"no predictions on {count} ranks"
        if predicts and folder.bytes(f"p.{count}.csv") != folder.bytes("p.0.csv"):
            return f"on {count} ranks: the predictions differ"
    return ""


def main(mercer):
    folder = run.Folder(str(pathlib.Path(mercer).resolve()))
    why = run.why_not(folder, mercer)
    if why:
        print(f"1..0 # SKIP {why}\n# skipped: {why}")
        return 0
    seed = int(os.environ.get("MERCER_TEST_SEED") or random.SystemRandom().randrange(10**9))
    ranks = [int(word) for word in os.environ.get("MERCER_TEST_RANKS", "1,2,3,4,7").split(",")]
    print(f"# seed {seed}", flush=True)
    good = True
    for k in range(int(os.environ.get("MERCER_TEST_PROBLEMS", "3"))):
        machine, words, file = draw(random.Random(seed * 1000 + k), folder)
        why = check(folder, words, file, ranks)
        good &= run.report(not why, f"{words}", why)
    shutil.rmtree(folder.path)
    print(f"1..{run.number}")
    return not good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
