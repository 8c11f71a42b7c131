"""Mercer: kernel machines with proofs and certificates.

Estimators with scikit-learn's names, parameters and attributes over any kernel of the language; NumPy in, NumPy out.

>>> import mercer, numpy as np
>>> X = np.random.RandomState(0).randn(60, 2)
>>> y = np.where(X[:, 0] * X[:, 1] > 0, "even", "odd")
>>> clf = mercer.SVC(kernel="rbf(gamma=0.5) + 0.1*linear", C=10).fit(X, y)
>>> bool(clf.score(X, y) > 0.9)
True

The C library is loaded at once, everything else when it is first used, so that `import mercer` is quick.
"""
import importlib
import typing

from . import _library  # noqa: F401  before NumPy, if we are first: OpenBLAS reads its settings once

_PLACES = {
    "_checks": ("expected_failed_checks",),
    "_functions": ("Proof", "feature_map", "gram", "gram_apply", "gram_check", "gram_factor", "gram_prove", "gram_repair", "parameters", "prove", "shape"),
    "_library": ("Error", "FileError", "InvalidError", "KernelError", "NumericError", "OutOfMemoryError", "ParameterError",
                 "TimeLimitError", "info", "options"),
    "_machines": ("fit", "fit_loss", "folds", "path", "plan"),
    "_model": ("Model", "Record", "machines"),
    "_plot": ("Picture", "plot", "report"),
    "_samples": ("generate", "generators", "hsic", "mmd", "read"),
    "_tune": ("Search", "plan_tune", "tune"),
    "cluster": ("KernelKMeans", "SpectralClustering"),
    "decomposition": ("KernelPCA",),
    "features": ("Nystroem", "RandomFourierFeatures"),
    "gp": ("GaussianProcessRegressor",),
    "loss": ("KernelHuberRegressor", "KernelLogisticRegression", "KernelQuantileRegressor"),
    "neighbors": ("KernelKNeighborsClassifier", "KernelKNeighborsRegressor"),
    "ridge": ("KernelRidge", "KernelRidgeCV"),
    "svm": ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"),
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}
__version__ = "0.1.0"
__all__ = sorted(_PLACE)

if typing.TYPE_CHECKING:  # `as` says that the names are given on, which strict checkers ask for
    from ._checks import expected_failed_checks as expected_failed_checks
    from ._functions import (Proof as Proof, feature_map as feature_map, gram as gram, gram_apply as gram_apply,
                             gram_check as gram_check, gram_factor as gram_factor, gram_prove as gram_prove,
                             gram_repair as gram_repair, parameters as parameters, prove as prove,
                             shape as shape)
    from ._library import (Error as Error, FileError as FileError, InvalidError as InvalidError, KernelError as KernelError,
                           NumericError as NumericError, OutOfMemoryError as OutOfMemoryError, ParameterError as ParameterError,
                           TimeLimitError as TimeLimitError, info as info, options as options)
    from ._machines import fit as fit, fit_loss as fit_loss, folds as folds, path as path, plan as plan
    from ._model import Model as Model, Record as Record, machines as machines
    from ._plot import Picture as Picture, plot as plot, report as report
    from ._samples import generate as generate, generators as generators, hsic as hsic, mmd as mmd, read as read
    from ._tune import Search as Search, plan_tune as plan_tune, tune as tune
    from .cluster import KernelKMeans as KernelKMeans, SpectralClustering as SpectralClustering
    from .decomposition import KernelPCA as KernelPCA
    from .features import Nystroem as Nystroem, RandomFourierFeatures as RandomFourierFeatures
    from .gp import GaussianProcessRegressor as GaussianProcessRegressor
    from .loss import (KernelHuberRegressor as KernelHuberRegressor, KernelLogisticRegression as KernelLogisticRegression,
                       KernelQuantileRegressor as KernelQuantileRegressor)
    from .neighbors import (KernelKNeighborsClassifier as KernelKNeighborsClassifier,
                            KernelKNeighborsRegressor as KernelKNeighborsRegressor)
    from .ridge import KernelRidge as KernelRidge, KernelRidgeCV as KernelRidgeCV
    from .svm import SVC as SVC, SVR as SVR, NuSVC as NuSVC, NuSVR as NuSVR, OneClassSVM as OneClassSVM
else:
    def __getattr__(name):
        if name not in _PLACE:
            raise AttributeError(f"module 'mercer' has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_PLACE[name]}", __name__), name)
        importlib.import_module("._parameters", __name__).document(value)
        globals()[name] = value
        return value


def __dir__():
    return [*__all__, "__version__"]
