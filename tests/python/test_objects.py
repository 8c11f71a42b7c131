"""Rows that are no numbers: lists of texts for the string kernels of the language, and lists of any objects for a function as kernel. Both are
compared with matrices computed here by the definition."""
import collections
import itertools
import os
import pickle
import re
import unittest

import numpy as np

import mercer

try:
    import sklearn.base
    import sklearn.model_selection
except ImportError:
    sklearn = None
try:
    import pandas
except ImportError:
    pandas = None

SEED = int(os.environ.get("MERCER_TEST_SEED", "7"))
KERNEL = "spectrum(p=2)[text] + 1"


def parts(text, p=2):
    encoded = text.encode()
    return [encoded[i:i + p] for i in range(len(encoded) - p + 1)]


def shared(a, b):
    """spectrum(p=2) + 1 by the definition."""
    return 1.0 + sum(u == v for u in parts(a) for v in parts(b))


def gram(A, B):
    return np.asarray([[shared(a, b) for b in B] for a in A])


def draw(n, seed=0):
    """Texts, some empty, some not ASCII, and what they are to be learned for."""
    rng = np.random.RandomState(SEED + seed)
    X = ["".join(rng.choice(list("abcé日"), size=rng.randint(0, 12))) for _ in range(n)]
    X[:4] = ["", "é", "abab", "ccab日本"]
    numbers = np.asarray([text.count("a") + 0.1 * len(text) for text in X]) + 0.1 * rng.randn(n)
    return X, numbers, np.where(numbers > np.median(numbers), "many", "few")


REGRESSORS = (mercer.SVR(tol=1e-8), mercer.NuSVR(tol=1e-8), mercer.KernelRidge(alpha=0.5), mercer.KernelRidgeCV(alphas=[0.1, 1]),
              mercer.KernelHuberRegressor(alpha=0.1), mercer.KernelQuantileRegressor(alpha=0.1), mercer.KernelKNeighborsRegressor(3))
CLASSIFIERS = (mercer.SVC(tol=1e-8), mercer.NuSVC(nu=0.3, tol=1e-8), mercer.KernelLogisticRegression(), mercer.KernelKNeighborsClassifier(3))


def predicted(estimator, X):
    """Numbers where an estimator has them: of classes, what they are chosen by."""
    for name in ("decision_function", "predict_proba", "transform", "predict"):
        if hasattr(estimator, name):
            return getattr(estimator, name)(X)
    return estimator.labels_


def gapped(text, p, m):
    """For every m of p places, the bytes at the others."""
    return collections.Counter((kept, bytes(part[i] for i in kept))
                               for part in parts(text, p) for kept in itertools.combinations(range(p), p - m))


def subsequences(text, p, decay, span):
    """Every choice of p places within span bytes."""
    encoded, found = text.encode(), collections.Counter()
    for chosen in itertools.combinations(range(len(encoded)), p):
        if chosen[-1] - chosen[0] < span:
            found[bytes(encoded[i] for i in chosen)] += decay ** (chosen[-1] - chosen[0] + 1)
    return found


def placed(text, p):
    encoded = text.encode()
    return collections.Counter({(i, encoded[i:i + length]): (2 * (p - length + 1) / (p * (p + 1))) ** 0.5
                                for length in range(1, p + 1) for i in range(len(encoded) - length + 1)})


def words(text):
    return collections.Counter(re.findall(rb"[A-Za-z0-9_\x80-\xff]+", text.encode()))


FEATURES = {"spectrum(p=3, mismatches=1)": lambda t: gapped(t, 3, 1), "spectrum(p=5, mismatches=3)": lambda t: gapped(t, 5, 3),
            "subsequence(p=2, decay=0.7, span=16)": lambda t: subsequences(t, 2, 0.7, 16),
            "subsequence(p=3, decay=0.5, span=6)": lambda t: subsequences(t, 3, 0.5, 6),
            "weighted_degree(p=4)": lambda t: placed(t, 4), "words": words}


