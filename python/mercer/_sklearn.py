"""What Mercer takes from scikit-learn, or stand-ins for it: the estimators are the same either way."""
from typing import TYPE_CHECKING

__all__ = ["BaseEstimator", "ClassifierMixin", "ClusterMixin", "RegressorMixin", "OutlierMixin", "TransformerMixin",
           "ClassNamePrefixFeaturesOutMixin", "NotFittedError", "ConvergenceWarning", "DataConversionWarning"]

if TYPE_CHECKING:  # scikit-learn has no types
    from ._alone import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ConvergenceWarning,
                         DataConversionWarning, NotFittedError, OutlierMixin, RegressorMixin, TransformerMixin)
else:
    try:
        from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, OutlierMixin,
                                  RegressorMixin, TransformerMixin)
        from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
    except ImportError:
        from ._alone import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, ConvergenceWarning,
                             DataConversionWarning, NotFittedError, OutlierMixin, RegressorMixin, TransformerMixin)
