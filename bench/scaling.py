#!/usr/bin/env python3
"""scaling.py [MERCER] [--threads 1,2,4,8,16] [--only NAME,...] [--seconds 540] [--small]: what more threads gain, and the serial share of each job.

Needs the command and nothing but Python's own library, so that it runs on any machine the build is carried to (--wrapper: what stands before the
command, such as a dynamic loader with its path). Rows are drawn by the command's generators or here, always the same. Seconds are those of the
fit that the report states; of predictions and searches those of the whole command. The shorter of two where they take less than two seconds.
The serial share is that of Amdahl's law for the most threads: (T/T1 - 1/t) / (1 - 1/t). The coefficients must be the same bits on every number
of threads: the model files are compared byte by byte."""
import argparse
import array
import hashlib
import json
import math
import os
import pathlib
import random
import shlex
import struct
import subprocess
import tempfile
import time

# name: (rows, columns, classes (0: numbers), words of the fit, at least so many times as fast on 16 threads); verbs other than fit are told by "verb"
JOBS = {
    "pcg": dict(n=30000, d=10, words="-m ridge --lambda 0.1 --solver pcg --rank 1000 --tolerance 1e-6", bar=12),
    "cholesky": dict(n=9000, d=10, words="-m ridge --lambda 0.1 --solver cholesky --no-loo", bar=12),
    "logistic": dict(n=16000, d=10, classes=2, words="-m logistic --lambda 0.1", bar=8),
    "svc": dict(n=40000, d=10, classes=2, words="-m svc --C 10", bar=8),
    "svr": dict(n=30000, d=10, words="-m svr --C 10 --epsilon 0.1", bar=8),
    "ten classes": dict(n=15000, d=16, classes=10, words="-m svc --C 10", bar=12),
    "pca": dict(n=16000, d=10, words="-m pca --components 20 --tolerance 1e-4 --no-target", bar=12),
    "search": dict(n=3000, d=16, classes=10, verb="tune", words="-m svc --C 1..100 -k rbf(gamma=0.01..1) --points 4 --folds 5", bar=12),
    "predict": dict(n=20000, d=10, verb="predict", words="-m ridge --lambda 0.1 --solver nystrom --rank 2000", new=400000, bar=12),
}


def npy(path, rows):
    """Doubles as a file of NumPy's."""
    n, d = len(rows), len(rows[0])
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {d}), }}".encode()
    head += b" " * (63 - (len(head) + 10) % 64) + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for row in rows:
            out.write(array.array("d", row).tobytes())


def table(folder, n, d, classes, with_target=True):
    """Normal rows; the target is a smooth function of them with noise, or which of as many quantiles it is in, a twentieth of them wrong."""
    path = pathlib.Path(folder) / f"{n}x{d}.{classes}.{int(with_target)}.npy"
    if path.exists():
        return path
    rng = random.Random(n * 1000 + d * 10 + classes + with_target)
    rows = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    values = [math.sin(2 * r[0]) + r[1] * r[2 % d] + 0.5 * r[3 % d] + 0.2 * rng.gauss(0, 1) for r in rows]
    if classes:
        limits = sorted(values)
        limits = [limits[k * n // classes] for k in range(1, classes)]
        values = [rng.randrange(classes) if rng.random() < 0.05 else sum(v > q for q in limits) for v in values]
    npy(path, [r + [v] for r, v in zip(rows, values)] if with_target else rows)
    return path


class Runner:
    def __init__(self, wrapper, mercer, folder):
        self.start, self.folder = [*shlex.split(wrapper), mercer], folder

    def run(self, *words):
        began = time.perf_counter()
        done = subprocess.run([*self.start, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr[-500:]}")
        return time.perf_counter() - began, done.stdout

    def model(self, name):
        return f"{self.folder}/{name.replace(' ', '-')}.mercer"

    def fit(self, name, job, threads):
        kind = ["--target-kind", "class" if job.get("classes") else "number"] if "--no-target" not in job["words"] else []
        kernel = [] if "-k" in job["words"] else ["-k", f"rbf(gamma={0.5 / job['d']:.6g})"]
        verb = job.get("verb", "fit") if job.get("verb") != "predict" else "fit"
        rows = table(self.folder, job["n"], job["d"], job.get("classes", 0), with_target="--no-target" not in job["words"])
        whole, said = self.run(verb, rows, *job["words"].split(), *kernel, *kind,
                               "--scale", "none", "--threads", threads, "-o", self.model(name), "--json")
        return json.loads(said)["seconds"]["fit"] if verb == "fit" else whole

    def predict(self, name, job, threads):
        if not os.path.exists(self.model(name)):
            self.fit(name, job, os.cpu_count())
        new = table(self.folder, job["new"], job["d"], 0, with_target=False)
        return self.run("predict", self.model(name), new, "--threads", threads, "-o", f"{self.folder}/p.npy", "-q")[0]

    def bits(self, name, job):
        """Of the answer: the model without the lines that say when and how long."""
        path = f"{self.folder}/p.npy" if job.get("verb") == "predict" else self.model(name)
        if job.get("verb") != "predict":
            self.run("predict", path, table(self.folder, 500, job["d"], 0, with_target=False), "-q", "-o", f"{self.folder}/q.npy")
            path = f"{self.folder}/q.npy"
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:12]

    def seconds(self, name, job, threads):
        work = self.predict if job.get("verb") == "predict" else self.fit
        taken = work(name, job, threads)
        return min(taken, work(name, job, threads)) if taken < 2 else taken


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/mercer"))
    words.add_argument("--wrapper", default="")
    words.add_argument("--threads", default="")
    words.add_argument("--only", default="")
    words.add_argument("--seconds", type=float, default=540, help="no job is begun after so many")
    words.add_argument("--small", action="store_true", help="a tenth of the rows")
    said = words.parse_args()
    most = len(os.sched_getaffinity(0))
    threads = [int(t) for t in said.threads.split(",")] if said.threads else sorted({1, 2, most} | {t for t in (4, 8) if t < most})
    began = time.monotonic()
    print(f"{most} processors\n\n| job | " + " | ".join(f"{t}: s" for t in threads) + " | gain | serial share | same bits | bar |\n" + "|---" * (len(threads) + 5) + "|")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(said.wrapper, said.mercer, folder)
        for name, job in JOBS.items():
            if (said.only and name not in said.only.split(",")) or time.monotonic() - began > said.seconds:
                continue
            job = dict(job, n=job["n"] // 10, new=job.get("new", 0) // 10) if said.small else job
            taken, bits = [], set()
            for t in threads:
                taken.append(runner.seconds(name, job, t))
                bits.add(runner.bits(name, job))
            gain, t = taken[0] / taken[-1], threads[-1]
            share = (1 / gain - 1 / t) / (1 - 1 / t) if t > 1 else 1
            bar = job["bar"] * t / 16 if t <= 16 else job["bar"]
            print(f"| {name}, {job['n']} x {job['d']} | " + " | ".join(f"{s:.3f}" for s in taken)
                  + f" | {gain:.1f} | {100 * share:.1f}% | {'yes' if len(bits) == 1 else '**no**'} | {'met' if gain >= bar else f'**missed**: {bar:.3g}'} |", flush=True)


if __name__ == "__main__":
    main()
