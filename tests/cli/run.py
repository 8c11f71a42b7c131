#!/usr/bin/env python3
"""run.py MERCER CASE.sh... [--update]: run a case in an empty folder and compare what it prints with CASE.out.

A case is a shell script: `mercer` is the built command, $TESTS the folder of the case, $EXAMPLES the built examples; standard error joins standard output, and a script
prints exit statuses itself (`echo "exit $?"`). What varies from run to run or between machines is put in neutral form first: times, sizes of
memory, tiny rounding residues, digits beyond the sixth. --update writes CASE.out instead."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NEUTRAL = [
    (re.compile(r"^(\w* +\w+) +(\d[\d.]* .iB) +(\d[\d.]* m?s|\d+ min \d\d s)  ", re.M), r"\1  \2  \3  "),  # a table flush right
    (re.compile(r"\b\d+(\.\d+)? min \d\d s\b|\b\d+(\.\d+)? m?s\b"), "T s"),
    (re.compile(r"\b\d+(\.\d+)? (KiB|MiB|GiB|TiB)\b"), "M MiB"),
    (re.compile(r"^(instructions|BLAS) +.*$", re.M), r"\1 OF THIS MACHINE"),  # of mercer info; OPENBLAS_CORETYPE may name another core
    (re.compile(r"\b\d+ rows would fit"), "N rows would fit"),
    (re.compile(r'("(read|fit|total|seconds_estimate)": )[-+.e\d]+'), r"\1T"),
    (re.compile(r'("\w*memory\w*bytes": )\d+'), r"\1M"),
    (re.compile(r"(optimal f is at most )[-+.e\d]+"), r"\1BOUND"),
    (re.compile(r"(is within )[-+.e\d]+( of the exact optimum at these rows)"), r"\1BOUND\2"),
    (re.compile(r"-?\b(\d(\.\d+)?e-(0?[89]|[1-9]\d)|0\.0e\+00)\b"), "TINY"),
    (re.compile(r"(at most )\d(\.\d+)?e-0?[67]%"), r"\1TINY%"),
    (re.compile(r"(slacks add up to |largest violation )0\b(?!\.)"), r"\1TINY"),
    (re.compile(r"-?\b\d+\.\d{6,}(e[-+]?\d+)?\b"), lambda number: f"{float(number[0]):.6g}"),
]


def neutral(text, folder):
    text = text.replace(folder, "FOLDER")
    for pattern, form in NEUTRAL:
        text = pattern.sub(form, text)
    return text


def run(mercer, script):
    """The neutral output of a script."""
    with tempfile.TemporaryDirectory(prefix="mercer-cli-") as folder:
        environment = dict(os.environ, LC_ALL="C", TESTS=str(script.parent),
                           EXAMPLES=str(mercer.parent / "examples"))
        environment["PATH"] = f"{mercer.parent}:{environment['PATH']}"
        done = subprocess.run(["bash", str(script)], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240)
        return neutral(done.stdout.decode("utf-8", "replace"), folder)


def difference(wanted, seen):
    import difflib
    return "".join(difflib.unified_diff(wanted.splitlines(True), seen.splitlines(True), "expected", "seen"))


def check(mercer, script, update):
    seen, record = run(mercer, script), script.with_suffix(".out")
    if update:
        record.write_text(seen)
        return True
    wanted = record.read_text()
    print(difference(wanted, seen) or f"{script.stem}: as expected")
    return seen == wanted


def main(mercer, *rest):
    scripts = [pathlib.Path(word).resolve() for word in rest if word != "--update"]
    return not all([check(pathlib.Path(mercer).resolve(), script, "--update" in rest) for script in scripts])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
