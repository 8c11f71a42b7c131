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

from . import _library  # noqa: F401  before NumPy, if we are first: OpenBLAS and OpenMP read their settings once

_PLACES = {
    "_checks": ("expected_failed_checks",),
    "_functions": ("Proof", "feature_map", "gram", "gram_apply", "gram_check", "parameters", "prove", "shape"),
    "_library": ("Error", "FileError", "InvalidError", "KernelError", "NumericError", "OutOfMemoryError", "TimeLimitError", "info",
                 "options"),
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

if typing.TYPE_CHECKING:
    from ._checks import expected_failed_checks
    from ._functions import Proof, feature_map, gram, gram_apply, gram_check, parameters, prove, shape
    from ._library import (Error, FileError, InvalidError, KernelError, NumericError, OutOfMemoryError, TimeLimitError, info, options)
    from ._machines import fit, fit_loss, folds, path, plan
    from ._model import Model, Record, machines
    from ._plot import Picture, plot, report
    from ._samples import generate, generators, hsic, mmd, read
    from ._tune import Search, plan_tune, tune
    from .cluster import KernelKMeans, SpectralClustering
    from .decomposition import KernelPCA
    from .features import Nystroem, RandomFourierFeatures
    from .gp import GaussianProcessRegressor
    from .loss import KernelHuberRegressor, KernelLogisticRegression, KernelQuantileRegressor
    from .neighbors import KernelKNeighborsClassifier, KernelKNeighborsRegressor
    from .ridge import KernelRidge, KernelRidgeCV
    from .svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
else:
    def __getattr__(name):
        if name not in _PLACE:
            raise AttributeError(f"module 'mercer' has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{_PLACE[name]}", __name__), name)
        globals()[name] = value
        return value


def __dir__():
    return [*__all__, "__version__"]
