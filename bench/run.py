#!/usr/bin/env python3
"""run.py [--build DIR] [NAME...] [--OPTION...]: run the benchmarks one after the other (or those named) and put what they print into bench/RESULTS.md,
in place of what stood there of the same benchmark. Other options are passed on to them (`run.py svm --no-sklearn`).

Each benchmark prints Markdown; it is a script bench/NAME_peers.py (or NAME_overhead.py) that takes the command as its argument, or else a program bench/b_NAME of
the build. Nothing else may run meanwhile: the load of the machine is recorded before and after each. OpenBLAS gets the kernels of this
processor (it does not know one newer than itself), for Mercer and for its peers alike."""
import argparse
import os
import pathlib
import platform
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "RESULTS.md"
TITLES = {  # in the order they are run
    "gram": "Kernel products",
    "read": "Reading files",
    "ridge": "Exact ridge",
    "ridge_large": "Ridge beyond memory",
    "plan": "Forecasts, and growth with n",
    "gp": "Gaussian processes",
    "svm": "Support vector machines",
    "loss": "Kernel logistic regression",
    "calibration": "Calibration of probabilities",
    "tune": "Searches",
    "pca": "Principal components and nearest neighbours",
    "python": "What Python adds",
}


def better_core(command):
    """What OPENBLAS_CORETYPE should be; the command knows."""
    out = subprocess.run([command, "info", "--json"], capture_output=True, text=True).stdout
    return "SkylakeX" if '"avx512"' in out else "Haswell" if '"avx2"' in out else None


def steps(build, name):
    program = build / "bench" / f"b_{name}"
    script = next((s for end in ("peers", "overhead") if (s := ROOT / "bench" / f"{name}_{end}.py").exists()), program)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    return [[python, str(script), str(build / "mercer")]] if script != program else [[str(program)]] if program.exists() else []


def run(command, environment):
    before, began = os.getloadavg()[0], time.time()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    text = done.stdout if done.returncode == 0 else f"{done.stdout}\n**failed** (exit {done.returncode})\n\n```\n{done.stderr[-2000:]}\n```\n"
    note = f"\n`{' '.join(os.path.relpath(c, ROOT) if c.startswith(str(ROOT)) else c for c in command)}`: " \
           f"{time.time() - began:.0f} s; load before {before:.2f}\n"
    return text.strip() + "\n" + note


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores of {model}, {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def kept(path):
    """The sections of an earlier run, by title."""
    parts = path.read_text().split("\n## ")[1:] if path.exists() else []
    return dict((title, text.strip() + "\n") for title, _, text in (part.partition("\n\n") for part in parts))


def write(path, sections):
    ordered = [title for title in TITLES.values() if title in sections]
    path.write_text("# Benchmarks\n\nMade by `make bench`.\n" + "".join(f"\n## {title}\n\n{sections[title]}" for title in ordered))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("names", nargs="*")
    arguments, more = parser.parse_known_args()
    build = (ROOT / arguments.build).resolve()
    environment = dict(os.environ)
    core = better_core(str(build / "mercer"))
    if core:
        environment.setdefault("OPENBLAS_CORETYPE", core)
    sections = kept(RESULTS)
    for name in arguments.names or TITLES:
        texts = [run(command + more, environment) for command in steps(build, name)]
        if texts:
            sections[TITLES[name]] = "\n".join([f"At commit {commit()} on {time.strftime('%Y-%m-%d')}, {machine()}.\n", *texts])
            print(f"## {TITLES[name]}\n\n{sections[TITLES[name]]}", flush=True)
            write(RESULTS, sections)


if __name__ == "__main__":
    main()
