#!/usr/bin/env python3
"""memory.py MERCER [--small]: the memory that a fit or a prediction takes against the limit it is given: --memory, what `mercer plan` forecasts for
it (the data included), the peak that Mercer counts itself, and the peak of the resident set as the kernel counts it. The resident set holds the
program, its libraries, their threads and the buffers of OpenBLAS too, so beside it stands that of a command that does nearly nothing: a fit of
200 rows by the same solver. Rows as in growth.py, read from .npy.

Bars: Mercer's own peak is at most the limit and at most the forecast; the resident set, less that of the small command, at most the limit."""
import argparse
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import growth  # noqa: E402
import measure  # noqa: E402

FITS = [  # name, words, target, rows, limits in MiB
    ("ridge", "-m ridge --lambda 0.1 --no-loo", "number", 8000, (2048, 400, 100, 30)),
    ("svc", "-m svc --C 8", "class", 20000, (2048, 400, 100, 50)),
    ("logistic", "-m logistic --lambda 0.1", "class", 10000, (2048, 400, 100)),
    ("gp", "-m gp --noise -1 --restarts 0 --iterations 3", "number", 1500, (2048, 200, 100)),
    ("pca", "-m pca --components 20 --tolerance 1e-4", "none", 10000, (2048, 400, 100)),
]
MIB = 2**20


def fit_command(mercer, folder, words, target, rows, limit, verb="fit"):
    command = growth.command_of(mercer, folder, growth.Job(words=words, target=target), rows, growth.D, 1, os.cpu_count())
    command[1] = verb
    if verb == "plan":
        at = command.index("-o")
        del command[at:at + 2]
    return [*map(str, command), "--memory", f"{limit}M"]


def asked(command):
    """(what the command printed as JSON or None, its resident set, what it said instead)"""
    with tempfile.TemporaryFile("w+") as complaint:
        taken, status = measure.finished(command, stderr=complaint)
        complaint.seek(0)
        return (None if status else json.loads(taken.out)), taken.bytes, complaint.read().strip() or "no reason given"


def mib(count):
    return "" if count is None else f"{count / MIB:.0f}"


def verdict(limit, forecast, own, resident, small):
    bad = [text for wrong, text in ((own is not None and own > limit * MIB, "its own peak is above the limit"),
                                    (own is not None and forecast is not None and own > forecast, "its own peak is above the forecast"),
                                    (resident - small > limit * MIB, "the resident set is above the limit")) if wrong]
    return "**missed**: " + ", ".join(bad) if bad else "met"


def fits(mercer, folder, name, words, target, rows, limits):
    _, small, _ = asked(fit_command(mercer, folder, words, target, 200, limits[0]))
    for limit in limits:
        plan, _, _ = asked(fit_command(mercer, folder, words, target, rows, limit, "plan"))
        report, resident, said = asked(fit_command(mercer, folder, words, target, rows, limit))
        forecast = plan["memory_bytes"] + plan["data_bytes"] if plan else None
        if not report:
            print(f"| {name} | {rows} | {limit} | | {mib(forecast)} | | | | refused: {said.splitlines()[0][:120]} |", flush=True)
            continue
        own = report["memory_peak_bytes"]
        result = verdict(limit, forecast, own, resident, small)
        print(f"| {name} | {rows} | {limit} | {report['solver']} | {mib(forecast)} | {mib(own)} | {mib(resident)} | {mib(small)} | {result} |", flush=True)


def predictions(mercer, folder, rows, limits):
    """Of many rows by a model of 8000 centres."""
    measure.take(growth.command_of(mercer, folder, growth.Job(words="-m ridge --lambda 0.1 --no-loo", target="number"), min(rows, 8000), growth.D, 1, os.cpu_count()))
    ask = lambda n, limit: asked([mercer, "predict", f"{folder}/m.mercer", growth.table_of(folder, "none", n, growth.D), "-o", f"{folder}/p.csv",  # noqa: E731
                                  "--memory", f"{limit}M", "--json"])
    _, small, _ = ask(1, limits[0])
    for limit in limits:
        report, resident, said = ask(rows, limit)
        result = verdict(limit, None, None, resident, small) if report else f"refused: {said.splitlines()[0][:120]}"
        print(f"| predict | {rows} | {limit} | | | | {mib(resident)} | {mib(small)} | {result} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mercer", nargs="?", default="build/mercer")
    parser.add_argument("--small", action="store_true", help="a tenth of the rows, to see that it runs")
    arguments = parser.parse_args()
    mercer, scale = os.path.abspath(arguments.mercer), 10 if arguments.small else 1
    print("| job | rows | limit MiB | solver | forecast MiB | own peak MiB | resident peak MiB | of 200 rows, or one | bar |\n" + "|---" * 9 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, words, target, rows, limits in FITS:
            fits(mercer, folder, name, words, target, rows // scale, limits)
        predictions(mercer, folder, 200000 // scale, (2048, 200, 100))


if __name__ == "__main__":
    main()
