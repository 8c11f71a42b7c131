"""What all estimators share: checking of rows, the kernel, the fit, and what a fit leaves behind."""
from __future__ import annotations

import warnings

import numpy as np

from . import _arrays, _checks, _few, _kernels, _model, _objects, _parameters
from ._sklearn import BaseEstimator, ClassifierMixin, ConvergenceWarning, NotFittedError
from ._types import Any, ArrayLike, NDArray, Rows, TYPE_CHECKING

if TYPE_CHECKING:
    from ._functions import Proof


def seed_of(random_state):
    """A seed for C: None is 0, a number itself, a generator is asked for one."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state) & (2**64 - 1)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    return int(random_state.randint(2**31 - 1))


class later:
    """An attribute that a fit leaves, made from the model when it is first asked for: a small fit takes less than making all of them."""

    def __init__(self, make):
        self.make, self.name, self.__doc__, self.__wrapped__ = make, make.__name__, make.__doc__, make

    def __get__(self, estimator, kind=None):
        if estimator is None:
            return self
        if "model_" not in estimator.__dict__:
            raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self.name!r} before it is fitted")
        value = estimator.__dict__[self.name] = self.make(estimator)
        return value


class KernelEstimator(BaseEstimator):
    """The base of every estimator.

    A fit leaves `model_` (a mercer.Model), `n_features_in_`, and `feature_names_in_` where the rows came with names."""

    kernel: Any
    model_: _model.Model
    _made_later: list[str] = []
    _of_objects = False        # fitted to texts or objects
    _several_outputs = False   # the target may have several columns
    _function_of_rows = False  # a function as kernel sees two rows at a time (scikit-learn's pairwise kernels), not two matrices

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        cls._made_later = [name for kind in cls.__mro__ for name, value in vars(kind).items() if isinstance(value, later)]
        if not cls.__name__.startswith("_") and not cls.__name__.endswith("Base"):
            _parameters.document(cls)

    @classmethod
    def _get_param_names(cls):
        """Of the constructor; scikit-learn looks them up anew for every clone, which takes longer than a small fit."""
        names = cls.__dict__.get("_parameter_names")
        if names is None:
            names = cls._parameter_names = super()._get_param_names()
        return list(names)

    def _more_tags(self):  # until scikit-learn 1.5
        return {"pairwise": _kernels.is_precomputed(self.kernel), "multioutput": self._several_outputs,
                "_xfail_checks": _checks.expected_failed_checks(self)}

    def __sklearn_tags__(self):  # since 1.6
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = _kernels.is_precomputed(self.kernel)
        tags.target_tags.multi_output = self._several_outputs
        return tags

    # -- rows --

    def _check_fit_rows(self, X, least_rows=1):
        """The rows of a fit, once the parameters are what they must be; remembers their columns."""
        _parameters.check(self)
        own = self.__dict__
        for name in self._made_later:
            own.pop(name, None)
        names = _arrays.column_names(X)
        X = _arrays.check_rows(X, type(self).__name__, least_rows, callable(self.kernel))
        if _kernels.is_precomputed(self.kernel):
            X = _kernels.square(X.toarray() if _arrays.is_sparse(X) else X)
        self._rows_of_kernel = X if callable(self.kernel) else None
        self.n_features_in_, self._of_objects = X.shape[1], _objects.are_objects(X)
        if names is not None:
            self.feature_names_in_ = names
        else:
            own.pop("feature_names_in_", None)
        return X

    def _check_rows(self, X):
        """Rows to predict for."""
        try:
            expected = self.n_features_in_
        except AttributeError:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                                 "before using this estimator.") from None
        self._check_names(X)
        if self._of_objects and callable(self.kernel):
            X = _objects.as_column(X)
        X = _arrays.check_rows(X, type(self).__name__, 1, callable(self.kernel))
        _objects.check_same_kind(X, self._of_objects, type(self).__name__)
        if X.shape[1] != expected:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {expected} features as input.")
        return X

    def _check_names(self, X):
        names, fitted = _arrays.column_names(X), getattr(self, "feature_names_in_", None)
        if names is None and fitted is not None:
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", stacklevel=4)
        elif names is not None and fitted is None:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without feature names", stacklevel=4)
        elif names is not None and fitted is not None and list(names) != list(fitted):
            raise ValueError(_different_names(list(names), list(fitted)))

    def _require_y(self, y):
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")

    # -- kernel and fit --

    def _expression(self, X, weights=None):
        """kernel= as an expression; for what it takes from the data a row of weight 2 is the row twice."""
        return _kernels.expression(self.kernel, X, weights=weights, **self._kernel_parameters())

    def _kernel_parameters(self):
        """gamma, degree, coef0 of scikit-learn's kernels."""
        return {name: getattr(self, name) for name in ("gamma", "degree", "coef0")}

    def _fit_model(self, machine, X, settings, **arrays):
        """Fit, warn where the method stopped early."""
        names = None if _kernels.by_matrix(self.kernel) else getattr(self, "feature_names_in_", None)
        expression = self._expression(X, arrays.get("weights"))
        model = _model.fit(machine, expression, self._to_library(X, True), settings, names=names, owner=type(self).__name__,
                           seed=seed_of(getattr(self, "random_state", None)), verbose=bool(getattr(self, "verbose", False)), **arrays)
        stopped = model.fact("stopped")
        if stopped in ("steps", "time"):
            warnings.warn(f"{type(self).__name__} stopped early ({stopped}): this is the best answer so far; "
                          f"certificate_ says how good it is", ConvergenceWarning, stacklevel=3)
        return model

    def _to_library(self, X, fitted=False):
        """Rows as the library gets them: themselves, or their values of the kernel with the rows of the fit."""
        if not _kernels.by_matrix(self.kernel):
            return X
        if callable(self.kernel):
            parameters = getattr(self, "kernel_params", None)
            X = _kernels.values(self.kernel, X, self._rows_of_kernel, self._function_of_rows, parameters)
            X = _kernels.square(X) if fitted else X
        return _kernels.numbered(X, fitted)

    def _evaluate_checked(self, function, X, width=None):
        """One of the calls that predict, for checked rows: n x width, width as many outputs as the model has."""
        return self.model_.evaluate(function, self._to_library(X), self.model_.outputs if width is None else width)

    def _at_once(self, X):
        """The model, where these are rows that are numbers already: they go to C at once, which looks for NaN itself."""
        own = self.__dict__
        suits = "model_" in own and _few.are_plain(X) and X.shape[1] == own["n_features_in_"] and "feature_names_in_" not in own \
            and not self._of_objects and not _kernels.by_matrix(self.kernel)
        return own["model_"] if suits else None

    def _evaluate(self, function, X, width=None):
        """The same for rows of the user."""
        model = self._at_once(X)
        if model is None:
            return self._evaluate_checked(function, self._check_rows(X), width)
        return model.evaluate(function, X, model.outputs if width is None else width)

    # -- what a fit leaves --

    @property
    def certificate_(self) -> _model.Record:
        """How far the fit can be from the optimum, recomputed from the raw data."""
        return self.model_.certificate

    @property
    def report_(self) -> _model.Record:
        """Facts about the fit: solver, objective, iterations, ..."""
        return self.model_.report

    @property
    def proof_(self) -> Proof:
        """Whether the fitted kernel is positive definite, and why."""
        from ._functions import prove
        if _kernels.by_matrix(self.kernel):
            raise AttributeError("a matrix is looked at in every fit, but there is no expression to prove")
        return prove(self.model_.kernel, self.n_features_in_)


