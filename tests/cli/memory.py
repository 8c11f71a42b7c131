"""memory.py MERCER: --memory holds as mercer info states it: the process stays below the limit and what info says comes on top."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20


def peak(mercer, *words):
    """(bytes resident at most, exit status) of one run."""
    run = subprocess.Popen([mercer, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss * 1024, run.returncode


def main(mercer):
    mercer, failures, fullest = str(pathlib.Path(mercer).resolve()), 0, 0.0
    with tempfile.TemporaryDirectory(prefix="mercer-memory-") as folder:
        os.chdir(folder)
        subprocess.run([mercer, "generate", "friedman1", "-n", "2500", "--seed", "1", "-o", "f.csv", "-q"], check=True)
        subprocess.run("gzip -k f.csv", shell=True, check=True)
        fit = ["fit", "f.csv", "-k", "rbf", "-o", "m.mercer", "-q"]
        jobs = [[*fit, "--lambda", "0.1", "--solver", "cholesky"], [*fit, "--lambda", "0.1", "--solver", "pcg"], [*fit, "-m", "svr", "--C", "10"],
                [*fit, "-m", "gp", "--no-learn", "--noise", "0.1"], ["gram", "rbf", "f.csv", "-o", "K.npy", "-q"], ["show", "f.csv.gz", "-q"],
                ["folds", "f.csv", "-k", "rbf", "--lambda", "1", "--folds", "3", "-q"]]
        for threads in (1, 2):
            for limit in (30, 60):
                options = ["--memory", f"{limit}M", "--threads", threads]
                beside = json.loads(subprocess.run([mercer, "info", "--json", *map(str, options)], check=True, capture_output=True).stdout)
                allowed = limit * MIB + beside["memory_beside_bytes"]
                for job in jobs:
                    used, status = peak(mercer, *job, *options)
                    fullest = max(fullest, used / (limit * MIB))
                    if used > allowed or status not in (0, 5):
                        failures += 1
                        print(f"{' '.join(job)} with {limit} MiB, {threads} threads: {used / MIB:.1f} MiB, {allowed / MIB:.1f} allowed, exit {status}")
    print(f"the fullest run took {fullest:.2f} of its limit, code and libraries counted")
    return failures > 0 or fullest < 0.8  # otherwise nothing was put to the test


sys.exit(main(sys.argv[1]))
