#!/usr/bin/env python3
"""command.py COMMAND FUZZ [FILES]: model files that lie and load all the same (fuzz_structure -w) through the verbs of the command. Every
verb must answer or say what is wrong: any status but those of the manual is a fault."""
import os
import pathlib
import subprocess
import sys
import tempfile

command, fuzz = (os.path.abspath(a) for a in sys.argv[1:3])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 6
VERBS = (["show", "M"], ["show", "M", "--json"], ["show", "M", "D", "--rows"], ["predict", "M", "D"], ["score", "M", "D"],
         ["export", "M", "--to", "c", "-o", "m.c"], ["report", "M", "D", "-o", "m.html"], ["plot", "M", "D", "-o", "m.svg"],
         ["update", "M", "D", "-o", "m.mercer"])
STATUSES = range(0, 8)


def run(folder, model, verb):
    words = [str(model) if w == "M" else "d.csv" if w == "D" else w for w in verb]
    done = subprocess.run([command, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    if done.returncode in STATUSES:
        return 0
    print(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-3000:]}")
    return 1


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "d.csv").write_text("x1,x2,x3,y\n" + "".join(f"{i},{i % 3},{i * i % 7},{i % 2}\n" for i in range(11)))
        said = subprocess.run([fuzz, "-n", str(20 * count), "-w", name], check=True, capture_output=True, text=True).stdout
        models = sorted(folder.glob("*.mercer"))[:count]
        bad = sum(run(folder, model, verb) for model in models for verb in VERBS)
        if bad:
            kept = pathlib.Path(tempfile.mkdtemp(prefix="mercer-command-"))
            for model in models:
                (kept / model.name).write_bytes(model.read_bytes())
            print(f"the files are kept in {kept}")
    print(said.splitlines()[0])
    print(f"{len(models)} models, {len(VERBS)} verbs, {bad} faults")
    return bool(bad or not models)


sys.exit(main())
