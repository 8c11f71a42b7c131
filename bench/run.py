#!/usr/bin/env python3
"""run.py [--build DIR] [--quick] [NAME...] [--OPTION...]: run the benchmarks one after the other (or those named) and put what they print into
bench/RESULTS.md, in place of what stood there of the same benchmark, and every number of its tables into bench/results.csv. Other options
are passed on to them, and all that stands behind the first of them (`run.py svm --no-sklearn`). --quick: the main rows, in under ten minutes,
written to BUILD/quick, so that they do not take the place of the whole tables. Rows are shown as they come, and before each benchmark what it
took the last time; each is written when it has ended, so a run that is cut off loses the one at work. bench/README.md explains the choices.

Each benchmark prints Markdown; it is a script bench/NAME_peers.py (or NAME_overhead.py, NAME.py) that takes the command as its argument, or else
a program bench/b_NAME of the build; below a table of such a program that says "missed" stands the profile of the program. Nothing else may run
meanwhile: each waits for an idle machine, and what other processes took before it and during it is recorded. OpenBLAS gets the kernels of this processor (it does not know one newer than itself), for Mercer and for its peers alike."""
import argparse
import csv
import draw
import measure
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
TITLES = {  # in the order they are run
    "gram": "Kernel products",
    "keops": "Kernel products against KeOps",
    "read": "Reading files",
    "ridge": "Exact ridge",
    "ridge_large": "Ridge beyond memory",
    "error": "Ridge beyond memory: error against time",
    "memory": "Memory against limits",
    "growth": "Growth with rows, columns, classes and threads",
    "scaling": "More threads",
    "sweep": "Problems that nobody chose",
    "plan": "Forecasts, and growth with n",
    "gp": "Gaussian processes",
    "svm": "Support vector machines",
    "thunder": "Support vector machines: ThunderSVM",
    "loss": "Kernel logistic regression",
    "calibration": "Calibration of probabilities",
    "tune_svc": "Searches: C and gamma against LIBSVM",
    "tune_ridge": "Searches: ridge, every row left out",
    "tune_default": "Fits without parameters",
    "pca": "Principal components and nearest neighbours",
    "r": "R: e1071 and kernlab",
    "dlib": "dlib",
    "python": "What Python adds",
}
PARTS = {name: ["tune", "--only", name[5:]] for name in TITLES if name.startswith("tune_")}  # of one script, a section each
GROUPS = {"tune": list(PARTS)}
FIELDS = ["benchmark", "table", "row", "column", "value", "commit", "date"]
NEED_DATA = ("error", "loss", "tune_svc", "tune_default")  # the others have made rows too, or say themselves what is absent
QUICK = {"gram": [], "read": ["--repeats", "3"], "ridge": ["--quick"], "svm": ["--only", "ijcnn1", "--no-sklearn"], "loss": [], "r": ["--quick"], "python": []}


def better_core(command):
    """What OPENBLAS_CORETYPE should be; the command knows."""
    out = subprocess.run([command, "info", "--json"], capture_output=True, text=True).stdout
    return "SkylakeX" if '"avx512"' in out else "Haswell" if '"avx2"' in out else None


def steps(build, name):
    name, *words = PARTS.get(name, [name])
    program = build / "bench" / f"b_{name}"
    script = next((s for end in ("_peers", "_overhead", "") if (s := ROOT / "bench" / f"{name}{end}.py").exists()), program)
    return [[PYTHON, str(script), str(build / "mercer"), *words]] if script != program else [[str(program)]] if program.exists() else []


