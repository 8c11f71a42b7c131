"""What is left out of a small fit because it takes longer than the fit: attributes made when they are asked for, parameters looked at once,
callbacks and settings kept from one call to the next. None of it may show."""
import os
import pickle
import unittest
import unittest.mock

import numpy as np

import mercer
from mercer import _arrays, _library

SEED = int(os.environ.get("MERCER_TEST_SEED", int.from_bytes(os.urandom(4), "little")))
LEFT = {"SVC": ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_"),
        "NuSVC": ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_"),
        "SVR": ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_"),
        "OneClassSVM": ("support_", "support_vectors_", "dual_coef_", "intercept_", "offset_"),
        "KernelRidge": ("dual_coef_",), "GaussianProcessRegressor": ("alpha_", "X_train_"), "KernelPCA": ("eigenvalues_", "eigenvectors_")}
GIVEN = {"NuSVC": {"nu": 0.3}, "KernelPCA": {"n_components": 3, "kernel": "rbf"}, "KernelRidge": {"kernel": "rbf"},
         "GaussianProcessRegressor": {"kernel": "rbf(gamma=1)", "optimizer": None, "alpha": 0.1}}


def problem(seed, n=60):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 3))
    return X, np.arange(n) % 3 + 0 * X[:, 0]


def fitted(name, X, y):
    return getattr(mercer, name)(**GIVEN.get(name, {})).fit(X, y)


def left(estimator):
    return {name: np.array(getattr(estimator, name)) for name in LEFT[type(estimator).__name__]}


class Later(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(one.keys(), other.keys())
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)

    def test_what_a_fit_leaves_is_of_the_rows_as_they_were(self):
        for name in LEFT:
            with self.subTest(name=name, seed=SEED):
                X, y = problem(SEED % 2**32)
                at_once = left(fitted(name, X, y))
                estimator = fitted(name, X, y)
                X[:], y[:] = 7, y[::-1].copy()
                self.same(left(estimator), at_once)

    def test_another_fit_leaves_nothing_of_the_one_before(self):
        for name in LEFT:
            with self.subTest(name=name, seed=SEED):
                X, y = problem(SEED % 2**32)
                estimator = fitted(name, *problem(1 + SEED % 2**31, 50))
                left(estimator)
                self.same(left(estimator.fit(X, y)), left(fitted(name, X, y)))

    def test_a_pickle_has_what_nobody_asked_for_before(self):
        for name in LEFT:
            with self.subTest(name=name):
                estimator = fitted(name, *problem(3))
                self.same(left(pickle.loads(pickle.dumps(estimator))), left(estimator))

    def test_nothing_is_there_before_a_fit(self):
        for name, names in LEFT.items():
            estimator = getattr(mercer, name)(**GIVEN.get(name, {}))
            for attribute in names:
                with self.subTest(name=name, attribute=attribute):
                    self.assertFalse(hasattr(estimator, attribute))

    def test_a_row_of_weight_zero_keeps_its_place_in_the_coefficients(self):
        X, y = problem(4)
        ridge = mercer.KernelRidge(kernel="rbf").fit(X, y, np.arange(60) % 5 > 0)
        self.assertEqual(ridge.dual_coef_.shape, (60,))
        self.assertTrue((ridge.dual_coef_[::5] == 0).all() and (ridge.dual_coef_[1::5] != 0).all())


