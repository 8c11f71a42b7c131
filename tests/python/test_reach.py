"""Everything the C library can is within reach, and says the same."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

import mercer
from mercer import _header
from mercer.__main__ import command

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def table(n=80, seed=4):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2, np.where(X[:, 0] > X[:, 2], "left", "right")


class Reach(unittest.TestCase):
    def test_every_function_of_the_library_is_called_or_the_document_says_why_not(self):
        source = "\n".join(path.read_text() for path in (ROOT / "python/mercer").glob("*.py"))
        said = (ROOT / "docs/python.md").read_text()
        made = {f"mercer_{kind}_free" for kind in re.findall(r'"(\w+)"\)', source)}
        made |= {f"mercer_{kind}_init" for kind in re.findall(r'defaults\("(\w+)"', source)}
        missing = [name for name in _header.FUNCTIONS if name not in made and not re.search(rf"\b{name}\b", source)
                   and f"`{name}`" not in said]
        self.assertEqual(missing, [])
        named = re.findall(r"`(mercer_\w+)`", said)
        self.assertEqual([name for name in named if name in _header.FUNCTIONS and re.search(rf"\b{name}\b", source)], [])


class Matrices(unittest.TestCase):
    def test_a_matrix_is_proved_or_refuted(self):
        A = np.random.RandomState(3).randn(30, 30)
        self.assertEqual(mercer.gram_prove(A @ A.T + np.eye(30)).verdict, "proved")
        refuted = mercer.gram_prove(A @ A.T - 0.5 * np.eye(30))
        w = refuted.weights
        self.assertEqual(refuted.verdict, "refuted")
        self.assertLess(w @ (A @ A.T - 0.5 * np.eye(30)) @ w, 0)
        self.assertEqual(mercer.gram_prove(np.ones((4, 4))).verdict, "unknown")
        self.assertEqual(mercer.gram_prove([[1.0, 0.5], [0.25, 1.0]]).asymmetry, 0.25)
        with self.assertRaisesRegex(ValueError, "square"):
            mercer.gram_prove(np.ones((2, 3)))

    def test_the_nearest_matrix_is_that_of_the_eigenvalues(self):
        A = np.random.RandomState(4).randn(25, 25)
        w, V = np.linalg.eigh((A + A.T) / 2)
        near = (V * np.maximum(w, 0)) @ V.T
        r = mercer.gram_repair(A)
        np.testing.assert_allclose(r.matrix, near, atol=1e-11)
        self.assertAlmostEqual(r.distance, np.linalg.norm(A - near), 10)
        self.assertLessEqual(r.least, r.distance)
        self.assertEqual((r.negative, mercer.gram_prove(r.matrix).verdict), (int((w < 0).sum()), "proved"))
        np.fill_diagonal(A, 2)
        r = mercer.gram_repair(A, keep_diagonal=True)
        self.assertTrue((np.diag(r.matrix) == 2).all())
        self.assertLess(r.distance, r.least * (1 + 1e-9))

    def test_a_matrix_is_a_product_of_its_factor(self):
        A = np.random.RandomState(5).randn(7, 25)
        f = mercer.gram_factor(A.T @ A)
        self.assertEqual((f.rank, f.P.shape), (7, (7, 25)))
        self.assertLessEqual(np.linalg.norm(A.T @ A - f.P.T @ f.P), f.residual)
        self.assertLess(f.residual, 1e-10)
        with self.assertRaisesRegex(ValueError, "rank 1"):
            mercer.gram_factor([[1.0, 2.0], [2.0, 1.0]])

    def test_a_frequency_refutes_without_points(self):
        refuted = mercer.prove("rbf(gamma=1) - 0.1*rbf(gamma=0.5)")
        w = refuted.frequency
        self.assertIsNone(refuted.witness)
        self.assertEqual((refuted.verdict, w.frequency.tolist(), w.mean), ("refuted", [0.0] * 7, False))
        self.assertAlmostEqual(w.value, np.pi ** 3.5 * (1 - 0.1 * 2 ** 3.5), delta=w.bound + 1e-12)
        self.assertIsNone(mercer.prove("linear - 1").frequency)


class Machines(unittest.TestCase):
    def test_every_machine_can_be_fitted(self):
        X, y, names = table()
        for machine in mercer.machines():
            target = names if machine in ("svc", "nu-svc", "logistic", "squared-hinge") else y
            with self.subTest(machine=machine):
                model = mercer.fit(X, target, machine, "rbf(gamma=0.5)", **({"nu": 0.3} if machine == "nu-svc" else {}))
                self.assertEqual((model.machine, len(model.predict(X))), (machine, len(X)))

    def test_the_plan_of_a_fit_without_parameters_holds_its_search(self):
        X, y, _ = table()
        plan = mercer.plan(X, y)
        self.assertEqual((plan.search.rows, plan.search.possible), (len(X), True))
        self.assertGreater(plan.search.candidates, 1)
        self.assertIsNone(mercer.plan(X, y, lambda_=1).search)
        self.assertIsNone(mercer.plan(X, y, kernel="rbf").search)

    def test_what_fit_chooses_is_what_the_command_chooses(self):
        if command() is None:
            self.skipTest("the command is not built")
        X, y = mercer.generate("moons", 60, noise=0.2, random_state=5)
        with tempfile.TemporaryDirectory() as folder:
            data, saved = os.path.join(folder, "moons.csv"), os.path.join(folder, "m.mercer")
            subprocess.run([command(), "generate", "moons", "-n", "60", "--noise", "0.2", "--seed", "5", "-q", "-o", data], check=True)
            subprocess.run([command(), "fit", data, "-m", "svc", "-q", "-o", saved], check=True)
            theirs = mercer.Model.load(saved)
            np.testing.assert_array_equal(mercer.read(data).X, X)
            for ours in (mercer.fit(X, y, "svc"), mercer.fit(data, machine="svc")):
                self.assertEqual((ours.kernel, ours.settings), (theirs.kernel, theirs.settings))
                np.testing.assert_allclose(ours.decide(X), theirs.decide(X), atol=1e-12)
                self.assertEqual(ours.search["score"], theirs.search["score"])

    def test_kernels_of_texts_are_fitted_from_files(self):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "words.csv")
            pathlib.Path(data).write_text("word,kind\n" + "".join(f"{'ab' * (i % 5 + 2)},a\n{'xyz' * (i % 4 + 2)},b\n" for i in range(8)))
            model = mercer.fit(data, machine="svc", kernel="spectrum(p=2)[word]")
            self.assertEqual(model.score(data).accuracy, 1.0)

    def test_paths_are_those_of_fits(self):
        X, y, names = table()
        rows = mercer.path(X, y, kernel="rbf(gamma=0.5)", values=[0.1, 1], folds=4, scale="none")
        for alpha, norm, error in zip(rows["lambda"], rows.norm, rows.loo_rmse):
            report = mercer.fit(X, y, "ridge", "rbf(gamma=0.5)", lambda_=float(alpha), scale="none", loo=True).report
            np.testing.assert_allclose((norm, error), (report.norm, report.loo_rmse), rtol=1e-8)
        rows = mercer.path(X[:60], names[:60], "svc", "rbf(gamma=0.5)", values=[1, 10], test=(X[60:], names[60:]), scale="none")
        svc = mercer.SVC(C=10, gamma=0.5).fit(X[:60], names[:60])
        self.assertAlmostEqual(rows.test[1], svc.score(X[60:], names[60:]))
        rows = mercer.path(X[:60], y[:60], "huber", "rbf(gamma=0.5)", values=[1, 0.1], folds=3, test=(X[60:], y[60:]), scale="none")
        self.assertTrue(np.isfinite(rows.fold).all() and np.isfinite(rows.test).all())
        with self.assertRaisesRegex(ValueError, "not on folds"):
            mercer.path(X, names, "svc", values=[1], folds=3)

    def test_rows_left_out_are_predicted_as_by_a_fit_without_them(self):
        X, y, names = table(40)
        fold = np.arange(40) % 4
        left_out = mercer.folds(X, y, "rbf(gamma=0.5)", folds=fold, lambda_=0.1, scale="none", intercept=False)
        for k in range(4):
            ridge = mercer.KernelRidge(0.1, kernel="rbf", gamma=0.5).fit(X[fold != k], y[fold != k])
            np.testing.assert_allclose(left_out.residuals[fold == k, 0], y[fold == k] - ridge.predict(X[fold == k]), atol=1e-9)
        groups = mercer.folds(X, y, "rbf(gamma=0.5)", groups=fold, lambda_=0.1, scale="none", intercept=False)
        self.assertAlmostEqual(groups.rmse, left_out.rmse)

    def test_a_loss_of_ones_own_is_the_built_in_one_and_its_errors_come_through(self):
        X, y, names = table(40)
        own = mercer.fit_loss(X, y, lambda t, F: (F - t) ** 2 / 2, lambda t, F: F - t, lambda t, F: 1.0, "rbf(gamma=0.5)", lambda_=0.5,
                              conjugate=lambda t, v: v * v / 2 + v * t, range=lambda t: (-np.inf, np.inf), scale="none", tolerance=1e-10)
        built_in = mercer.KernelHuberRegressor(delta=100, alpha=0.5, gamma=0.5, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(own.predict(X), built_in.predict(X), atol=1e-4)
        self.assertEqual(own.certificate.kind, "gap")
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            mercer.fit_loss(X, y, lambda t, F: 1 / 0, lambda t, F: F - t, lambda t, F: 1.0)

    def test_a_search_can_be_planned_and_measured_on_rows_held_out(self):
        X, y, names = table()
        wish = {"kernel": "rbf(gamma={0.1, 1})", "C": [1, 10], "hold_out": (X[60:], names[60:])}
        self.assertEqual(mercer.plan_tune(X[:60], names[:60], "svc", **wish).candidates, 4)
        found = mercer.tune(X[:60], names[:60], "svc", **wish)
        self.assertAlmostEqual(found.best.score, found.model.score(X[60:], names[60:]).accuracy)


class Models(unittest.TestCase):
    def test_models_are_functions_with_a_distance(self):
        X, y, names = table()
        f, g = (mercer.KernelRidge(alpha, kernel="rbf", gamma=0.5).fit(X, y) for alpha in (0.1, 1))
        K, difference = mercer.gram("rbf(gamma=0.5)", X), f.dual_coef_ - g.dual_coef_
        self.assertAlmostEqual(f.model_.distance(g.model_), np.sqrt(difference @ K @ difference), places=9)
        self.assertAlmostEqual(f.model_.inner(g.model_), f.dual_coef_ @ K @ g.dual_coef_, places=9)
        self.assertAlmostEqual(f.model_.inner(f.model_), f.report_.norm ** 2, places=8)

    def test_a_model_learns_new_rows(self):
        X, y, names = table()
        model = mercer.fit(X[:60], y[:60], "lms", "rbf(gamma=0.5)")
        new = model.update(X[60:], y[60:], passes=20)
        self.assertLess(new.score(X[60:], y[60:]).rmse, model.score(X[60:], y[60:]).rmse)
        self.assertEqual(len(model.update(X[60:], y[60:], budget=30).coefficients), 30)

    def test_support_vectors_are_seen_from_the_primal_side(self):
        X, y, names = table()
        svc = mercer.SVC(C=2, gamma=0.5, tol=1e-8).fit(X, names)
        seen = svc.model_.vectors(X, names)
        sign = np.where(names == svc.model_.labels[0], 1, -1)
        self.assertEqual(svc.model_.pairs, [("left", "right")])
        np.testing.assert_allclose(seen.margin[:, 0], sign * svc.model_.decide(X)[:, 0], atol=1e-9)
        np.testing.assert_array_equal(np.flatnonzero(seen.state[:, 0] != "unused"), np.sort(svc.support_))
        self.assertEqual(svc.model_.boxes()[0].C, 2)

    def test_calibration_weighs_every_row_and_weights_are_of_features(self):
        X, y, names = table()
        logistic = mercer.KernelLogisticRegression().fit(X, names).model_
        self.assertEqual((logistic.has_proba, mercer.fit(X, names, "svc", "rbf").has_proba), (True, False))
        curve = logistic.calibration(X, names, bins=5)
        self.assertEqual((curve.weight.sum(), len(curve.low)), (len(X), 5))
        model = mercer.fit(X, y, "ridge", "linear", solver="primal", scale="none", intercept=False)
        np.testing.assert_allclose(mercer.feature_map("linear", X) @ model.weights[:, 0], model.predict(X), atol=1e-10)

    def test_a_report_is_a_page(self):
        if command() is None:
            self.skipTest("the command is not built")
        X, y, names = table(40)
        page = mercer.report(mercer.SVC().fit(X, names), X, names)
        self.assertIn("data:image/svg+xml", page)
        with self.assertRaises(TypeError):
            mercer.report("model")


class Samples(unittest.TestCase):
    def test_products_with_gram_matrices(self):
        X, y, names = table()
        V = np.random.RandomState(1).randn(20, 2)
        np.testing.assert_allclose(mercer.gram_apply("rbf(gamma=1)", X, V, X[:20]), mercer.gram("rbf(gamma=1)", X, X[:20]) @ V, atol=1e-12)
        np.testing.assert_allclose(mercer.gram_apply("rbf(gamma=1)", X, y, single=True), mercer.gram("rbf(gamma=1)", X) @ y, atol=1e-3)

    def test_permutations_find_what_differs_and_nothing_else(self):
        rng = np.random.RandomState(2)
        X = rng.randn(60, 2)
        self.assertGreater(mercer.mmd(X[:30], X[30:], permutations=200).p_value, 0.05)
        self.assertGreater(mercer.hsic(X, "rbf[1]", "rbf[2]", permutations=200).p_value, 0.05)

    def test_files_are_read_as_the_command_reads_them(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.csv")
            pathlib.Path(path).write_text("a,b,w,y\n1,2,1,0.5\n,4,2,1.5\n5,6,3,2.5\n")
            made = mercer.read(path, weights="w", missing="mean")
            np.testing.assert_allclose(made.X, [[1, 2], [3, 4], [5, 6]])
            self.assertEqual((made.columns, made.y.tolist(), made.weights.tolist()), (["a", "b"], [0.5, 1.5, 2.5], [1, 2, 3]))
            self.assertIsNone(mercer.read(path, target="", missing="drop").y)
            with self.assertRaisesRegex(mercer.InvalidError, "missing"):
                mercer.read(path)

    def test_groups_are_those_of_scikit_learn(self):
        X, y = mercer.generate("blobs", 90, noise=0.3, random_state=1)
        means = mercer.KernelKMeans(3, kernel="linear", random_state=0).fit(X)
        np.testing.assert_array_equal(means.predict(X), means.labels_)
        by_matrix = mercer.KernelKMeans(3, kernel="precomputed", random_state=0).fit(mercer.gram("linear", X))
        np.testing.assert_array_equal(by_matrix.labels_, means.labels_)
        np.testing.assert_array_equal(by_matrix.predict(mercer.gram("linear", X)), means.labels_)
        spectral = mercer.SpectralClustering(3, gamma=1.0, random_state=0).fit(X)
        self.assertEqual(spectral.affinity_matrix_.shape, (90, 90))
        try:
            from sklearn.cluster import KMeans, SpectralClustering
            from sklearn.metrics import adjusted_rand_score
        except ImportError:
            self.skipTest("scikit-learn is not installed")
        theirs = KMeans(3, n_init=10, random_state=0).fit(X)
        self.assertEqual(adjusted_rand_score(theirs.labels_, means.labels_), 1)
        np.testing.assert_allclose(means.inertia_, theirs.inertia_, rtol=1e-9)
        self.assertEqual(adjusted_rand_score(SpectralClustering(3, random_state=0).fit(X).labels_, spectral.labels_), 1)
