#!/usr/bin/env python3
"""advice.py MERCER: every command that a report or an error suggests is run as it stands, and must work: on files with odd names, texts,
many classes, one class, few rows, constant columns. A search that fit recommends is no worse than what fit has found."""
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

VERBS = "fit|predict|score|update|prove|gram|path|folds|tune|plan|plot|report|show|test|cluster|export|generate|info|help"
SUGGESTED = re.compile(rf"'(mercer (?:{VERBS})\b[^']*)'|(mercer (?:{VERBS})\b.*)$", re.M)
PLACES = {"NEW_DATA": "plain.csv", "MODEL": "m.mercer", "DATA": "plain.csv"}


def write(folder, name, header, rows):
    (folder / name).write_text("\n".join([header] + [",".join(map(str, row)) for row in rows]) + "\n")


def make_data(folder, seed):
    draw = random.Random(seed)
    def two(n):
        return [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(n)]
    write(folder, "plain.csv", "a,b,y", [(x, z, x * z + draw.gauss(0, 0.1)) for x, z in two(80)])
    write(folder, "odd name's.csv", "a,b,y", [(x, z, x + 0.5 * z + draw.gauss(0, 0.3)) for x, z in two(60)])
    write(folder, "classes.csv", "a,b,kind", [(x, z, "up" if x * z > 0 else "down") for x, z in two(80)])
    write(folder, "labels.csv", "a,b,y", [(x, z, draw.randrange(30)) for x, z in two(150)])
    write(folder, "tiny.csv", "a,y", [(1, 2), (2, 3), (4, 1)])
    write(folder, "flat.csv", "a,b,y", [(1, 1, 5)] * 30)
    write(folder, "texts.csv", "word,y", [("".join(draw.choice("ab") for _ in range(9)), draw.gauss(0, 1)) for _ in range(40)])
    write(folder, "one.csv", "a,b", two(60))


COMMANDS = [
    "fit plain.csv -o m.mercer", "fit {odd}", "fit classes.csv -o c.mercer", "fit labels.csv", "fit labels.csv --target-kind class -o l.mercer",
    "fit tiny.csv", "fit flat.csv", "fit texts.csv -k 'spectrum(p=2)[word]'", "fit one.csv -m one-class --no-target -o one.mercer",
    "fit {odd} --lambda 0.1..10", "fit plain.csv --lambda 1e9 -k rbf", "fit plain.csv --solver pcg --trace {odd}.trace.csv",
    "fit plain.csv -m svr -k 'rbf(gamma=0.5)' --epsilon 0.2 -o s.mercer", "fit m.mercer", "fit plain.csv --lamda 3", "fit plain.csv -m ridg",
    "path {odd} -k 'rbf(sigma=2)' --intercept --scale standard --from 1e-3 --to 1e3 --missing drop",
    "path classes.csv -m svc -k 'rbf(gamma=0.5)' --C 0.1,1,10 --test classes.csv --class-weight up=2,down=1",
    "path classes.csv -m logistic --lambdas 0.01,0.1,1 --folds 5 --no-intercept", "tune {odd} --points 3 -o t.mercer",
    "tune classes.csv -m knn -o k.mercer", "show m.mercer", "show {odd}", "plan {odd}", "folds plain.csv --folds 5", "plot m.mercer plain.csv --kind surface",
    "score m.mercer plain.csv", "score one.mercer one.csv", "update m.mercer plain.csv -o u.mercer", "predict m.mercer m.mercer", "cluster plain.csv -c 2",
]


class Session:
    def __init__(self, mercer, folder):
        self.mercer, self.folder, self.failed, self.ran = mercer, folder, 0, set()

    def run(self, words):
        return subprocess.run([self.mercer, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def follow(self, command, said):
        """Run what is suggested; NEW_DATA and the like are filled in."""
        for match in SUGGESTED.finditer(said):
            text = (match[1] or match[2]).rstrip(".")
            if text in self.ran:
                continue
            self.ran.add(text)
            words = [PLACES.get(word, word) for word in shlex.split(text)[1:]]
            if words[0] == "predict" and "one" in words[1]:
                words[2] = "one.csv"
            data = {"c.mercer": "classes.csv", "classes.mercer": "classes.csv", "k.mercer": "classes.csv", "l.mercer": "labels.csv",
                    "labels.mercer": "labels.csv", "tiny.mercer": "tiny.csv", "texts.mercer": "texts.csv"}
            words = [data.get(words[1], word) if words[0] == "predict" and i == 2 else word for i, word in enumerate(words)]
            done = self.run(words)
            if done.returncode:
                self.failed += 1
                print(f"not ok: mercer {command}\n  suggests: {text}\n  which says ({done.returncode}): {done.stderr.strip()}")


def searches_more(session, name):
    """What fit has chosen is among what tune measures, and tune's choice is no worse."""
    session.run(["fit", name, "-o", "f.mercer"])
    fit = json.loads(session.run(["fit", name, "-o", "f.mercer", "--json"]).stdout)["chosen"]
    found = json.loads(session.run(["tune", name, "-o", "f.mercer", "--json"]).stdout)
    same = [c for c in found["candidates"] if c["kernel"] == fit["kernel"] and c["settings"] == fit["settings"]]
    best, larger = found["chosen"]["score"], found.get("larger_is_better", found["score"] in ("accuracy", "auc", "f1", "r2"))
    if not same or (same[0]["score"] > best + 1e-12 if larger else same[0]["score"] < best - 1e-12):
        session.failed += 1
        print(f"not ok: tune of {name} does not have, or is worse than, what fit chose: {fit}")


def main():
    mercer = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="mercer-advice-") as name:
        folder = pathlib.Path(name)
        make_data(folder, 1)
        session = Session(mercer, folder)
        for line in COMMANDS:
            done = session.run([word.replace("{odd}", "odd name's.csv") for word in shlex.split(line)])
            session.follow(line, done.stdout + done.stderr)
        for data in ("plain.csv", "classes.csv"):
            searches_more(session, data)
        print(f"{len(session.ran)} suggestions run, {session.failed} failed")
        return 1 if session.failed or len(session.ran) < 12 else 0


sys.exit(main())