class Features(unittest.TestCase):
    """Kernels of texts against their features, by brute force over all choices of places."""

    def test_kernels_of_texts(self):
        print(f"# MERCER_TEST_SEED={SEED}")
        rng = np.random.RandomState(SEED)
        X = ["".join(rng.choice(list("ab cé_-"), size=rng.randint(0, 15))) for _ in range(25)] + ["ab ab_c ab", ""]
        for kernel, features in FEATURES.items():
            found = [features(text) for text in X]
            wanted = np.asarray([[sum(a[f] * b[f] for f in a) for b in found] for a in found])
            with self.subTest(kernel=kernel):
                np.testing.assert_allclose(mercer.gram(kernel, X), wanted, rtol=1e-12, atol=1e-13)
                np.testing.assert_allclose(mercer.gram(kernel, X[:5], X), wanted[:5], rtol=1e-12, atol=1e-13)


class Sets(unittest.TestCase):
    """Lists of arrays under mean_map."""

    def setUp(self):
        rng = np.random.RandomState(SEED)
        self.X = [rng.randn(rng.randint(0, 6), 2) for _ in range(40)]
        self.y = np.asarray([rows.sum() for rows in self.X])
        self.K = np.asarray([[np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1)).mean() if len(a) * len(b) else 0 for b in self.X] for a in self.X])

    def test_values(self):
        np.testing.assert_allclose(mercer.gram("mean_map(rbf(gamma=0.5))", self.X), self.K, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(mercer.gram("mean_map(rbf(gamma=0.5))", self.X[:3], self.X), self.K[:3], rtol=1e-13, atol=1e-15)

    def test_machines(self):
        fitted = mercer.KernelRidge(kernel="mean_map(rbf(gamma=0.5))", alpha=0.3).fit(self.X, self.y)
        wanted = mercer.KernelRidge(kernel="precomputed", alpha=0.3).fit(self.K, self.y)
        np.testing.assert_allclose(fitted.predict(self.X), wanted.predict(self.K), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(self.X), fitted.predict(self.X))
        labels = np.where(self.y > 0, "up", "down")
        self.assertGreater(mercer.SVC(kernel="mean_map(rbf)", C=100).fit(self.X, labels).score(self.X, labels), 0.8)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "entry 1 of X contains NaN"):
            mercer.gram("mean_map(rbf)", [np.ones((1, 2)), np.full((1, 2), np.nan)])
        with self.assertRaisesRegex(ValueError, "no set of rows of 2 numbers"):
            mercer.gram("mean_map(rbf)", [np.ones((1, 2)), np.ones((1, 3))])
        with self.assertRaisesRegex(ValueError, "which kernel='rbf' does not read"):
            mercer.SVC(kernel="rbf").fit(self.X, self.y > 0)


