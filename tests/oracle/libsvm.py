"""libmercer-svm.so against Debian's libsvm.so.3, both in one process: the same calls on random problems. Every type and kernel, 2 to 20
classes, dense and sparse rows, scales, one row per class, empty rows, labels in any order, indices twice and unsorted, weights of classes,
precomputed kernels whose rows are a part of a larger matrix in any order. MERCER_SVM_ROUNDS problems of each kind (10).

Some problems have no answer to compare: sigmoid, which is no kernel (any stationary point is one: it must not be a worse one); nu-SVC
without a margin (LIBSVM divides by about 0; Mercer takes the nearest nu that has one); one-class with a linear kernel whose rows lie around
the origin (the boundary is lost in rounding). Where decisions differ although both say they are done, Mercer's objective must be the lower
one."""
import ctypes
import os
import re
import subprocess
import sys

import numpy as np
from oracle import FOLDER, SEED, path, run
from svm_library import C_SVC, EPSILON_SVR, LINEAR, NU_SVC, NU_SVR, ONE_CLASS, POLY, PRECOMPUTED, RBF, SIGMOID, Library, parameter, problem

DEBIAN = "/usr/lib/x86_64-linux-gnu/libsvm.so.3"
if not os.path.exists(DEBIAN):
    print("1..0 # SKIP libsvm3 is not installed")
    sys.exit(77)
OURS = os.environ["MERCER_SVM"]
ROUNDS = int(os.environ.get("MERCER_SVM_ROUNDS", "10"))
old, new, libc = Library(DEBIAN), Library(OURS), ctypes.CDLL(None)
libc.fflush.argtypes = [ctypes.c_void_p]
NO_MARGIN = 1e3  # nu-SVC: a unit 1/r of the multipliers beyond this says that there is no margin


class Drawn:
    """A random problem with its parameters."""

    def __init__(self, kind, number, svm_type, kernel):
        self.rng = rng = np.random.default_rng([SEED, sum(map(ord, kind)), number])
        self.classes = svm_type in (C_SVC, NU_SVC)
        self.k, self.n, self.d = int(rng.choice([2, 2, 3, 5, 12, 20])), int(rng.choice([5, 20, 60, 150])), int(rng.choice([1, 3, 10, 40]))
        self.scale = float(rng.choice([1, 1, 0.01, 100]))
        X = rng.normal(size=(self.n, self.d)) * self.scale
        X[rng.random(X.shape) > rng.choice([1, 1, 0.5, 0.1])] = 0
        y = rng.integers(self.k, size=self.n) if self.classes else X[:, 0] / self.scale + rng.normal(size=self.n)
        if self.classes:
            X += (y[:, None] * rng.normal(size=self.d) * self.scale / 2) * (X != 0)
            y = self.labels()[y]
        self.y, self.X = y, X
        self.rows = self.kernel_rows(X) if kernel == PRECOMPUTED else self.node_rows(X)
        weights = {int(v): float(rng.uniform(0.3, 3)) for v in sorted(set(y))[:2]} if svm_type == C_SVC and rng.random() < 0.4 else None
        C = float(10 ** rng.uniform(-2, 1.5)) / (self.scale ** 2 if kernel == LINEAR else 1)
        self.parameter = parameter(svm_type, kernel, weights, C=C, nu=float(rng.uniform(0.05, 0.8)), p=float(10 ** rng.uniform(-3, 0)), eps=1e-6,
                                   gamma=1 / self.d / self.scale ** 2, coef0=float(rng.choice([0, 0.5, 1])), degree=int(rng.choice([1, 2, 3])))
        self.problem = problem(self.rows, map(float, self.y))

    def labels(self):
        if self.k == 2 and self.rng.random() < 0.5:
            return np.array([-1, 1])
        return self.rng.permutation(np.arange(-5, 25))[:self.k]

    def node_rows(self, X):
        step = int(self.rng.choice([1, 1, 7, 100003]))
        return [[(1 + j * step, float(v)) for j, v in enumerate(x) if v != 0 or self.rng.random() < 0.1] for x in X]

    def kernel_rows(self, X):
        """Rows of a larger matrix, in another order."""
        D = np.vstack([X, self.rng.normal(size=(3, self.d)) * self.scale]) / self.scale
        K = np.exp(-((D[:, None] - D) ** 2).sum(2) / self.d)
        places = self.rng.permutation(len(D))[:self.n]
        self.y = np.asarray(self.y)[np.minimum(places, self.n - 1)]
        return [[(0, float(i + 1))] + [(j + 1, float(v)) for j, v in enumerate(K[i])] for i in places]

    def __str__(self):
        p = self.parameter
        return f"type {p.svm_type} kernel {p.kernel_type}: {self.n} rows, {self.k} classes, {self.d} columns, scale {self.scale}, C {p.C:.4g}"


