#!/usr/bin/env python3
"""ranks.py [MERCER] [--ranks 1,2] [--only NAME;...] [--runs 2] [--small] [--folder F] [--plan]: what more processes gain, each of one thread.

Needs the command with its libmercer_mpi.so, mpirun, and nothing but Python's own library. Rows are drawn as scaling.py draws them, always the same.
Seconds are those of the whole command as a user waits for it, reading, writing and mpirun's own start included, which the first line tells; the
shortest of so many runs. One rank is the command without mpirun. Models and predictions are compared byte by byte.

--plan: fits of other sizes instead, their seconds and bytes beside what `mercer plan --rows` says of them without data, for the steps that they took."""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import scaling

# As in scaling.py; bar: at least so many times as fast on two ranks, 0: none is set
JOBS = {
    "ridge, pcg": dict(n=100000, d=10, words="-m ridge -k rbf(sigma=2) --lambda 1 --solver pcg", bar=1.8),
    "logistic": dict(n=20000, d=10, classes=2, words="-m logistic -k rbf(sigma=2) --lambda 0.1", bar=0),
    "svc": dict(n=120000, d=10, classes=2, words="-m svc -k rbf(sigma=3) --C 10", bar=1.8),
    "svc, ten classes": dict(n=40000, d=16, classes=10, words="-m svc -k rbf(sigma=4) --C 10", bar=1.8),
    "predict": dict(n=20000, d=10, verb="predict", words="-m ridge -k rbf(sigma=2) --lambda 0.1 --solver pcg", new=1500000, bar=1.8),
    "score": dict(n=20000, d=10, verb="score", words="-m ridge -k rbf(sigma=2) --lambda 0.1 --solver pcg", new=600000, bar=1.8),
}
# Of `--plan`: rows, columns, kernel
FORECASTS = [(15000, 10, "rbf(sigma=2)"), (30000, 28, "rbf(sigma=4)"), (45000, 5, "matern(nu=1.5,length_scale=2)"), (60000, 10, "rbf(sigma=2)")]
START = ["mpirun", "--oversubscribe", "--mca", "hwloc_base_binding_policy", "none"]
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Runner:
    """folder: of tables; answers: of models and predictions."""

    def __init__(self, mercer, folder, answers, runs):
        self.mercer, self.folder, self.answers, self.runs = mercer, pathlib.Path(folder), pathlib.Path(answers), runs

    def run(self, ranks, *words):
        start = [*START, "-n", str(ranks)] if ranks > 1 else []
        began = time.perf_counter()
        done = subprocess.run([*start, self.mercer, *map(str, words)], capture_output=True, text=True, env=ENV)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr[-500:]}")
        return time.perf_counter() - began, done.stdout

    def fit_words(self, job, out):
        rows = scaling.table(self.folder, job["n"], job["d"], job.get("classes", 0))
        kind = "class" if job.get("classes") else "number"
        return ["fit", rows, *job["words"].split(), "--target-kind", kind, "--scale", "none", "-o", out, "-q"]

    def words(self, name, job, out):
        verb = job.get("verb", "fit")
        if verb == "fit":
            return self.fit_words(job, out)
        model = self.answers / f"{job['n']}.fitted"
        if not model.exists():
            self.run(1, *self.fit_words(job, model))
        rows = scaling.table(self.folder, job["new"], job["d"], job.get("classes", 0), with_target=verb == "score")
        return [verb, model, rows, *(["-o", out, "-q"] if verb == "predict" else ["--json"])]

    def measure(self, name, job, ranks):
        """The shortest time, and the bytes of the answer."""
        out = self.answers / f"{name.replace(' ', '-')}.npy"
        words = [*self.words(name, job, out), "--threads", "1"]
        done = [self.run(ranks, *words) for _ in range(self.runs)]
        return min(seconds for seconds, _ in done), done[0][1] if job.get("verb") == "score" else out.read_bytes()


def forecast(runner, n, d, kernel, ranks):
    """A fit that was made, and what was foretold of it: seconds and bytes of each."""
    rows, out = scaling.table(runner.folder, n, d, 0), runner.answers / "answer.mercer"
    words = ["fit", rows, "-m", "ridge", "-k", kernel, "--lambda", "1", "--solver", "pcg", "--target-kind", "number", "--scale", "none", "--threads", "1"]
    fit = json.loads(min(runner.run(ranks, *words, "-o", out, "--json") for _ in range(runner.runs))[1])
    said = ["plan", "--rows", n, "--columns", d, "--ranks", ranks, "--rank", fit["rank"], "--steps", fit["iterations"], "-k", kernel, "--threads", "1"]
    plan = json.loads(runner.run(1, *said, "--bandwidth", "4e10", "--latency", "3e-6", "--json")[1])
    pcg = next(one for one in [plan, *plan["alternatives"]] if one["solver"] == "pcg")
    return (fit["iterations"], fit["rank"]), fit["seconds"]["fit"], pcg["seconds_estimate"], fit["memory_peak_bytes"], pcg["memory_bytes"]


def print_forecasts(runner, ranks):
    print("| ridge by pcg | ranks | steps, rank | seconds | foretold | ratio | MB | foretold |\n" + "|---" * 8 + "|")
    for n, d, kernel in FORECASTS:
        for count in ranks:
            (steps, rank), took, said, held, told = forecast(runner, n, d, kernel, count)
            print(f"| {n} x {d}, {kernel} | {count} | {steps}, {rank} | {took:.2f} | {said:.2f} | {said / took:.2f} | {held / 1e6:.0f} | {told / 1e6:.0f} |",
                  flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("mercer", nargs="?", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/mercer"))
    words.add_argument("--ranks", default="1,2")
    words.add_argument("--only", default="")
    words.add_argument("--runs", type=int, default=2)
    words.add_argument("--small", action="store_true", help="a tenth of the rows")
    words.add_argument("--folder", default="", help="where tables are kept for the next time")
    words.add_argument("--plan", action="store_true", help="forecasts without data beside fits")
    said = words.parse_args()
    ranks = [int(r) for r in said.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(str(pathlib.Path(said.mercer).resolve()), said.folder or folder, folder, said.runs)
        if said.plan:
            print_forecasts(runner, ranks)
            return
        alone, together = runner.run(1, "info")[0], runner.run(ranks[-1], "info")[0]
        print(f"{len(os.sched_getaffinity(0))} processors; `mercer info` takes {alone:.2f} s, by {ranks[-1]} ranks {together:.2f} s\n")
        print("| job | " + " | ".join(f"{r}: s" for r in ranks) + " | gain | same bits | bar |\n" + "|---" * (len(ranks) + 4) + "|")
        for name, job in JOBS.items():
            if said.only and name not in said.only.split(";"):
                continue
            job = dict(job, n=job["n"] // 10, new=job.get("new", 0) // 10) if said.small else job
            taken, answers = zip(*[runner.measure(name, job, r) for r in ranks])
            gain, bar = taken[0] / taken[-1], job["bar"] * ranks[-1] / 2
            rows = f"{job['new']} rows, {job['n']} centres" if job.get("verb") else f"{job['n']} x {job['d']}"
            verdict = "none" if not bar else "met" if gain >= bar else f"**missed**: {bar:.3g}"
            print(f"| {name}, {rows} | " + " | ".join(f"{s:.2f}" for s in taken)
                  + f" | {gain:.2f} | {'yes' if len(set(answers)) == 1 else '**no**'} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
