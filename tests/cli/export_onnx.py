"""export_onnx.py MERCER [--runtime]: models exported as ONNX must say what mercer says: to 1e-9 of the largest value in double, to 1e-5 of the sum of
the coefficients where ai.onnx.ml's operators hold floats. They are run by graph.py, or with --runtime by onnxruntime after onnx.checker has looked
(exit 77 where these are not installed; build/onnx-venv is looked at too)."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
MERCER = pathlib.Path(sys.argv[1]).resolve()
RUNTIME = "--runtime" in sys.argv


def find_python():
    """Go on in a Python that has what is needed."""
    needs = "import onnx, onnxruntime, numpy" if RUNTIME else "import numpy"
    own = MERCER.parent / "onnx-venv/bin/python"
    for python in [sys.executable, "/usr/bin/python3", str(own)]:
        if os.path.exists(python) and subprocess.run([python, "-P", "-c", needs], capture_output=True).returncode == 0:
            return python
    print(f"skipped: no Python here can '{needs}'")
    sys.exit(77)


if "--found" not in sys.argv:
    python = find_python()
    os.execv(python, [python, "-P", *sys.argv, "--found"])

import numpy as np  # noqa: E402

sys.path.insert(0, str(TESTS))
import graph  # noqa: E402


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def run_graph(path, rows):
    if not RUNTIME:
        return graph.run(path, rows)
    import onnx
    import onnxruntime
    onnx.checker.check_model(str(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, {"X": rows}), strict=True))


def table_of(text):
    header, *rows = list(csv.reader(text.splitlines()))
    return header, rows


def compare(wanted, seen, bar, size):
    """The distance over the bar."""
    wanted, seen = np.asarray(wanted, float), np.asarray(seen, float)
    assert wanted.shape == seen.shape, (wanted.shape, seen.shape)
    return np.abs(wanted - seen).max() / (bar * max(1.0, size, np.abs(wanted).max()))


def check(data, machine, kernel, *options, to="onnx", columns=None):
    run(MERCER, "fit", data, "-m", machine, *(["-k", kernel] if kernel else []), "-o", "m.mercer", "-q", *options)
    run(MERCER, "export", "m.mercer", "--to", to, "-o", "m.onnx", "-q")
    header, rows = table_of(open(data).read())
    X = np.array([r[:columns or len(header) - 1] for r in rows[:40]], float)
    X[20:] += 0.01 * np.sin(np.arange(X[20:].size)).reshape(X[20:].shape)  # rows of the fit, and others
    X[20:] = np.abs(X[20:])
    with open("new.csv", "w") as out:
        csv.writer(out).writerows([header[:X.shape[1]], *X.tolist()])
    seen = run_graph("m.onnx", X)
    floats = "coefficients" in open("m.onnx", "rb").read().decode("latin-1")
    worst = judge(seen, floats, machine)
    verdict = "the same" if worst <= 1 else f"DIFFERENT by {worst:g} times the bar"
    operators = "ai.onnx.ml" if floats else "double"
    print(f"{machine:13} {operators:10} {kernel or 'chosen'}{''.join(' ' + o for o in options)}: {verdict}")
    return worst <= 1


def judge(seen, floats, machine):
    """The worst distance over its bar of all outputs."""
    bar, size = (1e-5, graph.weight("m.onnx")) if floats else (1e-9, 0.0)
    classes = "label" in seen
    header, rows = table_of(run(MERCER, "predict", "m.mercer", "new.csv", *(["--decision"] if classes else [])))
    if not classes:
        return compare([list(map(float, r)) for r in rows], seen["prediction"], bar, size)
    decisions = np.array([r[1:] for r in rows], float)
    sure = margin(decisions, header[1].count("_") == 2) > bar * max(1.0, size)  # where no class hangs on its rounding
    assert sure.any()
    wrong = [r[0] != label for r, label, s in zip(rows, seen["label"], sure, strict=True) if s]
    sides = [-decisions, decisions] if machine == "one-class" else [decisions, -decisions]
    worst = compare(np.hstack(sides) if decisions.shape[1] == 1 else decisions, seen["scores"], bar, size)
    if "probabilities" in seen:
        _, rows = table_of(run(MERCER, "predict", "m.mercer", "new.csv", "--proba"))
        worst = max(worst, compare([r[1:] for r in rows], seen["probabilities"], bar, 0))
    return np.inf if any(wrong) else worst


def margin(decisions, pairs):
    """How far a row is from another class: its smallest decision where signs count, the lead of the largest otherwise."""
    if pairs or decisions.shape[1] == 1:
        return np.abs(decisions).min(1)
    rising = np.sort(decisions, 1)
    return rising[:, -1] - rising[:, -2]


KERNELS = ["rbf(gamma=0.5)", "rbf(gamma=[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1])", "0.5*linear + poly(degree=3, c=1, gamma=0.2)",
           "laplacian(gamma=0.3)*exponential(gamma=0.2)",
           "matern(nu=0.5, length_scale=1) + matern(nu=1.5, length_scale=2)*matern(nu=2.5, length_scale=3)",
           "rq(alpha=2, length_scale=1) + periodic(period=2, length_scale=1.5)[1:3]", "normalize(poly(degree=2)) + cosine",
           "arccos(order=0) + arccos(order=1) + arccos(order=2)", "chi2(gamma=0.5) + intersection + white",
           "exp(0.3*linear)[x1, x2] + form([[2,1],[1,2]])[3:4]", "weigh(exp(-norm2/2) + abs(x[1])/2 - 3^norm, rbf(gamma=1)) + linear^2",
           "logarithmic(0.9*rbf(gamma=0.1)) + arcsin(0.9*cosine)",
           "2", "normalize(weigh(1 + x[2], linear + 1)*intersection + arccos(order=0) + white)"]


def write_data():
    run(MERCER, "generate", "friedman1", "-n", "60", "--noise", "0.5", "--seed", "1", "-o", "numbers.csv", "-q")
    iris = subprocess.run([sys.executable, str(TESTS / "iris.py")], capture_output=True, text=True, check=True).stdout
    header, *rows = iris.splitlines()
    open("trees.csv", "w").write("\n".join([header, *rows[::2]]) + "\n")
    kinds = sorted({r.rsplit(",", 1)[1] for r in rows})
    open("two.csv", "w").write("\n".join([header, *[r for r in rows[::2] if not r.endswith(kinds[0])]]) + "\n")
    header, rows = table_of(open("numbers.csv").read())
    rows[3][1] = rows[7][4] = ""
    with open("gaps.csv", "w") as out:
        csv.writer(out).writerows([header, *rows])


def machines():
    """Every machine, on its own kinds of data, and every way that a model may decide."""
    for kernel in KERNELS:
        yield "numbers.csv", "ridge", kernel, "--lambda", "0.1", "--intercept", "--solver", "cholesky"
    rbf = "rbf(gamma=0.5)"
    yield "numbers.csv", "ridge", rbf, "--lambda", "0.1", "--scale", "standard"
    yield "numbers.csv", "ridge", "linear", "--solver", "primal", "--lambda", "0.1", "--intercept", "--scale", "minmax"
    yield "numbers.csv", "ridge", rbf, "--lambda", "0.1", "--solver", "fourier", "--rank", "20"
    yield "numbers.csv", "ridge", rbf, "--lambda", "0.1", "--solver", "nystrom", "--rank", "20"
    yield "numbers.csv", "gp", "rq(alpha=2, length_scale=1)", "--noise", "0.1", "--no-learn"
    yield "numbers.csv", "lms", rbf, "--solver", "stored"
    for machine in ["quantile", "huber", "absolute"]:
        yield "numbers.csv", machine, rbf
    yield "numbers.csv", "pca", rbf, "--components", "3"
    yield "numbers.csv", "knn", rbf, "--weighting", "distance"
    yield "numbers.csv", "knn", "matern(nu=1.5, length_scale=1) + linear", "--neighbors", "3"
    for kernel in ["linear", "poly(degree=3, c=1, gamma=0.2)", rbf]:
        yield "numbers.csv", "svr", kernel, "--C", "10", "--scale", "standard"
        yield "trees.csv", "svc", kernel, "--C", "5"
        yield "two.csv", "svc", kernel, "--C", "5", "--scale", "standard"
    yield "two.csv", "svc", "tanh(a=0.01, c=-1)", "--allow-indefinite"
    yield "numbers.csv", "nu-svr", rbf
    yield "trees.csv", "nu-svc", rbf, "--nu", "0.1"
    yield "numbers.csv", "one-class", rbf, "--nu", "0.3"
    yield "trees.csv", "svc", "laplacian(gamma=0.5)", "--C", "5"
    yield "trees.csv", "svc", rbf, "--C", "5", "--multiclass", "ovr"
    for data in ["trees.csv", "two.csv"]:
        for machine in ["logistic", "squared-hinge", "ridge"]:
            yield data, machine, rbf, "--lambda", "0.1"
        yield data, "knn", "linear", "--neighbors", "4", "--weighting", "distance"


def refused(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    print(f"refused: {done.stderr.strip()}")
    return done.returncode == 2 and done.stderr.count("\n") == 1 and not os.path.exists("refused.onnx")


def main():
    write_data()
    good = [check(*case) for case in machines()]
    for data in ["trees.csv", "two.csv"]:
        good.append(check(data, "svc", "rbf(gamma=0.5)", "--C", "5", to="onnx-double"))
    good.append(check("two.csv", "svc", "tanh(a=1, c=-1)", "--allow-indefinite", to="onnx-double"))
    good.append(check("numbers.csv", "one-class", "rbf(gamma=0.5)", "--nu", "0.3", to="onnx-double"))
    run(MERCER, "fit", "gaps.csv", "-m", "ridge", "-k", "rbf(gamma=0.5)", "--lambda", "0.1", "--missing", "mean", "-o", "m.mercer", "-q")
    run(MERCER, "export", "m.mercer", "--to", "onnx", "-o", "m.onnx", "-q")
    header, rows = table_of(open("gaps.csv").read())
    X = np.array([[float(v or "nan") for v in r[:-1]] for r in rows])
    _, wanted = table_of(run(MERCER, "predict", "m.mercer", "gaps.csv", "--missing", "mean"))
    good.append(compare([list(map(float, r)) for r in wanted], run_graph("m.onnx", X)["prediction"], 1e-9, 0) <= 1)
    print(f"a missing number is its mean: {'the same' if good[-1] else 'DIFFERENT'}")
    run(MERCER, "fit", "numbers.csv", "-m", "ridge", "-k", "linear[x1, x2]^2", "--solver", "primal", "--lambda", "1", "-o", "w.mercer", "-q")
    good.append(refused(MERCER, "export", "w.mercer", "--to", "onnx", "-o", "refused.onnx"))
    return not all(good)


with tempfile.TemporaryDirectory(prefix="mercer-onnx-") as folder:
    os.chdir(folder)
    sys.exit(main())
