#!/usr/bin/env python3
"""examples.py COMMAND: every verb's help has at least three examples, and all of them run; shells complete what is typed.

An example is a line of help that starts with two spaces and 'mercer'. They are run in one folder that holds the files they name, in the
order of the verbs; words after two spaces or more are a remark. Exit status 1 is an answer (refuted), 3 too."""
import os
import pathlib
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

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


TYPED = [  # what is typed up to the tab, and what must be offered or typed on
    ("mercer exp", "export"), ("mercer export --to onnx-d", "onnx-double"), ("mercer fit --mach", "--machine"), ("mercer fit -m squ", "squared-hinge"),
    ("mercer fit --target-kind cl", "class"), ("mercer help cl", "cluster"), ("mercer predict houses.m", "houses.mercer")]


def offered_by_bash(typed):
    words = " ".join(f"'{word}'" for word in typed.split())
    script = f". ./bash.complete; COMP_WORDS=({words}) COMP_CWORD={len(typed.split()) - 1}; _mercer; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split()


def offered_by_fish(typed):
    done = subprocess.run(["fish", "--no-config", "-c", f"source fish.complete; complete -C '{typed}'"], capture_output=True, text=True,
                          env=dict(os.environ, HOME=os.getcwd()))
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def offered_by_zsh(lines):
    """zsh completes on a terminal only: it gets one, and mercer is a function that says what it was called with."""
    main, other = pty.openpty()
    pathlib.Path("functions").mkdir(exist_ok=True)
    shutil.copy("zsh.complete", "functions/_mercer")
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=other, stdout=other, stderr=other, start_new_session=True,
                             env=dict(os.environ, TERM="dumb", HOME=os.getcwd(), PS1="> "))
    os.close(other)
    os.write(main, b"unsetopt zle_bracketed_paste; fpath=($PWD/functions $fpath); autoload -U compinit && compinit -D -u\n"
                   b"mercer() { print -r -- \"HEARD<$*>\" }\nprint READY''NOW\n")
    read_until(main, b"READYNOW\r")
    heard = []
    for typed in lines:
        os.write(main, typed.encode() + b"\t\n")
        found = re.findall(rb"HEARD<(.*?)>", read_until(main, b">\r"))
        heard.append(found[-1].decode().split() if found else [])
    shell.kill()  # an interactive shell does not heed terminate
    shell.wait()
    os.close(main)
    return heard


def read_until(terminal, mark):
    seen, end = b"", time.time() + 30
    while mark not in seen and time.time() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536)
    return seen


def incomplete(command):
    """What shells do not complete."""
    wrong = 0
    for shell, offered in (("bash", lambda lines: map(offered_by_bash, lines)), ("fish", lambda lines: map(offered_by_fish, lines)),
                           ("zsh", offered_by_zsh)):
        if shutil.which(shell) is None:
            print(f"skipped: {shell} is not installed to complete with")
            continue
        text = subprocess.run([command, "help", "--completion", shell], check=True, capture_output=True, text=True).stdout
        pathlib.Path(f"{shell}.complete").write_text(text)
        for (typed, wanted), seen in zip(TYPED, offered([typed for typed, _ in TYPED]), strict=True):
            if wanted not in seen:
                print(f"{shell}: '{typed}' and a tab gives {seen}, not '{wanted}'")
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
        failed += incomplete(command)
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
