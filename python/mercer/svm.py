"""Support vector machines with scikit-learn's names, parameters and attributes, over any kernel of the language.

A fitted machine carries its duality gap (`certificate_`)."""
from __future__ import annotations

import warnings

import numpy as np

from . import _arrays, _kernels, _platt
from ._base import ClassifierBase, ClassifierScore, KernelEstimator, RegressorBase, later, seed_of
from ._library import InvalidError
from ._sklearn import ConvergenceWarning, NotFittedError, OutlierMixin, RegressorMixin
from ._types import Any, ArrayLike, Callable, Kernel, NDArray, Rows, Self

__all__ = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"]

UNLIMITED = 10**9  # steps of one quadratic program
FOLDS = 5  # of the decisions that probabilities are fitted to


class _SupportVectors(KernelEstimator):
    """What the five machines share.

    After a fit: support_ (places of the support vectors in X), support_vectors_, n_support_, dual_coef_, intercept_, n_iter_,
    fit_status_, shape_fit_, and coef_ for the linear kernel."""

    max_iter: int
    tol: float

    def _expression(self, X, weights=None):
        """gamma='scale' is scikit-learn's: of the rows whose weight is not zero, whatever it is."""
        counted = X if weights is None or (weights > 0).all() or not (weights > 0).any() else X[weights > 0]
        return super()._expression(counted)

    def _svm_settings(self, **settings):
        steps = UNLIMITED if self.max_iter == -1 else self.max_iter
        return {"tolerance": self.tol, "iterations": steps, "scale": "none", "allow-indefinite": True, **settings}

    def _keep_vectors(self, X):
        """The support vectors, which X may not hold any more tomorrow; what else a fit leaves is in the model. Returns their places."""
        model = self.model_
        rows = model.rows
        self._vectors = np.empty((0, 0)) if _kernels.by_matrix(self.kernel) else X[rows]
        self.fit_status_ = int(model.fact("stopped") != "no")
        self.shape_fit_ = X.shape
        self.n_iter_ = int(model.fact("iterations"))
        return rows

    @later
    def support_(self) -> NDArray:
        """Places of the support vectors in the rows of the fit."""
        return self.model_.rows.astype(np.int32)

    @later
    def support_vectors_(self) -> NDArray:
        """The rows at these places."""
        return self._vectors

    @later
    def n_support_(self) -> NDArray:
        """How many there are."""
        return np.asarray([self.model_.centres], dtype=np.int32)

    @later
    def dual_coef_(self) -> NDArray:
        """Their coefficients."""
        return self._as_rows_are(self.model_.coefficients.T)

    @later
    def intercept_(self) -> NDArray:
        """The constant of the function."""
        return self.model_.intercepts

    @property
    def coef_(self) -> NDArray:
        """Weights of the columns; only for kernel='linear'."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = self._linear_weights()
        (weights.data if _arrays.is_sparse(weights) else weights).flags.writeable = False
        return weights

    def _linear_weights(self):
        return self.dual_coef_ @ self.support_vectors_

    def _as_rows_are(self, coefficients):
        """Coefficients of support vectors: sparse where these are, as in scikit-learn."""
        return _arrays.as_sparse(coefficients) if _arrays.is_sparse(self._vectors) else np.ascontiguousarray(coefficients)


class _SupportVectorClassifier(_SupportVectors, ClassifierScore, ClassifierBase):
    probability: bool
    decision_function_shape: str
    break_ties: bool
    random_state: Any
    fit: Callable[..., Any]

    def _fit_svc(self, machine, X, y, sample_weight, settings):
        X = self._check_fit_rows(X)
        inverse = self._fit_classes(machine, X, y, sample_weight, self._svm_settings(**settings))
        self.class_weight_ = _arrays.class_weights(self.class_weight, self.classes_, inverse)
        self._of_vector = inverse[self._keep_vectors(X)]
        self.probA_ = self.probB_ = np.empty(0)
        if self.probability:
            self._fit_probability(X, inverse, _arrays.check_weights(sample_weight, X.shape[0]))
        return self

    def _fit_probability(self, X, inverse, weights):
        """Sigmoids of the pairs, fitted to decisions of five folds left out."""
        count = len(self.classes_)
        fold, rng = np.empty(len(inverse), dtype=int), np.random.RandomState(seed_of(self.random_state) & (2**32 - 1))
        for c in range(count):
            fold[inverse == c] = rng.permutation(np.arange((inverse == c).sum()) % FOLDS)
        decisions = np.empty((len(inverse), count * (count - 1) // 2))
        for k in np.unique(fold):
            decisions[fold == k] = self._decide_left_out(X, inverse, weights, fold == k)
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        fitted = []
        for place, (i, j) in enumerate(pairs):
            of_pair = (inverse == i) | (inverse == j)
            fitted.append(_platt.fit_sigmoid(decisions[of_pair, place], inverse[of_pair] == i))
        self.probA_, self.probB_ = np.asarray(fitted).T

    def _decide_left_out(self, X, inverse, weights, out):
        """Decisions of the pairs on rows left out; of a class that then has no rows the other wins by 1, as in LIBSVM."""
        count = len(self.classes_)
        present = np.isin(np.arange(count), inverse[~out] if weights is None else inverse[~out & (weights > 0)])
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        decisions = np.tile([float(present[i]) - float(present[j]) for i, j in pairs], (int(out.sum()), 1))
        if present.sum() > 1:
            both = [place for place, (i, j) in enumerate(pairs) if present[i] and present[j]]
            rows = ~out & present[inverse]
            left = X[out][:, rows] if _kernels.is_precomputed(self.kernel) else X[out]
            decisions[:, both] = self._fit_rest(X, inverse, weights, rows)._pair_decisions(left)
        return decisions

    def _fit_rest(self, X, inverse, weights, rows):
        part = type(self)(**self.get_params(deep=False)).set_params(probability=False, class_weight=self._class_numbers())
        learned = X[rows][:, rows] if _kernels.is_precomputed(self.kernel) else X[rows]
        return part.fit(learned, inverse[rows], None if weights is None else weights[rows])

    def _class_numbers(self):
        """class_weight for classes that are called 0, 1, 2, ..."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {number: self.class_weight.get(label, 1.0) for number, label in enumerate(self.classes_.tolist())}

    @property
    def predict_proba(self) -> Callable[[Rows], NDArray]:
        """A function of rows: probabilities, one column for each of classes_; only with probability=True. Their largest need not be what
        predict says; KernelLogisticRegression has probabilities that decide."""
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return self._predict_proba

    @property
    def predict_log_proba(self) -> Callable[[Rows], NDArray]:
        """The logarithms of predict_proba."""
        proba = self.predict_proba
        return lambda X: np.log(proba(X))

    def _predict_proba(self, X):
        if hasattr(self, "model_") and not len(self.probA_):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        pairs = _platt.pair_probabilities(self._pair_decisions(X), self.probA_, self.probB_)
        return _platt.couple(pairs, len(self.classes_))

    @later
    def _by_class_order(self) -> NDArray:
        """Support vectors stand by class, and as in X within one."""
        return np.lexsort((self.model_.rows, self._of_vector))

    @later
    def support_(self) -> NDArray:
        """Places of the support vectors in the rows of the fit, those of the first class first."""
        return self.model_.rows[self._by_class_order].astype(np.int32)

    @later
    def support_vectors_(self) -> NDArray:
        """The rows at these places; none where the kernel is a matrix."""
        return self._vectors[self._by_class_order] if self._vectors.shape[0] else self._vectors

    @later
    def n_support_(self) -> NDArray:
        """How many there are of each class."""
        return np.bincount(self._of_vector, minlength=len(self.classes_)).astype(np.int32)

    @later
    def dual_coef_(self) -> NDArray:
        """A row less than there are classes: row j of a vector of class c belongs to the pair of c with the j-th of the other classes. For
        two classes scikit-learn turns the signs: positive is the second class."""
        by_pair = self._in_pairs(self.model_.coefficients)[self._by_class_order]
        return self._as_rows_are(-by_pair.T if len(self.classes_) == 2 else self._by_other_class(by_pair))

    @later
    def intercept_(self) -> NDArray:
        """The constant of every pair."""
        intercepts = self._in_pairs(self.model_.intercepts[None])[0]
        return -intercepts if len(self.classes_) == 2 else intercepts

    def _by_other_class(self, by_pair):
        count, starts = len(self.classes_), np.concatenate([[0], np.cumsum(self.n_support_)])
        dual = np.empty((count - 1, len(by_pair)))
        for c in range(count):
            of_c, others = slice(starts[c], starts[c + 1]), np.delete(np.arange(count), c)
            dual[:, of_c] = by_pair[of_c, _pair(count, np.minimum(c, others), np.maximum(c, others))].T
        return dual

    def _in_pairs(self, values):
        """Columns by pairs (0,1), (0,2), ..., (1,2), ... of classes_, positive for the first of the two."""
        order, count = self._order, len(self.classes_)
        if order is None:
            return values
        first, second = np.triu_indices(count, 1)
        a, b = order[first], order[second]
        out = np.empty_like(values)
        out[:, _pair(count, np.minimum(a, b), np.maximum(a, b))] = np.where(a < b, values, -values)
        return out

    def _linear_weights(self):
        count = len(self.classes_)
        starts = np.concatenate([[0], np.cumsum(self.n_support_)])
        if count == 2:
            return super()._linear_weights()
        rows = []
        for a in range(count):
            for b in range(a + 1, count):
                of_a, of_b = slice(starts[a], starts[a + 1]), slice(starts[b], starts[b + 1])
                rows.append(self.dual_coef_[b - 1, of_a] @ self.support_vectors_[of_a]
                            + self.dual_coef_[a, of_b] @ self.support_vectors_[of_b])
        return _arrays.stacked(rows)

    def _pair_decisions(self, X):
        count = len(getattr(self, "classes_", ()))
        return self._in_pairs(self._evaluate("mercer_decide", X, count * (count - 1) // 2))

    def decision_function(self, X: Rows) -> NDArray:
        """Two classes: one number, positive for classes_[1]. More: one per class ('ovr'), or one per pair ('ovo')."""
        values = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return -values[:, 0]
        return values if self.decision_function_shape == "ovo" else _votes(values, len(self.classes_))

    def predict(self, X: Rows) -> NDArray:
        """The class of every row: most votes of the pairs; the first of equals, or with break_ties the surest."""
        if self.break_ties and len(self.classes_) > 2:
            if self.decision_function_shape == "ovo":
                raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
            return self.classes_[self.decision_function(X).argmax(axis=1)]
        return super().predict(X)


def _pair(count, first, second):
    """The place of a pair among (0,1), (0,2), ..., (1,2), ..."""
    return first * (2 * count - first - 1) // 2 + second - first - 1


def _votes(values, count):
    """One number per class: votes won, and less than half a vote for how clearly."""
    votes, sure = np.zeros((len(values), count)), np.zeros((len(values), count))
    place = 0
    for first in range(count):
        for second in range(first + 1, count):
            value = values[:, place]
            sure[:, first] += value
            sure[:, second] -= value
            votes[:, first] += value >= 0
            votes[:, second] += value < 0
            place += 1
    return votes + sure / (3 * (np.abs(sure) + 1))


class SVC(_SupportVectorClassifier):
    """Support vector classification, as sklearn.svm.SVC.

    Parameters as there; kernel is one of scikit-learn's names, an expression of the kernel language, 'precomputed' or a function.
    shrinking and cache_size are how scikit-learn's solver goes about it; here the library decides that, and as there they do not change the
    answer. probability=True fits five more machines to folds.

    >>> import mercer
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]], ["same", "same", "other", "other"]
    >>> clf = mercer.SVC(C=100, kernel="0.5*rbf(gamma=1) + poly(degree=2)").fit(X, y)
    >>> clf.predict(X).tolist()
    ['same', 'same', 'other', 'other']
    >>> bool(clf.certificate_.gap_relative < 1e-2), clf.proof_.verdict
    (True, 'proved')
    """

    def __init__(self, *, C: float = 1.0, kernel: Kernel = "rbf", degree: float | None = 3, gamma: float | str | None = "scale",
                 coef0: float | None = 0.0, shrinking: bool = True, probability: bool = False, tol: float = 1e-3,
                 cache_size: float = 200, class_weight: dict | str | None = None, verbose: bool = False, max_iter: int = -1,
                 decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and classes y; sample_weight multiplies C row by row."""
        return self._fit_svc("svc", X, y, sample_weight, {"C": self.C})


class NuSVC(_SupportVectorClassifier):
    """nu-support vector classification: at most a fraction nu of the rows violates the margin, as sklearn.svm.NuSVC.

    >>> import mercer
    >>> mercer.NuSVC(nu=0.5).fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]).predict([[-1.5], [1.5]]).tolist()
    [0, 1]
    """

    def __init__(self, *, nu: float = 0.5, kernel: Kernel = "rbf", degree: float | None = 3, gamma: float | str | None = "scale",
                 coef0: float | None = 0.0, shrinking: bool = True, probability: bool = False, tol: float = 1e-3,
                 cache_size: float = 200, class_weight: dict | str | None = None, verbose: bool = False, max_iter: int = -1,
                 decision_function_shape: str = "ovr", break_ties: bool = False, random_state: Any = None) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and classes y."""
        return self._fit_svc("nu-svc", X, y, sample_weight, {"nu": self.nu})

    def _weights(self, sample_weight, inverse):
        """nu must be feasible for the rows as they are, whatever their classes weigh."""
        weights = super()._weights(sample_weight, inverse)
        counts = np.bincount(inverse, None if sample_weight is None else _arrays.check_weights(sample_weight, len(inverse)))
        least, most = counts.min(), counts.max()
        if self.nu * (least + most) / 2 > least * (1 + 1e-12):
            raise InvalidError(f"specified nu is infeasible: nu = {self.nu:g} wants more rows on the margin than the smaller of two "
                               f"classes has (weights {least:g} and {most:g}); nu must be at most {2 * least / (least + most):.6g}")
        return weights

    def _fit_model(self, machine, X, settings, **arrays):
        """scikit-learn answers wherever nu is feasible for the rows. Where classes overlap so that there is no margin, or where
        class_weight, which there does nothing, makes nu infeasible, the answer here is that of the nearest nu that has one."""
        model = super()._fit_model(machine, X, {**settings, "nu-fallback": True}, **arrays)
        count = model.fact("nearest_nu")
        if count:
            where = f" for {count} of the {model.decisions} pairs of classes" if model.decisions > 1 else ""
            why = "leaves no margin" if self.class_weight is None else "leaves no margin or is infeasible with class_weight"
            warnings.warn(f"NuSVC: nu = {self.nu:g} {why}{where}; this is the answer of the nearest nu that has one. Another nu or a "
                          "kernel that tells the rows apart would have its own", ConvergenceWarning, stacklevel=5)
        return model


class _SupportVectorRegressor(_SupportVectors, RegressorMixin, RegressorBase):
    def _fit_svr(self, machine, X, y, sample_weight, settings):
        X = self._check_fit_rows(X)
        self._fit_numbers(machine, X, y, sample_weight, self._svm_settings(**settings))
        self._keep_vectors(X)
        return self


class SVR(_SupportVectorRegressor):
    """Support vector regression, errors below epsilon free, as sklearn.svm.SVR.

    >>> import mercer
    >>> svr = mercer.SVR(C=100, epsilon=0.1, kernel="linear").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> svr.predict([[1.0]]).round(3).tolist()
    [1.0]
    """

    def __init__(self, *, kernel: Kernel = "rbf", degree: float | None = 3, gamma: float | str | None = "scale",
                 coef0: float | None = 0.0, tol: float = 1e-3, C: float = 1.0, epsilon: float = 0.1, shrinking: bool = True,
                 cache_size: float = 200, verbose: bool = False, max_iter: int = -1) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and numbers y."""
        return self._fit_svr("svr", X, y, sample_weight, {"C": self.C, "epsilon": self.epsilon})


class NuSVR(_SupportVectorRegressor):
    """nu-support vector regression: at most a fraction nu of the rows lies outside the tube, as sklearn.svm.NuSVR.

    >>> import mercer
    >>> mercer.NuSVR(kernel="linear", C=100).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[1.0]]).round(2).tolist()
    [1.0]
    """

    def __init__(self, *, nu: float = 0.5, C: float = 1.0, kernel: Kernel = "rbf", degree: float | None = 3,
                 gamma: float | str | None = "scale", coef0: float | None = 0.0, shrinking: bool = True, tol: float = 1e-3,
                 cache_size: float = 200, verbose: bool = False, max_iter: int = -1) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X and numbers y."""
        return self._fit_svr("nu-svr", X, y, sample_weight, {"C": self.C, "nu": self.nu})