def _different_names(names, fitted):
    """scikit-learn's sentence for columns that are not those of the fit."""
    lines = ["The feature names should match those that were passed during fit."]
    for title, extra in (("Feature names unseen at fit time:", sorted(set(names) - set(fitted))),
                         ("Feature names seen at fit time, yet now missing:", sorted(set(fitted) - set(names)))):
        if extra:
            lines += [title] + [f"- {name}" for name in extra[:5]] + (["- ..."] if len(extra) > 5 else [])
    if set(names) == set(fitted):
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join(lines) + "\n"


class ClassifierBase(KernelEstimator):
    """Classes: their order in scikit-learn (sorted) and in the model (numbers by value, then text) may differ; `_order` maps,
    None where it would change nothing."""

    class_weight: Any = None

    def _check_fit_classes(self, y, n):
        self._require_y(y)
        classes, inverse = _arrays.check_classes(y, n)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        self.classes_ = classes
        return inverse

    def _weights(self, sample_weight, inverse):
        """Row weight times class weight; None where all are 1."""
        weights = _arrays.check_weights(sample_weight, len(inverse))
        if self.class_weight is None:
            return weights
        of_class = _arrays.class_weights(self.class_weight, self.classes_, inverse)
        return of_class[inverse] if weights is None else weights * of_class[inverse]

    def _fit_classes(self, machine, X, y, sample_weight, settings):
        inverse = self._check_fit_classes(y, X.shape[0])
        labels = [_arrays.label_text(label) for label in self.classes_.tolist()]
        if len(set(labels)) < len(labels):
            raise ValueError(f"two classes are written alike: {sorted(labels)}")
        self.model_ = self._fit_model(machine, X, settings, labels=(labels, inverse), weights=self._weights(sample_weight, inverse))
        fitted = self.model_.labels
        if len(fitted) < len(labels):
            raise ValueError("Invalid input - all samples with positive weights have the same label: a class without weight is no class")
        place = {label: number for number, label in enumerate(labels)}
        self._order = None if fitted == labels else np.asarray([place[label] for label in fitted])
        return inverse

    def _by_class(self, function, X):
        """n x classes, the columns in the order of classes_."""
        values = self._evaluate(function, X)
        if self._order is None:
            return values
        out = np.empty_like(values)
        out[:, self._order] = values
        return out

    def predict(self, X: Rows) -> NDArray:
        """The class of every row."""
        model = self._at_once(X)
        if model is None:
            X = self._to_library(self._check_rows(X))
            model = self.model_
        winners = model.winners(X)
        return self.classes_.take(winners if self._order is None else self._order[winners])


class ClassifierScore(ClassifierMixin):
    """scikit-learn's accuracy, at once where the answers are plain."""

    def score(self: Any, X: Rows, y: ArrayLike, sample_weight: Any = None) -> float:
        """The (weighted) share of rows whose class is predicted."""
        classes = getattr(self, "classes_", None)
        plain = type(y) is np.ndarray and y.ndim == 1 and classes is not None and y.dtype == classes.dtype and y.dtype.kind in "iub"
        if not plain or sample_weight is not None:
            return super().score(X, y, sample_weight)
        predicted = self.predict(X)
        _arrays.check_length(len(predicted), y, "y")
        return float(np.mean(predicted == y))


class RegressorBase(KernelEstimator):
    """Numbers."""

    def _fit_numbers(self, machine, X, y, sample_weight, settings, outputs=False):
        self._require_y(y)
        target = _arrays.check_target(y, X.shape[0], outputs)
        weights = _arrays.check_weights(sample_weight, X.shape[0])
        self._flat = target.ndim == 1
        self.model_ = self._fit_model(machine, X, settings, target=target, weights=weights)
        return target, weights

    def predict(self, X: Rows) -> NDArray:
        """The predicted number of every row (or a row of numbers, for several outputs)."""
        values = self._evaluate("mercer_predict", X)
        return values[:, 0] if self._flat else values
