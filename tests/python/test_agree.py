"""Where scikit-learn answers, so do we, with the same types and shapes: named cases, and cases drawn at random."""
import os
import pickle
import unittest
import unittest.mock
import warnings

import numpy as np

import mercer
import mercer._model
import mercer.svm

try:
    import scipy.sparse as sp
    import sklearn  # noqa: F401
    from sklearn import decomposition, gaussian_process, kernel_approximation, kernel_ridge, svm
    from sklearn.base import clone
except ImportError:
    sp = None

SEED = int(os.environ.get("MERCER_TEST_SEED") or np.random.SeedSequence().entropy % 2**32)
CASES = int(os.environ.get("MERCER_TEST_CASES", 30))
rows = np.random.RandomState(1).randn(40, 3)
numbers, labels = np.sin(rows[:, 0]), (rows[:, 0] > 0).astype(int) + (rows[:, 1] > 0.5)


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


@unittest.skipIf(sp is None, "scikit-learn is not installed")
class Agree(unittest.TestCase):
    def same(self, ours, theirs, tolerance, what=""):
        self.assertEqual(sp.issparse(ours), sp.issparse(theirs), what)
        ours, theirs = dense(ours), dense(theirs)
        self.assertEqual((ours.shape, ours.dtype.kind), (theirs.shape, theirs.dtype.kind), what)
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1, np.abs(theirs).max(initial=0)), err_msg=what)
        else:
            np.testing.assert_array_equal(ours, theirs, what)

    def test_a_model_keeps_rows_of_its_own(self):
        for make in (lambda: mercer.SVC(), lambda: mercer.SVR(), lambda: mercer.KernelRidge(kernel="rbf"), lambda: mercer.OneClassSVM(),
                     lambda: mercer.KernelLogisticRegression(kernel="linear"), lambda: mercer.KernelKNeighborsClassifier(3),
                     lambda: mercer.GaussianProcessRegressor("rbf(gamma=1)", optimizer=None)):
            X = np.random.RandomState(2).randn(90, 5)
            target = (X[:, 0] > 0).astype(int) if isinstance(make(), mercer._base.ClassifierBase) else X[:, 0].copy()
            model, new = make().fit(X, target), np.random.RandomState(3).randn(80, 5)
            before = model.predict(new)
            X[:] = 0
            np.testing.assert_array_equal(model.predict(new), before, type(model).__name__)

    def test_a_fit_to_sparse_rows_has_sparse_coefficients(self):
        X = sp.csr_matrix(np.where(np.abs(rows) < 0.5, 0, rows))
        for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"):
            for kernel in ("rbf",) if name.startswith("Nu") else ("linear", "rbf"):  # LIBSVM takes minutes for nu and linear
                tolerance = 1e-6 if (name, kernel) == ("OneClassSVM", "linear") else 1e-9  # and half a minute for that one
                for y in (labels, (labels > 0).astype(int)):
                    parameters = {"nu": 0.3} if "nu" in getattr(mercer, name)().get_params() else {}
                    ours, theirs = (getattr(module, name)(kernel=kernel, tol=tolerance, **parameters).fit(X, y) for module in (mercer, svm))
                    for attribute in ("support_vectors_", "dual_coef_", *(["coef_"] if kernel == "linear" else [])):
                        self.assertEqual(type(getattr(ours, attribute)), type(getattr(theirs, attribute)), (name, attribute))
                    self.same(ours.decision_function(X) if hasattr(ours, "decision_function") else ours.predict(X),
                              theirs.decision_function(X) if hasattr(theirs, "decision_function") else theirs.predict(X), 1e-4, name)
                    if kernel == "linear":
                        self.same(ours.coef_, theirs.coef_, 1e-4, name)
        with self.assertRaises(ValueError):
            mercer.SVC(kernel="linear").fit(rows, labels).coef_[0, 0] = 1

    def test_a_function_may_give_a_sparse_matrix(self):
        def kernel(A, B):
            return sp.csr_matrix(A) @ sp.csr_matrix(B).T
        for X in (rows, sp.csr_matrix(rows)):
            ours, theirs = (kind(kernel=kernel, tol=1e-9).fit(X, labels) for kind in (mercer.SVC, svm.SVC))
            self.same(ours.decision_function(X), theirs.decision_function(X), 1e-5)

    def test_components_of_few_constant_and_indefinite_rows(self):
        def kernel(a, b, width=1.0):
            return np.exp(-width * ((a - b) ** 2).sum())
        for parameters in ({"eigen_solver": "arpack", "n_components": 2}, {"eigen_solver": "randomized", "n_components": 3},
                           {"kernel": "sigmoid", "gamma": 0.1, "n_components": 3}, {"kernel": "rbf"},
                           {"kernel": "linear", "n_components": 9},
                           {"kernel": kernel, "n_components": 3, "fit_inverse_transform": True, "kernel_params": {"width": 0.5}}):
            for X in (rows, rows[:5], np.ones((5, 3)), rows[:1]):
                with self.subTest(rows=X.shape, **parameters), np.errstate(all="ignore"):
                    ours, theirs = (kind(**parameters).fit(X) for kind in (mercer.KernelPCA, decomposition.KernelPCA))
                    self.same(np.abs(ours.transform(rows)), np.abs(theirs.transform(rows)), 1e-9)
                    self.same(ours.eigenvalues_, theirs.eigenvalues_, 1e-9)
                    if "fit_inverse_transform" in parameters:
                        self.same(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), 1e-9)
        for kind in (mercer.KernelPCA, decomposition.KernelPCA):
            with self.assertRaisesRegex(ValueError, "eigenvalue"):
                kind(kernel="sigmoid").fit(rows)

    def test_noise_of_rows_may_be_zero_and_one_column_is_a_vector(self):
        for alpha in (np.where(np.arange(40) % 3, 0.1, 0.0), np.zeros(40), 0.0, np.full(40, 1e-3)):
            for y in (numbers, numbers[:, None], np.column_stack([numbers, labels])):
                ours, theirs = (kind(alpha=alpha, optimizer=None, normalize_y=True).fit(rows, y)
                                for kind in (mercer.GaussianProcessRegressor, gaussian_process.GaussianProcessRegressor))
                new = rows[:6] + 0.1
                self.same(ours.predict(new), theirs.predict(new), 1e-7)
                self.same(ours.predict(new, return_std=True)[1], theirs.predict(new, return_std=True)[1], 1e-7)
                self.same(ours.predict(new, return_cov=True)[1], theirs.predict(new, return_cov=True)[1], 1e-7)
                self.assertEqual(ours.sample_y(new, 3).shape, theirs.sample_y(new, 3).shape)
                self.assertEqual((ours.alpha_.shape, ours.y_train_.shape), (theirs.alpha_.shape, theirs.y_train_.shape))

    def test_nu_has_an_answer_wherever_it_is_feasible(self):
        X = np.random.RandomState(4).randn(30, 1)
        y = np.arange(30) % 3  # nothing tells the classes apart: with a small nu there is no margin
        with self.assertWarnsRegex(mercer.svm.ConvergenceWarning, "nearest nu"):
            self.assertTrue(np.isfinite(mercer.NuSVC(nu=0.01, kernel="linear").fit(X, y).decision_function(X)).all())
        y = X[:, 0] + np.where(np.arange(30) % 4, 0, 3 * np.sin(np.arange(30))) > 0
        with self.assertWarnsRegex(mercer.svm.ConvergenceWarning, "nearest nu"):
            nearest = mercer.NuSVC(nu=0.01, kernel="rbf", gamma=0.01, tol=1e-6).fit(X, y)
        values = [m.decision_function(X) for m in (nearest, svm.SVC(C=100, gamma=0.01, tol=1e-6).fit(X, y))]
        self.same(*(v - v.mean() for v in values), 1e-4)  # where one class has no free vector, more than one intercept will do
        y = (np.arange(30) % 5 == 0).astype(int)
        with self.assertWarnsRegex(mercer.svm.ConvergenceWarning, "nearest nu"):
            mercer.NuSVC(nu=0.3, class_weight={0: 5.0}).fit(X, y)
        for kind in (mercer.NuSVC, svm.NuSVC):
            with self.assertRaisesRegex(ValueError, "specified nu is infeasible"):
                kind(nu=0.6).fit(X, y)

    def test_a_pair_without_a_margin_leaves_the_others_as_they_are(self):
        seed = int(os.environ.get("MERCER_TEST_SEED", "21"))
        rng = np.random.RandomState(seed % 2**32)
        X = np.vstack([rng.randn(40, 2) + c for c in ([0, 0], [0, 0], [9, 9])])
        y = np.repeat([0, 1, 2], 40)  # 0 and 1 are told apart by nothing, 2 from both; nu n / 2 is no integer, so that the margin is unique
        with self.assertWarnsRegex(mercer.svm.ConvergenceWarning, "for 1 of the 3 pairs .* nearest nu"):
            ours = mercer.NuSVC(nu=0.07, gamma=0.01, tol=1e-6, decision_function_shape="ovo").fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = svm.NuSVC(nu=0.07, gamma=0.01, tol=1e-6, decision_function_shape="ovo").fit(X, y)
        self.same(ours.decision_function(X)[:, 1:], theirs.decision_function(X)[:, 1:], 1e-3, f"seed {seed}")

    def test_a_problem_without_a_margin_is_fitted_once(self):
        calls, fit = [], mercer._model.fit
        with unittest.mock.patch.object(mercer._model, "fit", lambda *a, **k: calls.append(1) or fit(*a, **k)):
            with self.assertWarnsRegex(mercer.svm.ConvergenceWarning, "nearest nu"):
                mercer.NuSVC(nu=0.01, kernel="linear").fit(np.random.RandomState(4).randn(30, 1), np.arange(30) % 2)
        self.assertEqual(len(calls), 1)

    def test_probabilities_need_no_second_row_of_a_class(self):
        X, y = rows[:9], np.asarray([0, 1, 1, 1, 2, 2, 2, 2, 2])
        for kind in (mercer.SVC, svm.SVC):
            proba = kind(probability=True, random_state=0).fit(X, y).predict_proba(rows)
            np.testing.assert_allclose(proba.sum(axis=1), 1)
        late = mercer.SVC().fit(X, y).set_params(probability=True)
        self.assertTrue(hasattr(late, "predict_proba"))
        with self.assertRaisesRegex(ValueError, "fitted with probability=False"):
            late.predict_proba(X)

    def test_a_gamma_of_zero_is_a_constant_kernel(self):
        for kernel in ("rbf", "poly", "sigmoid"):
            ours, theirs = (kind(kernel=kernel, gamma=0.0, coef0=0.5, degree=2).fit(rows, numbers).predict(rows)
                            for kind in (mercer.SVR, svm.SVR))
            self.same(ours, theirs, 2e-3, kernel)
        for kernel in ("rbf", "laplacian", "poly"):
            ours, theirs = (kind(kernel=kernel, gamma=0.0).fit(rows, numbers).predict(rows)
                            for kind in (mercer.KernelRidge, kernel_ridge.KernelRidge))
            self.same(ours, theirs, 1e-9, kernel)

    def test_nystroem_takes_parameters_and_matrices_as_scikit_learn_does(self):
        K = rows @ rows.T
        for parameters, X in (({"kernel": "poly", "kernel_params": {"degree": 2, "coef0": 0.1}, "gamma": 0.5}, rows),
                              ({"kernel": "precomputed", "n_components": 40}, K)):
            ours, theirs = (kind(random_state=0, **parameters).fit_transform(X)
                            for kind in (mercer.Nystroem, kernel_approximation.Nystroem))
            self.same(ours @ ours.T, theirs @ theirs.T, 1e-6)
        with self.assertRaisesRegex(ValueError, "Don't pass gamma"):
            mercer.Nystroem(kernel=lambda a, b: a @ b, gamma=1.0).fit(rows)