def numbers(said, key):
    return [float(v) for v in re.findall(rf"\b{key} = (\S+?),?\s", "".join(said))]


def has_margin(drawn, said):
    return drawn.parameter.svm_type != NU_SVC or all(0 < unit < NO_MARGIN for unit in numbers(said, "C"))


def values(library, model, rows):
    return np.array([library.values(model, row)[1] for row in rows])


def near(a, b, tolerance, what):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, f"{what}: {a.shape} and {b.shape}"
    if a.size:
        worst = np.abs(a - b).max() / max(1, np.abs(b).max())
        assert worst <= tolerance, f"{what}: {worst:.3g} apart"


def compare_models(drawn, a, b):
    """What the structs say: labels in their order, vectors by class, the sign of rho."""
    m, o = b.contents, a.contents
    assert (m.nr_class, m.free_sv, m.param.svm_type) == (o.nr_class, 0, o.param.svm_type), str(drawn)
    if drawn.classes:
        assert new.labels(b) == old.labels(a), f"{drawn}: labels {new.labels(b)}, {old.labels(a)}"
        assert sum(m.nSV[:m.nr_class]) == m.l
        held = [drawn.y[i - 1] for i in m.sv_indices[:m.l]]
        assert held == [label for c, label in enumerate(new.labels(b)) for _ in range(m.nSV[c])], f"{drawn}: vectors are not by class"
    assert all(m.SV[i][0].index == drawn.problem.x[m.sv_indices[i] - 1][0].index for i in range(m.l))
    return m.rho[:len(numbers(new.said, "rho"))], o.rho[:len(numbers(new.said, "rho"))]


def is_lower(said, other):
    return all(x <= z + 1e-5 * abs(z) for x, z in zip(numbers(said, "obj"), numbers(other, "obj")))


def compare(drawn, tolerance=1e-3):
    """1 where decisions are equal, 0.01 where LIBSVM's are worse, 0 where there was nothing to compare."""
    wrong = old.check_parameter(drawn.problem, drawn.parameter)
    assert wrong == new.check_parameter(drawn.problem, drawn.parameter), str(drawn)
    if wrong:
        return 0
    a = old.fit(drawn.problem, drawn.parameter)
    if not has_margin(drawn, old.said):
        old.drop(a)
        return 0
    b = new.fit(drawn.problem, drawn.parameter)
    ours, theirs = compare_models(drawn, a, b)
    V, W = values(old, a, drawn.rows), values(new, b, drawn.rows)
    same = np.abs(W - V).max(initial=0) <= tolerance * max(1, np.abs(V).max(initial=0))
    if not same:
        assert is_lower(new.said, old.said), f"decisions, {drawn}: {np.abs(W - V).max()} apart of {np.abs(V).max()}, {new.said}, {old.said}"
    near(values(new, a, drawn.rows), V, 1e-9, f"their model by our svm_predict, {drawn}")
    near(values(old, b, drawn.rows), W, 1e-9, f"our model by their svm_predict, {drawn}")
    if same:
        near(ours, theirs, tolerance * max(1, np.abs(V).max(initial=1)), f"rho, {drawn}")
    for key in ("obj", "rho", "nu", "epsilon") if same else ():
        near(numbers(new.said, key), numbers(old.said, key), 1e-2, f"{key} as printed, {drawn}")
    assert ("Total nSV" in "".join(new.said)) == ("Total nSV" in "".join(old.said))
    old.drop(a)
    new.drop(b)
    return 1 if same else 0.01


def decisions_of(svm_type, kernel):
    def test():
        name = f"{svm_type}/{kernel}"
        compared = [compare(Drawn(name, i, svm_type, kernel)) for i in range(ROUNDS)]
        assert sum(compared) > ROUNDS / 5, f"only {sum(compared)} of {ROUNDS} could be compared"
        assert compared.count(0.01) <= 1 + ROUNDS / 10, f"{compared.count(0.01)} of {ROUNDS} differ"
    return test