def busy():
    """CPU seconds that all processes have taken since the machine started."""
    user, nice, system, _, _, irq, softirq = (int(x) for x in open("/proc/stat").readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(most):
    """Until all processes together take under a tenth of a core, or so many seconds have passed; the per cent of a core that they take."""
    end = time.time() + most
    while True:
        before, began = busy(), time.time()
        time.sleep(0.5)
        share = (busy() - before) / (time.time() - began) * 100
        if share < 10 or time.time() > end:
            return share


def passed_on(source, target):
    """The lines of a stream, written to another as they come."""
    lines = []
    for line in source:
        lines.append(line)
        target.write(line)
        target.flush()
    return lines


def followed(command, environment):
    """The command when it has ended, with what it printed; its rows and its progress, on standard error, are shown as they come."""
    process, said = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True), []
    aside = threading.Thread(target=lambda: said.extend(passed_on(process.stderr, sys.stderr)))
    aside.start()
    printed = passed_on(process.stdout, sys.stdout)
    aside.join()
    return subprocess.CompletedProcess(command, process.wait(), "".join(printed), "".join(said))


def run(command, environment, patience):
    earlier = wait_for_quiet(patience)
    before, mine, began = busy(), measure.child_seconds(), time.time()
    done = followed(command, environment)
    wall = time.time() - began
    if "**missed" in done.stdout and not command[0].endswith("python3"):
        done.stdout += f"\nWhere the time of the whole goes: {measure.hottest(command, cwd=ROOT) or 'unknown, for perf is not installed'}.\n"
    others = max(0.0, busy() - before - (measure.child_seconds() - mine)) / wall * 100
    text = done.stdout if done.returncode == 0 else f"{done.stdout}\n**failed** (exit {done.returncode})\n\n```\n{done.stderr[-2000:]}\n```\n"
    note = f"\n`{' '.join(os.path.relpath(c, ROOT) if c.startswith(str(ROOT)) else c for c in command)}`: " \
           f"{wall:.0f} s; others took {earlier:.0f}% of one core before, {others:.0f}% meanwhile{' (**not a quiet machine**)' if max(earlier, others) > 10 else ''}\n"
    return text.strip() + "\n" + note


def last_time(text):
    """The seconds that a section says it took, or None."""
    found = re.findall(r"`: (\d+) s; others took", text or "")
    return sum(map(int, found)) if found else None


def tables(text):
    """The Markdown tables of a text, each a list of rows of cells, the header first."""
    found, last = [], None
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells and last is None:
            found.append([])
        if cells and not set(line) <= set("|-: "):
            found[-1].append(cells)
        last = cells
    return found


def numbers(name, text):
    """Rows for results.csv: one a cell."""
    stamp = [commit(), time.strftime("%Y-%m-%d")]
    return [[name, str(t + 1), row[0] if header[0] != "n" else "n = " + row[0], f"{k + 1} {column}", cell, *stamp]
            for t, (header, *rows) in enumerate(tables(text)) for row in rows for k, (column, cell) in enumerate(zip(header, row)) if k]


def keep_numbers(path, name, text):
    old = [r for r in csv.reader(open(path, newline=""))][1:] if path.exists() else []
    rows = [r for r in old if r[0] != name] + numbers(name, text)
    with open(path, "w", newline="") as out:
        csv.writer(out).writerows([FIELDS, *sorted(rows, key=lambda r: list(TITLES).index(r[0]))])


