#!/usr/bin/env python3
"""examples.py COMMAND: every verb's help has at least three examples, and all of them run.

An example is a line of help that starts with two spaces and 'mercer'. They are run in one folder that holds the files they name, in the
order of the verbs; words after two spaces or more are a remark. Exit status 1 is an answer (refuted), 3 too."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

LEAST = 3


def examples(command, verb):
    text = subprocess.run([command, "help", verb], check=True, capture_output=True, text=True).stdout
    return [re.split(r"\s{3,}", line.strip())[0] for line in text.splitlines() if line.startswith("  mercer ")]


def write_houses(path, n, seed):
    draw = random.Random(seed)
    rows = ["town,rooms,area,price"]
    for _ in range(n):
        rooms, area = draw.randint(1, 6), round(draw.uniform(30, 200), 1)
        rows.append(f"{draw.choice(['Ulm', 'Pisa', 'Bath'])},{rooms},{area},{round(20 + 3 * rooms + area / 3 + draw.gauss(0, 4), 2)}")
    pathlib.Path(path).write_text("\n".join(rows) + "\n")


def prepare(run):
    for seed, name in enumerate(("houses.csv", "new.csv", "monday.csv", "tuesday.csv")):
        write_houses(name, 60 if seed == 0 else 20, seed)
    run("mercer generate blobs -n 60 -o flowers.csv -q")
    run("mercer generate circles -n 60 -o rings.csv -q")
    run("mercer generate moons -n 60 --noise 0.2 -o moons.csv -q")
    run("mercer fit houses.csv --target price -o houses.mercer -q")
    run("mercer fit flowers.csv -m logistic -o flowers.mercer -q")


def malformed(command):
    """What shells and groff find wrong with what help prints for them; those that are not here are named."""
    wrong = 0
    for what, checker in ((("--completion", "bash"), ["bash", "-n"]), (("--completion", "zsh"), ["zsh", "-n"]),
                          (("--completion", "fish"), ["fish", "-n"]), (("--man",), ["groff", "-man", "-ww", "-Tutf8", "-z"])):
        text = subprocess.run([command, "help", *what], check=True, capture_output=True, text=True).stdout
        if shutil.which(checker[0]) is None:
            print(f"skipped: {checker[0]} is not installed to check {' '.join(what)}")
            continue
        pathlib.Path("checked").write_text(text)
        done = subprocess.run([*checker, "checked"], capture_output=True, text=True)
        if done.returncode or done.stderr:
            print(f"{' '.join(what)}: {done.stderr[:500]}")
            wrong += 1
    return wrong


def main(command):
    command = os.path.abspath(command)
    overview = subprocess.run([command, "help"], check=True, capture_output=True, text=True).stdout
    verbs = re.findall(r"^  (\w+) +\S", overview, re.M)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.symlink(command, "mercer")
        os.environ["PATH"] = folder + ":" + os.environ["PATH"]

        def run(line):
            return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True)
        failed += malformed(command)
        prepare(run)
        for verb in verbs:
            lines = examples(command, verb)
            if "not in this build" in overview and verb in ("plot", "report"):
                print(f"skipped: {verb}, which this build has not got")
                continue
            if len(lines) < LEAST:
                print(f"{verb}: {len(lines)} examples, {LEAST} are wanted")
                failed += 1
            for line in lines:
                done = run(line.replace("< houses.csv", "-o stdin.mercer < houses.csv") if line.startswith("mercer fit -") else line)
                if done.returncode not in (0, 1, 3, 141):
                    print(f"{verb}: {line}\n  exit {done.returncode}: {done.stderr.strip()}")
                    failed += 1
    print(f"{len(verbs)} verbs, {failed} failed")
    return bool(failed)


sys.exit(main(sys.argv[1]))