class Kept(unittest.TestCase):
    def test_a_parameter_that_changes_is_looked_at_again(self):
        X, y = problem(5)
        for wrong in (-1.0, 0, True, "1", None):
            estimator = mercer.SVC(C=1.0).fit(X, y)
            estimator.C = wrong
            with self.subTest(C=wrong), self.assertRaises(mercer.ParameterError):
                estimator.fit(X, y)

    def test_an_array_or_a_dict_that_changes_is_looked_at_again(self):
        X, y = problem(6)
        weights = {0: 1.0, 1: 2.0, 2: 1.0}
        classifier = mercer.SVC(class_weight=weights).fit(X, y)
        weights[1] = -1.0
        with self.assertRaises(ValueError):
            classifier.fit(X, y)
        alpha = np.array([0.5])
        ridge = mercer.KernelRidge(alpha).fit(X, y)
        alpha[0] = -1
        with self.assertRaises(mercer.ParameterError):
            ridge.fit(X, y)

    def test_settings_of_one_fit_are_not_those_of_the_next(self):
        X, y = problem(7)
        for C in (1, 1.0, 2.0, 1, 100.0, 2.0):
            with self.subTest(C=C):
                self.assertLessEqual(np.abs(mercer.SVC(C=C).fit(X, y).dual_coef_).max(), C * (1 + 1e-9))
                self.assertAlmostEqual(mercer.SVC(C=C).fit(X, y).model_.boxes()[0].C, C)

    def test_a_call_inside_a_call_has_a_context_of_its_own(self):
        with _library.session() as outer, _library.session() as inner:
            self.assertIsNot(outer, inner)
            self.assertIsNot(outer.watch, inner.watch)

    def test_a_context_serves_the_next_call_if_that_asks_for_the_same(self):
        with _library.session() as first:
            pass
        with _library.session(owner="SVC") as second:
            self.assertIs(second, first)
        for other in ({"seed": 1}, {"verbose": True}):
            with _library.session(**other) as another:
                self.assertIsNot(another, first)
        with mercer.options(threads=1), _library.session() as limited:
            self.assertIsNot(limited, first)
            self.assertEqual(_library.lib.mercer_threads(limited.handle), 1)
        with _library.session() as before, unittest.mock.patch.object(_library, "_FRESH", 0.0):
            pass
        with unittest.mock.patch.object(_library, "_FRESH", 0.0), _library.session() as later:
            self.assertIsNot(later, before)

    def test_a_limit_of_memory_is_for_each_call(self):
        X = np.random.RandomState(0).normal(size=(400, 50))
        with mercer.options(memory=6 << 20):
            models = [mercer.KernelRidge(kernel="rbf").fit(X, X[:, 0]) for _ in range(40)]
        self.assertEqual(len(models), 40)

    def test_a_call_that_fails_leaves_no_context_behind(self):
        with self.assertRaises(RuntimeError), _library.session() as failed:
            raise RuntimeError
        self.assertIsNone(failed.handle)
        with _library.session() as after:
            self.assertIsNot(after, failed)

    def test_messages_speak_of_the_estimator_that_was_called(self):
        X, y = problem(8)
        mercer.KernelRidge().fit(X, y)
        with self.assertRaisesRegex(mercer.Error, "(?i)nu"):
            mercer.NuSVC(nu=0.9).fit(X[:21], np.r_[np.zeros(20), 1])

    def test_classes_are_those_of_numpy(self):
        rng = np.random.RandomState(SEED % 2**32)
        for trial in range(300):
            kind = rng.choice([np.int8, np.int16, np.int32, np.int64, np.uint8, np.float64])
            low, high = (-128, 128) if kind is np.int8 else (0, 256) if kind is np.uint8 else (-10**rng.randint(5), 10**rng.randint(1, 5))
            y = rng.choice(rng.randint(low, high, size=rng.randint(1, 40)), size=rng.randint(2, 200)).astype(kind)
            classes, inverse = _arrays.check_classes(y, len(y))
            expected = np.unique(y, return_inverse=True)
            with self.subTest(seed=SEED, trial=trial):
                self.assertEqual(classes.dtype, y.dtype)
                np.testing.assert_array_equal(classes, expected[0])
                np.testing.assert_array_equal(inverse, expected[1])

    def test_a_number_that_is_not_finite_is_found_among_large_ones(self):
        for wrong in (np.nan, np.inf, -np.inf):
            for dtype in (np.float32, np.float64):
                X = np.full((300, 3), np.finfo(dtype).max / 8, dtype)
                X[0] = 0
                self.assertIs(_arrays.check_rows(X), X)
                X[217, 1] = wrong
                with self.subTest(wrong=wrong, dtype=dtype), self.assertRaisesRegex(ValueError, "NaN|infinity"):
                    _arrays.check_rows(X)
                with self.subTest(predicted=wrong, dtype=dtype), self.assertRaises(ValueError):
                    mercer.KernelRidge().fit([[0.0, 1, 2], [1, 2, 3]], [0, 1]).predict(X)


if __name__ == "__main__":
    unittest.main()
