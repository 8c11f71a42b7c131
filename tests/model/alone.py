#!/usr/bin/env python3
"""alone.py PROGRAM GOLDEN: a program that only predicts works, and the linker took no learner and no solver into it."""
import re
import subprocess
import sys

program, golden = sys.argv[1:]
run = subprocess.run([program, f"{golden}/trees.mercer", f"{golden}/new_trees.csv"], check=True, capture_output=True, text=True)
values = [float(line) for line in run.stdout.split()]
assert abs(values[0] - 8.6705490848585463) < 1e-12 and abs(values[1] - 4.1347753743760034) < 1e-12, values
names = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
found = sorted(set(re.findall(r"\bmc_\w*(?:learner|cholesky|lanczos|pcg|smo|certify|problem)\w*", names)))
print("training code in a predictor: " + ", ".join(found) if found else "it predicts, and holds no training code")
sys.exit(bool(found))