class Against(unittest.TestCase):
    """The matrix by the definition, given as precomputed."""

    def setUp(self):
        print(f"# MERCER_TEST_SEED={SEED}")
        self.X, self.numbers, self.classes = draw(60)
        self.Z = draw(20, 1)[0]

    def estimators(self):
        for estimator in REGRESSORS:
            yield estimator, self.numbers
        for estimator in CLASSIFIERS:
            yield estimator, self.classes
        for estimator in (mercer.OneClassSVM(tol=1e-8), mercer.KernelPCA(n_components=3), mercer.KernelKMeans(3, random_state=0)):
            yield estimator, None

    def agree(self, one, other):
        if isinstance(one, mercer.KernelPCA):  # a direction has no sign
            one, other = (np.abs(predicted(e, rows)) for e, rows in ((one, self.Z), (other, gram(self.Z, self.X))))
        else:
            one, other = predicted(one, self.Z), predicted(other, gram(self.Z, self.X))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)

    def test_gram(self):
        np.testing.assert_array_equal(mercer.gram(KERNEL, self.X, self.Z), gram(self.X, self.Z))
        np.testing.assert_array_equal(mercer.gram("spectrum(p=2)", ["abab"]), [[5.0]])

    def test_expressions_and_functions(self):
        for estimator, y in self.estimators():
            matrix = pickle.loads(pickle.dumps(estimator)).set_params(kernel="precomputed").fit(gram(self.X, self.X), y)
            for kernel in (KERNEL, shared):
                with self.subTest(estimator=type(estimator).__name__, kernel=kernel):
                    fitted = pickle.loads(pickle.dumps(estimator)).set_params(kernel=kernel).fit(self.X, y)
                    self.agree(fitted, matrix)
                    np.testing.assert_array_equal(predicted(pickle.loads(pickle.dumps(fitted)), self.Z), predicted(fitted, self.Z))

    def test_gaussian_process(self):
        gp = mercer.GaussianProcessRegressor(KERNEL, alpha=0.3, optimizer=None).fit(self.X, self.numbers)
        mean, std = gp.predict(self.Z, return_std=True)
        across, inverse = gram(self.Z, self.X), np.linalg.inv(gram(self.X, self.X) + 0.3 * np.eye(60))
        np.testing.assert_allclose(mean, across @ inverse @ self.numbers, atol=1e-8)
        variance = np.diag(gram(self.Z, self.Z)) - ((across @ inverse) * across).sum(axis=1)
        np.testing.assert_allclose(std, np.sqrt(variance), atol=1e-6)
        np.testing.assert_allclose(np.diag(gp.predict(self.Z, return_cov=True)[1]), variance, atol=1e-8)
        self.assertEqual(gp.sample_y(self.Z, 4).shape, (20, 4))

    def test_other_estimators(self):
        K = gram(self.X, self.X)
        for kernel in (KERNEL, shared):
            groups = mercer.SpectralClustering(2, affinity=kernel, random_state=0).fit(self.X)
            np.testing.assert_array_equal(groups.affinity_matrix_, K)
            features = mercer.Nystroem(kernel, n_components=60, random_state=0).fit_transform(self.X)
            np.testing.assert_allclose(features @ features.T, K, atol=1e-6)
        distances, places = mercer.KernelKNeighborsRegressor(3, kernel=KERNEL).fit(self.X, self.numbers).kneighbors(self.Z)
        squares = np.diag(gram(self.Z, self.Z))[:, None] + np.diag(K) - 2 * gram(self.Z, self.X)
        np.testing.assert_allclose(distances**2, np.sort(squares, axis=1)[:, :3], atol=1e-8)
        np.testing.assert_allclose(distances**2, np.take_along_axis(squares, places, axis=1), atol=1e-8)

    def test_what_a_list_may_be(self):
        wanted = mercer.SVC(kernel=KERNEL).fit(self.X, self.classes)
        kinds = [tuple(self.X), np.asarray(self.X), np.asarray(self.X, dtype=object)]
        kinds += [] if pandas is None else [pandas.Series(self.X), pandas.Series(self.X, index=range(100, 160), dtype="string")]
        for X in kinds:
            for kernel in (KERNEL, shared):
                found = mercer.SVC(kernel=kernel).fit(X, self.classes)
                np.testing.assert_allclose(found.decision_function(X[:9]), wanted.decision_function(self.X[:9]), atol=1e-2)
        self.assertEqual(wanted.support_vectors_[:, 0].tolist(), [self.X[i] for i in wanted.support_])
        self.assertEqual(mercer.gram(KERNEL, ["日本" * 50]).tolist(), [[shared("日本" * 50, "日本" * 50)]])

    def test_one_text_and_texts_shorter_than_any_part(self):
        fitted = [pickle.loads(pickle.dumps(e)).set_params(kernel=KERNEL).fit(self.X, y) for e, y in self.estimators()]
        fitted.append(mercer.Nystroem(KERNEL, n_components=9, random_state=0).fit(self.X))
        fitted.append(mercer.GaussianProcessRegressor(KERNEL, alpha=0.3).fit(self.X, self.numbers))
        for estimator in fitted:
            for few in ([""], ["a"], ["日本" * 50]):
                self.assertEqual(len(predicted(estimator, few)), 1)
        self.assertAlmostEqual(fitted[-1].predict([""], return_cov=True)[1][0, 0], fitted[-1].predict(["a"], return_std=True)[1][0] ** 2)
        nearest = mercer.KernelKNeighborsClassifier(1, kernel=KERNEL).fit(self.X, self.classes)
        self.assertEqual(nearest.kneighbors(["b"])[0].tolist(), [[0.0]])
        self.assertEqual(mercer.KernelRidge(kernel=KERNEL, alpha=1.0).fit(["ab"], [6.0]).predict(["ab"]).round(6).tolist(), [4.0])

    def test_models_and_verbs(self):
        model = mercer.fit(self.X, self.numbers, "ridge", KERNEL, lambda_=0.5, intercept=False)
        by_hand = gram(self.Z, self.X) @ np.linalg.solve(gram(self.X, self.X) + 0.5 * np.eye(60), self.numbers)
        np.testing.assert_allclose(model.predict(self.Z), by_hand, atol=1e-8)
        found = mercer.tune(self.X, self.classes, "svc", ["spectrum(p=2)", "spectrum(p=9)"], C=[1.0])
        self.assertEqual((found.best.kernel, len(found.model.predict(self.Z))), ("spectrum(p=2)", 20))


