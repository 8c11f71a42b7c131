#!/usr/bin/env python3
"""textbook.py MERCER LIST [LEAST]: of the expressions in LIST, whose truth is known, none gets a wrong verdict and at least LEAST percent (95) get the right one.
The others, which are unknown, are printed."""
import json
import subprocess
import sys

WANTED = {"K": ("proved", 0), "N": ("refuted", None), "C1": ("refuted", 1), "C2": ("refuted", 2)}


def rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("|", 3) for line in file if line.strip() and not line.startswith("#")]


def verdict(command, d, expression):
    run = subprocess.run([command, "prove", expression, "--json", *(["-d", d] if d != "0" else [])], capture_output=True, text=True)
    found = json.loads(run.stdout)
    return found["verdict"], found["conditional_order"]


def main(command, path, least=95.0):
    settled = wrong = 0
    listed = rows(path)
    for truth, d, expression, reason in listed:
        says, order = verdict(command, d, expression)
        wanted, wanted_order = WANTED[truth]
        right = says == wanted and wanted_order in (None, order)
        settled += right
        wrong += says not in (wanted, "unknown")
        if not right:
            print(f"# {says}: {expression} on {d} columns: {reason}")
    share = 100 * settled / len(listed)
    print(f"# {settled} of {len(listed)} are settled ({share:.1f} percent), {wrong} wrong")
    print("1..1\n" + ("ok 1" if share >= float(least) and not wrong else "not ok 1") + " - textbook expressions are settled")
    return share < float(least) or wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