def machine():
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores of {model}, {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB"


def commit():
    """Its name; a + behind it where what is built differs from it."""
    said = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()  # noqa: E731
    return said("rev-parse", "--short", "HEAD") + ("+" if said("status", "--porcelain", "--", "src", "include", "bench/*.c", "meson.build") else "")


VERSIONS = 'import sklearn, numpy, scipy; print("scikit-learn", sklearn.__version__ + ", NumPy", numpy.__version__ + ", SciPy", scipy.__version__)'
IN_R = 'cat(R.version.string, "with e1071", format(packageVersion("e1071")), "and kernlab", format(packageVersion("kernlab")))'


def versions():
    """One sentence: every peer that is here, and its version."""
    debian = {"LIBSVM": "libsvm-tools", "dlib": "libdlib-dev", "OpenBLAS": "libopenblas0-openmp", "PyTorch": "python3-torch"}
    found = [measure.say(PYTHON, "-c", VERSIONS)]
    found += [f"{name} {v}" for name, package in debian.items() if (v := measure.debian(package))]
    found += [measure.say("Rscript", "-e", IN_R)]
    found += [f"{name} {v} (PyPI)" for place in measure.FROM_PYPI
              for name, v in measure.version_of(measure.PEERS / place / "bin" / "python", *measure.FROM_PYPI[place]).items()]
    return ", ".join(f for f in found if f)


def kept(path):
    """The sections of an earlier run, by title."""
    parts = path.read_text().split("\n## ")[1:] if path.exists() else []
    return dict((title, text.strip() + "\n") for title, _, text in (part.partition("\n\n") for part in parts))


def write(path, sections, peers):
    ordered = [title for title in TITLES.values() if title in sections]
    path.write_text(f"# Benchmarks\n\nMade by `make bench`; `README.md` has the reasons, `results.csv` the numbers, `results.svg` the picture. Peers: {peers}.\n"
                    + "".join(f"\n## {title}\n\n{sections[title]}" for title in ordered))


def asked(words):
    """The arguments, and from the first option that is not of this script on what is passed on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")))
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*TITLES, *GROUPS]))
    cut = next((i for i, w in enumerate(words) if w.startswith("--") and w.split("=")[0] not in ("--build", "--quick", "--help")), len(words))
    arguments = parser.parse_args(words[:cut])
    unknown = [n for n in arguments.names if n not in TITLES and n not in GROUPS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join([*TITLES, *GROUPS])}")
    arguments.names = [part for n in arguments.names for part in GROUPS.get(n, [n])]
    return arguments, words[cut:]


def opening(names, sections):
    """What a person may want to know before the first figure comes."""
    taken = [s for name in names if (s := last_time(sections.get(TITLES[name])))]
    known = f" {len(taken)} of them took {max(1, round(sum(taken) / 60))} min together the last time." if taken else ""
    print(f"Benchmarks: {len(names)}, one after the other.{known} Each waits for a quiet machine; let nothing else run meanwhile.", flush=True)


def announce(place, count, title, seconds):
    print(f"\n## {title} ({place} of {count}{f', {seconds} s the last time' if seconds else ''})\n", flush=True)


def main():
    arguments, more = asked(sys.argv[1:])
    build = (ROOT / arguments.build).resolve()
    environment = dict(os.environ, PYTHONUNBUFFERED="1")  # rows are shown as they come
    core = better_core(str(build / "mercer"))
    if core:
        environment.setdefault("OPENBLAS_CORETYPE", core)
    place = build / "quick" if arguments.quick else ROOT / "bench"  # fewer rows must not take the place of all
    place.mkdir(exist_ok=True)
    sections, peers, began = kept(place / "RESULTS.md"), versions(), time.time()
    names = arguments.names or list(QUICK if arguments.quick else TITLES)
    opening(names, sections)
    for i, name in enumerate(names):
        announce(i + 1, len(names), TITLES[name], last_time(sections.get(TITLES[name])))
        more_of = more + (QUICK.get(name, []) if arguments.quick else [])
        if name in NEED_DATA and not measure.DATA.exists():
            texts = [f"Skipped: the data sets are not in {os.path.relpath(measure.DATA, ROOT)}.\n"]
        else:
            texts = [run(command + more_of, environment, 10 if arguments.quick else 60) for command in steps(build, name)]
        if texts:
            sections[TITLES[name]] = "\n".join([f"At commit {commit()} on {time.strftime('%Y-%m-%d')}, {machine()}.\n", *texts])
            print(texts[-1].splitlines()[-1], flush=True)
            write(place / "RESULTS.md", sections, peers)
            keep_numbers(place / "results.csv", name, sections[TITLES[name]])
            draw.main(place / "results.csv", place / "results.svg")
    print(f"\n{time.time() - began:.0f} s in all; tables (RESULTS.md), numbers (results.csv) and the picture (results.svg) are in {os.path.relpath(place)}/")


if __name__ == "__main__":
    main()