@unittest.skipUnless(sklearn, "scikit-learn is not installed")
class Selection(unittest.TestCase):
    def test_scores_of_folds_are_those_of_matrices(self):
        X, numbers, classes = draw(60)
        for estimator, y in ((mercer.SVC(), classes), (mercer.KernelRidge(), numbers), (mercer.KernelKNeighborsRegressor(), numbers)):
            score = sklearn.model_selection.cross_val_score
            wanted = score(sklearn.base.clone(estimator).set_params(kernel="precomputed"), gram(X, X), y, cv=4)
            for kernel in (KERNEL, shared):
                found = score(sklearn.base.clone(estimator.set_params(kernel=kernel)), X, y, cv=4)
                np.testing.assert_allclose(found, wanted, atol=1e-8)

    def test_grid_search_chooses_among_expressions_and_functions(self):
        X, _, classes = draw(60)
        grid = {"kernel": ["spectrum(p=9)", "normalize(spectrum(p=1) + 1)", shared], "C": [1, 10]}
        found = sklearn.model_selection.GridSearchCV(mercer.SVC(), grid, cv=3).fit(X, classes)
        self.assertEqual(len(found.cv_results_["params"]), 6)
        self.assertNotEqual(found.best_params_["kernel"], "spectrum(p=9)")
        self.assertGreater(found.score(X, classes), 0.7)


