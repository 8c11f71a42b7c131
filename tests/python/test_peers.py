"""Scripts written for scikit-learn, run twice with only the import changed: equal results."""
import importlib.util
import inspect
import pathlib
import unittest

import numpy as np

try:
    import sklearn
except ImportError:
    sklearn = None

SVC = """
from {svm} import SVC
X = rng.randn(240, 4)
y = np.asarray(["one", "two", "three"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)]
classifier = SVC(kernel={kernel!r}, gamma={gamma!r}, coef0=1.0, degree=2, C=2.0, tol={tol!r}, class_weight={class_weight!r},
                 decision_function_shape={shape!r})
classifier.fit(X[:180], y[:180], sample_weight=rng.rand(180))
result = dict(predicted=classifier.predict(X[180:]), decided=classifier.decision_function(X[180:]), classes=classifier.classes_,
              intercept=classifier.intercept_, score=classifier.score(X[180:], y[180:]))
if {kernel!r} == "linear":  # 180 coefficients of 4 columns are not unique, their sum is
    result.update(weights=classifier.coef_)
else:
    result.update(support=classifier.support_, vectors=classifier.support_vectors_, counts=classifier.n_support_,
                  dual=classifier.dual_coef_)
"""

RIDGE = """
from {ridge} import KernelRidge
X = rng.randn(150, 3)
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
ridge = KernelRidge(alpha={alpha!r}, kernel={kernel!r}, gamma={gamma!r}, degree=2).fit(X[:100], Y[:100], sample_weight=rng.rand(100))
result = dict(predicted=ridge.predict(X[100:]), dual=ridge.dual_coef_, kept=ridge.X_fit_, score=ridge.score(X[100:], Y[100:]))
"""

PCA = """
from {decomposition} import KernelPCA
X = rng.randn(80, 5)
pca = KernelPCA(n_components=6, kernel={kernel!r}, gamma=0.2, degree=2, fit_inverse_transform={inverse!r}, alpha=0.1)
scores = pca.fit_transform(X[:60])
result = dict(scores=scores, of_others=pca.transform(X[60:]), values=pca.eigenvalues_, vectors=pca.eigenvectors_,
              names=pca.get_feature_names_out())
if {inverse!r}:
    result["back"] = pca.inverse_transform(scores)
"""

REGRESSION = """
from {svm} import SVR, NuSVR, OneClassSVM
X = rng.randn(160, 2)
y = np.sin(2 * X[:, 0]) + 0.1 * rng.randn(160)
result = dict()
for name, machine in dict(svr=SVR(C=3, epsilon=0.05, tol=1e-9), nu=NuSVR(nu=0.3, C=2, tol=1e-9)).items():
    machine.fit(X, y)
    result[name] = [machine.predict(X), machine.dual_coef_, machine.support_, machine.intercept_, machine.n_support_]
region = OneClassSVM(nu=0.2, tol=1e-9).fit(X)  # support vectors lie on its boundary, where the sign is rounding
result["region"] = [region.predict(2 * X[:20]), region.decision_function(X), region.score_samples(X), region.offset_]
"""

PROCESS = """
from {gp} import GaussianProcessRegressor
from {approximation} import Nystroem, {waves} as Waves
X = rng.randn(60, 2)
y = np.sin(X[:, 0])
process = GaussianProcessRegressor(alpha=0.01, normalize_y=True, optimizer=None).fit(X[:50], y[:50])
mean, std = process.predict(X[50:], return_std=True)
cov = process.predict(X[50:], return_cov=True)[1]
features = Nystroem(gamma=0.3, n_components=20, random_state=3).fit(X)
result = dict(mean=mean, std=std, cov=cov, evidence=process.log_marginal_likelihood_value_,
              waves=Waves(gamma=0.7, n_components=50, random_state=2).fit_transform(X),
              features=features.transform(X) @ features.transform(X).T, rows=features.component_indices_)
"""

NEIGHBORS = """
from {neighbors} import {knn}Classifier as Classifier, {knn}Regressor as Regressor
X = rng.randn(120, 3)  # any order by exp(-gamma |x - z|^2) is that by |x - z|
y, numbers = (X[:, 0] > X[:, 1]).astype(int), np.column_stack([X[:, 0], X[:, 2] ** 2])
votes = Classifier(n_neighbors=7).fit(X[:100], y[:100])
mean = Regressor(3).fit(X[:100], numbers[:100])
result = dict(classes=votes.predict(X[100:]), shares=votes.predict_proba(X[100:]), mean=mean.predict(X[100:]), rows=votes.n_samples_fit_,
              nearest=votes.kneighbors(X[100:], return_distance=False), own=votes.kneighbors(n_neighbors=2, return_distance=False))
"""