class OneClassSVM(OutlierMixin, _SupportVectors):
    """One-class SVM: a region that holds all but a fraction nu of the rows, as sklearn.svm.OneClassSVM.

    >>> import mercer
    >>> one = mercer.OneClassSVM(nu=0.4, gamma=1.0).fit([[0.0], [0.1], [0.2], [5.0]])
    >>> one.predict([[0.1], [9.0]]).tolist()
    [1, -1]
    """

    def __init__(self, *, kernel: Kernel = "rbf", degree: float | None = 3, gamma: float | str | None = "scale",
                 coef0: float | None = 0.0, tol: float = 1e-3, nu: float = 0.5, shrinking: bool = True, cache_size: float = 200,
                 verbose: bool = False, max_iter: int = -1) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Rows, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X; y is not looked at."""
        X = self._check_fit_rows(X)
        weights = _arrays.check_weights(sample_weight, X.shape[0])
        self.model_ = self._fit_model("one-class", X, self._svm_settings(nu=self.nu), weights=weights)
        self._keep_vectors(X)
        return self

    @later
    def offset_(self) -> NDArray:
        """decision_function is score_samples less this."""
        return -self.intercept_

    def decision_function(self, X: Rows) -> NDArray:
        """The signed distance from the boundary, positive inside."""
        return self._evaluate("mercer_decide", X, 1)[:, 0]

    def score_samples(self, X: Rows) -> NDArray:
        """decision_function without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Rows) -> NDArray:
        """1 inside, -1 outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
