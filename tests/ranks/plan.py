#!/usr/bin/env python3
"""plan.py MERCER: forecasts without data (`mercer plan --rows N --columns D --ranks R`): what grows with what, what cannot be, and the memory of a fit
that was made. Needs no MPI."""
import json
import pathlib
import subprocess
import sys
import tempfile

number, good = 0, True


def report(right, name, why=""):
    global number, good
    number += 1
    good &= bool(right)
    print(f"{'ok' if right else 'not ok'} {number} - {name}" + ("" if right else f"\n# {why}"), flush=True)


def run(mercer, words, folder=None):
    return subprocess.run([mercer, *words.split()], capture_output=True, text=True, cwd=folder)


def plan(mercer, words):
    done = run(mercer, f"plan --json --threads 1 {words}")
    made = json.loads(done.stdout)
    return {one["solver"]: one for one in [made, *made["alternatives"]]}, made, done.returncode


def growth(mercer):
    """Of ranks, where messages cost nothing, and of a network that is slow."""
    free = "--rows 1e6 --columns 28 --bandwidth 1e18 --latency 0 --memory 1000G -k rbf(sigma=2)"
    one, many = plan(mercer, f"{free} --ranks 1")[0], plan(mercer, f"{free} --ranks 64")[0]
    gain = one["pcg"]["seconds_estimate"] / many["pcg"]["seconds_estimate"]
    report(20 < gain <= 90, "64 ranks share pcg", gain)  # the speed is measured twice
    gain = one["fourier"]["seconds_estimate"] / many["fourier"]["seconds_estimate"]
    report(0.3 < gain < 3, "every rank does all of fourier", gain)
    slow = plan(mercer, free.replace("1e18", "1e6") + " --ranks 64")[0]
    report(slow["pcg"]["seconds_estimate"] > 2 * many["pcg"]["seconds_estimate"], "a slow network costs", slow)
    steps = plan(mercer, f"{free} --ranks 64 --steps 300")[0]
    report(steps["pcg"]["seconds_estimate"] > 4 * many["pcg"]["seconds_estimate"], "steps cost", steps)
    report(many["pcg"]["memory_bytes"] < one["pcg"]["memory_bytes"], "each has a part of the preconditioner", many)


def limits(mercer):
    solvers, made, code = plan(mercer, "--rows 1e9 --columns 28 --ranks 4096 --memory 64G -k rbf(sigma=2)")
    report(code == 1 and not made["possible"] and not any(one["possible"] for one in solvers.values()), "rows that fit no process", made)
    solvers, made, code = plan(mercer, "--rows 1e8 --columns 28 --ranks 512 --memory 256G -k rbf(sigma=2)")
    report(code == 0 and made["solver"] == "pcg" and not solvers["cholesky"]["possible"], "rows that fit", made)


def refusals(mercer):
    for words, message in [("plan --rows 1e6", "give --columns too"), ("plan", "plan needs a data file"), ("plan --rows x --columns 3", "--rows"),
                           ("plan --rows 1e6 --columns 3 -m svc", "ridge can be forecast"), ("plan --rows 0 --columns 3", "--rows"),
                           ("plan --rows 10 --columns 3 --ranks mpi", "--ranks")]:
        done = run(mercer, words)
        report(done.returncode == 2 and message in done.stderr, f"{words} is refused", done.stderr)


def memory(mercer):
    """Of a fit of one process: within a half and twice what it took at most."""
    with tempfile.TemporaryDirectory() as folder:
        run(mercer, "generate friedman1 -n 6000 --seed 3 -o f.csv -q", folder)
        words = "fit f.csv -m ridge -k rbf(sigma=2) --lambda 1 --solver pcg --rank 256 --threads 1 --json -o m"
        fit = json.loads(run(mercer, words, folder).stdout)
        took = plan(mercer, f"--rows 6000 --columns 10 --rank {fit['rank']} --steps {fit['iterations']} -k rbf(sigma=2)")[0]["pcg"]["memory_bytes"]
        report(0.5 < took / fit["memory_peak_bytes"] < 2, "memory of a fit", f"{took} and {fit['memory_peak_bytes']}")


def main(mercer):
    mercer = str(pathlib.Path(mercer).resolve())
    growth(mercer)
    limits(mercer)
    refusals(mercer)
    memory(mercer)
    print(f"1..{number}")
    return not good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