THEIRS = {"svm": "sklearn.svm", "ridge": "sklearn.kernel_ridge", "decomposition": "sklearn.decomposition",
          "gp": "sklearn.gaussian_process", "approximation": "sklearn.kernel_approximation",
          "neighbors": "sklearn.neighbors"}
OURS = {**{name: "mercer" for name in THEIRS}, "waves": "RandomFourierFeatures", "knn": "KernelKNeighbors"}
THEIRS.update(waves="RBFSampler", knn="KNeighbors")


# What ours have not, or have otherwise, by (estimator, name), and why.
OTHER = {
    **{(name, "probability"): "scikit-learn 1.9 deprecates it" for name in ("SVC", "NuSVC")},
    **{(name, "class_weight_"): "an empty array in old versions, gone from new ones" for name in ("SVR", "NuSVR", "OneClassSVM")},
    ("GaussianProcessRegressor", "n_targets"): "of predictions before a fit, which ours refuse",
}


def public(estimator):
    """Names of methods and of what a fit left."""
    return {name for name in dir(estimator) if not name.startswith("_") and hasattr(estimator, name)
            and (name.endswith("_") or callable(getattr(estimator, name)))}


def run(script, imports, parameters):
    space = {"np": np, "rng": np.random.RandomState(7)}
    exec(script.format(**imports, **parameters), space)
    return space["result"]


