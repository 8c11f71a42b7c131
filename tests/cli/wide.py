"""wide.py MERCER: rows of LIBSVM text with columns that no training row has. A column of which training names nothing is 0 in all of its rows, so
that a model must answer as one that was fitted to the same rows with that 0 written down, whatever the machine, the kernel, the scaling, and
whether its rows are dense or sparse; or refuse, in one sentence."""
import json
import os
import random
import subprocess
import sys
import tempfile

MERCER = os.path.abspath(sys.argv[1])
KERNELS = ["rbf(gamma=0.3)", "laplacian(gamma=0.2)", "matern(length_scale=2)", "cosine", "chi2(gamma=0.1)", "linear", "poly(degree=2)", "poly(degree=3)",
           "normalize(poly(degree=2))", "weigh(1/(1+norm2), linear)", "rbf(gamma=0.3)[1:3]", "linear*rbf(gamma=0.3) + 1", "intersection", "arccos", "white + linear"]
MACHINES = {"svc": "classes", "logistic": "classes", "knn": "classes", "ridge": "numbers", "svr": "numbers", "lms": "numbers",
            "gp": "numbers", "huber": "numbers", "quantile": "numbers", "one-class": "numbers", "pca": "numbers"}
random.seed(int(os.environ.get("MERCER_TEST_SEED", "7")))
print("# seed", os.environ.get("MERCER_TEST_SEED", "7"))


def run(*words):
    done = subprocess.run([MERCER, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def row(columns, share, label):
    values = {j: round(random.random(), 3) for j in range(1, columns + 1) if random.random() < share}
    return str(label) + "".join(f" {j}:{v}" for j, v in values.items())


def labels(kind, count):
    return ["123"[i % 3] if kind == "classes" else round(random.random(), 3) for i in range(count)]


def write(name, rows):
    with open(name, "w") as file:
        file.write("\n".join(rows) + "\n")


def predictions(model, options):
    code, out, err = run("predict", model, "test.svm", *options)
    return None if code else [[float(cell) for cell in line.split(",")] for line in out.split("\n")[1:] if line], err


def close(a, b):
    return len(a) == len(b) and all(abs(abs(x) - abs(y)) <= 1e-6 * (1 + abs(y)) for p, q in zip(a, b) for x, y in zip(p, q))


def check(machine, kernel, share, scale):
    """None, or what is wrong."""
    columns, wide = (9, 13) if share > 0.5 else (20, 40) # dense before and after, or sparse
    rows = [row(columns, share, y) for y in labels(MACHINES[machine], 30)]
    write("narrow.svm", rows)
    write("wide.svm", [rows[0] + f" {wide}:0"] + rows[1:])
    write("test.svm", [row(wide, share, y) for y in labels(MACHINES[machine], 12)])
    options = ["-m", machine, "-k", kernel, "-q"] + (["--scale", scale] if machine not in ("lms",) else [])
    options += {"gp": ["--noise", "0.1"], "logistic": ["--tolerance", "1e-12"]}.get(machine, [])  # whichever solver it is
    for name in ("narrow", "wide"):
        code, _, err = run("fit", name + ".svm", *options, "-o", name + ".mercer")
        if code:
            return f"fit of {name}: {err}"
    asked = ["--std"] if machine == "gp" else ["--decision"] if MACHINES[machine] == "classes" else []
    got, err = predictions("narrow.mercer", asked)
    wanted, _ = predictions("wide.mercer", asked)
    if got is None:
        return None if "cannot be added to" in err else err
    return None if close(got, wanted) else f"{got[:3]} is not {wanted[:3]}"


def check_score_and_update():
    write("narrow.svm", [row(4, 0.9, y) for y in labels("numbers", 30)])
    write("test.svm", [row(9, 0.9, y) for y in labels("numbers", 12)])
    run("fit", "narrow.svm", "-m", "ridge", "-k", "rbf(gamma=0.3)", "-q", "-o", "narrow.mercer")
    code, out, err = run("update", "narrow.mercer", "test.svm", "-o", "new.mercer", "--json")
    if code:
        return err
    columns = json.loads(run("show", "new.mercer", "--json")[1])["d"]
    before, after = (json.loads(run("score", m, "test.svm", "--json")[1])["rmse"] for m in ("narrow.mercer", "new.mercer"))
    return None if columns == 9 and after < before else f"columns {columns}, RMSE {before}, then {after}"


def check_refusals():
    """A table has the columns it has; so has a kernel with a number for each, and random features."""
    write("test.svm", ["1 1:0.5 9:1", "2 2:0.5 9:0"])
    write("table.csv", ["a,b,y"] + [f"{random.random()},{random.random()},{random.random()}" for _ in range(30)])
    write("narrow.svm", [row(2, 0.9, y) for y in labels("numbers", 30)] + ["0 1:1 2:1"])
    cases = [("table.csv", "rbf(gamma=1)", [], "has index 9, but the table that the model was fitted to has 2 columns"),
             ("narrow.svm", "rbf(gamma=[1, 2])", [], "its kernel has numbers for each of them"),
             ("narrow.svm", "rbf(gamma=1)", ["--solver", "fourier", "--landmarks", "8"], "its random Fourier features were drawn for them")]
    for data, kernel, options, sentence in cases:
        code, _, err = run("fit", data, "-m", "ridge", "-k", kernel, "-q", "-o", "m.mercer", *options)
        if code:
            return err
        code, out, err = run("predict", "m.mercer", "test.svm")
        if code != 2 or out or sentence not in err or err.count("\n") != 1:
            return f"{data} {kernel}: {code} {err}"
    return None


def main():
    os.chdir(tempfile.mkdtemp())
    found = [check_score_and_update(), check_refusals()]
    for machine in MACHINES:
        for kernel in random.sample(KERNELS, 5) if machine != "ridge" else KERNELS:
            share, scale = random.choice([0.9, 0.1]), random.choice(["none", "standard", "minmax"] if kernel[:4] not in ("chi2", "inte") else ["none"])
            what = check(machine, kernel, share, scale)
            found.append(what and f"{machine} {kernel} share {share} scale {scale}: {what}")
    found = [what for what in found if what]
    print("\n".join(found) if found else "every model met the new columns as zeros of its own")
    return 1 if found else 0


sys.exit(main())