def table(rng, n, d):
    X = rng.randn(n, d)
    return [X, np.round(X), X * (rng.rand(n, d) < 0.3)][rng.randint(3)]


def formats(rng, X):
    """The same rows in another coat."""
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    csr = sp.csr_matrix(X)
    long = sp.csr_matrix((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=X.shape)
    coo = sp.coo_matrix(X)
    twice = sp.coo_matrix((np.concatenate([coo.data / 2, coo.data / 2, [0.0]]), (np.concatenate([coo.row, coo.row, [0]]),
                                                                                np.concatenate([coo.col, coo.col, [0]]))), shape=X.shape)
    backward = csr.copy()
    for i in range(X.shape[0]):
        part = slice(csr.indptr[i], csr.indptr[i + 1])
        backward.indices[part], backward.data[part] = csr.indices[part][::-1], csr.data[part][::-1]
    backward.has_sorted_indices = False
    return [np.asfortranarray(X), wide[::2, ::2], frozen, X.tolist(), X.astype(object), X.astype(">f8"), csr, csr.tocsc(), coo, csr.tolil(),
            long, twice, backward]


def has_free_vectors(machine):
    """Each of its pairs of classes has one support vector away from 0 and C at least, so that its offset is one number and no interval."""
    size = np.abs(machine.dual_coef_)
    free = (size > 1e-5) & (size < machine.C - 1e-5)
    if free.shape[0] == 1:
        return free.any()
    ends = np.cumsum(machine.n_support_)
    block = [slice(end - count, end) for end, count in zip(ends, machine.n_support_)]
    return all(free[j - 1, block[i]].any() or free[i, block[j]].any() for i in range(len(block)) for j in range(i + 1, len(block)))


@unittest.skipIf(sp is None, "scikit-learn is not installed")
class Drawn(unittest.TestCase):
    """The seed is in the name of what fails: MERCER_TEST_SEED repeats it, MERCER_TEST_CASES says how many."""

    def draw(self, rng):
        """(our class, theirs, parameters, X, y, method)"""
        X = table(rng, rng.randint(6, 50), rng.randint(1, 6))
        y = rng.randint(0, rng.randint(2, 4), len(X))
        y[:3] = [0, 1, 0]
        kernel = {"kernel": str(rng.choice(["linear", "rbf", "poly"])), "gamma": float(rng.choice([0.1, 0.7])), "degree": 2, "coef0": 1.0}
        number = rng.randn(len(X))
        # nu n is no whole number: then a support vector is free, and there is one rho. Pairs of classes are compared as they are: a row
        # that stands twice with two labels has the value 0 for certain, and votes by its rounding.
        return [(mercer.SVC, svm.SVC, {**kernel, "kernel": "rbf", "C": 2.0, "tol": 1e-8, "decision_function_shape": "ovo"}, X, y,
                 "decision_function"),
                (mercer.SVR, svm.SVR, {**kernel, "kernel": "rbf", "tol": 1e-8}, X, number, "predict"),
                (mercer.OneClassSVM, svm.OneClassSVM, {"gamma": 0.5, "nu": 0.3117, "tol": 1e-9}, X, None, "decision_function"),
                (mercer.KernelRidge, kernel_ridge.KernelRidge, {**kernel, "alpha": 3.0}, X, number, "predict"),
                (mercer.KernelPCA, decomposition.KernelPCA, {"kernel": "rbf", "gamma": 0.7, "n_components": 2}, X, None, "transform")
                ][rng.randint(5)]

    def test_answers_do_not_depend_on_the_coat_and_are_scikit_learns(self):
        for case in range(CASES):
            rng = np.random.RandomState((SEED + case) % 2**32)
            kind, theirs, parameters, X, y, method = self.draw(rng)
            with self.subTest(seed=SEED, case=case, estimator=kind.__name__, rows=X.shape, **parameters), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.compare(rng, kind(**parameters), theirs(**parameters), X, y, method)

    def compare(self, rng, ours, theirs, X, y, method):
        size = (lambda values: np.abs(values)) if method == "transform" else (lambda values: values)
        expected = size(getattr(theirs.fit(X, y), method)(X))
        scale = max(1, np.abs(expected).max(initial=0))
        found = getattr(ours.fit(X, y), method)(X)
        self.assertEqual(found.shape, expected.shape)
        if method != "transform" or np.ptp(theirs.eigenvalues_) > 1e-6:  # directions of equal eigenvalues may turn
            loose = ours.__class__ in (mercer.SVC, mercer.SVR) and not has_free_vectors(theirs)
            centred = (lambda values: values - values.mean(axis=0)) if loose else (lambda values: values)
            np.testing.assert_allclose(centred(size(found)), centred(expected), rtol=0, atol=2e-4 * scale)
        coats = formats(rng, X)
        for place in rng.permutation(len(coats))[:4]:
            other = getattr(clone(ours).fit(coats[place], y), method)(coats[place])
            np.testing.assert_allclose(other, found, rtol=0, atol=1e-5 * scale, err_msg=f"coat {place}")
        np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(ours)), method)(X), found)
        single = getattr(clone(ours).fit(X.astype(np.float32), y), method)(X.astype(np.float32))
        np.testing.assert_allclose(size(single), size(found), rtol=0, atol=2e-2 * scale)
