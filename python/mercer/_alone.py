"""Small stand-ins for what Mercer takes from scikit-learn, where that is not installed."""
from __future__ import annotations

import inspect

import numpy as np

from ._types import Any, ArrayLike, NDArray, Rows, Self


class NotFittedError(ValueError, AttributeError):
    """fit has not been called."""


class ConvergenceWarning(UserWarning):
    """A method stopped before it reached its tolerance."""


class DataConversionWarning(UserWarning):
    """An array was taken for something it does not quite say."""


class BaseEstimator:
    """Parameters by the names in the constructor."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        initial = {name: row.default for name, row in inspect.signature(type(self).__init__).parameters.items()}
        shown = (f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(initial[name]))
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        raise AttributeError("tags are scikit-learn's")


class ClassifierMixin:
    _estimator_type = "classifier"

    def score(self: Any, X: Rows, y: ArrayLike, sample_weight: Any = None) -> float:
        """The (weighted) share of rows whose class is predicted."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class RegressorMixin:
    _estimator_type = "regressor"

    def score(self: Any, X: Rows, y: ArrayLike, sample_weight: Any = None) -> float:
        """R squared, the mean over the outputs."""
        target = np.asarray(y, dtype=float)
        error = np.average((target - self.predict(X)) ** 2, axis=0, weights=sample_weight)
        spread = np.average((target - np.average(target, axis=0, weights=sample_weight)) ** 2, axis=0, weights=sample_weight)
        return float(np.mean(1 - error / spread))


class OutlierMixin:
    _estimator_type = "outlier_detector"

    def fit_predict(self: Any, X: Rows, y: ArrayLike | None = None) -> NDArray:
        """1 for rows inside the region fitted to X, -1 for the others."""
        return self.fit(X).predict(X)


class ClusterMixin:
    _estimator_type = "clusterer"

    def fit_predict(self: Any, X: Rows, y: ArrayLike | None = None) -> NDArray:
        """The group of every row."""
        return self.fit(X).labels_


class TransformerMixin:
    def fit_transform(self: Any, X: Rows, y: ArrayLike | None = None, **fit_params: Any) -> NDArray:
        """fit, then transform of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)


class ClassNamePrefixFeaturesOutMixin:
    def get_feature_names_out(self: Any, input_features: ArrayLike | None = None) -> NDArray:
        """The names of the columns that come out."""
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)
