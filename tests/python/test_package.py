"""Files shared with the command, processes, threads, Ctrl-C, sparse rows, and life without scikit-learn."""
import ctypes
import doctest
import importlib
import inspect
import io
import json
import multiprocessing
import os
import pathlib
import pickle
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import types
import unittest
import unittest.mock

import numpy as np

import mercer
from mercer import _header, _progress
from mercer.__main__ import command

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def table(n=120, seed=1):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2, np.where(X[:, 0] > X[:, 2], "left", "right")


def fit_in_a_child(kind):
    X, y, names = table()
    return mercer.SVC().fit(X, names).score(X, names)


def run_python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=dict(os.environ, **environment))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        if command() is None:
            self.skipTest("the command is not built")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def mercer(self, *arguments):
        return subprocess.run([command(), *arguments], check=True, capture_output=True, text=True).stdout

    def write_csv(self, target):
        X = table()[0]
        rows = ["a,b,c,target"] + [",".join([*map(repr, x), str(t)]) for x, t in zip(X.tolist(), target)]
        pathlib.Path(self.path("data.csv")).write_text("\n".join(rows) + "\n")
        return X

    def test_a_model_of_the_command_predicts_the_same_in_python(self):
        for machine, target in (("ridge", table()[1]), ("svc", table()[2])):
            X = self.write_csv(target)
            self.mercer("fit", self.path("data.csv"), "-m", machine, "-q", "-o", self.path("m.mercer"))
            said = self.mercer("predict", self.path("m.mercer"), self.path("data.csv")).split("\n")[1:-1]
            model = mercer.Model.load(self.path("m.mercer"))
            np.testing.assert_array_equal(np.asarray(said, dtype=target.dtype), model.predict(X))
            np.testing.assert_array_equal(model.predict(X), model.predict(self.path("data.csv")))
            scores = json.loads(self.mercer("score", self.path("m.mercer"), self.path("data.csv"), "--json"))
            key = "accuracy" if machine == "svc" else "rmse"
            self.assertAlmostEqual(scores[key], model.score(X, target)[key], places=12)

    def test_a_model_of_python_predicts_the_same_with_the_command(self):
        X = self.write_csv(table()[2])
        for estimator in (mercer.SVC(C=3), mercer.KernelLogisticRegression(), mercer.KernelKNeighborsClassifier()):
            estimator.fit(X, table()[2]).model_.save(self.path("m.mercer"))
            said = self.mercer("predict", self.path("m.mercer"), self.path("data.csv")).split("\n")[1:-1]
            self.assertEqual([line.split(",")[0] for line in said], estimator.predict(X).tolist())

    def test_python_m_mercer_is_the_command(self):
        run = subprocess.run([sys.executable, "-m", "mercer", "prove", "linear - 1"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertIn("not a kernel", run.stdout)

    def test_a_damaged_file_is_an_error_that_names_it(self):
        pathlib.Path(self.path("bad")).write_bytes(b"no model")
        with self.assertRaisesRegex(mercer.Error, "bad"):
            mercer.Model.load(self.path("bad"))


class Searches(unittest.TestCase):
    def test_a_search_fits_what_it_found(self):
        X, y, names = table(60)
        found = mercer.tune(X, names, "svc", ["rbf(gamma=0.1..1)", "linear"], C=[1, 10], points=2, folds=3, random_state=5)
        self.assertEqual(len(found.candidates), 6)
        self.assertEqual(found.best.score, max(c.score for c in found.candidates))
        self.assertEqual(found.best.kernel, found.model.kernel)
        again = mercer.tune(X, names, "svc", ["rbf(gamma=0.1..1)", "linear"], C="{1, 10}", points=2, folds=3, random_state=5)
        self.assertEqual([c.score for c in again.candidates], [c.score for c in found.candidates])
        with self.assertRaises(ValueError):
            mercer.tune(X, names, "svc", nonsense=3)

    def test_groups_leave_together(self):
        X, y, names = table(60)
        found = mercer.tune(X, y, "ridge", "rbf(gamma={0.1, 1})", groups=np.arange(60) // 10, points=3)
        self.assertIn("group", found.report.splits)


class Pictures(unittest.TestCase):
    def setUp(self):
        if command() is None:
            self.skipTest("the command is not built")

    def test_pictures_are_those_of_the_command(self):
        X, y, names = table(40)
        classifier = mercer.SVC().fit(X, names)
        picture = mercer.plot(classifier, X, names, kind="confusion")
        self.assertIn("<svg", picture._repr_svg_())
        self.assertIsNone(picture._repr_png_())
        self.assertTrue(mercer.plot(X=X, y=names, kernel="rbf", format="png")._repr_png_().startswith(b"\x89PNG"))
        with tempfile.TemporaryDirectory() as folder:
            picture.save(os.path.join(folder, "a.svg"))
            self.assertEqual(pathlib.Path(folder, "a.svg").read_bytes(), picture.bytes)

    def test_what_cannot_be_drawn_is_refused(self):
        X, y, names = table(40)
        with self.assertRaisesRegex(ValueError, "no picture"):
            mercer.plot(X=X, kind="landscape")
        with self.assertRaises(ValueError):
            mercer.plot(X=X, format="gif")
        with self.assertRaises(TypeError):
            mercer.plot("model", X)


class Processes(unittest.TestCase):
    def test_a_pickle_predicts_the_same_bits(self):
        X, y, names = table()
        for estimator in (mercer.SVC().fit(X, names), mercer.KernelRidge(kernel="rbf").fit(X, y),
                          mercer.GaussianProcessRegressor().fit(X, y)):
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(estimator)).predict(X), estimator.predict(X))

    def test_forked_and_spawned_children_can_fit_after_the_parent_did(self):
        X, y, names = table(1500)
        with mercer.options(threads=2):
            mercer.KernelRidge(kernel="rbf").fit(X, y)  # its threads exist now
        for way in ("fork", "spawn"):
            with self.subTest(way=way), multiprocessing.get_context(way).Pool(2) as pool:
                scores = pool.map_async(fit_in_a_child, range(2)).get(timeout=60)
                self.assertEqual(scores, [fit_in_a_child(0)] * 2)

    def test_threads_fit_at_the_same_time_and_agree(self):
        X, y, names = table()
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(mercer.SVC().fit(X, names).decision_function(X))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for answer in answers:
            np.testing.assert_array_equal(answer, answers[0])

    def test_other_threads_run_while_c_works(self):
        X, y, names = table(700)
        fit = threading.Thread(target=mercer.GaussianProcessRegressor(kernel="rbf", alpha="learn", max_iter=3).fit, args=(X, y))
        fit.start()
        turns = 0
        while fit.is_alive():
            time.sleep(0.001)
            turns += 1
        self.assertGreater(turns, 10)

    def test_ctrl_c_stops_a_fit(self):
        code = ("import mercer, numpy as np, signal\n"
                "from mercer import _progress\n"
                "ask = _progress.Watch._ask\n"
                "def say(*arguments):\n"
                "    print('fitting', flush=True)\n"
                "    return ask(*arguments)\n"
                "_progress.Watch._ask = say\n"
                "X = np.random.RandomState(0).randn(3000, 5); y = X[:, 0] ** 2\n"
                "try:\n"
                "    mercer.GaussianProcessRegressor(kernel='rbf', alpha='learn', n_restarts_optimizer=50).fit(X, y)\n"
                "except KeyboardInterrupt:\n"
                "    print('stopped', signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
            self.assertEqual(child.stdout.readline(), "fitting\n")  # C has asked whether to go on
            child.send_signal(signal.SIGINT)
            said = child.communicate(timeout=200)[0]  # the whole fit would take longer
        self.assertEqual(said.splitlines()[-1:], ["stopped True"])

    def test_a_time_limit_gives_the_best_so_far(self):
        X, y, names = table(2000)
        with mercer.options(time_limit=0.05):
            model = mercer.fit(X, y, "gp", "rbf")
        self.assertEqual(model.report.stopped, "time")
        kept = [stage["error"] for stage in model.stages["stages"] if stage["kept"]]
        self.assertEqual(kept, sorted(kept, reverse=True))
        self.assertGreater(len(kept), 0)
        self.assertIsNone(mercer.fit(X[:50], y[:50], "ridge", "rbf", lambda_=1).stages)

    def test_everything_works_without_scikit_learn(self):
        code = ("import sys; sys.modules['sklearn'] = None\n"
                "import mercer, numpy as np, pickle\n"
                "X = np.random.RandomState(0).randn(50, 2); y = np.where(X[:, 0] > 0, 'a', 'b')\n"
                "clf = mercer.SVC(C=2)\n"
                "print(repr(clf), clf.get_params()['C'], clf.set_params(C=3).fit(X, y).score(X, y) > 0.9)\n"
                "print(mercer.KernelRidge(kernel='linear', alpha=0.1).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9)\n"
                "print(mercer.KernelPCA(2).fit_transform(X).shape, mercer.OneClassSVM().fit_predict(X).shape)\n"
                "try: mercer.SVC().predict(X)\n"
                "except ValueError as e: print(type(e).__name__)\n")
        run = run_python(code)
        self.assertEqual(run.stdout.split("\n")[:-1], ["SVC(C=2) 2 True", "True", "(50, 2) (50,)", "NotFittedError"], run.stderr)

    def test_verbose_says_what_is_done_on_standard_error(self):
        code = ("import mercer, numpy as np\nX = np.random.RandomState(0).randn(300, 2)\n"
                "mercer.KernelRidge(kernel='rbf', verbose=True).fit(X, X[:, 0])\n")
        run = run_python(code)
        self.assertEqual((run.stdout, run.returncode), ("", 0), run.stderr)


class Bars(unittest.TestCase):
    """How far a call is, as terminals and notebooks show it."""

    def watch(self, screen):
        with unittest.mock.patch.object(_progress, "_screen", return_value=screen), _progress.Watch(True) as watch:
            for share in (0.5, -1.0):
                seen = _header.mercer_progress(phase=b"factor", done=share, seconds=2.0)
                self.assertEqual(watch.progress(None, ctypes.byref(seen)), 0)

    def test_a_terminal_has_a_line_that_is_drawn_again_and_wiped(self):
        with unittest.mock.patch("sys.stderr", io.StringIO()) as screen:
            self.watch(_progress._Terminal())
        drawn = screen.getvalue().split("\r")
        self.assertIn("factor     [###############               ]  50%  2 s", drawn[1])
        self.assertNotIn("%", drawn[2])
        self.assertEqual(drawn[-1], "\033[K")

    def test_a_notebook_has_one_output_that_changes(self):
        shown = []

        class Shown:
            def update(self, html):
                shown.append(html)

        def display(html, display_id):
            shown.append(html)
            return Shown()
        shell = type("ZMQInteractiveShell", (), {})()
        fake = types.SimpleNamespace(get_ipython=lambda: shell, display=types.SimpleNamespace(HTML=str, display=display))
        with unittest.mock.patch.dict(sys.modules, {"IPython": fake, "IPython.display": fake.display}):
            self.assertTrue(_progress._in_notebook())
            self.watch(_progress._screen(True))
        self.assertEqual(shown, ["<progress max=1 value=0.500></progress> factor, 2 s", "<progress max=1 ></progress> factor, 2 s"])


class Arrays(unittest.TestCase):
    def test_sparse_rows_and_single_precision_give_the_answer_of_dense_ones(self):
        try:
            import scipy.sparse as sp
        except ImportError:
            self.skipTest("SciPy is not installed")
        X, y, names = table()
        X[np.abs(X) < 0.7] = 0
        dense = mercer.SVC(tol=1e-9).fit(X, names)
        sparse = mercer.SVC(tol=1e-9).fit(sp.csr_matrix(X), names)
        np.testing.assert_allclose(sparse.decision_function(sp.csc_matrix(X)), dense.decision_function(X), atol=1e-7)
        self.assertTrue(sp.issparse(sparse.support_vectors_))
        single = mercer.KernelRidge(kernel="rbf").fit(X.astype(np.float32), y)
        np.testing.assert_allclose(single.predict(X.astype(np.float32)), mercer.KernelRidge(kernel="rbf").fit(X, y).predict(X), atol=1e-4)

    def test_rows_go_to_c_without_being_copied(self):
        X, y, names = table()
        model = mercer.KernelRidge(kernel="linear").fit(X, y)
        wide = np.random.RandomState(2).randn(400_000, 3)
        rows = [wide, wide.astype(np.float32)]
        try:
            import scipy.sparse as sp
            rows.append(sp.csr_matrix(wide))
            rows[-1].has_canonical_format  # which SciPy finds out once, and remembers
        except ImportError:
            pass
        for given in rows:
            tracemalloc.start()
            model.predict(given)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            self.assertLess(most, 2.1 * 8 * wide.shape[0], type(given))  # the answer, and the row starts of CSR

    def test_rows_of_weight_zero_have_no_coefficient_and_shift_none(self):
        X, y, names = table(30)
        weights = np.arange(30) % 3
        for alpha in (0.0, 0.5):
            ridge = mercer.KernelRidge(alpha, kernel="rbf", gamma=1.0).fit(X, y, weights)
            np.testing.assert_array_equal(ridge.dual_coef_[weights == 0], 0)
            np.testing.assert_allclose(mercer.gram("rbf(gamma=1)", X) @ ridge.dual_coef_, ridge.predict(X), atol=1e-9)
        nearest = mercer.KernelKNeighborsRegressor(3).fit(X, y, weights).kneighbors(X, return_distance=False)
        self.assertTrue((weights[nearest] > 0).all())

    def test_rows_in_any_layout_give_the_same_bits(self):
        X, y, names = table()
        model = mercer.KernelRidge(kernel="rbf").fit(X, y)
        wide = np.zeros((len(X), 6))
        wide[:, ::2] = X
        for other in (np.asfortranarray(X), wide[:, ::2], X.tolist()):
            np.testing.assert_array_equal(model.predict(other), model.predict(X))
        np.testing.assert_array_equal(np.concatenate([model.predict(X[i:i + 1]) for i in range(9)]), model.predict(X)[:9])

    def test_classes_whose_texts_are_numbers_keep_their_order(self):
        X = table()[0]
        y = np.asarray(["10", "9", "a"])[np.arange(len(X)) % 3]
        X = X + (np.arange(len(X)) % 3)[:, None] * 3
        plain = {"10": "x", "9": "y", "a": "z"}
        for kind in (mercer.SVC, mercer.KernelLogisticRegression, mercer.KernelKNeighborsClassifier):
            a, b = kind().fit(X, y), kind().fit(X, [plain[v] for v in y])
            self.assertEqual([plain[v] for v in a.predict(X)], b.predict(X).tolist())
            for name in ("predict_proba", "decision_function"):
                if hasattr(a, name):
                    np.testing.assert_allclose(getattr(a, name)(X), getattr(b, name)(X), atol=1e-2)

    def test_probabilities_of_svc_are_near_those_of_the_logistic_model(self):
        X, y, names = table(300)
        y = np.asarray(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
        for labels in (names, y):
            svc = mercer.SVC(probability=True, random_state=1, class_weight={labels[0]: 1.5}).fit(X, labels)
            proba = svc.predict_proba(X)
            np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
            self.assertGreater(np.mean(svc.classes_[proba.argmax(axis=1)] == svc.predict(X)), 0.9)
            self.assertLess(np.abs(proba - mercer.KernelLogisticRegression(C=10).fit(X, labels).predict_proba(X)).mean(), 0.12)
        K = mercer.gram("rbf(gamma=0.3)", X)
        by_matrix = mercer.SVC(kernel="precomputed", probability=True).fit(K, y).predict_proba(K)
        np.testing.assert_allclose(by_matrix, mercer.SVC(gamma=0.3, probability=True).fit(X, y).predict_proba(X), atol=0.02)
        self.assertFalse(hasattr(mercer.SVC(), "predict_proba"))

    def test_an_error_is_a_sentence_of_the_library(self):
        X, y, names = table()
        with self.assertRaisesRegex(mercer.InvalidError, "column 5"):
            mercer.KernelRidge(kernel="rbf(gama=1)").fit(X, y)
        with self.assertRaisesRegex(ValueError, "not finite|NaN"):
            mercer.KernelRidge().fit(X, y).predict(np.array([[np.nan, 0, 0]]))
        with self.assertRaises(mercer.KernelError):
            mercer.GaussianProcessRegressor(kernel="linear - 2*rbf(gamma=1)").fit(X, y)

    def test_names_of_columns_are_kept_and_compared(self):
        class Frame:
            def __init__(self, X, columns):
                self.X, self.columns = X, columns

            def __array__(self, dtype=None):
                return self.X
        X, y, names = table()
        model = mercer.KernelRidge().fit(Frame(X, ["a", "b", "c"]), y)
        self.assertEqual(model.feature_names_in_.tolist(), ["a", "b", "c"])
        with self.assertRaisesRegex(ValueError, "should match those"):
            model.predict(Frame(X, ["a", "c", "b"]))


class Matrices(unittest.TestCase):
    def machines(self, **parameters):
        return (mercer.SVC(tol=1e-9, **parameters), mercer.NuSVC(nu=0.2, tol=1e-9, **parameters), mercer.KernelRidge(**parameters),
                mercer.KernelRidgeCV(**parameters), mercer.SVR(tol=1e-9, **parameters), mercer.KernelLogisticRegression(**parameters),
                mercer.KernelHuberRegressor(**parameters), mercer.KernelKNeighborsClassifier(**parameters),
                mercer.OneClassSVM(tol=1e-9, **parameters), mercer.KernelPCA(3, **parameters))

    def answers(self, machines, X, Z):
        y, names = np.sin(table()[1])[:80], table()[2][:80]
        for machine in machines:
            machine.fit(X, names if hasattr(machine, "decision_function") or hasattr(machine, "predict_proba") else y)
            way = next(w for w in ("decision_function", "predict_proba", "predict", "transform") if hasattr(machine, w))
            yield getattr(machine, way)(Z)

    def test_values_and_functions_give_the_answers_of_the_expression(self):
        X = table()[0]
        A, Z = X[:80], X[80:]
        K, block = mercer.gram("rbf(gamma=0.2)", A), mercer.gram("rbf(gamma=0.2)", Z, A)
        direct = list(self.answers(self.machines(kernel="rbf(gamma=0.2)"), A, Z))
        for by_matrix, machine in zip(self.answers(self.machines(kernel="precomputed"), K, block), direct):
            np.testing.assert_allclose(by_matrix, machine, atol=1e-6)

        def matrices(P, Q):
            return np.exp(-0.2 * ((P[:, None] - Q[None]) ** 2).sum(axis=-1))
        for by_function, machine in zip(self.answers((mercer.SVC(kernel=matrices, tol=1e-9),), A, Z), direct):
            np.testing.assert_allclose(by_function, machine, atol=1e-6)
        ridge = mercer.KernelRidge(kernel=lambda p, q: np.exp(-0.2 * ((p - q) ** 2).sum()))
        np.testing.assert_allclose(next(self.answers((ridge,), A, Z)), direct[2], atol=1e-9)

    def test_a_matrix_that_cannot_be_one_is_refused(self):
        names = [0, 1, 0, 1]
        with self.assertRaisesRegex(ValueError, "square"):
            mercer.SVC(kernel="precomputed").fit(np.eye(4)[:, :3], names)
        with self.assertRaisesRegex(ValueError, "symmetric"):
            mercer.SVC(kernel="precomputed").fit(np.triu(np.ones((4, 4))), names)
        with self.assertRaisesRegex(ValueError, "eigenvalue"):
            mercer.KernelLogisticRegression(kernel="precomputed").fit(1 - np.eye(4), names)


class OpenParameters(unittest.TestCase):
    def test_what_a_kernel_takes_from_data_comes_from_the_fit_not_from_the_rows_to_predict_for(self):
        X = np.random.RandomState(5).randn(40, 2)
        features = mercer.Nystroem("matern(nu=1.5)", n_components=7, random_state=0).fit(X)
        np.testing.assert_allclose(features.transform(X[:3]), features.transform(X)[:3], atol=1e-12)
        groups = mercer.KernelKMeans(4, kernel="matern(nu=1.5)", random_state=0).fit(X)
        np.testing.assert_allclose(groups._products(X[:3]), groups._products(X)[:3], atol=1e-12)


class Cures(unittest.TestCase):
    """What a refusal advises helps."""

    def test_wendland_of_more_columns_than_its_dimension(self):
        X = np.random.RandomState(6).rand(30, 5)
        y = (X[:, 0] > 0.5).astype(int)
        with self.assertRaisesRegex(mercer.KernelError, "wendland sees 5 columns: raise its dimension from 3 to 5;"):
            mercer.KernelLogisticRegression(kernel="1 + wendland").fit(X, y)
        self.assertTrue(mercer.KernelLogisticRegression(kernel="1 + wendland(dimension=5)").fit(X, y).proof_)
        with self.assertRaisesRegex(mercer.KernelError, "is not a kernel: .*raise its dimension from 1 to 5;"):
            mercer.KernelLogisticRegression(kernel="wendland(k=0, dimension=1, length_scale=1)").fit(X, y)
        with self.assertRaisesRegex(mercer.KernelError, "wendland sees 70 columns: choose 64 of them"):
            mercer.KernelLogisticRegression(kernel="wendland").fit(np.tile(X, 14), y)
        self.assertTrue(mercer.KernelLogisticRegression(kernel="wendland(dimension=64)[1:64]").fit(np.tile(X, 14), y).proof_)

    def test_additive_chi2(self):
        X = np.random.RandomState(7).rand(30, 4)
        with self.assertRaisesRegex(ValueError, r"kernel='1\*additive_chi2'"):
            mercer.KernelRidge(kernel="additive_chi2").fit(X, X[:, 0])
        K = (2 * X[:, None] * X / (X[:, None] + X)).sum(axis=2)
        ridge = mercer.KernelRidge(kernel="1*additive_chi2", alpha=0.5).fit(X, X[:, 0])
        np.testing.assert_allclose(ridge.predict(X), K @ np.linalg.solve(K + 0.5 * np.eye(30), X[:, 0]), atol=1e-9)
        self.assertTrue(ridge.proof_)


class Examples(unittest.TestCase):
    def test_examples_in_docstrings_and_documents_run(self):
        for module in pkgutil.iter_modules(mercer.__path__):
            if module.name != "__main__":
                failed, tried = doctest.testmod(importlib.import_module(f"mercer.{module.name}"))
                self.assertEqual(failed, 0, module.name)
        self.assertEqual(doctest.testmod(mercer).failed, 0)
        for document in ROOT.glob("docs/python.md"):
            flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            self.assertEqual(doctest.testfile(str(document), module_relative=False, optionflags=flags).failed, 0)

    def test_the_version_is_the_librarys(self):
        self.assertEqual(mercer.__version__, mercer.info()["version"])

    def test_everything_public_has_a_docstring(self):
        for name in mercer.__all__:
            value = getattr(mercer, name)
            self.assertTrue(value.__doc__, name)
            for method, function in inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else ():
                if not method.startswith("_") and function.__module__.startswith("mercer"):
                    self.assertTrue(function.__doc__, f"{name}.{method}")


class SklearnTools(unittest.TestCase):
    def setUp(self):
        try:
            import sklearn  # noqa: F401
        except ImportError:
            self.skipTest("scikit-learn is not installed")

    def test_grids_pipelines_clones_and_workers(self):
        from sklearn.base import clone
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        X, y, names = table()
        pipe = make_pipeline(StandardScaler(), mercer.KernelPCA(3, kernel="rbf"), mercer.SVC())
        grid = GridSearchCV(pipe, {"svc__C": [0.1, 10], "svc__kernel": ["rbf", "rbf(gamma=1) + linear"]}, cv=3, n_jobs=2).fit(X, names)
        self.assertGreater(grid.best_score_, 0.8)
        self.assertEqual(clone(grid.best_estimator_).fit(X, names).score(X, names), grid.score(X, names))

    def test_workers_of_every_kind_agree(self):
        import joblib
        expected = [fit_in_a_child(0)] * 2
        for backend in ("multiprocessing", "threading"):  # processes that are forked, and none; the test above has fresh ones
            with self.subTest(backend=backend):
                self.assertEqual(joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit_in_a_child)(i) for i in range(2)), expected)

    def test_set_output_is_there(self):
        X = table()[0]
        for transformer in (mercer.KernelPCA(2), mercer.Nystroem(n_components=5), mercer.RandomFourierFeatures(n_components=5)):
            self.assertEqual(transformer.set_output(transform="default").fit_transform(X).shape[1],
                             len(transformer.get_feature_names_out()))

    def test_set_output_gives_data_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        X = pandas.DataFrame(table()[0], columns=["a", "b", "c"])
        for transformer in (mercer.KernelPCA(2), mercer.Nystroem(n_components=5), mercer.RandomFourierFeatures(n_components=5)):
            frame = transformer.set_output(transform="pandas").fit_transform(X)
            self.assertIsInstance(frame, pandas.DataFrame)
            self.assertEqual(list(frame.columns), list(transformer.get_feature_names_out()))
            self.assertEqual(list(transformer.feature_names_in_), ["a", "b", "c"])