def test_sigmoid_is_no_worse():
    """A stationary point: mostly the same, its objective as often below LIBSVM's as above."""
    same, apart = [], []
    for i in range(3 * ROUNDS):
        drawn = Drawn("sigmoid", i, (C_SVC, EPSILON_SVR, ONE_CLASS)[i % 3], SIGMOID)
        a, b = old.fit(drawn.problem, drawn.parameter), new.fit(drawn.problem, drawn.parameter)
        V = values(old, a, drawn.rows)
        same.append(np.abs(values(new, b, drawn.rows) - V).max(initial=0) <= 1e-3 * max(1, np.abs(V).max(initial=1)))
        apart += [(x - z) / abs(z) for x, z in zip(numbers(new.said, "obj"), numbers(old.said, "obj")) if z]
        old.drop(a)
        new.drop(b)
    above, below = np.mean(np.array(apart) > 1e-4), np.mean(np.array(apart) < -1e-4)
    assert np.mean(same) > 0.6, f"{np.mean(same):.3g} are the same"
    assert above < below + 0.05 and np.mean(apart) < 0.02, f"{above:.3g} of the objectives are worse, {below:.3g} better"


def test_folds_are_the_same():
    """With the same seed of rand() the folds are LIBSVM's, so that predictions are."""
    for i in range(ROUNDS):
        drawn = Drawn("folds", i, (C_SVC, EPSILON_SVR, NU_SVR)[i % 3], (LINEAR, RBF, POLY)[i // 3 % 3])
        out = []
        for library in (old, new):
            libc.srand(i)
            out.append(np.array(library.folds(drawn.problem, drawn.parameter, int(3 + i % 5))))
        if drawn.classes:
            agree = np.mean((out[0] == out[1]) | np.isnan(out[1]))  # a fold that has all rows leaves nothing to learn from
            assert agree >= 1 - 2 / drawn.n, f"{1 - agree:.3g} of the rows are predicted otherwise, {drawn}"
        else:
            near(out[1], out[0], 1e-3, f"left-out values, {drawn}")


def test_probabilities_are_the_same():
    for i in range(ROUNDS):
        drawn = Drawn("probabilities", i, C_SVC, (LINEAR, RBF, PRECOMPUTED)[i % 3])
        drawn.parameter.probability = 1
        models = []
        for library in (old, new):
            libc.srand(i)
            models.append(library.fit(drawn.problem, drawn.parameter))
        assert old.check_probability_model(models[0]) == new.check_probability_model(models[1])
        if models[0].contents.nr_class > 1:
            P, Q = ([library.probabilities(m, row) for row in drawn.rows] for library, m in zip((old, new), models))
            near([q for _, q in Q], [p for _, p in P], 2e-2, f"probabilities, {drawn}")
            near([new.probabilities(models[0], row)[1] for row in drawn.rows], [p for _, p in P], 1e-6, f"of their model, {drawn}")
        old.drop(models[0])
        new.drop(models[1])


def test_laplace_scale_is_the_same():
    for i in range(ROUNDS // 2):
        drawn = Drawn("laplace", i, (EPSILON_SVR, NU_SVR)[i % 2], RBF)
        drawn.parameter.probability = 1
        scales = []
        for library in (old, new):
            libc.srand(i)
            model = library.fit(drawn.problem, drawn.parameter)
            scales.append(library.get_svr_probability(model))
            library.drop(model)
        near([scales[1]], [scales[0]], 1e-3, f"sigma, {drawn}")


def test_folds_with_probabilities():
    for i in range(ROUNDS // 4):
        drawn = Drawn("inner", i, C_SVC, RBF)
        drawn.parameter.probability = 1
        out = []
        for library in (old, new):
            libc.srand(i)
            out.append(np.array(library.folds(drawn.problem, drawn.parameter, 3)))
        agree = np.mean((out[0] == out[1]) | np.isnan(out[1]))
        assert agree >= 1 - 3 / drawn.n, f"{1 - agree:.3g} of the rows are predicted otherwise, {drawn}"


def test_model_files_are_read_by_both():
    for i in range(ROUNDS):
        drawn = Drawn("files", i, (C_SVC, ONE_CLASS, EPSILON_SVR)[i % 3], (POLY, RBF, PRECOMPUTED)[i // 3 % 3])
        drawn.parameter.probability = int(drawn.parameter.svm_type != ONE_CLASS and i % 2)
        for writer, reader in ((old, new), (new, old), (new, new)):
            model = writer.fit(drawn.problem, drawn.parameter)
            assert writer.save_model(path("model").encode(), model) == 0
            back = reader.load_model(path("model").encode())
            assert back, f"{drawn}: {open(path('model')).read()[:400]}"
            tolerance = 1e-9 if writer is new else 1e-5  # LIBSVM rounds rows to eight digits
            V = values(writer, model, drawn.rows)
            near(values(reader, back, drawn.rows), V, tolerance, f"decisions of a model read back, {drawn}")
            assert reader.check_probability_model(back) == writer.check_probability_model(model)
            assert reader.get_svm_type(back) == drawn.parameter.svm_type and reader.get_nr_sv(back) == writer.get_nr_sv(model)
            writer.drop(model)
            reader.drop(back)


def test_rows_of_any_shape():
    """Index 0, unsorted indices, values of 0, empty rows, rows to predict with indices that no row had."""
    rows = [[(0, 1.0), (3, 2.0)], [(5, 1.0), (2, -1.0)], [], [(1, 0.0)], [(4, 1.0)], [(0, -1.0)]]
    plain = [[(0, 1.0), (3, 2.0)], [(2, -1.0), (5, 1.0)], [], [], [(4, 1.0)], [(0, -1.0)]]
    targets = [1, -1, 1, -1, 1, -1]
    asked = plain + [[(1, 1.0), (900, 2.0)], [(40000000, 1.5)], [(0, 2.0), (2000000000, 1.0)]]
    for kernel in (LINEAR, POLY, RBF):
        param = parameter(C_SVC, kernel, C=3, eps=1e-6)
        sorted_rows, made = problem(plain, targets), problem(rows, targets)  # which the models point to
        a, b = old.fit(sorted_rows, param), new.fit(made, param)
        near(values(new, b, asked), values(old, a, asked), 1e-5, f"decisions, kernel {kernel}")
        assert new.save_model(path("odd").encode(), b) == 0
        back = new.load_model(path("odd").encode())
        near(values(new, back, plain), values(new, b, plain), 1e-12, "after a file")
        for library, model in ((old, a), (new, b), (new, back)):
            library.drop(model)


def test_indices_that_stand_twice():
    """The first counts."""
    twice, once = problem([[(2, 1.0), (2, 9.0)], [(2, -1.0)], [(1, 3.0), (1, 0.5), (2, 1.0)]], [1, -1, 1]), [[(2, 1.0)], [(2, -1.0)], [(1, 3.0), (2, 1.0)]]
    made, param = problem(once, [1, -1, 1]), parameter(C_SVC, RBF, eps=1e-6)
    a, b = new.fit(made, param), new.fit(twice, param)
    assert a.contents.rho[0] == b.contents.rho[0] and [a.contents.sv_coef[0][i] for i in range(3)] == [b.contents.sv_coef[0][i] for i in range(3)]
    new.drop(a)
    new.drop(b)


def test_constant_kernels():
    rows, targets = [[(1, 1.0)], [(1, 2.0)], [(1, -1.0)]], [1, 1, -1]
    for more in (dict(gamma=0), dict(degree=0), dict(gamma=0, coef0=-2.0, degree=3), dict(gamma=0, coef0=2.0)):
        for kernel in (POLY, RBF, SIGMOID):
            param = parameter(C_SVC, kernel, eps=1e-6, **more)
            made = problem(rows, targets)
            a, b = old.fit(made, param), new.fit(made, param)
            near(values(new, b, rows), values(old, a, rows), 1e-6, f"kernel {kernel} with {more}")
            assert new.save_model(path("flat").encode(), b) == 0
            back = new.load_model(path("flat").encode())
            near(values(new, back, rows), values(new, b, rows), 1e-12, "after a file")
            for library, model in ((old, a), (new, b), (new, back)):
                library.drop(model)


def test_parameters_are_checked_alike():
    rng = np.random.default_rng(SEED)
    made = problem([[(1, 1.0)], [(1, 2.0)], [(1, 3.0)]], [1, 1, 2])
    for _ in range(40 * ROUNDS):
        param = parameter(int(rng.integers(-1, 6)), int(rng.integers(-1, 6)), gamma=float(rng.choice([-1, 0, 1, 1])), eps=float(rng.choice([0, 1, 1])),
                          degree=int(rng.choice([-1, 0, 3, 3])), cache_size=float(rng.choice([0, 1, 1, 1])), C=float(rng.choice([0, 1, 1])),
                          nu=float(rng.choice([0, 0.5, 1, 1.5])), p=float(rng.choice([-1, 1, 1])), shrinking=int(rng.choice([0, 1, 1, 2])),
                          probability=int(rng.choice([0, 1, 1, 2])))
        assert old.check_parameter(made, param) == new.check_parameter(made, param), [getattr(param, f) for f, _ in param._fields_]


def test_failures_are_no_models():
    """A sentence on standard error and NULL, which svm_save_model takes; nothing ends the program."""
    code = """
import sys
sys.path.insert(0, sys.argv[2])
from svm_library import *
new = Library(sys.argv[1])
for rows, param in (([[(1, float("nan"))], [(1, 1.0)]], parameter(C_SVC, RBF)), ([[(0, 7.0), (1, 1.0)]] * 2, parameter(C_SVC, PRECOMPUTED))):
    assert not new.train(problem(rows, [1, 2]), param)
assert new.save_model(b"/nowhere/model", None) == -1
assert not new.load_model(b"/nowhere/model")
"""
    done = subprocess.run([sys.executable, "-c", code, OURS, os.path.dirname(os.path.abspath(__file__))], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert [line.split(":")[0] for line in said] == ["svm_train", "svm_train", "svm_load_model"], said


def test_the_interface_is_that_of_debian():
    """The same names, and the name by which programs find it."""
    def listed(library):
        lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
        return {line.split()[-1] for line in lines}
    assert listed(OURS) == {name for name in listed(DEBIAN) if name.startswith("svm_") or name == "libsvm_version"}
    assert "Library soname: [libsvm.so.3]" in subprocess.run(["readelf", "-d", OURS], capture_output=True, text=True, check=True).stdout
    assert ctypes.c_int.in_dll(new.dll, "libsvm_version").value == ctypes.c_int.in_dll(old.dll, "libsvm_version").value


def test_svm_train_preloaded():
    """Debian's own programs, unchanged: what they print in its shape, and a model file that says the same."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(200, 5))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.5, 0.5])
    with open(path("rows"), "w") as out:
        for row, label in zip(X, y):
            out.write(f"{label} " + " ".join(f"{j + 1}:{v:.5f}" for j, v in enumerate(row)) + "\n")

    def ran(*command, preload=True):
        environment = dict(os.environ, LD_PRELOAD=OURS) if preload else None
        return subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=True).stdout

    for options in (["-b", "1"], ["-v", "5"], ["-s", "3", "-v", "5"], ["-s", "1"], ["-s", "2", "-n", "0.1"], ["-s", "4", "-b", "1"]):
        options = [*options, "-e", "0.000001"]
        shapes = [re.sub(r"-?[\d.]+(e-?\d+)?", "#", ran("svm-train", *options, "rows", "m", preload=preload)).splitlines()[-1] for preload in (True, False)]
        assert shapes[0] == shapes[1], shapes
        if "-v" in options:
            lines = [ran("svm-train", "-q", *options, "rows", preload=preload).split() for preload in (True, False)]
            for ours, theirs in zip(*lines):
                same = ours == theirs or abs(float(ours.strip("%")) - float(theirs.strip("%"))) <= 1e-3 * abs(float(theirs.strip("%")))
                assert same, lines
            continue
        b = options[1] if options[0] == "-b" or "-b" in options else "0"
        for preload in (True, False):
            ran("svm-train", "-q", *options, "rows", f"m{preload}", preload=preload)
        said = [ran("svm-predict", "-b", b, "rows", f"m{train}", "out", preload=predict) for train in (True, False) for predict in (True, False)]
        assert all(s.split("(")[0][:12] == said[0].split("(")[0][:12] for s in said), said
        assert said[0] == said[1] and said[2] == said[3], said


tests = {f"decisions of type {t}, kernel {k}": decisions_of(t, k)
         for t in (C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR) for k in (LINEAR, POLY, RBF, PRECOMPUTED) if (t, k) != (ONE_CLASS, LINEAR)}
run(tests | {name[5:].replace("_", " "): f for name, f in sorted(globals().items()) if name.startswith("test_")})
