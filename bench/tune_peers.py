#!/usr/bin/env python3
"""tune_peers.py MERCER [--full[=PARTS]] [--only PARTS] [--budget SECONDS] [--splits N]: what `mercer tune` and a fit without parameters give.
PARTS are some of svc (tune_svc.py: a grid of C and gamma against LIBSVM), ridge (tune_ridge.py: gammas and lambdas with every row left out)
and default (tune_default.py: a fit without parameters against a grid).

Without --full a9a has 8000 rows, MNIST 4000 and ridge 2000, so that all is done in five minutes; with it, or in the parts it names, 32561,
10000 and 5000, which takes most of an hour. With --full the searches of svc are done on fewer rows too. --full=MNIST: all rows of that one search."""
import argparse
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure  # noqa: E402
import tune_default  # noqa: E402
import tune_ridge  # noqa: E402
import tune_svc  # noqa: E402

PARTS = "svc,ridge,default"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer")
    parser.add_argument("--full", nargs="?", const=PARTS, default="", help="all rows, of all parts or of those named")
    parser.add_argument("--only", default=PARTS)
    parser.add_argument("--splits", type=int, default=10, help="random thirds of each small data set")
    parser.add_argument("--budget", type=float, default=30, help="seconds of LIBSVM to time anew for each data set")
    given = parser.parse_args()
    parts, full = given.only.split(","), given.full.split(",")
    if not measure.DATA.exists() and {"svc", "default"} & set(parts):
        print(f"Skipped: the data sets are not in {measure.DATA}.")
        return
    with tempfile.TemporaryDirectory(prefix="mercer-tune-") as name:
        folder, mercer = pathlib.Path(name), os.path.abspath(given.mercer)
        if "svc" in parts:
            tune_svc.main(mercer, folder, [s[0] for s in tune_svc.SETS if s[0] in full or "svc" in full], given.budget)
        if "ridge" in parts:
            tune_ridge.main(mercer, folder, "ridge" in full)
        if "default" in parts:
            tune_default.main(mercer, given.splits)


if __name__ == "__main__":
    main()
