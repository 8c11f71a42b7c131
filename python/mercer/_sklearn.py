"""What Mercer takes from scikit-learn, and small stand-ins for where it is not installed: the estimators are the same either way."""
import inspect

__all__ = ["BaseEstimator", "ClassifierMixin", "RegressorMixin", "OutlierMixin", "TransformerMixin", "ClassNamePrefixFeaturesOutMixin",
           "NotFittedError", "ConvergenceWarning", "DataConversionWarning", "HAVE_SKLEARN"]

try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, OutlierMixin, RegressorMixin,
                              TransformerMixin)
    from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):
        """fit has not been called."""

    class ConvergenceWarning(UserWarning):
        """A method stopped before it reached its tolerance."""

    class DataConversionWarning(UserWarning):
        """An array was taken for something it does not quite say."""

    class BaseEstimator:
        """Parameters by the names in the constructor."""

        @classmethod
        def _get_param_names(cls):
            return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
                setattr(self, name, value)
            return self

        def __repr__(self):
            initial = {name: row.default for name, row in inspect.signature(type(self).__init__).parameters.items()}
            shown = (f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(initial[name]))
            return f"{type(self).__name__}({', '.join(shown)})"

    class ClassifierMixin:
        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """The (weighted) share of rows whose class is predicted."""
            import numpy as np
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    class RegressorMixin:
        _estimator_type = "regressor"

        def score(self, X, y, sample_weight=None):
            """R squared, the mean over the outputs."""
            import numpy as np
            y = np.asarray(y, dtype=float)
            error = np.average((y - self.predict(X)) ** 2, axis=0, weights=sample_weight)
            spread = np.average((y - np.average(y, axis=0, weights=sample_weight)) ** 2, axis=0, weights=sample_weight)
            return float(np.mean(1 - error / spread))

    class OutlierMixin:
        _estimator_type = "outlier_detector"

        def fit_predict(self, X, y=None):
            """1 for rows inside the region fitted to X, -1 for the others."""
            return self.fit(X).predict(X)

    class TransformerMixin:
        def fit_transform(self, X, y=None, **fit_params):
            """fit, then transform of the same rows."""
            return self.fit(X, y, **fit_params).transform(X)

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features=None):
            """The names of the columns that come out."""
            import numpy as np
            return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)