@unittest.skipIf(sklearn is None, "scikit-learn is not installed")
class Peers(unittest.TestCase):
    def same(self, script, tolerance, **parameters):
        ours, theirs = run(script, OURS, parameters), run(script, THEIRS, parameters)
        self.assertEqual(ours.keys(), theirs.keys())
        for key in ours:
            a, b = ours[key], theirs[key]
            for x, z in zip(a if isinstance(a, list) else [a], b if isinstance(b, list) else [b]):
                x, z = np.asarray(x), np.asarray(z)
                with self.subTest(what=key, **parameters):
                    self.assertEqual((x.shape, x.dtype.kind), (z.shape, z.dtype.kind))
                    if x.dtype.kind == "f":
                        np.testing.assert_allclose(x, z, atol=tolerance * max(1, np.abs(z).max()), rtol=0)
                    else:
                        np.testing.assert_array_equal(x, z)

    def test_svc_is_scikit_learns(self):
        for kernel, gamma in (("rbf", "scale"), ("poly", "auto"), ("linear", 1.0), ("rbf", 0.3)):
            for class_weight, shape in ((None, "ovr"), ("balanced", "ovo"), ({"one": 3.0}, "ovr")):
                linear = kernel == "linear"
                self.same(SVC, 1e-4, kernel=kernel, gamma=gamma, class_weight=class_weight, shape=shape, tol=1e-5 if linear else 1e-8)

    def test_kernel_ridge_is_scikit_learns(self):
        for kernel, gamma in (("linear", None), ("rbf", None), ("poly", 0.5), ("laplacian", 0.2), ("cosine", None), ("sigmoid", 0.01)):
            self.same(RIDGE, 1e-9, kernel=kernel, gamma=gamma, alpha=0.5)
        self.same(RIDGE, 1e-9, kernel="rbf", gamma=None, alpha=np.array([0.1, 2.0]).tolist())

    def test_kernel_pca_is_scikit_learns(self):
        for kernel in ("rbf", "poly"):
            self.same(PCA, 1e-9, kernel=kernel, inverse=kernel == "rbf")

    def test_parameters_methods_and_attributes_are_scikit_learns(self):
        import mercer
        from sklearn import decomposition, gaussian_process, kernel_approximation, kernel_ridge, svm
        rng = np.random.RandomState(3)
        X = rng.randn(40, 3)
        y = (X[:, 0] > 0).astype(int)
        for theirs, name, parameters in (
                *((kind, kind.__name__, {}) for kind in (svm.SVC, svm.NuSVC, svm.SVR, svm.NuSVR, svm.OneClassSVM, kernel_ridge.KernelRidge,
                                                         kernel_approximation.Nystroem, gaussian_process.GaussianProcessRegressor)),
                (svm.SVC, "SVC", {"kernel": "linear"}), (decomposition.KernelPCA, "KernelPCA", {"fit_inverse_transform": True}),
                (kernel_approximation.RBFSampler, "RandomFourierFeatures", {})):
            ours = getattr(mercer, name)
            initial = [{p: row.default for p, row in inspect.signature(kind).parameters.items()} for kind in (ours, theirs)]
            fitted = [public(kind(**parameters).fit(X, y)) for kind in (ours, theirs)]
            with self.subTest(estimator=name, **parameters):
                other = {p: value for p, value in initial[1].items() if value != initial[0].get(p, "none")}
                self.assertEqual({}, {p: value for p, value in other.items() if (name, p) not in OTHER})
                self.assertEqual(set(), {attribute for attribute in fitted[1] - fitted[0] if (name, attribute) not in OTHER})
                self.assertEqual(list(inspect.signature(ours.fit).parameters), list(inspect.signature(theirs.fit).parameters))

    def test_scores_and_clones_are_scikit_learns(self):
        import mercer
        from sklearn import base, metrics
        rng = np.random.RandomState(4)
        X = rng.randn(120, 3)
        for y in (rng.randint(3, size=120), rng.rand(120) > 0.5, np.asarray(["a", "b"])[rng.randint(2, size=120)], rng.randint(2, size=120).astype(float)):
            for kind in (mercer.SVC, mercer.KernelLogisticRegression, mercer.KernelKNeighborsClassifier):
                fitted = kind().fit(X[:80], y[:80])
                right = metrics.accuracy_score(y[80:], fitted.predict(X[80:]))
                self.assertEqual([fitted.score(X[80:], y[80:]), fitted.score(X[80:], y[80:].tolist())], [right, right])
                self.assertRaises(ValueError, fitted.score, X[80:], y[81:])
        Own = type("Own", (mercer.SVC,), {"__init__": lambda self, C=2.0, extra=1: (mercer.SVC.__init__(self, C=C), setattr(self, "extra", extra))[0]})
        self.assertEqual(mercer.SVC().get_params().keys(), base.clone(mercer.SVC()).get_params().keys())
        self.assertEqual(base.clone(Own(extra=7)).get_params(), {"C": 2.0, "extra": 7})

    def test_probabilities_of_svc_are_near_scikit_learns(self):
        from sklearn.svm import SVC as Theirs
        from mercer import SVC as Ours
        rng = np.random.RandomState(5)
        X = rng.randn(300, 3)
        y = (X[:, 0] + 0.7 * rng.randn(300) > 0).astype(int) + (X[:, 1] + 0.5 * rng.randn(300) > 0.5)
        a, b = (kind(probability=True, random_state=0).fit(X, y).predict_proba(X) for kind in (Ours, Theirs))
        self.assertLess(np.abs(a - b).mean(), 0.03)  # the folds differ

    def test_regression_and_regions_are_scikit_learns(self):
        self.same(REGRESSION, 3e-4)

    def test_processes_and_features_are_scikit_learns(self):
        self.same(PROCESS, 1e-6)

    def test_neighbours_are_scikit_learns(self):
        self.same(NEIGHBORS, 1e-12)

    def test_the_example_scripts_give_the_same_with_the_import_changed(self):
        path = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/python/compare.py"
        spec = importlib.util.spec_from_file_location("compare", path)
        compare = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(compare)
        for script, result, apart in compare.compare():
            with self.subTest(script=script, result=result):
                self.assertLess(apart, 1e-5)

    def test_folds_of_scikit_learn_choose_the_penalty(self):
        import mercer
        from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
        rng = np.random.RandomState(8)
        X = rng.randn(60, 2)
        y, alphas = np.sin(X[:, 0]) + 0.3 * rng.randn(60), [0.01, 0.1, 1.0]
        folds = KFold(5, shuffle=True, random_state=0)
        ours = mercer.KernelRidgeCV(alphas, kernel="rbf", gamma=0.5, cv=folds).fit(X, y)
        ridge = mercer.KernelRidge(kernel="rbf", gamma=0.5)
        theirs = GridSearchCV(ridge, {"alpha": alphas}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
        np.testing.assert_allclose(-ours.cv_results_["fold_rmse"] ** 2, theirs.cv_results_["mean_test_score"], rtol=1e-9)
        self.assertEqual(ours.alpha_, theirs.best_params_["alpha"])
        with self.assertRaisesRegex(ValueError, "ShuffleSplit does not"):
            mercer.KernelRidgeCV(cv=ShuffleSplit(3, random_state=0)).fit(X, y)