class Functions(unittest.TestCase):
    def test_it_sees_the_objects_and_each_pair_once(self):
        X, seen = [{1, 2}, {2, 3}, {3}, frozenset(), {1, 2, 3}], []

        def common(a, b):
            seen.append((id(a), id(b)))
            return float(len(a & b))
        ridge = mercer.KernelRidge(kernel=common, alpha=1.0).fit(X, [1.0, 2.0, 3.0, 4.0, 5.0])
        self.assertEqual(len({frozenset(pair) for pair in seen}), 15)
        self.assertEqual(len(seen), 15)
        self.assertLessEqual({number for pair in seen for number in pair}, set(map(id, X)))
        seen.clear()
        K = np.asarray([[len(a & b) for b in X] for a in X], dtype=float)
        np.testing.assert_allclose(ridge.predict([{2}]), np.asarray([1, 1, 0, 0, 1.0]) @ np.linalg.solve(K + np.eye(5), [1, 2, 3, 4, 5]))
        self.assertEqual(len(seen), 5)

    def test_sequences_of_one_length_are_rows_but_not_after_others(self):
        machine = mercer.KernelRidge(kernel=lambda a, b: float(min(len(a), len(b)))).fit([[1], [1, 2], [1, 2, 3]], [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(machine.predict([[5, 6]]), machine.predict([[5, 6], [7]])[:1])
        X = np.empty(3, dtype=object)
        X[:] = [(1, 2), (3, 4), (5, 6)]
        self.assertEqual(mercer.SVR(kernel=lambda a, b: float(type(a) is tuple)).fit(X, [1.0, 2.0, 3.0]).predict(X).shape, (3,))

    def test_what_it_raises_and_what_is_no_kernel(self):
        X, numbers, classes = draw(20)

        def broken(a, b):
            raise KeyError("no such word")
        with self.assertRaisesRegex(KeyError, "no such word"):
            mercer.SVC(kernel=broken).fit(X, classes)
        with self.assertRaisesRegex(mercer.KernelError, "not positive semidefinite"):
            mercer.KernelLogisticRegression(kernel=lambda a, b: -shared(a, b)).fit(X, classes)
        with self.assertRaisesRegex(ValueError, "not finite"):
            mercer.KernelRidge(kernel=lambda a, b: float("nan")).fit(X, numbers)


class Errors(unittest.TestCase):
    def refused(self, sentence, call, *arguments):
        with self.assertRaisesRegex((ValueError, NotImplementedError, mercer.InvalidError), sentence) as caught:
            call(*arguments)
        self.assertNotIn("\n", str(caught.exception))

    def test_rows(self):
        X, _, y = draw(20)
        svc = mercer.SVC(kernel=KERNEL)
        self.refused("entry 19 is None", svc.fit, X[:19] + [None], y)
        self.refused("entry 0 is 3 ", svc.fit, [3] + X[1:], y)
        self.refused("entry 1 is nan", svc.fit, np.asarray(["a", float("nan")] + X[2:], dtype=object), y)
        self.refused("entry 0 is b'ab' .bytes.", svc.fit, [b"ab"] + X[1:], y)
        self.refused("0 sample", svc.fit, [], [])
        self.refused(r"\[20, 19\]", svc.fit, X, y[:19])
        self.refused("entry 1 of X holds the character NUL at place 2", svc.fit, ["a", "ab\0c"] + X[2:], y)
        self.refused("entry 1 of X cannot be written in UTF-8", svc.fit, ["a", "\ud800"] + X[2:], y)
        self.refused("texts are given as a list of str", svc.fit, [[text] for text in X], y)

    def test_other_rows_than_in_the_fit(self):
        X, numbers, y = draw(20)
        for kernel in (KERNEL, shared):
            fitted = mercer.SVC(kernel=kernel).fit(X, y)
            self.refused("X holds numbers, but SVC was fitted to a list of texts or objects", fitted.predict, np.ones((3, 1)))
        self.refused("X holds texts or objects, but SVC was fitted to numbers", mercer.SVC().fit(numbers[:, None], y).predict, X)
        self.refused("no text column 'text'", mercer.SVC(kernel=KERNEL).fit, numbers[:, None], y)

    def test_kernels_and_estimators_of_numbers(self):
        X, numbers, y = draw(20)
        for kernel in ("rbf", "linear", "precomputed"):
            self.refused(f"X is a list of texts, which kernel='{kernel}' does not read", mercer.SVC(kernel=kernel).fit, X, y)
        for kernel in ("rbf(gamma=1)", "1 + spectrum[text] + rbf"):
            self.refused("rbf reads columns of numbers, and the data have texts alone", mercer.KernelRidge(kernel=kernel).fit, X, numbers)
        self.refused("rbf reads columns of numbers", mercer.fit, X[:9], numbers[:9])
        self.refused("no text column 'word'", mercer.SVC(kernel="spectrum[word]").fit, X, y)
        self.refused("learns rows of numbers", mercer.KernelPCA(kernel=KERNEL, gamma="scale", fit_inverse_transform=True).fit, X)
        self.refused("plot draws rows of numbers", mercer.plot, mercer.SVC(kernel=KERNEL).fit(X, y), X, y)
        for kernel in (KERNEL, shared):
            self.refused("frequencies of .* are not known", mercer.RandomFourierFeatures(kernel).fit, X)


if __name__ == "__main__":
    unittest.main()
