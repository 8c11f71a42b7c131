"""fields.py MERCER: what a report says to people it says to programs: every number in the text is in the object of --json, to the digits printed.
Left alone are the rows of the command's own doings: files, data, advice, and the error on the rows of the fit, which --json does not compute."""
import json
import os
import re
import subprocess
import sys
import tempfile

MERCER = os.path.abspath(sys.argv[1])
PASSED_OVER = {"kernel", "data", "model", "next", "training", "written", "time", "machine", "trace", "chose", "scaling", "fitted on", "columns", "target",
               "instructions", "BLAS", "version", "memory", "eigenvalues", "calibration"}
MACHINES = ["ridge --lambda 0.1", "ridge --lambda 0.1 --solver nystrom --rank 20", "ridge --lambda 0.1 --solver fourier --rank 20", "ridge --lambda 0.1 --solver pcg",
            "lms", "lms --held-out 0.2", "gp", "huber", "quantile", "absolute", "svr", "nu-svr", "one-class", "pca --components 3", "knn"]
CLASSES = ["svc", "nu-svc", "logistic", "squared-hinge", "ridge --lambda 1"]


def run(*words):
    return subprocess.run([MERCER, *words], capture_output=True, text=True)


def numbers_of(value):
    """All numbers of an object, whatever they are called; lists count by their length too."""
    if isinstance(value, dict):
        return [n for v in value.values() for n in numbers_of(v)]
    if isinstance(value, list):
        return [len(value)] + [n for v in value for n in numbers_of(v)]
    if isinstance(value, str):
        return [float(n) for n in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", value)]
    return [] if value is None or isinstance(value, bool) else [float(value)]


def is_among(text, known):
    said, digits = float(text), len(re.sub(r"e.*|[-+.]", "", text).lstrip("0")) or 1
    return any(abs(said - scale * abs(n)) <= 0.51 * 10 ** -(digits - 1) * max(abs(said), abs(scale * n)) for n in known for scale in (1, 100))


def check(command):
    people, programs = run(*command), run(*command, "--json")
    if people.returncode not in (0, 1) or programs.returncode != people.returncode:
        return [f"{' '.join(command)}: {people.stderr}{programs.stderr}"]
    known, label, missing = numbers_of(json.loads(programs.stdout)), "", []
    for line in people.stdout.splitlines():
        label = line[:12].strip() or label
        line = re.sub(r"[\d.]+ [KMG]iB", "", line)
        for text in re.findall(r"(?<![\w^|.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w^:])", line[13:] if label not in PASSED_OVER else ""):
            if not is_among(text, known) and "k(x" not in line:
                missing.append(f"{' '.join(command)}: {text} of '{line}' is not in its JSON")
    return missing


def main():
    os.chdir(tempfile.mkdtemp())
    run("generate", "friedman1", "-n", "80", "--seed", "1", "-o", "f.csv", "-q")
    run("generate", "moons", "-n", "80", "--noise", "0.3", "--seed", "1", "-o", "m.csv", "-q")
    found = []
    for data, machines in (("f.csv", MACHINES), ("m.csv", CLASSES)):
        for number, words in enumerate(machines):
            machine, *options = words.split()
            model = f"{data[0]}{number}.mercer"
            found += check(["fit", data, "-m", machine, "-k", "rbf(gamma=0.7)", *options, "-o", model])
            found += check(["show", model]) if "search" not in words else []
            if machine != "pca":
                found += check(["score", model, data])
    found += check(["update", "f0.mercer", "f.csv", "-o", "u.mercer", "--budget", "60"]) + check(["update", "m4.mercer", "m.csv", "-o", "u.mercer"])
    found += check(["folds", "f.csv", "--folds", "4"]) + check(["folds", "m.csv"]) + check(["cluster", "m.csv", "-c", "3"])
    found += check(["test", "mmd", "m.csv", "m.csv"]) + check(["test", "hsic", "f.csv", "--x", "1:2", "--y", "3"])
    found += check(["gram", "rbf", "f.csv", "--check"]) + check(["gram", "rbf - 0.5", "m.csv", "--check"]) + check(["info"])
    print("\n".join(found) if found else "every number of a report is in its JSON")
    return 1 if found else 0


sys.exit(main())
