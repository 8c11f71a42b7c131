#!/usr/bin/env python3
"""run.py MERCER bits|failures|killed|python: the command under mpirun, and the Python package.

bits: models and predictions are the same bytes on 1, 2, 3, 4 and 7 ranks as without mpirun.
failures: what goes wrong on any rank is said once and ends all; nobody hangs.
killed: a rank is killed at $MERCER_TEST_MOMENTS random moments (2); the same command on another number of ranks goes on from the checkpoint to the
model that nobody disturbed.
python: fits and predictions in mercer.options(comm=MPI.COMM_WORLD), the same bytes on 1, 2 and 3 ranks.

Every run has a limit of time. Skipped, visibly, where mpirun or libmercer_mpi.so is absent."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 100  # seconds of a run
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMP_NUM_THREADS": "1"}
# Each shares products with K in its own way; those of ridge by pcg go on all numbers of ranks, the others on one. With
# more rows than 8,192 ranks share the preconditioner too.
FITS = {
    "ridge": "f.csv -m ridge -k rbf(sigma=1) --lambda 0.1 --solver pcg",
    "ridge of more rows": "h.csv -m ridge -k rbf(sigma=1) --lambda 0.5 --solver pcg",
    "lms": "f.csv -m lms -k rbf(sigma=1) --epochs 3",
    "logistic": "c.csv -m logistic -k rbf(sigma=0.3) --lambda 0.1",
    "huber": "f.csv -m huber -k matern(nu=1.5,length_scale=2) --lambda 0.1",
    "svc": "c.csv -m svc -k rbf(sigma=0.3) --C 1",
    "svc of pairs": "b.csv -m svc -k rbf(sigma=1) --C 10",
    "nu-svc of pairs": "b.csv -m nu-svc -k rbf(sigma=1) --nu 0.6",
    "nystrom": "f.csv -m ridge -k rbf(sigma=1) --lambda 0.1 --solver nystrom --landmarks 200",
    "fourier": "f.csv -m ridge -k rbf(sigma=1) --lambda 0.1 --solver fourier",
    "pca": "f.csv -m pca -k rbf(sigma=1) --components 3",
    "knn": "c.csv -m knn -k rbf(sigma=1)",
}
number = 0


def report(good, name, why=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}" + ("" if good else f"\n# {why}"))
    return good


class Folder:
    def __init__(self, mercer):
        self.mercer = mercer
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="mercer-ranks-"))

    def started(self, words, ranks, environment=None, **options):
        start = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
        return subprocess.Popen(start + [self.mercer] + words.split(), cwd=self.path, env={**ENV, **(environment or {})}, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run(self, words, ranks=0, **environment):
        process = self.started(words, ranks, environment)
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, "", f"still running after {LIMIT} s"
        return process.returncode, out, err

    def bytes(self, name):
        path = self.path / name
        return path.read_bytes() if path.exists() else b""


def bits(folder):
    folder.run("generate friedman1 -n 1500 --seed 3 -o f.csv -q")
    folder.run("generate moons -n 1800 --noise 0.3 --seed 3 -o c.csv -q")
    folder.run("generate blobs -n 2400 --noise 1 --seed 3 -o b.csv -q")
    folder.run("generate friedman1 -n 2500 --seed 4 -o g.csv -q")
    folder.run("generate friedman1 -n 9000 --seed 5 -o h.csv -q")
    good = True
    for name, words in FITS.items():
        file = name.replace(" ", "-")
        code, _, said = folder.run(f"fit {words} -o {file}.0 -q")
        good &= report(code == 0 and folder.bytes(file + ".0") != b"", f"{name} alone", said)
        for ranks in [1, 2, 3, 4, 7] if name.startswith("ridge") else [2 + number % 2]:
            code, _, said = folder.run(f"fit {words} -o {file}.{ranks} -q", ranks)
            same = folder.bytes(f"{file}.{ranks}") == folder.bytes(file + ".0")
            good &= report(code == 0 and same, f"{name} on {ranks} ranks", said or "the model differs")
    return good & messages_go_in_pieces(folder) & predictions(folder) & the_slowest_is_named(folder) & progress_is_of_one(folder)


def messages_go_in_pieces(folder):
    """Of 700 numbers, as those of more than MPI counts in an int do."""
    good = True
    for name in ("ridge of more rows", "svc of pairs", "nystrom"):
        file = name.replace(" ", "-")
        code, _, said = folder.run(f"fit {FITS[name]} -o {file}.pieces -q", 3, MERCER_MPI_MOST="700")
        same = folder.bytes(file + ".pieces") == folder.bytes(file + ".0")
        good &= report(code == 0 and same, f"{name}: messages in pieces", said or "the model differs")
    return good


def predictions(folder):
    alone = folder.run("predict ridge.0 g.csv -o p.0")
    shared = folder.run("predict ridge.0 g.csv -o p.3", 3)
    good = report(shared[0] == 0 and folder.bytes("p.3") == folder.bytes("p.0") != b"", "predictions on 3 ranks", shared[2])
    good &= report(shared[1] == alone[1].replace("p.0", "p.3"), "and what is said of them, once", shared[1])
    alone, shared = folder.run("score ridge.0 f.csv --json"), folder.run("score ridge.0 f.csv --json", 2)
    return good & report(alone[1] == shared[1] != "", "scores on 2 ranks", shared[1] + shared[2])


def the_slowest_is_named(folder):
    """In a report of several ranks alone."""
    fit = "fit f.csv -m ridge -k rbf(sigma=1) --lambda 0.1 --solver pcg -o x"
    said = json.loads(folder.run(fit + " --json")[1])
    good = report("ranks" not in said, "a report of one process names no rank", str(said))
    out = folder.run(fit + " --json", 3)[1]
    said = json.loads(out)
    named = said["ranks"] == 3 and said["slowest_rank"] in (0, 1, 2) and said["waited_seconds"] >= 0
    return good & report(named, "a report of three names the slowest", out)


def progress_is_of_one(folder):
    said = folder.run("info --json", 3)[1]
    good = report(said.count("{") > 0 and json.loads(said)["ranks"] == 3, "info on 3 ranks", said)
    said = folder.run("info --json --ranks none", 2)[1]
    return good & report(said.count('"version"') == 2, "--ranks none: each for itself", said)


def failures(folder):
    folder.run("generate friedman1 -n 1500 --seed 3 -o f.csv -q")
    (folder.path / "bad.csv").write_text("a,y\n1,2\nx,3,4\n")
    fit = "fit f.csv -m ridge -k rbf(sigma=1) --lambda 1e-3 --solver pcg -q"
    good = True
    for name, words, code, message in [
            ("a bad option", "fit f.csv --lamda 1", 2, "mercer: fit has no option --lamda"),
            ("bad data", "fit bad.csv -m ridge -o x", 2, "mercer: bad.csv"),
            ("no memory", fit + " -o x --memory 400K", 5, "mercer: "),
            ("a time limit", fit + " -o x --time-limit 5", 2, "mercer: time_limit: 2 ranks cannot plan"),
            ("a card", fit + " -o x --device cuda", 2, "mercer: device cuda: 2 ranks compute on their processors"),
            ("standard input", "fit - -m ridge -o x", 2, "mercer: standard input is read by one process"),
            ("no place for the model", fit + " -o nowhere/x", 2, "mercer: cannot write")]:
        got, _, said = folder.run(words, 2)
        good &= report(got == code and said.count("mercer: ") == 1 and message in said, f"{name} is said once", f"exit {got}: {said}")
    got, _, said = folder.run(fit + " -o x", 2, MERCER_DEVICE="cuda")
    good &= report(got == 2 and said.count("mercer: device cuda") == 1, "a card of the environment is said once", f"exit {got}: {said}")
    return good & one_rank_lacks_the_file(folder, fit) & one_rank_is_killed(folder, fit)


def one_rank_lacks_the_file(folder, fit):
    """The second rank looks in a folder where the file is not."""
    (folder.path / "empty").mkdir()
    script = folder.path / "elsewhere.sh"
    script.write_text(f'[ "$OMPI_COMM_WORLD_RANK" != 1 ] || cd empty\nexec {folder.mercer} "$@"\n')
    process = subprocess.run(["mpirun", "--oversubscribe", "-n", "3", "sh", str(script), *fit.split(), "-o", "x"], cwd=folder.path, env=ENV,
                             capture_output=True, text=True, timeout=LIMIT)
    said = process.stderr
    return report(process.returncode == 2 and "mercer: rank 1: " in said and "f.csv" in said, "a file that one rank has not",
                  f"exit {process.returncode}: {said}")


def children_of(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return [int(one) for one in found]


def one_rank_is_killed(folder, fit):
    """While all are at work: mpirun ends the others, and no model is there."""
    folder.run("generate friedman1 -n 12000 --seed 3 -o f.csv -q")
    process = folder.started(fit.replace("1e-3", "1e-7") + " -o killed", 3)
    began = time.time()
    while len(children_of(process.pid)) < 3 and time.time() < began + 30:
        time.sleep(0.05)
    time.sleep(1)
    victims = children_of(process.pid)
    os.kill(victims[-1], signal.SIGKILL)
    killed = time.time()
    try:
        process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return report(False, "a rank that is killed ends all", "the others went on")
    seconds = time.time() - killed
    return report(process.returncode != 0 and not (folder.path / "killed").exists(), "a rank that is killed ends all",
                  f"exit {process.returncode} after {seconds:.1f} s")


KILLED = {
    "ridge": "h.csv -m ridge -k rbf(sigma=1) --lambda 1e-2 --solver pcg",
    "svc": "d.csv -m svc -k rbf(gamma=20) --C 30",
}


def wait_for(process, seconds, checkpoint):
    """Until so many seconds have passed, checkpoint None, or it is there; or it is over."""
    began = time.time()
    while process.poll() is None and time.time() < began + seconds and not (checkpoint and checkpoint.exists()):
        time.sleep(0.005)


def kill_and_go_on(folder, name, moment, seconds, rng):
    """The first moment of each fit is after a checkpoint, the others are any. What went wrong, and whether a checkpoint was found."""
    first = rng.choice([2, 3])
    then = rng.choice([count for count in (1, 2, 3) if count != first])
    words = f"fit {KILLED[name]} --checkpoint {name}.{moment}.saved -o {name}.{moment} -q"
    saved = folder.path / f"{name}.{moment}.saved"
    process = folder.started(words, first)
    wait_for(process, LIMIT, saved) if moment < len(KILLED) else wait_for(process, rng.uniform(0, seconds), None)
    victims = children_of(process.pid)
    if victims:
        os.kill(rng.choice(victims), signal.SIGKILL)
    try:
        process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return f"{first} ranks went on without one that was killed", False
    ended, found = process.returncode == 0, saved.exists()
    code, _, said = folder.run(words, then if then > 1 else 0)
    same = folder.bytes(f"{name}.{moment}") == folder.bytes(name + ".whole")
    why = "" if code == 0 and same else f"from {first} ranks to {then}: exit {code}, {said or 'the model differs'}"
    return why, found and not ended


def killed(folder):
    folder.run("generate friedman1 -n 9000 --seed 5 -o h.csv -q")
    folder.run("generate moons -n 9000 --noise 0.3 --seed 3 -o d.csv -q")
    seed = os.environ.get("MERCER_TEST_SEED", "20261115")
    rng = random.Random(int(seed))
    print(f"# seed {seed}")
    seconds, good, resumed = {}, True, dict.fromkeys(KILLED, 0)
    for name, words in KILLED.items():
        began = time.time()
        code, _, said = folder.run(f"fit {words} --checkpoint {name}.whole.saved -o {name}.whole -q", 2)
        seconds[name] = time.time() - began
        good &= report(code == 0, f"{name} on 2 ranks, undisturbed", said)
    for moment in range(int(os.environ.get("MERCER_TEST_MOMENTS", "2"))):
        name = list(KILLED)[moment % len(KILLED)]
        why, found = kill_and_go_on(folder, name, moment, seconds[name], rng)
        resumed[name] += found
        good &= report(not why, f"{name}, killed at moment {moment + 1}", why)
    return good & report(all(resumed.values()), "checkpoints were found", str(resumed))


def works(folder):
    if not shutil.which("mpirun"):
        return "mpirun is not installed (Debian: openmpi-bin)"
    code, out, said = folder.run("info --ranks mpi", 2)
    return "" if code == 0 and "2 processes share" in out else f"mpirun does not run it: {said.strip()[:200]}"


def why_not(folder, mercer):
    """Why nothing can be tested here; empty: it can."""
    built = list(pathlib.Path(mercer).resolve().parent.glob("src/libmercer_mpi.so"))
    if not built:
        return "libmercer_mpi.so was not built (Debian: libopenmpi-dev)"
    return "" if shutil.which("mpirun") else works(folder)


def python(folder):
    """The Python package with communicators of mpi4py."""
    interpreter = "/usr/bin/python3"
    if subprocess.run([interpreter, "-c", "import mpi4py, numpy"], capture_output=True).returncode:
        return report(True, "mercer.options(comm=) # SKIP mpi4py is not installed (Debian: python3-mpi4py)")
    script = pathlib.Path(__file__).resolve().parent / "shared.py"
    environment = {**ENV, "PYTHONPATH": str(pathlib.Path(folder.mercer).parent / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    good = True
    for ranks in (1, 2, 3):
        done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), interpreter, str(script), str(folder.path)], env=environment, text=True,
                              capture_output=True, timeout=LIMIT)
        same = all(folder.bytes(f"{what}.{ranks}") == folder.bytes(f"{what}.1") != b"" for what in ("ridge", "svc", "predictions"))
        said = done.stdout + done.stderr[-500:]
        good &= report(done.returncode == 0 and same, f"mercer.options(comm=) of {ranks}", said)
        good &= report("NaN" in said and "communicator of mpi4py" in said, "what cannot be is refused", said)
    return good


def main(mercer, case):
    folder = Folder(str(pathlib.Path(mercer).resolve()))
    why = why_not(folder, mercer)
    if why:
        print(f"1..0 # SKIP {why}\n# skipped: {why}")
        return 0
    good = {"bits": bits, "failures": failures, "killed": killed, "python": python}[case](folder)
    shutil.rmtree(folder.path)
    print(f"1..{number}")
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
