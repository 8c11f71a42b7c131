#!/usr/bin/env python3
"""commands.py FOLDER: mercer-svm-train, -predict, -scale and -grid as a user of LIBSVM's meets them: what they print, write and answer to wrong
input. Where Debian's libsvm-tools are installed every output of svm-scale is the same to the byte, and models and lines are compared. Files that
were changed at random end with exit 0 or 1, never by a signal. MERCER_TEST_SEED draws others; MERCER_SVM_ROUNDS changed files (60)."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SEED, ROUNDS = int(os.environ.get("MERCER_TEST_SEED", "20261119")), int(os.environ.get("MERCER_SVM_ROUNDS", "60"))
rng = random.Random(SEED)
WORK = tempfile.mkdtemp(prefix="mercer-svm-")


def run(name, *words, code=0):
    done = subprocess.run([name if name.startswith("svm-") else str(FOLDER / f"mercer-svm-{name}"), *map(str, words)], cwd=WORK,
                          capture_output=True, text=True, errors="replace")
    assert code is None or done.returncode == code, f"{name} {words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def write(name, text):
    pathlib.Path(WORK, name).write_text(text)


def read(name):
    return pathlib.Path(WORK, name).read_text()


def rows(count, classes, columns=5, density=0.7, first=1):
    lines = []
    for _ in range(count):
        c = rng.randrange(classes)
        pairs = [f"{j + first}:{rng.gauss(c * (j % 3 - 1), 1):.4f}" for j in range(columns) if rng.random() < density]
        lines.append(" ".join([str(3 * c - 3), *pairs]))
    return "\n".join(lines) + "\n"


def test_lines_that_scripts_read():
    write("a", rows(90, 2))
    write("m", rows(120, 4))
    said = run("train", "-b", "1", "m").stdout
    assert re.search(r"^\*\noptimization finished, #iter = \d+\nnu = \S+\nobj = \S+, rho = \S+\nnSV = \d+, nBSV = \d+$", said, re.M), said
    assert re.search(r"^Total nSV = \d+$", said, re.M), said
    head = read("m.model").split("SV\n")[0].split("\n")
    assert [line.split()[0] for line in head if line] == ["svm_type", "kernel_type", "gamma", "nr_class", "total_sv", "rho", "label", "probA", "probB", "nr_sv"]
    assert "gamma 0.2" in head, head
    assert re.fullmatch(r"Accuracy = [\d.]+% \(\d+/120\) \(classification\)\n", run("predict", "-b", "1", "m", "m.model", "out").stdout)
    first, *estimates = read("out").splitlines()
    assert first == "labels " + next(line for line in head if line.startswith("label "))[6:]
    assert len(estimates) == 120 and all(abs(sum(map(float, line.split()[1:])) - 1) < 1e-4 for line in estimates)
    assert run("predict", "-q", "m", "m.model", "out").stdout == ""
    assert "disabled in prediction" in run("predict", "m", "m.model", "out").stdout
    assert re.fullmatch(r"Cross Validation Accuracy = [\d.]+%\n", run("train", "-q", "-v", "5", "a").stdout)
    said = run("train", "-q", "-s", "3", "-v", "3", "a").stdout
    assert re.fullmatch(r"Cross Validation Mean squared error = \S+\nCross Validation Squared correlation coefficient = \S+\n", said), said
    run("train", "-q", "-s", "3", "a", "numbers")
    said = run("predict", "a", "numbers", "out").stdout
    assert re.fullmatch(r"Mean squared error = \S+ \(regression\)\nSquared correlation coefficient = \S+ \(regression\)\n", said), said


def test_wrong_input():
    write("bad", "1 1:2\nx 1:1\n")
    for name, words, said in (("train", ["bad"], "Wrong input format at line 2"), ("train", ["-c", "-1", "a"], "ERROR: C <= 0"),
                              ("train", ["none"], "can't open input file none"), ("train", ["-v", "1", "a"], "n-fold cross validation: n must >= 2"),
                              ("train", ["-z", "1", "a"], "Unknown option: -z"), ("train", ["-t", "4", "a"], "0:sample_serial_number"),
                              ("train", ["-c", "x", "a"], "error converting x to float"), ("train", ["-q", "a", "/none/m"], "can't save model to file /none/m"),
                              ("predict", ["a", "none", "o"], "can't open model file none"), ("predict", ["-b", "1", "a", "numbers2", "o"], "does not support prob"),
                              ("predict", ["bad", "numbers2", "o"], "Wrong input format at line 2"), ("scale", ["-s", "r", "-r", "r", "a"], "simultaneously"),
                              ("scale", ["-l", "2", "a"], "inconsistent lower/upper"), ("grid", ["-c", "1", "a"], "Use -log2c and -log2g"),
                              ("grid", ["none"], "dataset not found"), ("grid", ["-log2c", "1,2,0", "a"], "a step of 0")):
        write("a", rows(40, 2))
        run("train", "-q", "a", "numbers2")
        done = run(name, *words, code=1)
        assert said in done.stderr, f"{name} {words}: {done.stderr}"
    for name in ("train", "predict", "scale", "grid"):
        assert run(name, code=1).stdout.startswith(f"Usage: mercer-svm-{name} ")


def test_formats():
    """Tabs, carriage returns, a plus, index 0, no values, an infinite value, indices that fall."""
    for text, good in (("1 1:1\n-1\t2:+1e0\r\n", True), ("1 0:1\n-1 0:2 3:1\n", True), ("1\n-1\n", True), ("1 1:inf\n2 1:1\n", False),
                       ("1 2:1 1:1\n", False), ("1 1:1 1:2\n", False), ("1 1:\n", False), ("1 a:1\n", False), ("\n1 1:1\n", False), ("1 1:1x\n", False)):
        write("f", text)
        assert run("train", "-q", "f", "fm", code=0 if good else 1), text
        if good:
            run("predict", "f", "fm", "out")


def test_grid():
    write("a", rows(80, 2))
    said = run("grid", "-log2c", "-1,3,2", "-log2g", "-1,-5,-2", "-gnuplot", "null", "-w0", "2", "a").stdout.splitlines()
    points = [re.fullmatch(r"\[local\] (\S+) (\S+) (\S+) \(best c=(\S+), g=(\S+), rate=(\S+)\)", line) for line in said[:-1]]
    assert all(points) and len(points) == 9, said
    best = max(float(p[3]) for p in points)
    assert said[-1].split() == [points[-1][4], points[-1][5], points[-1][6]] and float(points[-1][6]) == best
    assert len(read("a.out").splitlines()) == 9 and re.fullmatch(r"log2c=\S+ log2g=\S+ rate=\S+", read("a.out").splitlines()[0])
    resumed = run("grid", "-log2c", "-1,3,2", "-log2g", "-1,-5,-2", "-gnuplot", "null", "-resume", "a.out", "a").stdout.splitlines()
    assert resumed[-1] == said[-1] and sum(line.startswith("[resumed]") for line in resumed) == 9, resumed
    walked = [p.groups()[:2] for p in points]
    by_program = run("grid", "-log2c", "-1,3,2", "-log2g", "-1,-5,-2", "-gnuplot", "null", "-out", "null", "-svmtrain", FOLDER / "mercer-svm-train", "a").stdout
    assert [tuple(line.split()[1:3]) for line in by_program.splitlines()[:-1]] == walked
    write("draw", "#!/bin/sh\ncat > drawn\n")
    os.chmod(pathlib.Path(WORK, "draw"), 0o755)
    run("grid", "-log2c", "-1,3,2", "-log2g", "-1,-5,-2", "-gnuplot", pathlib.Path(WORK, "draw"), "-png", "x.png", "a")
    assert "set output 'x.png'" in read("drawn") and read("drawn").endswith("e\n") and len(re.findall(r"^\S+ \S+ [\d.]+$", read("drawn"), re.M)) == 9
    assert len(run("grid", "-log2c", "null", "-log2g", "-1,-3,-2", "-s", "1", "-n", "0.3", "-out", "null", "a").stdout.splitlines()) == 3


def test_scale_is_that_of_debian():
    if not shutil.which("svm-scale"):
        return "libsvm-tools are not installed"
    for k in range(12):
        write("a", rows(30, 3, columns=6, density=rng.choice([0.3, 1]), first=rng.choice([0, 1, 1])) + ("2\n" if k % 3 else ""))
        write("b", rows(10, 3, columns=9, density=0.5))
        options = rng.choice([[], ["-l", "0"], ["-l", "-3", "-u", "0.5"], ["-y", "-1", "2"], ["-l", "0", "-y", "0", "1"]])
        ours, theirs = run("scale", *options, "-s", "range", "a"), None
        kept = read("range")
        theirs = run("svm-scale", *options, "-s", "range", "a")
        assert (ours.stdout, ours.stderr, kept) == (theirs.stdout, theirs.stderr, read("range")), (options, ours, theirs)
        ours, theirs = run("scale", "-r", "range", "b"), run("svm-scale", "-r", "range", "b")
        assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr), (options, ours, theirs)


def test_models_of_debian():
    if not shutil.which("svm-train"):
        return "libsvm-tools are not installed"
    for options in ([], ["-b", "1"], ["-t", "1", "-r", "1"], ["-s", "1"], ["-s", "3"], ["-s", "4", "-t", "0"]):
        write("a", rows(60, 3))
        run("svm-train", "-q", *options, "a", "theirs")
        run("train", "-q", *options, "a", "ours")
        for model in ("theirs", "ours"):
            said = run("predict", "a", model, "p1").stdout
            assert said == run("svm-predict", "a", model, "p2").stdout, (options, said)
            assert all(abs(float(x) - float(y)) <= 1e-6 * max(1, abs(float(y))) for x, y in zip(read("p1").split(), read("p2").split()))


def change(text):
    """A few bytes dropped, doubled or replaced."""
    text = list(text)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(text))
        piece = rng.choice([[], [rng.choice("0123456789-+.:eE \n\tnanifx")], text[at:at + 9] * 2, [str(rng.choice([-1, 0, 2 ** 31 - 1, 2 ** 31, 1e308, 10 ** 30]))]])
        text[at:at + rng.choice([0, 1, 1, 8])] = piece
    return "".join(text)


def test_changed_files():
    write("a", rows(20, 3))
    run("train", "-q", "-b", "1", "a", "good")
    data, model = read("a"), read("good")
    run("scale", "-y", "0", "1", "-s", "range", "a")
    ranges = read("range")
    for k in range(ROUNDS):
        write("x", change(data))
        write("xm", change(model))
        write("xr", change(ranges))
        for name, words in (("train", ["-q", *rng.choice([[], ["-s", "3"], ["-v", "3"], ["-t", "4"], ["-s", "2", "-t", "3"]]), "x", "m"]),
                            ("predict", ["x", "good", "o"]), ("predict", ["-b", "1", "a", "xm", "o"]), ("scale", ["x"]), ("scale", ["-r", "xr", "a"])):
            done = run(name, *words, code=None)
            assert done.returncode in (0, 1), f"round {k}, seed {SEED}: {name} {words}: exit {done.returncode}\n{done.stderr[-3000:]}\n{read(words[-1])[:3000] if name != 'predict' else ''}"


failed = 0
print(f"seed {SEED}")
for name, test in sorted(globals().items()):
    if name.startswith("test_"):
        try:
            print(f"{name[5:].replace('_', ' ')}: {test() or 'holds'}", flush=True)
        except Exception as why:
            failed += 1
            print(f"{name[5:].replace('_', ' ')}: FAILED: {type(why).__name__}: {why}", flush=True)
shutil.rmtree(WORK, True)
sys.exit(bool(failed))
